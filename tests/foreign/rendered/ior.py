# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures as the versions of IOR print them: text, JSON, CSV.

Source: `ShowSetup`, `PrintReducedResult` and the summaries of IOR 2.10.3, 3.0.1 and hpc/ior 3.1 to
4.1 (IOR.c, ior-output.c).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

MIB = 1 << 20
_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1 << 10))
_COLUMNS = {
    "9": "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)"
         "   iter",
    "11": "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)"
          "   close(s)   total(s)   iter",
}  # fmt: skip


def human(size_bytes: int) -> str:
    """Return a size as IOR's `HumanReadable` does: whole units without digits, others with two."""
    for unit, factor in _UNITS:
        if size_bytes >= factor:
            whole = size_bytes % factor == 0
            digits = 0 if whole else 2
            return f"{size_bytes / factor:.{digits}f} {unit}"
    return f"{size_bytes} bytes"


def _cell(value: float) -> str:
    """Return a number as IOR's `PPDouble` does: ten characters, digits by size."""
    if value >= 1e9:
        return f"{value:<10.0f}"
    digits = 0 if value >= 1000 else 2 if value >= 1 else 6
    return f"{value:<10.{digits}f}"


def configured_bytes(given: Mapping[str, Any]) -> int:
    """Return the bytes of one repeat as the options have them."""
    return int(given["tasks"] * given["block"] * given.get("segments", 1))


def moved_bytes(given: Mapping[str, Any]) -> int:
    """Return the bytes of one repeat: those of the options, or "moved" if a file was shorter."""
    return int(given.get("moved") or configured_bytes(given))


def ior_text(given: Mapping[str, Any]) -> str:
    """Return an output in text.

    Args:
        given: "version", "layout" ("2", "3.0", "3.2", "3.3"), "api", "tasks", "nodes", "block"
            and "xfer" in bytes, "segments", "own" (file per process), "collective"; "rates" by
            access, in MiB/s, of each repeat; "terse" for a text without single repeats.
    """
    old = given["layout"] in ("2", "3.0")
    lines = [f"IOR-{given['version']}: MPI Coordinated Test of Parallel I/O", ""]
    lines += _began(given) + (_options_old(given) if old else _options(given))
    if given["layout"] != "2" and not given.get("terse"):
        lines += ["", _COLUMNS["11" if given["layout"] == "3.3" else "9"]]
        lines.append("------    ---------  ----------")
        lines += _rows(given)
    lines += [f"Max {what.capitalize() + ':':<7} {max(rates):.2f} MiB/sec "
              f"({max(rates) * 1.048576:.2f} MB/sec)" for what, rates in given["rates"].items()
              ] if old or given.get("maxima") else []  # fmt: skip
    lines += ["", *_summary(given), "", *_ended(given)]
    return "\n".join(lines) + "\n"


def _began(given: Mapping[str, Any]) -> list[str]:
    command = f"ior -a {given['api']} -b {given['block']} -t {given['xfer']} -s " + str(
        given.get("segments", 1)
    )
    command += " -F" if given.get("own") else ""
    if given["layout"] == "2":
        return ["Run began: Tue Nov  5 10:00:00 2019", f"Command line used: {command}",
                "Machine: Linux node1", ""]  # fmt: skip
    if given["layout"] == "3.0":
        return ["Began: Tue Nov  5 10:00:00 2019", f"Command line used: {command}",
                "Machine: Linux node1", "",
                "Test 0 started: Tue Nov  5 10:00:00 2019"]  # fmt: skip
    return ["Began               : Tue Nov  5 10:00:00 2019", f"Command line        : {command}",
            "Machine             : Linux node1", "TestID              : 0",
            "StartTime           : Tue Nov  5 10:00:00 2019", ""]  # fmt: skip


