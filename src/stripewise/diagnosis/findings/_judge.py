# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From hits to findings: merged, above the threshold, each thing told once, by cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from stripewise.diagnosis._records import Finding, Severity
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.diagnosis.findings._lines import tune_line
from stripewise.diagnosis.findings._registry import RULES

LEAST_SECONDS = 0.1
LEAST_SHARE = 0.01
HIGH_SHARE = 0.1
MOST_FILES = 16
_WORTH_NAMING = 0.01

_Claim = tuple[str, str, bool | None]


def least_cost(run_seconds: float) -> float:
    """Least loss that is worth a finding: 1 % of the run time and 0.1 s. Assumed."""
    return max(LEAST_SECONDS, LEAST_SHARE * run_seconds if run_seconds > 0 else 0.0)


def judge(run: Run, rules: Sequence[Rule] = RULES) -> tuple[Finding, ...]:
    """All findings of a run, the costliest first; those without a cost last."""
    claimed: set[_Claim] = set()
    findings = []
    for rule in rules:
        hits = [hit for hit in rule.hits(run) if not _is_claimed(rule, hit, claimed)]
        of_files = [hit for hit in hits if hit.use is not None]
        of_run = [hit for hit in hits if hit.use is None]
        for some in (of_run, of_files):
            told = merge(some) if some else None
            if told is not None and _worth(rule, told, run):
                findings.append(_finding(rule, told, run))
                claimed.update(claim for hit in some for claim in _claims(rule, hit))
                if rule.group == "metadata" or rule.explains_all:
                    run.told_of.update(hit.use.path for hit in some if hit.use is not None)
    return tuple(sorted(findings, key=lambda found: -(found.cost_seconds or 0.0)))


def merge(hits: Sequence[Hit]) -> Told:
    """Put hits of one rule together.

    Times of files that one rank each used add up for that rank, and the slowest rank counts;
    times of other files add up.  Files that lose less than a hundredth of the worst one are not
    worth naming.
    """
    ordered = tuple(sorted(hits, key=lambda hit: -(hit.cost if hit.cost is not None else 0.0)))
    least = _WORTH_NAMING * (ordered[0].cost or 0.0)
    ordered = tuple(hit for hit in ordered if hit.cost is None or hit.cost >= least)
    paths = dict.fromkeys(hit.use.path for hit in ordered if hit.use is not None)
    costs = [(hit.rank, hit.cost) for hit in ordered if hit.cost is not None]
    return Told(
        hits=ordered,
        cost=_together(costs) if costs else None,
        stake=_together([(hit.rank, hit.stake) for hit in ordered]),
        calls=sum(hit.calls for hit in ordered),
        bytes=sum(hit.bytes for hit in ordered),
        files=tuple(paths)[:MOST_FILES],
        n_files=len(paths),
    )


def _together(parts: Sequence[tuple[int, float]]) -> float:
    by_rank: dict[int, float] = defaultdict(float)
    common = 0.0
    for rank, seconds in parts:
        if rank >= 0:
            by_rank[rank] += seconds
        else:
            common += seconds
    return common + max(by_rank.values(), default=0.0)


def _is_claimed(rule: Rule, hit: Hit, claimed: set[_Claim]) -> bool:
    path = "" if hit.use is None else hit.use.path
    if ("*", path, None) in claimed and path:
        return True
    if path and (rule.group, "", None) in claimed:
        return True
    same = {(rule.group, path, hit.writing), (rule.group, path, None)}
    if hit.writing is None:
        same |= {(rule.group, path, True), (rule.group, path, False)}
    return bool(same & claimed)


def _claims(rule: Rule, hit: Hit) -> list[_Claim]:
    path = "" if hit.use is None else hit.use.path
    claims: list[_Claim] = [(group, path, hit.writing) for group in (rule.group, *rule.also)]
    if rule.explains_all:
        claims.append(("*", path, None))
    return claims


def _worth(rule: Rule, told: Told, run: Run) -> bool:
    if rule.stakeless:
        return True
    if rule.costless:
        return told.stake >= run.threshold
    return told.cost is not None and told.cost >= run.threshold


def _severity(cost: float | None, run: Run) -> Severity:
    if cost is None or cost < run.threshold:
        return Severity.INFO
    whole = run.figures.run_seconds
    if not math.isfinite(whole):
        whole = run.figures.io_seconds
    return Severity.HIGH if cost >= HIGH_SHARE * whole else Severity.WARN


def _finding(rule: Rule, told: Told, run: Run) -> Finding:
    known = (run.figures.io_seconds, run.profile.elapsed_seconds or math.inf)
    most = min((value for value in known if math.isfinite(value)), default=math.inf)
    cost = None if told.cost is None else min(told.cost, most)
    options = rule.tune_options(told)
    evidence: dict[str, float | int | str] = {"seconds": told.stake}
    if told.calls:
        evidence["calls"] = told.calls
    if told.bytes:
        evidence |= {"bytes": told.bytes}
    if told.calls and told.bytes:
        evidence["mean_bytes"] = told.mean_bytes
    return Finding(
        code=rule.code,
        severity=_severity(cost, run),
        phrase=rule.phrase(told),
        text=rule.text(told),
        evidence=evidence | dict(told.first.evidence),
        cost_seconds=cost,
        stake_seconds=min(told.stake, most),
        cost_basis=rule.basis,
        remedy=rule.remedy(told),
        lines=rule.lines(told, run),
        tune="" if options is None else tune_line(run, options),
        files=told.files,
        n_files=told.n_files,
    )
