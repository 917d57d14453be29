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
from stripewise.evidence.diagnosis._facts_base import SeenRun
from stripewise.evidence.diagnosis._judge import judge, tune_line
from stripewise.evidence.diagnosis._tell import CAUSES, tell
from stripewise.evidence.figures import (
    Check,
    Diagnosis,
    Fact,
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
from stripewise.evidence.trace import SIZE_EDGES, Evidence, IoLayer
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
    facts, checks = tell(SeenRun(run, whole))
    line = headline(numbers, findings, facts, checks, _search(run))
    untimed = "" if math.isfinite(numbers.io_seconds) else numbers.missing["io_seconds"]
    return Diagnosis(
        source=profile.source,
        command=profile.command,
        job_id=profile.job_id,
        figures=numbers,
        files=file_rows(files, untimed),
        layers=layer_rows(whole, profile.gaps, untimed, sum(use.fallen for use in files)),
        variance=variance_rows(files),
        heat=tuple(heat_maps(profile)),
        phases=phases(profile),
        requests=request_rows(files, traced, evidence.mpiio_stats),
        mpiio_stats=evidence.mpiio_stats or mpiio_stats(files, traced),
        findings=findings,
        opening=opening(numbers),
        facts=facts,
        checks=checks,
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


# A run in a few whole sentences.

UNTOLD = "What a change would save cannot be told in advance."

LEAST_IO_SHARE = 0.05
LEAST_CAUSE = 0.1
"""Share of the run below which I/O is no concern. Source: docs/reference/findings.md (assumed)."""


def opening(figures: Figures) -> str:
    """Return the share of I/O and the amounts in one sentence."""
    if not figures.n_files and not figures.io_seconds > 0:
        why = figures.why_missing
        return f"What the program read and wrote is unknown: {why}." if why else "No I/O was seen."
    if not math.isfinite(figures.io_seconds) and figures.amount("io_seconds").value is None:
        return f"{_moved(figures)}; times are not known."
    rate = figures.rate_bytes_per_second
    speed = f", {size(rate)}/s" if rate > 0 else ""
    return f"{_share(figures)}{_times(figures)}: {_moved(figures, is_first=False)}{speed}."


def headline(
    figures: Figures,
    findings: Sequence[Finding],
    facts: Sequence[Fact] = (),
    checks: Sequence[Check] = (),
    search: str = "",
) -> str:
    """Return the opening with the costliest finding and its remedy, or with the main fact.

    Args:
        figures: Figures of the run.
        findings: Its findings, the costliest first.
        facts: Its facts, the most important first.
        checks: What was looked for besides.
        search: Command that searches for settings; empty if there is none for this program.
    """
    first = opening(figures)
    if not figures.n_files and not figures.io_seconds > 0:
        return first
    but = _but(figures.why_missing if _is_partly_seen(figures) else "")
    unusual = [fact for fact in facts if fact.unusual]
    if costly := _costly(findings):
        # Where the finding is not about most of the time, the main fact comes first.
        is_less = bool(unusual) and costly[0].stake_seconds < 0.5 * unusual[0].seconds
        told = f"{unusual[0].text} " if is_less else ""
        return f"{first} {told}{_worst(figures, costly[0])}.{but}"
    if figures.io_share < LEAST_IO_SHARE and not figures.missing.get("io_seconds"):
        waiting = "".join(f" {fact.text}" for fact in unusual if fact.code == "waiting")
        return f"{first}{waiting} Nothing stands out: I/O is less than 5 % of the run.{but}"
    if not unusual:
        return f"{first} {_nothing(figures, checks, findings, search)}{but}"
    return f"{first} {unusual[0].text} {_remedy(unusual[0], findings, search)}{but}"


def _nothing(
    figures: Figures, checks: Sequence[Check], findings: Sequence[Finding], search: str
) -> str:
    """Return a cause without a claim, or that nothing is unusual and how much was looked at."""
    least = LEAST_CAUSE * figures.io_seconds
    causes = [one for one in findings if one.tune and one.lines and one.stake_seconds >= least]
    if causes:
        worst = max(causes, key=lambda found: found.stake_seconds)
        return (
            f"{seconds(worst.stake_seconds)} of it went into {worst.phrase}. To try: "
            f"{worst.advice}; {_bound(worst.stake_seconds)}."
        )
    seen = sum(not check.why_unknown for check in checks)
    if not seen:
        return "This source does not record what could be judged."
    remarks = f"; {things(len(findings), 'remark')}" if findings else ""
    only = f" Only an experiment can tell what settings gain: `{search}`." if search else ""
    return f"Nothing stands out among {things(seen, 'fact')} that were checked{remarks}.{only}"


def _remedy(fact: Fact, findings: Sequence[Finding], search: str) -> str:
    """Return what to try with the most that it can save, and how to search for settings."""
    cause = next((found for found in findings if found.code in CAUSES.get(fact.code, ())), None)
    text = UNTOLD
    if cause is not None:
        text = f"To try: {cause.advice}; {_bound(cause.stake_seconds)}."
    elif fact.advice:
        text = f"To try: {fact.advice}; {_bound(fact.seconds)}."
    return f"{text} To search for settings by experiment: `{search}`." if search else text


def _bound(stake_seconds: float) -> str:
    """Return the most that a change can save: the time of the calls concerned."""
    if not stake_seconds > 0:  # or unknown
        return "what that saves cannot be told in advance"
    return f"that can save at most the {seconds(stake_seconds)} of these calls"


def _search(run: PreparedRun) -> str:
    """Return the command that tunes this program if it uses what settings can change."""
    tunable = any(use.top >= IoLayer.MPIIO for use in run.files)
    return tune_line(run, "") if tunable else ""


def _times(figures: Figures) -> str:
    if not math.isfinite(figures.run_seconds) or not math.isfinite(figures.io_share):
        return ""
    io = min(_known_seconds(figures), figures.run_seconds)
    return f" ({seconds(io)} of {seconds(figures.run_seconds)})"


def further(findings: Sequence[Finding]) -> str:
    """Return the number of findings beyond the one in the headline as text; empty if none."""
    more = len(findings) - 1
    if more < 1 or not _costly(findings):
        return ""
    return f" {things(more, 'more finding')}: `stripewise profile`."


def _costly(findings: Sequence[Finding]) -> list[Finding]:
    return [found for found in findings if found.severity is not Severity.INFO]


def _but(why: str) -> str:
    return f" Not all of the run is known: {why}." if why else ""


def _is_partly_seen(figures: Figures) -> bool:
    """Return whether some of the I/O is missing, apart from times that the source never has."""
    return any(figures.missing.get(name) for name in ("read_bytes", "write_bytes")) or (
        "io_seconds" in figures.missing and math.isfinite(figures.io_seconds)
    )


def _moved(figures: Figures, *, is_first: bool = True) -> str:
    parts = [
        f"{amount.words(size)} {verb}"
        for name, verb in (("read_bytes", "read"), ("write_bytes", "written"))
        if (amount := figures.amount(name)).value
    ]
    nothing = "unknown amounts" if _is_partly_seen(figures) else "no data"
    phrase = " and ".join(parts) or nothing
    phrase = f"{phrase[:1].upper()}{phrase[1:]}" if is_first else phrase
    return f"{phrase} in {things(figures.n_files, 'file')}"


def _known_seconds(figures: Figures) -> float:
    """Return the I/O time; of a run that is known in part, the certain part."""
    is_exact = figures.amount("io_seconds").is_exact
    return figures.io_seconds if is_exact else figures.io_low_seconds


def _share(figures: Figures) -> str:
    known = _known_seconds(figures)
    least = not figures.amount("io_seconds").is_exact
    if not math.isfinite(figures.io_share):
        return f"{'At least ' if least else ''}{seconds(known)} of I/O"
    text = f"{percent(min(known / figures.run_seconds, 1.0))} of the run was I/O"
    if least:
        return f"At least {text}"
    return text if figures.io_exact else f"At most {text}"


def _worst(figures: Figures, worst: Finding) -> str:
    return f"{seconds(worst.stake_seconds)} of it went into {worst.phrase}. {worst.advice}"


# A diagnosis as data for JSON; docs/reference/profile.schema.json is the schema.

VERSION = 1
_FIRST = ("headline", "opening", "facts", "checks")
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
    told = to_json(listed)
    document |= {name: told[name] for name in _FIRST} | told
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
