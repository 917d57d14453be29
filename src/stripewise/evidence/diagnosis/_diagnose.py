# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Diagnoses the evidence of a run, summarizes it in one line and exports it as JSON data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stripewise.core import StorageCosts, to_json, with_unknown
from stripewise.evidence.diagnosis._base import PreparedRun
from stripewise.evidence.diagnosis._judge import judge
from stripewise.evidence.figures import (
    Diagnosis,
    Figures,
    Finding,
    Severity,
    figures,
    file_rows,
    layer_rows,
    mpiio_stats,
    request_rows,
    sides,
    usage,
    variance_rows,
)
from stripewise.evidence.figures.heat_cells import heat_maps, phases
from stripewise.evidence.patterns import Pattern
from stripewise.evidence.trace import SIZE_EDGES, Evidence
from stripewise.present import number_text as number
from stripewise.present import percent_text as percent
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size


def diagnose(
    evidence: Evidence, patterns: Sequence[Pattern] = (), storage: StorageCosts | None = None
) -> Diagnosis:
    """Determine what a run did to its files, what that cost, and how to improve it.

    Args:
        evidence: Evidence from any source (`stripewise.evidence.readers.read_evidence`).
        patterns: Patterns of this evidence (`stripewise.evidence.patterns.find_patterns`), if
            known.
        storage: Cost of requests on the storage of the files; None without a measurement.
    """
    profile = evidence.profile
    whole, files = usage(profile, evidence.trace)
    traced = sides(evidence.trace)
    numbers = figures(profile, whole, files)
    run = PreparedRun(profile, evidence.trace, numbers, files, patterns, storage or StorageCosts())
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
    """Yield remarks on unusual figures, and on the assumptions behind the claims."""
    if numbers.io_exact and numbers.io_share > 1:
        yield (
            "I/O time is longer than the run: calls of several threads overlap, or each waits "
            "(a pipe)"
        )
    if any(found.cost_seconds is not None and not found.measured for found in findings):
        yield (
            "estimated savings rest on assumed costs of the storage; on the machine of the "
            "run `stripewise machine probe DIR` measures these costs"
        )


# A run in one line, in whole sentences.


def headline(figures: Figures, findings: Sequence[Finding]) -> str:
    """Return the share of I/O with the costliest finding and first remedy, or that all is well."""
    why = figures.why_missing if _is_partly_seen(figures) else ""
    if not figures.n_files:
        return f"What the program read and wrote is unknown: {why}." if why else "No I/O was seen."
    if costly := _costly(findings):
        return f"{_share(figures)}: {_worst(figures, costly[0])}.{_but(why)}"
    if why:
        seen = _moved(figures) if figures.amount("io_seconds").value is None else _share(figures)
        remarks = f"; {things(len(findings), 'remark')}" if findings else ""
        return f"{seen}{remarks}.{_but(why)}"
    if not math.isfinite(figures.io_seconds):
        return f"{_moved(figures)}; times are not known; {_end(findings)}."
    rate = figures.rate_bytes_per_second
    speed = f"{size(rate)}/s to " if rate > 0 else ""
    whole = f" of {seconds(figures.run_seconds)}" if math.isfinite(figures.run_seconds) else ""
    files = things(figures.n_files, "file")
    return (
        f"{_share(figures)} ({seconds(figures.io_seconds)}{whole}, {speed}{files}); "
        f"{_end(findings)}."
    )


def further(findings: Sequence[Finding]) -> str:
    """Return the number of findings beyond the one in the headline as text; empty if none."""
    more = len(findings) - 1
    if more < 1 or not _costly(findings):
        return ""
    return f" {things(more, 'more finding')}: `stripewise profile`."


def _costly(findings: Sequence[Finding]) -> list[Finding]:
    return [found for found in findings if found.severity is not Severity.INFO]


def _end(findings: Sequence[Finding]) -> str:
    return things(len(findings), "remark") if findings else "no known cause of slow I/O was found"


def _but(why: str) -> str:
    return f" Not all of the run is known: {why}." if why else ""


def _is_partly_seen(figures: Figures) -> bool:
    """Return whether some of the I/O is missing, apart from times that the source never has."""
    return any(figures.missing.get(name) for name in ("read_bytes", "write_bytes")) or (
        "io_seconds" in figures.missing and math.isfinite(figures.io_seconds)
    )


def _moved(figures: Figures) -> str:
    parts = [
        f"{amount.words(size)} {verb}"
        for name, verb in (("read_bytes", "read"), ("write_bytes", "written"))
        if (amount := figures.amount(name)).value
    ]
    nothing = "Unknown amounts" if _is_partly_seen(figures) else "No data"
    phrase = " and ".join(parts)
    return f"{phrase[:1].upper()}{phrase[1:] or nothing} in {things(figures.n_files, 'file')}"


def _share(figures: Figures) -> str:
    least = not figures.amount("io_seconds").is_exact
    known = figures.io_low_seconds if least else figures.io_seconds
    if not math.isfinite(figures.io_share):
        return f"{'At least ' if least else ''}{seconds(known)} of I/O"
    text = f"{percent(min(known / figures.run_seconds, 1.0))} of the run was I/O"
    if least:
        return f"At least {text}"
    return text if figures.io_exact else f"At most {text}"


def _worst(figures: Figures, worst: Finding) -> str:
    part = f"{number(worst.stake_seconds)} of {seconds(figures.io_seconds)}"
    return f"{part} in {worst.phrase}. {worst.advice}"


# A diagnosis as data for JSON; docs/reference/profile.schema.json is the schema.

VERSION = 1
_BOUNDED = ("files", "variance", "requests", "mpiio_stats")


def profile_to_json(
    diagnosis: Diagnosis, patterns: Sequence[Pattern] = (), *, files: int | None = None
) -> dict[str, Any]:
    """Return a profile and its diagnosis as one JSON document.

    Args:
        diagnosis: Diagnosis to include.
        patterns: Patterns of the same evidence.
        files: Maximum number of files, shared files and requests to list; None for all.
    """
    document: dict[str, Any] = {"version": VERSION, "size_edges": list(SIZE_EDGES)}
    listed = replace(diagnosis, **{name: getattr(diagnosis, name)[:files] for name in _BOUNDED})
    document |= to_json(listed)
    document["figures"] = with_unknown(document["figures"], diagnosis.figures)
    for name in ("files", "layers"):
        rows = zip(document[name], getattr(listed, name), strict=True)
        document[name] = [with_unknown(data, row) for data, row in rows]
    document |= {f"{name}_total": len(getattr(diagnosis, name)) for name in _BOUNDED}
    document["findings"] = [
        to_json(found) | {"title": found.title, "advice": found.advice}
        for found in diagnosis.findings
    ]
    document["patterns"] = [
        to_json(pattern) | {"notation": pattern.notation} for pattern in patterns
    ]
    return document
