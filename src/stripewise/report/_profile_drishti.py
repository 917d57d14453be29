# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Findings as the codes of Drishti: a header, and one row of True and False.

Only what costs time is True: Drishti's codes that merely describe a run (P01 to P04, P12, P14,
M04, M05, M10) are told from the figures, those without a counterpart are False.
docs/reference/findings.md has the mapping.  Source: drishti-io, includes/config.py.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from stripewise.diagnosis import Diagnosis, FileRow, Finding
from stripewise.model import IoLayer
from stripewise.text import csv_cell

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
    """The two lines of the file."""
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
    if finding.code == "small-independent":
        return _small_shared(finding, reading, diagnosis)
    if finding.code == "imbalance":
        return ["P18" if float(finding.evidence["bytes_ratio"]) >= 1.3 else "P19"]
    return [_PLAIN[finding.code]] if finding.code in _PLAIN else []


def _small_shared(finding: Finding, reading: bool, diagnosis: Diagnosis) -> list[str]:
    """Small requests, on a shared file; through MPI-IO also "no collective calls"."""
    codes = ["P05", "P15"] if reading else ["P06", "P16"]
    paths = set(finding.files)
    through = [row for row in diagnosis.requests if row.path in paths and row.writing != reading]
    if through and not any(row.collective_calls for row in through):
        codes.append("M02" if reading else "M03")
    return codes


def _described(diagnosis: Diagnosis) -> list[str]:
    """Codes that describe the run without saying that anything is lost."""
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
    """Whether reads, or writes, clearly outweigh the other direction."""
    total = read + write
    if not total or abs(read - write) / total <= _INTENSIVE:
        return []
    return [codes[0] if read > write else codes[1]]


def _sequential(files: Sequence[FileRow]) -> list[str]:
    """Whether most bytes lie in files that are accessed in sequence."""
    codes = []
    for code, name in (("P12", "read_bytes"), ("P14", "write_bytes")):
        known = [row for row in files if not math.isnan(row.sequential)]
        total = sum(getattr(row, name) for row in known)
        forward = sum(getattr(row, name) for row in known if row.sequential > _MOSTLY)
        if total and forward > _MOSTLY * total:
            codes.append(code)
    return codes
