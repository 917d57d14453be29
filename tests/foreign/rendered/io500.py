# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures as IO500 writes them: `result_summary.txt`, `result.txt`, its standard output.

Source: src/main.c, phase_ior.c and phase_mdtest.c of IO500/io500, 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from foreign.rendered.ior import ior_text
from foreign.rendered.mdtest import mdtest_text

_ORDER = (
    "ior-easy-write", "mdtest-easy-write", "timestamp", "ior-hard-write", "mdtest-hard-write",
    "find", "ior-easy-read", "mdtest-easy-stat", "ior-hard-read", "mdtest-hard-stat",
    "mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete", "ior-rnd4K-write",
    "ior-rnd1MB-read", "ior-rnd4K-easy-read", "mdworkbench-bench",
)  # fmt: skip


def _phases(given: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Yield name, score and seconds of each phase, in the order of a run."""
    for name in _ORDER:
        if name == "timestamp":
            yield name, 0.0, 0.001
        elif name in given["phases"]:
            yield (name, *given["phases"][name])


def _scores(given: Mapping[str, Any]) -> tuple[float, float, float]:
    def mean(values: list[float]) -> float:
        return prod(values) ** (1 / len(values)) if values and min(values) > 0 else 0.0

    bandwidth = mean([one[0] for name, one in given["phases"].items() if name[0] == "i"])
    metadata = mean([one[0] for name, one in given["phases"].items() if name[0] != "i"])
    return bandwidth, metadata, (bandwidth * metadata) ** 0.5


def io500_summary(given: Mapping[str, Any]) -> str:
    """Return `result_summary.txt`.

    Args:
        given: "phases": score (GiB/s or kIOPS) and seconds by name; "invalid": names of phases
            that are marked so; "version" if the text is that of standard output; "mark":
            "after" the line, or "tag" as the S3 branch prints it; "pad" for "GiB/s "; "script"
            for the form of io-500-dev, until 2019.
    """
    if given.get("script"):
        return _script_summary(given)
    invalid = given.get("invalid", ())
    lines = [f"IO500 version {given['version']} (standard)"] if given.get("version") else []
    for name, score, seconds in _phases(given):
        tag = "[      ]" if name == "timestamp" else "[RESULT]"
        end = ""
        if name in invalid:
            tag, end = ("[RESULT-invalid]", "") if given.get("mark") == "tag" else (
                tag, " [INVALID]")  # fmt: skip
        unit = "GiB/s" if name[0] == "i" else "kIOPS"
        unit = f"{unit:<6}" if given.get("pad") else unit
        lines.append(f"{tag} {name:>20} {score:15.6f} {unit} : time {seconds:.3f} seconds{end}")
    bandwidth, metadata, total = _scores(given)
    lines.append(f"[SCORE ] Bandwidth {bandwidth:.6f} GiB/s : IOPS {metadata:.6f} kiops : TOTAL "
                 f"{total:.6f}{' [INVALID]' if invalid else ''}")  # fmt: skip
    return "\n".join(lines) + "\n"


def _script_summary(given: Mapping[str, Any]) -> str:
    lines = ["[Summary] Results files in /scratch/io500/results/2019.09.17-22.52.53"]
    counts = {"BW": 0, "IOPS": 0}
    for name, score, seconds in _phases(given):
        if name != "timestamp":
            kind, unit = ("BW", "GB/s") if name[0] == "i" else ("IOPS", "kiops")
            counts[kind] += 1
            lines.append(
                f"[RESULT] {kind:<4} phase {counts[kind]} {name.replace('-', '_'):>25} "
                f"{score:20.3f} {unit} : time {seconds:6.2f} seconds"
            )
    bandwidth, metadata, total = _scores(given)
    lines.append(
        f"[SCORE] Bandwidth {bandwidth:g} GB/s : IOPS {metadata:g} kiops : TOTAL {total:g}"
    )
    return "\n".join(lines) + "\n"


def io500_result(given: Mapping[str, Any]) -> str:
    """Return `result.txt`; "procs" is there since 2021, "old" has neither [run] nor times."""
    lines = [] if given.get("old") else ["[run]", f"{'procs':<15} = {given['procs']}"]
    lines += [f"{'version':<15} = {given.get('version', 'io500-sc20')}",
              f"{'config-hash':<15} = 1065C0D", f"{'result-dir':<15} = ./results/"]  # fmt: skip
    for name, score, seconds in _phases(given):
        lines += ["", f"[{name}]"]
        if not given.get("old"):
            lines.append(f"{'t_start':<15} = 2021-11-05 10:00:00")
        lines += [] if name == "timestamp" else [f"{'exe':<15} = {_exe(name)}"]
        if name in given.get("invalid", ()):
            lines.append("; ERROR INVALID (src/main.c:437) Runtime of phase is below stonewall")
        if name == "find":
            lines += [f"{'found':<15} = 1839", f"{'total-files':<15} = 220000"]
        lines += [] if name == "timestamp" else [f"{'score':<15} = {score:.6f}"]
        if not given.get("old"):
            lines += [f"{'t_delta':<15} = {seconds:.4f}",
                      f"{'t_end':<15} = 2021-11-05 10:05:00"]  # fmt: skip
    bandwidth, metadata, total = _scores(given)
    mark = " [INVALID]" if given.get("invalid") else ""
    lines += ["", "[SCORE]", f"{'MD':<15} = {metadata:.6f}", f"{'BW':<15} = {bandwidth:.6f}",
              f"{'SCORE':<15} = {total:.6f} {mark}", f"{'hash':<15} = 83801AAA"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _exe(name: str) -> str:
    size = "-t 2m -b 9920000m" if "easy" in name else "-t 47008 -b 47008 -s 100000"
    if name.startswith("ior"):
        move = "-r -R" if name.endswith("read") else "-w -D 300"
        return f"./ior -C -Q 1 -g -G 271 -k -e -o ./out/{name[:8]}/file {size} {move} -a POSIX"
    if name == "find":
        return "./pfind ./out/ -newer ./results/timestampfile -size 3901c -name *01* -C"
    what = {"write": "-C -W 300", "stat": "-T", "read": "-E", "delete": "-r"}[
        name.rpartition("-")[2]
    ]
    files = "-u -L -F" if "easy" in name else "-t -w 3901 -e 3901 -F"
    return f"./mdtest -n 1000000 {files} -d ./out/{name[:11]} {what} -a POSIX"


def io500_directory(given: Mapping[str, Any], directory: Path) -> Path:
    """Write a directory of results, with the outputs of IOR and mdtest; return it."""
    directory.mkdir()
    (directory / "result_summary.txt").write_text(io500_summary({**given, "version": ""}))
    (directory / "result.txt").write_text(io500_result(given))
    (directory / "config.ini").write_text("[global]\ndatadir = /scratch/io500\n")
    for name, (score, seconds) in given["phases"].items():
        if name.startswith("ior"):
            block = round(score * (1 << 30) * seconds / given["procs"] / (1 << 21)) << 21
            rate = block * given["procs"] / seconds / (1 << 20)
            what = "read" if name.endswith("read") else "write"
            text = ior_text({
                "version": "3.3.0+dev", "layout": "3.3", "api": "POSIX", "tasks": given["procs"],
                "nodes": given["nodes"], "block": block, "xfer": 1 << 21, "own": True,
                "rates": {what: [rate]},
            })  # fmt: skip
        elif name.startswith("mdtest"):
            what = {"write": "create", "stat": "stat", "read": "read-file", "delete": "remove"}[
                name.rpartition("-")[2]
            ]
            items = round(score * 1000 * seconds / given["procs"])
            text = mdtest_text({
                "version": "3.3.0+dev", "layout": "3", "tasks": given["procs"],
                "nodes": given["nodes"], "items": items, "jitter": 0.0001, "kinds": "files",
                "options": "-F", "rates": {what: [score * 1000]},
            })  # fmt: skip
        else:
            continue
        (directory / f"{name}.txt").write_text(text)
    return directory
