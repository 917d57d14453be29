# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the costs of a storage change what may be saved, and nothing else that is said."""

from __future__ import annotations

from dataclasses import replace

from stripewise.core import Exchange, Interval, StorageCosts
from stripewise.evidence.diagnosis import RULES, diagnose
from stripewise.evidence.diagnosis._base import PreparedRun
from stripewise.evidence.diagnosis._judge import _grouped, _merge
from stripewise.evidence.figures import figures, usage
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.trace import Evidence
from stripewise.storage.machines._description import _slowed_costs


def _exactly(seconds: float) -> Interval:
    return Interval(0.9 * seconds, seconds, 1.1 * seconds)


_REQUESTS = {size: _exactly(1e-5 + size / (1 << 30)) for size in (16, 4096, 65536, 1 << 20)}
_PIECES = {64: _exactly(1e-8), 4096: _exactly(2e-9), 1 << 20: _exactly(1e-9)}
MEASURED = StorageCosts(
    measured=1.0,
    write=_REQUESTS,
    read=_REQUESTS,
    sync={4096: _exactly(0.01), 1 << 30: _exactly(1.0)},
    calls={name: _exactly(1e-5) for name in ("open", "create", "stat", "unlink")},
    processors=8,
    exchange=[
        Exchange(stack, 2, collective, _exactly(1e-3), _PIECES, _PIECES)
        for stack in ("mpich", "openmpi-romio")
        for collective in (True, False)
    ],
)
STORAGES = {
    "assumed": StorageCosts(),
    "measured": MEASURED,
    "fast": _slowed_costs(MEASURED, 0.05),
    "slow": _slowed_costs(MEASURED, 20.0),
    "disturbed": MEASURED.widened(2.0, "other programs used 90 % of the processors"),
    "one processor": replace(MEASURED, processors=1, exchange=()),
}


def differences(evidence: Evidence) -> list[str]:
    """Return what is said of a run with some costs and is hidden by others."""
    patterns = find_patterns(evidence.accesses)
    told = {name: diagnose(evidence, patterns, costs) for name, costs in STORAGES.items()}
    first = [(one.code, one.text) for one in told["assumed"].facts]
    found = [
        f"the facts differ with the costs {name!r}"
        for name, one in told.items()
        if [(fact.code, fact.text) for fact in one.facts] != first
    ]
    codes = {name: {one.code for one in diagnosis.findings} for name, diagnosis in told.items()}
    groups = {rule.code: rule.group for rule in RULES}
    for name, costs in STORAGES.items():
        for code in sorted(set().union(*codes.values()) - codes[name]):
            high, least = _highest_gain(evidence, costs, code)
            instead = {one for one in codes[name] if groups[one] == groups[code]}
            if high >= least and not instead:
                found.append(f"{code} is hidden by the costs {name!r}")
    return found


def _highest_gain(evidence: Evidence, costs: StorageCosts, code: str) -> tuple[float, float]:
    """Return the most that a remedy may save with these costs, and the least worth a change."""
    whole, files = usage(evidence.profile, evidence.trace)
    numbers = figures(evidence.profile, whole, files)
    run = PreparedRun(evidence.profile, evidence.trace, numbers, files, (), costs)
    (rule,) = (one for one in RULES if one.code == code)
    merged = [_merge(some) for some in _grouped(list(rule.hits(run)))]
    gains = [float("inf") if one.gain is None else one.gain.high for one in merged]
    return max(gains, default=0.0), run.least_gain
