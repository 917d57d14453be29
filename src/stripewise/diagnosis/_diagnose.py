# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Everything together: evidence -> diagnosis."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.diagnosis._figures import figures
from stripewise.diagnosis._heat import heat_maps
from stripewise.diagnosis._mpiio import mpiio_stats
from stripewise.diagnosis._phases import phases
from stripewise.diagnosis._records import Diagnosis, Figures
from stripewise.diagnosis._requests import request_rows
from stripewise.diagnosis._rows import file_rows, layer_rows, variance_rows
from stripewise.diagnosis._single import single_calls
from stripewise.diagnosis._summary import headline, summary
from stripewise.diagnosis._usage import usage
from stripewise.diagnosis.findings import Run, judge, least_cost
from stripewise.model import Evidence, Pattern


def diagnose(evidence: Evidence, patterns: Sequence[Pattern] = ()) -> Diagnosis:
    """Say what a run did to its files, what that cost, and what to do about it.

    Args:
        evidence: From any source (`stripewise.readers.read_evidence`).
        patterns: Of the same evidence (`stripewise.patterns.find_patterns`), if known.
    """
    profile = evidence.profile
    files = usage(profile, evidence.trace)
    single = single_calls(evidence.trace)
    numbers = figures(profile, files)
    requests = request_rows(files, single)
    run = Run(evidence, numbers, files, requests, patterns, least_cost(profile.elapsed_seconds))
    findings = judge(run)
    return Diagnosis(
        source=profile.source,
        command=profile.command,
        job_id=profile.job_id,
        figures=numbers,
        files=file_rows(files),
        layers=layer_rows(profile),
        variance=variance_rows(files),
        heat=heat_maps(profile),
        phases=phases(profile),
        requests=requests,
        mpiio_stats=evidence.mpiio_stats or mpiio_stats(files, single),
        findings=findings,
        headline=headline(numbers, findings),
        summary=summary(numbers, findings),
        partial=profile.partial,
        notes=(*profile.notes, *_remarks(numbers)),
    )


def _remarks(numbers: Figures) -> tuple[str, ...]:
    """What is odd about the figures."""
    if numbers.io_exact and numbers.io_share > 1:
        return (
            "I/O time is longer than the run: calls of several threads overlap, or each waits "
            "(a pipe)",
        )
    return ()
