# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What several cases have in common: one score, one set of facts, one space of tunables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import exp, inf, isfinite, log, sqrt
from typing import Any

from stripewise.model import (
    ProgramFacts,
    Value,
    Verification,
    VerificationStatus,
    reasons,
)
from stripewise.tunables import Dimension, Layer, SafetyClass, Space, Tunable

_LARGEST = ("n_ranks", "n_hosts", "virtual_nodes")
_SAME = ("pattern", "block", "block_bytes", "file_classes")
"""Facts of one dataset or name: what differs between the cases is not known of all."""
_PROOFS = {"matched_calls": "data calls", "matched_metadata": "calls on objects"}
"""Facts that prove what contract settings need, and of which calls; every case must."""
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
        return all(values) if name in _PROOFS else any(values)
    if name in _SAME:
        return first if all(value == first for value in values) else type(first)()
    if isinstance(first, int | float):
        return max(values) if name in _LARGEST else sum(values)
    if isinstance(first, Mapping):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: reasons(value.get(name, "") for value in values) for name in names}
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(item for value in values for item in value))
    return next((value for value in values if value), first)


def merge_spaces(spaces: Mapping[str, Space], facts: Mapping[str, ProgramFacts]) -> Space:
    """Return the tunables that can act on at least one case, with every value worth trying.

    A setting that needs matched calls is kept only if every case proves them: it reaches all.
    So do values, so that of a setting that changes the file those are kept that every case on
    which it acts has in its ladder: a size that is right for one would bloat another's files.

    Args:
        spaces: Case to its tunables.
        facts: Case to what its first run showed.
    """
    if len(spaces) == 1:
        return next(iter(spaces.values()))
    left_out: dict[str, str] = {}
    found: dict[str, dict[str, Dimension]] = {}
    for case, space in spaces.items():
        for dimension in space.dimensions:
            found.setdefault(dimension.tunable.name, {})[case] = dimension
    merged: list[Dimension] = []
    for name, by_case in found.items():
        knob = next(iter(by_case.values())).tunable
        values = _common_values(knob, by_case, facts)
        if why := _unproven(knob, by_case, facts):
            left_out[name] = why
        elif not values:
            left_out[name] = f"class {knob.safety}: no value is worth trying in every case"
        else:
            merged.append(Dimension(knob, values))
    for name in dict.fromkeys(n for space in spaces.values() for n in space.left_out):
        if name not in found:
            reasons = {c: s.left_out[name] for c, s in spaces.items() if name in s.left_out}
            left_out[name] = _one_reason(reasons)
    merged.sort(key=lambda dimension: dimension.tunable.search.effect_order)
    return Space(tuple(merged), left_out)


def _unproven(knob: Tunable, cases: Iterable[str], facts: Mapping[str, ProgramFacts]) -> str:
    """Say which case lacks a proof that a tunable of these cases needs; "" if none does."""
    if knob.safety is not SafetyClass.CONTRACT:
        return ""
    for fact, calls in _PROOFS.items():
        disproof: dict[str, Any] = {fact: False}
        if any(knob.why_not(replace(facts[case], **disproof)) for case in cases):
            for case, shown in facts.items():
                if shown.uses_parallel_hdf5 and not getattr(shown, fact):
                    return f"class contract: no proof of matched {calls} in {case}"
    return ""


def _common_values(
    knob: Tunable, by_case: Mapping[str, Dimension], facts: Mapping[str, ProgramFacts]
) -> tuple[Value, ...]:
    """Return the values of a tunable that may reach every case.

    A case on which the tunable could act but that has no value worth trying allows none.  The
    ranks of a job are the user's own values, and each case leaves out what it has already.
    """
    values = _values(list(by_case.values()))
    if knob.safety is SafetyClass.SAFE or knob.layer is Layer.JOB:
        return values
    if any(_has_no_value(knob, shown) for case, shown in facts.items() if case not in by_case):
        return ()
    return tuple(v for v in values if all(v in d.values for d in by_case.values()))


def _has_no_value(knob: Tunable, facts: ProgramFacts) -> bool:
    return not knob.why_not(facts) and not knob.search.ladder(facts)


def _values(dimensions: Sequence[Dimension]) -> tuple[Value, ...]:
    """All values of a tunable; in order of size where every case has them so."""
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
