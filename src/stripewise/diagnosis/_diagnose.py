# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Everything together: evidence -> diagnosis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stripewise.diagnosis._phases import phases
from stripewise.diagnosis._records import Diagnosis, Figures, Finding
from stripewise.diagnosis._requests import mpiio_stats, request_rows
from stripewise.diagnosis._rows import figures, file_rows, layer_rows, variance_rows
from stripewise.diagnosis._sides import sides
from stripewise.diagnosis._summary import further, headline
from stripewise.diagnosis._usage import usage
from stripewise.diagnosis.findings import Run, judge
from stripewise.diagnosis.heat_cells import heat_maps
from stripewise.machines import StorageCosts
from stripewise.model import Evidence, Pattern


def diagnose(
    evidence: Evidence, patterns: Sequence[Pattern] = (), storage: StorageCosts | None = None
) -> Diagnosis:
    """Say what a run did to its files, what that cost, and what to do about it.

    Args:
        evidence: From any source (`stripewise.readers.read_evidence`).
        patterns: Of the same evidence (`stripewise.patterns.find_patterns`), if known.
        storage: What requests cost where the files lie; None: nothing was measured.
    """
    profile = evidence.profile
    whole, files = usage(profile, evidence.trace)
    traced = sides(evidence.trace)
    numbers = figures(profile, whole, files)
    run = Run(profile, evidence.trace, numbers, files, patterns, storage or StorageCosts())
    findings = judge(run)
    line = headline(numbers, findings)
    untimed = "" if math.isfinite(numbers.io_seconds) else numbers.missing["io_seconds"]
    return Diagnosis(
        source=profile.source,
        command=profile.command,
        job_id=profile.job_id,
        figures=numbers,
        files=file_rows(files, untimed),
        layers=layer_rows(whole, profile.gaps, untimed),
        variance=variance_rows(files),
        heat=tuple(heat_maps(profile)),
        phases=phases(profile),
        requests=request_rows(files, traced, evidence.mpiio_stats),
        mpiio_stats=evidence.mpiio_stats or mpiio_stats(files, traced),
        findings=findings,
        headline=line,
        summary=line + further(findings),
        partial=profile.partial,
        notes=(*profile.notes, *_remarks(numbers, findings)),
    )


def _remarks(numbers: Figures, findings: Sequence[Finding]) -> Iterator[str]:
    """Say what is odd about the figures, and what the claims rest on."""
    if numbers.io_exact and numbers.io_share > 1:
        yield (
            "I/O time is longer than the run: calls of several threads overlap, or each waits "
            "(a pipe)"
        )
    if any(found.cost_seconds is not None and not found.measured for found in findings):
        yield (
            "what the findings would gain rests on assumed costs of the storage; on the machine "
            "of the run `stripewise machine probe DIR` measures them"
        )
