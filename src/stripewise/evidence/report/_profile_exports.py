# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a diagnosis as CSV, as codes of Drishti and in the layout of MPICH_MPIIO_STATS.

Only what costs time is True: Drishti's codes that merely describe a run (P01 to P04, P12, P14,
M04, M05, M10) follow from the figures, those without a counterpart are False.
docs/reference/findings.md has the mapping. Source: drishti-io, includes/config.py.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stripewise.core import MpiioSide, MpiioStats
from stripewise.evidence.figures import Diagnosis, FileRow, Finding, size_labels
from stripewise.evidence.trace import IoLayer
from stripewise.present import csv_cell, printable

CODES = (
    "S01",
    *(f"P{number:02}" for number in range(1, 20)),
    "P21",
    "P22",
    *(f"M{number:02}" for number in range(1, 11)),
)
"""Drishti's codes, in its order."""

_STDIO_SHARE = 0.1
_INTENSIVE = 0.1
_MOSTLY = 0.5

_BY_DIRECTION = {
    "small-requests": ("P05", "P06"),
    "shredded-collective": ("M02", "M03"),
    "shredded-independent": ("M02", "M03"),
}
_PLAIN = {
    "redundant-reads": "P09",
    "name-calls": "P17",
    "repeated-stat": "P17",
    "open-per-step": "P17",
}


def drishti_csv(diagnosis: Diagnosis) -> str:
    """Return the header and the values of Drishti's CSV file."""
    found = set(_described(diagnosis))
    for finding in diagnosis.findings:
        found.update(_codes(finding, diagnosis))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["JOB", *CODES])
    writer.writerow([csv_cell(diagnosis.job_id), *(str(code in found) for code in CODES)])
    return text.getvalue()


def _codes(finding: Finding, diagnosis: Diagnosis) -> list[str]:
    reading = " reads" in finding.phrase or finding.phrase.startswith("reads")
    if finding.code in _BY_DIRECTION:
        return [_BY_DIRECTION[finding.code][0 if reading else 1]]
    if finding.code == "interleaved-calls" and not finding.evidence["shared"]:
        return ["P05" if reading else "P06"]
    if finding.code in ("small-independent", "interleaved-calls"):
        return _small_shared(finding, reading, diagnosis)
    if finding.code == "imbalance":
        return ["P18" if float(finding.evidence["bytes_ratio"]) >= 1.3 else "P19"]
    return [_PLAIN[finding.code]] if finding.code in _PLAIN else []


def _small_shared(finding: Finding, reading: bool, diagnosis: Diagnosis) -> list[str]:
    """Return the codes of small requests to a shared file, and of missing collective calls."""
    codes = ["P05", "P15"] if reading else ["P06", "P16"]
    paths = set(finding.files)
    through = [row for row in diagnosis.requests if row.path in paths and row.writing != reading]
    if through and not any(row.collective_calls for row in through):
        codes.append("M02" if reading else "M03")
    return codes


def _described(diagnosis: Diagnosis) -> list[str]:
    """Return the codes that describe the run without reporting a loss."""
    figures = diagnosis.figures
    layers = {row.layer: row for row in diagnosis.layers}
    codes = _sequential(diagnosis.files)
    whole = not {"read_bytes", "write_bytes"} & figures.missing.keys()
    if posix := layers.get(IoLayer.POSIX):
        if whole:
            codes += _outweighs(posix.read_calls, posix.write_calls, ("P02", "P01"))
            codes += _outweighs(posix.read_bytes, posix.write_bytes, ("P04", "P03"))
        if figures.n_ranks > 1 and IoLayer.MPIIO not in layers:
            codes.append("M01")
    for code, writing in (("M04", False), ("M05", True)):
        if any(row.collective_calls and row.writing == writing for row in diagnosis.requests):
            codes.append(code)
    stdio = layers.get(IoLayer.STDIO)
    total = figures.read_bytes + figures.write_bytes
    if (
        whole
        and stdio is not None
        and stdio.read_bytes + stdio.write_bytes > _STDIO_SHARE * total > 0
    ):
        codes.append("S01")
    return codes


def _outweighs(read: int, write: int, codes: tuple[str, str]) -> list[str]:
    """Return the code of reads, or of writes, if they clearly outweigh the other direction."""
    total = read + write
    if not total or abs(read - write) / total <= _INTENSIVE:
        return []
    return [codes[0] if read > write else codes[1]]


