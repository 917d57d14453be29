# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What several cases have in common: one score, one set of facts, one space of knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from math import exp, inf, isfinite, log, sqrt
from typing import Any

from stripewise.model import (
    ProgramFacts,
    Value,
    Verification,
    VerificationStatus,
)
from stripewise.tunables import Dimension, SafetyClass, Space, Tunable

_LARGEST = ("n_ranks", "n_hosts")
_ALL_MUST = ("matched_calls",)
_WORST_FIRST = (
    VerificationStatus.DIFFERENT,
    VerificationStatus.NOT_DONE,
    VerificationStatus.NOT_VERIFIABLE,
    VerificationStatus.SAME_CONTENT,
    VerificationStatus.IDENTICAL,
)


def weighted_mean(ratios: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted geometric mean; inf if a ratio is.

    Geometric, since it treats 2x in one case and 0.5x in another alike, whichever of the
    cases takes longer.
    """
    if not all(isfinite(ratio) for ratio in ratios):
        return inf
    total = sum(weights)
    return exp(sum(w * log(r) for r, w in zip(ratios, weights, strict=True)) / total)


def mean_spread(spreads: Sequence[float], weights: Sequence[float]) -> float:
    """Return the spread of a weighted geometric mean of independent values."""
    squares = ((w * s) ** 2 for s, w in zip(spreads, weights, strict=True))
    return sqrt(sum(squares)) / sum(weights)


def merge_facts(all_facts: Sequence[ProgramFacts]) -> ProgramFacts:
    """Return what one run of every case, one after another, would show.

    Bytes, calls and times are added, ranks and hosts are those of the largest case; what one
    case uses is used; calls are matched only if they are in every case.  Of texts that differ
    the first counts.
    """
    if len(all_facts) == 1:
        return all_facts[0]
    merged: dict[str, Any] = {}
    for item in fields(ProgramFacts):
        values = [getattr(facts, item.name) for facts in all_facts]
        merged[item.name] = _merge(item.name, values)
    return ProgramFacts(**merged)


def _merge(name: str, values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, bool):
        return all(values) if name in _ALL_MUST else any(values)
    if isinstance(first, int | float):
        return max(values) if name in _LARGEST else sum(values)
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(item for value in values for item in value))
    return next((value for value in values if value), first)


def merge_spaces(spaces: Mapping[str, Space], facts: Mapping[str, ProgramFacts]) -> Space:
    """Return the knobs that can act on at least one case, with every value worth trying.

    A setting that needs matched calls is kept only if every case proves them: it reaches all.

    Args:
        spaces: Case to its knobs.
        facts: Case to what its first run showed.
    """
    if len(spaces) == 1:
        return next(iter(spaces.values()))
    left_out: dict[str, str] = {}
    found: dict[str, list[Dimension]] = {}
    for case, space in spaces.items():
        for dimension in space.dimensions:
            name, unproven = dimension.tunable.name, _unproven(dimension.tunable, case, facts)
            if unproven:
                left_out[name] = f"class contract: no proof of matched calls in {unproven}"
            else:
                found.setdefault(name, []).append(dimension)
    for name in dict.fromkeys(n for space in spaces.values() for n in space.left_out):
        if name not in found and name not in left_out:
            reasons = {c: s.left_out[name] for c, s in spaces.items() if name in s.left_out}
            left_out[name] = _one_reason(reasons)
    merged = [Dimension(d[0].tunable, _values(d)) for d in found.values()]
    merged.sort(key=lambda dimension: dimension.tunable.effect_order)
    return Space(tuple(merged), left_out)


def _unproven(knob: Tunable, case: str, facts: Mapping[str, ProgramFacts]) -> str:
    """Return a case that lacks the matched calls which a knob of another case needs; or ""."""
    if knob.safety is not SafetyClass.CONTRACT:
        return ""
    if not knob.why_not(replace(facts[case], matched_calls=False)):
        return ""
    return next((c for c, f in facts.items() if f.uses_hdf5 and not f.matched_calls), "")


def _values(dimensions: Sequence[Dimension]) -> tuple[Value, ...]:
    """All values of a knob; in order of size where every case has them so."""
    merged = tuple(dict.fromkeys(value for d in dimensions for value in d.values))
    numbers = [v for v in merged if isinstance(v, int | float) and not isinstance(v, bool)]
    ascending = all(list(d.values) == sorted(d.values, key=_size) for d in dimensions)
    if len(numbers) == len(merged) and ascending:
        return tuple(sorted(numbers))
    return merged


def _size(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _one_reason(reasons: Mapping[str, str]) -> str:
    if len(set(reasons.values())) == 1:
        return next(iter(reasons.values()))
    return "; ".join(f"{case}: {reason}" for case, reason in reasons.items())


def merge_verifications(found: Mapping[str, Verification]) -> Verification:
    """Return the worst outcome, with every file behind the name of its case."""
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        return Verification(VerificationStatus.NOT_DONE)
    statuses = [verification.status for verification in found.values()]
    return Verification(
        min(statuses, key=_WORST_FIRST.index),
        tuple(f"{case}: {path}" for case, v in found.items() for path in v.compared),
        {f"{c}: {path}": why for c, v in found.items() for path, why in v.not_verifiable.items()},
        {f"{c}: {path}": what for c, v in found.items() for path, what in v.differences.items()},
    )