def _options_old(given: Mapping[str, Any]) -> list[str]:
    per_node = -(-given["tasks"] // given["nodes"])
    pairs = {
        "api": given["api"], "test filename": "/scratch/ior",
        "access": "file-per-process" if given.get("own") else "single-shared-file",
    }  # fmt: skip
    if given.get("segments", 1) > 1:
        pairs["pattern"] = f"strided ({given['segments']} segments)"
    pairs |= {
        "ordering in a file": "sequential offsets", "ordering inter file": "no tasks offsets",
        "clients": f"{given['tasks']} ({per_node} per node)",
        "repetitions": str(len(next(iter(given["rates"].values())))),
        "xfersize": human(given["xfer"]), "blocksize": human(given["block"]),
        "aggregate filesize": human(configured_bytes(given)),
    }  # fmt: skip
    return ["Summary:", *(f"\t{key:<19}= {value}" for key, value in pairs.items())]


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as IOR 3.1 and later name them."""
    return {
        "api": given["api"], "apiVersion": "", "test filename": "/scratch/ior",
        "access": "file-per-process" if given.get("own") else "single-shared-file",
        "type": "collective" if given.get("collective") else "independent",
        "segments": given.get("segments", 1), "ordering in a file": "sequential",
        "ordering inter file": "no tasks offsets", "nodes": given["nodes"],
        "tasks": given["tasks"], "clients per node": -(-given["tasks"] // given["nodes"]),
        "repetitions": len(next(iter(given["rates"].values()))),
        "xfersize": human(given["xfer"]), "blocksize": human(given["block"]),
        "aggregate filesize": human(configured_bytes(given)),
    }  # fmt: skip


def _options(given: Mapping[str, Any]) -> list[str]:
    found = options(given)
    if given["layout"] == "3.2":
        found.pop("nodes") if given.get("without_nodes") else None
    lines = [f"{key:<20}: {value}" for key, value in found.items()]
    return ["Options: ", *lines, "", "Results: "]


def repeats(given: Mapping[str, Any]) -> Iterator[tuple[str, int, float, float]]:
    """Yield access, repeat, MiB/s and seconds of each repeat, in IOR's order."""
    n_repeats = len(next(iter(given["rates"].values())))
    for repeat in range(n_repeats):
        for what, rates in given["rates"].items():
            yield what, repeat, rates[repeat], moved_bytes(given) / MIB / rates[repeat]


def _rows(given: Mapping[str, Any]) -> Iterator[str]:
    for what, repeat, rate, seconds in repeats(given):
        cells = [_cell(rate)]
        if given["layout"] == "3.3":
            iops = rate * MIB / given["xfer"]
            cells += [_cell(iops), _cell(given["tasks"] / iops) + " "]
        cells += [_cell(given["block"] / 1024), _cell(given["xfer"] / 1024)]
        parts = (0.001, seconds - 0.002, 0.001) if seconds > 0.003 else (0.0, seconds, 0.0)
        cells += [_cell(one) for one in (*parts, seconds)]
        yield f"{what:<10}" + " ".join(cells) + f" {repeat:<4d}"


def _summary(given: Mapping[str, Any]) -> Iterator[str]:
    repeats_ = len(next(iter(given["rates"].values())))
    per_node = -(-given["tasks"] // given["nodes"])
    own = int(bool(given.get("own")))
    sizes = f"{given.get('segments', 1)} {given['block']} {given['xfer']}"
    if given["layout"] == "2":
        yield ("Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  "
               "Mean (OPs)   Std Dev  Mean (s)  ")  # fmt: skip
        yield "---------  ---------  ---------  ----------   -------  ---------"
    else:
        yield "Summary of all tests:"
        yield _summary_head(given["layout"])
    for what, rates in given["rates"].items():
        mean_s = fmean(moved_bytes(given) / MIB / one for one in rates)
        row = f"{what:<9} " + _four(rates)
        if given["layout"] != "3.0":
            row += " " + _four([one * MIB / given["xfer"] for one in rates])
        row += f" {mean_s:10.5f}"
        if given["layout"] == "2":
            yield (f"{row} {given['tasks']} {per_node} {repeats_} {own} 0 1 0 0 {sizes} "
                   f"{moved_bytes(given)} -1 {given['api']} EXCEL")  # fmt: skip
            continue
        moved = (f"{moved_bytes(given) / MIB:9.1f}" if given["layout"] == "3.3"
                 else str(moved_bytes(given)))  # fmt: skip
        row += "         NA            NA" if given["layout"] == "3.3" else ""
        yield (f"{row} 0 {given['tasks']} {per_node} {repeats_} {own} 0 1 0 0 {sizes} {moved} "
               f"{given['api']} 0")  # fmt: skip


def _four(values: Sequence[float]) -> str:
    four = (max(values), min(values), fmean(values), pstdev(values))
    return " ".join(f"{one:10.2f}" for one in four)


def _summary_head(layout: str) -> str:
    operations = "" if layout == "3.0" else "   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev"
    walled = " Stonewall(s) Stonewall(MiB)" if layout == "3.3" else ""
    size = "aggs(MiB)" if layout == "3.3" else "aggsize"
    return (f"Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev{operations}    Mean(s){walled}"
            " Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize "
            f"{size} API RefNum")  # fmt: skip


def _ended(given: Mapping[str, Any]) -> list[str]:
    if given["layout"] == "2":
        return ["Run finished: Tue Nov  5 10:05:00 2019"]
    if given["layout"] == "3.0":
        return ["Finished: Tue Nov  5 10:05:00 2019"]
    return ["Finished            : Tue Nov  5 10:05:00 2019"]