def _sequential(files: Sequence[FileRow]) -> list[str]:
    """Return the codes of directions in which most bytes are in files accessed in sequence."""
    codes = []
    for code, name in (("P12", "read_bytes"), ("P14", "write_bytes")):
        known = [row for row in files if not math.isnan(row.sequential)]
        total = sum(getattr(row, name) for row in known)
        forward = sum(getattr(row, name) for row in known if row.sequential > _MOSTLY)
        if total and forward > _MOSTLY * total:
            codes.append(code)
    return codes


# The files of a profile as CSV.

_CSV_COLUMNS = (
    *("path", "interface", "read_bytes", "write_bytes", "read_calls", "write_calls"),
    *("collective", "sequential", "consecutive", "opens", "meta_operations"),
    *("elapsed_seconds", "cumulated_seconds", "rank_count", "data_rank_count", "extent_bytes"),
)


def files_to_csv(profile: Mapping[str, Any]) -> str:
    """Return a row for each file, with separate columns for the sizes of requests.

    Args:
        profile: Profile as printed by `stripewise profile --json`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    sizes = [f"{way} {label}" for way in ("reads", "writes") for label in size_labels()]
    writer.writerow([*_CSV_COLUMNS, "stripe_bytes", "stripe_count", *sizes, "missing"])
    for row in profile["files"]:
        layout = [row["layout"][name] or "" for name in ("stripe_bytes", "stripe_count")]
        missing = csv_cell("; ".join(f"{name}: {why}" for name, why in row["missing"].items()))
        values = [_cell(row[name]) for name in _CSV_COLUMNS]
        writer.writerow([*values, *layout, *row["read_sizes"], *row["write_sizes"], missing])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else csv_cell(value)


# Blocks in the layout of MPICH_MPIIO_STATS=1, for any MPI library.
#
# Source: intro_mpi(3) of Cray MPICH, and blocks in published job outputs.

_RULE = "+--------------------------------------------------------+"
_NOT_KNOWN = "NA"


def mpiio_stats_text(blocks: Sequence[MpiioStats]) -> str:
    """Return all blocks, the writes of a file before its reads; empty without any."""
    lines = []
    for block in blocks:
        for side, writing in ((block.write, True), (block.read, False)):
            if side is not None:
                lines += [_RULE, *_block(block.path, side, writing)]
    return "\n".join([*lines, _RULE]) + "\n" if lines else ""


def _block(path: str, side: MpiioSide, writing: bool) -> Iterator[str]:
    verb, who = ("write", "writers") if writing else ("read", "readers")
    yield f"| MPIIO {verb} access patterns for {printable(path)}"
    for key, value in _fields(side, verb, who):
        yield f"|   {key:<24} = {value}"


def _fields(side: MpiioSide, verb: str, who: str) -> Iterator[tuple[str, str]]:
    yield f"independent {verb}s", str(side.independent)
    yield f"collective {verb}s", str(side.collective)
    yield f"independent {who}", str(side.independent_ranks)
    yield "aggregators", str(side.aggregators)
    yield "stripe count", _known(side.stripe_count)
    yield "stripe size", _known(side.stripe_bytes)
    yield f"system {verb}s", str(side.system_calls)
    if side.stripe_sized is not None:
        yield f"stripe sized {verb}s", str(side.stripe_sized)
    if side.active is not None:
        n = max(side.aggregators, 1)
        counts = ",".join(str(value) for value in side.active)
        yield "aggregators active", f"{counts} (1, <= {max(n // 2, 1)}, > {max(n // 2, 1)}, {n})"
    yield f"total bytes for {verb}s", _total(side.total_bytes)
    yield f"ave system {verb} size", _known(side.average_bytes)
    if verb == "write":
        yield "read-modify-write count", _known(side.modify_reads)
        yield "read-modify-write bytes", _known(side.modify_bytes)
    yield f"number of {verb} gaps", _known(side.gaps)
    yield f"ave {verb} gap size", _known(side.average_gap_bytes)


def _known(value: int | None) -> str:
    return _NOT_KNOWN if value is None else str(value)


def _total(value: int) -> str:
    text = str(value)
    if value >= 1 << 20:
        text += f" = {value >> 20} MiB"
    if value >= 1 << 30:
        text += f" = {value >> 30} GiB"
    return text
