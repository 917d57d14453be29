# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slow storage targets by their number, within a campaign and across campaigns.

A run is as slow as the slowest target of its files.  Runs are grouped by cases that differ only
in the targets; within a group, the residual of a run is the log of its rate over the group's
median.  A target is judged by the residuals of runs that touch it and of those that do not; their
distribution by chance comes from permuted residuals, over all targets together (Westfall and
Young's maximum), so that the number of targets does not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import exp, isfinite, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.bench._case import Case, CaseRun
from stripewise.bench.campaign import DATA, Campaign, DirectoryStriping
from stripewise.bench.comparison._cells import Floats
from stripewise.present import plural, ratio_text

LEAST_EFFECT = 0.03
"""Least difference of the log of a rate between targets that is reported (chosen)."""
_LEVEL = 0.025 / len(DATA)
_PERMUTATIONS = 1999
_MOST_CELLS = 20_000_000
_SEED = 7
_MOST_FOUND = 8
_MEDIAN = 1.2533
"""Standard error of a median relative to that of a mean, for normal values."""


@dataclass(frozen=True)
class TargetFinding:
    """Target that is slower than the others, or that changed.

    Attributes:
        target: Number of the target.
        operation: "write" or "read".
        ratio: Rate of runs that touch it, relative to similar runs that do not; for two campaigns
            that ratio afterwards relative to the one before.
        low / high: Interval of 95 % of the ratio.
        runs: Number of runs that touch it.
        chance: Probability of such a ratio if all targets are alike, over all targets.
        changed: Whether it is about two campaigns.
    """

    target: int
    operation: str
    ratio: float
    low: float
    high: float
    runs: int
    chance: float
    changed: bool = False

    @property
    def sentence(self) -> str:
        """Sentence on what was found, with its figures."""
        than = (
            "than before, relative to the other targets" if self.changed else "than on the others"
        )
        return (
            f"{self.operation} on target {self.target} is {difference_words(self)} {than} "
            f"({plural(self.runs, 'run')})"
        )


def difference_words(ratio: Any) -> str:
    """Return a ratio with `value` or `ratio`, `low` and `high` as "10 % [8, 12] slower".

    If it is at least twice as fast, the form is "3.1x [2.9, 3.3] as fast".
    """
    value = ratio.ratio if hasattr(ratio, "ratio") else ratio.value
    if value >= 2:
        interval = f"{ratio_text(ratio.low)}, {ratio_text(ratio.high)}"
        return f"{ratio_text(value)}x [{interval}] as fast"
    slower = value < 1
    ends = [100 * (1 - one if slower else one - 1) for one in (ratio.low, ratio.high)]
    low, high = sorted(ends)
    return (
        f"{100 * abs(1 - value):.0f} % [{low:.0f}, {high:.0f}] {'slower' if slower else 'faster'}"
    )


def slow_targets(campaign: Campaign) -> tuple[TargetFinding, ...]:
    """Return the targets that are slower than the others of a campaign, for each operation."""
    found: list[TargetFinding] = []
    for operation in DATA:
        seen = observed(campaign, operation)
        for _ in range(_MOST_FOUND):
            one = _slowest(seen, operation) if seen else None
            if seen is None or one is None:
                break
            found.append(one)
            seen = without_target(seen, one.target)
    return tuple(found)


def changed_targets(before: Campaign, after: Campaign) -> tuple[TargetFinding, ...]:
    """Return the targets that became slower or faster relative to others of their campaign."""
    found: list[TargetFinding] = []
    for operation in DATA:
        one, two = observed(before, operation), observed(after, operation)
        for _ in range(_MOST_FOUND):
            change = _most_changed(one, two, operation) if one and two else None
            if one is None or two is None or change is None:
                break
            found.append(change)
            one, two = without_target(one, change.target), without_target(two, change.target)
    return tuple(found)


def target_effects(campaign: Campaign) -> dict[tuple[str, int], float]:
    """Return (operation, target) to log of the rate on it relative to that on the others."""
    found = {}
    for operation in DATA:
        seen = observed(campaign, operation)
        if seen is not None:
            for place, target in enumerate(seen.targets):
                effect = _contrast(seen, seen.touches[:, place])
                if isfinite(effect):
                    found[operation, target] = effect
    return found


# ---- chance ----------------------------------------------------------------------------------


def _slowest(seen: Observed, operation: str) -> TargetFinding | None:
    usable = _usable(seen.touches)
    if not usable.any():
        return None
    clipped = _clipped(seen.residuals)
    statistic = _standard(clipped[None, :], seen.touches)[0]
    drawn = _permuted(clipped, seen.groups, seen.touches)
    reference = np.nanmax(np.where(usable, -drawn, -np.inf), axis=1)
    worst = int(np.argmax(np.where(usable, -statistic, -np.inf)))
    chance = _chance(-statistic[worst], reference)
    inside = seen.touches[:, worst]
    effect = _contrast(seen, inside)
    half = 1.96 * _error(seen.residuals, inside)
    if chance >= _LEVEL or effect > -max(half, LEAST_EFFECT):
        return None
    return TargetFinding(
        seen.targets[worst], operation, exp(effect), exp(effect - half), exp(effect + half),
        int(inside.sum()), chance,
    )  # fmt: skip


def _most_changed(before: Observed, after: Observed, operation: str) -> TargetFinding | None:
    targets = sorted(set(before.targets) & set(after.targets))
    if not targets:
        return None
    touched = [_columns(one, targets) for one in (before, after)]
    usable = _usable(touched[0]) & _usable(touched[1])
    effects = [
        np.array([_contrast(one, column) for column in columns.T])
        for one, columns in zip((before, after), touched, strict=True)
    ]
    errors = [
        np.array([_error(one.residuals, column) for column in columns.T])
        for one, columns in zip((before, after), touched, strict=True)
    ]
    if not usable.any():
        return None
    statistic, reference = _changes(before, after, touched, usable)
    most = int(np.argmax(np.where(usable, np.abs(statistic), -np.inf)))
    chance = _chance(abs(statistic[most]), reference)
    effect = float(effects[1][most] - effects[0][most])
    half = 1.96 * sqrt(errors[0][most] ** 2 + errors[1][most] ** 2)
    if chance >= _LEVEL or abs(effect) < max(half, LEAST_EFFECT):
        return None
    runs = int(touched[0][:, most].sum() + touched[1][:, most].sum())
    return TargetFinding(
        targets[most], operation, exp(effect), exp(effect - half), exp(effect + half), runs,
        chance, changed=True,
    )  # fmt: skip


def _changes(
    before: Observed,
    after: Observed,
    touched: list[Bools],
    usable: Bools,
) -> tuple[Floats, Floats]:
    """Return the change of each target, and the largest changes of all by chance."""
    own = [
        np.nan_to_num([_contrast(one, column) for column in columns.T])
        for one, columns in zip((before, after), touched, strict=True)
    ]
    found, drawn, errors = [], [], []
    for one, columns, contrasts in zip((before, after), touched, own, strict=True):
        inside = columns.sum(axis=0)
        weight = np.sqrt(1 / np.maximum(inside, 1) + 1 / np.maximum(len(columns) - inside, 1))
        # Lasting differences between targets are not chance; half of a change remains in them.
        left = one.residuals - _lasting(columns, contrasts)
        most = 3 * _deviation(left)
        left = np.clip(left, -most, most) * np.sqrt(1 + 1 / np.maximum(np.median(inside), 2))
        halved = np.clip(one.residuals - _lasting(columns, (own[0] + own[1]) / 2), -most, most)
        found.append(_standard(halved[None, :], columns)[0] * weight)
        drawn.append(_permuted(left, one.groups, columns) * weight)
        errors.append(weight * max(_deviation(left), 1e-9))
    error = np.hypot(errors[0], errors[1])
    fewest = min(len(one) for one in drawn)
    null = np.abs(drawn[1][:fewest] - drawn[0][:fewest]) / error
    return (found[1] - found[0]) / error, np.nanmax(np.where(usable, null, -np.inf), axis=1)


def _lasting(columns: Bools, effects: Floats) -> Floats:
    """Return the effect of the target of each run that touches only one; 0 for others."""
    return np.where(columns.sum(axis=1) == 1, (columns * effects).sum(axis=1), 0.0)


def _columns(one: Observed, targets: list[int]) -> Bools:
    return one.touches[:, [one.targets.index(target) for target in targets]]


def _usable(touches: Bools) -> Bools:
    inside = touches.sum(axis=0)
    return np.asarray((inside >= 2) & (len(touches) - inside >= 2))


def _standard(residuals: Floats, touches: Bools) -> Floats:
    """Return mean on each target less mean off it, for rows of residuals, by its weight."""
    weights = touches.astype(float)
    inside = np.maximum(weights.sum(axis=0), 1e-9)
    outside = np.maximum(len(weights) - inside, 1e-9)
    on = residuals @ weights
    off = residuals.sum(axis=1, keepdims=True) - on
    return np.asarray((on / inside - off / outside) / np.sqrt(1 / inside + 1 / outside))


def _permuted(
    residuals: Floats,
    groups: Integers,
    touches: Bools,
) -> Floats:
    """Return the same statistic for residuals permuted within their groups."""
    chance = np.random.default_rng(_SEED)
    number = int(min(_PERMUTATIONS, max(199, _MOST_CELLS // max(residuals.size, 1))))
    drawn = np.empty((number, residuals.size))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        drawn[:, members] = chance.permuted(np.tile(residuals[members], (number, 1)), axis=1)
    return _standard(drawn, touches)


def _chance(value: float, reference: Floats) -> float:
    return float((1 + np.sum(reference >= value)) / (1 + len(reference)))


def _contrast(seen: Observed, inside: Bools) -> float:
    """Return the mean difference of runs on a target from the others of their group."""
    total, weights = 0.0, 0.0
    for group in np.unique(seen.groups[inside]):
        own = seen.groups == group
        on, off = seen.residuals[own & inside], seen.residuals[own & ~inside]
        if on.size and off.size:
            weight = on.size * off.size / (on.size + off.size)
            total += weight * float(np.median(on) - np.median(off))
            weights += weight
    return total / weights if weights else float("nan")


def _error(residuals: Floats, inside: Bools) -> float:
    """Return the standard error of `_contrast`."""
    if not inside.any() or inside.all():
        return float("nan")
    own = [residuals[one] - np.median(residuals[one]) for one in (inside, ~inside)]
    scale = _deviation(np.concatenate(own))
    return _MEDIAN * scale * sqrt(1 / inside.sum() + 1 / (~inside).sum())


def _deviation(values: Floats) -> float:
    """Return a robust deviation that is not underestimated for few values."""
    middle = np.median(values)
    robust = 1.4826 * float(np.median(np.abs(values - middle)))
    kept = np.clip(values, middle - 3 * robust, middle + 3 * robust) if robust else values
    return max(robust, float(np.std(kept)))


def _clipped(residuals: Floats) -> Floats:
    most = 3 * _deviation(residuals)
    return np.asarray(np.clip(residuals, -most, most))


# Runs by the targets of their files.
#
# The targets of a run's files are in its `layout`: "targets", the numbers of its file's targets,
# or a list of them for each file; and if the runner distinguishes files, "by_file": for each
# "targets", "operation" and "bytes_per_second".  Without either, they follow from a directory with
# one stripe and a first target.

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Observed:
    """Runs of one operation whose targets are known.

    Attributes:
        residuals: Log of each rate over the median of its group: `(n,)`.
        groups: Number of the group of each: `(n,)`.
        touches: Whether a run touches a target: `(n, len(targets))` bool.
        targets: Numbers of the targets.
        names: Names of the groups, by number.
    """

    residuals: Floats
    groups: Integers
    touches: Bools
    targets: tuple[int, ...]
    names: tuple[Hashable, ...]


def observed(campaign: Campaign, operation: str) -> Observed | None:
    """Return the runs of an operation by their targets; None if they do not distinguish any."""
    rows = [one for one in _observations(campaign) if one[1] == operation]
    groups: dict[Hashable, list[tuple[frozenset[int], float]]] = {}
    for group, _, touched, rate in rows:
        groups.setdefault(group, []).append((touched, rate))
    return _observed({name: members for name, members in groups.items() if _differ(members)})


def _differ(members: Iterable[tuple[frozenset[int], float]]) -> bool:
    return len({touched for touched, _ in members}) > 1


def _observed(
    groups: Mapping[Hashable, list[tuple[frozenset[int], float]]],
) -> Observed | None:
    rows = [(name, *one) for name, members in groups.items() for one in members]
    everywhere = frozenset.intersection(*(row[1] for row in rows)) if rows else frozenset()
    targets = sorted(frozenset().union(*(row[1] for row in rows)) - everywhere)
    if len(targets) < 2:
        return None
    place = {target: at for at, target in enumerate(targets)}
    touches = np.zeros((len(rows), len(targets)), dtype=bool)
    for at, (_, touched, _) in enumerate(rows):
        touches[at, [place[one] for one in touched if one in place]] = True
    names = tuple(groups)
    numbers = np.array([number for number, name in enumerate(names) for _ in groups[name]])
    logs = np.array([row[2] for row in rows])
    return Observed(_centred(logs, numbers), numbers, touches, tuple(targets), names)


def _centred(logs: Floats, groups: Integers) -> Floats:
    found = logs.copy()
    for group in np.unique(groups):
        found[groups == group] -= np.median(logs[groups == group])
    return found


def _observations(
    campaign: Campaign,
) -> Iterator[tuple[Hashable, str, frozenset[int], float]]:
    """Yield group, operation, targets and log rate of each run, or of each of its files."""
    for case, runs in campaign.of_cases():
        place = campaign.suite.directories.get(case.directory, DirectoryStriping())
        group = _group(case, place)
        for run in runs:
            yield from _file_observations(run, group)
            touched = _touched(run, place)
            for sample in run.samples if touched else ():
                if sample.operation in DATA and sample.amount > 0:
                    yield group, sample.operation, touched, log(sample.rate)


def _group(case: Case, place: DirectoryStriping) -> Hashable:
    """Return the common properties of cases that differ only in their targets."""
    return replace(case, series="", directory="", repeats=1), replace(place, target=-1)


def _touched(run: CaseRun, place: DirectoryStriping) -> frozenset[int]:
    """Return the targets of a run's files; empty if unknown."""
    found = _numbers(run.layout.get("targets"))
    if not found and place.target >= 0 and place.stripe_count in (0, 1):
        return frozenset({place.target})
    return found


def _numbers(given: Any) -> frozenset[int]:
    """Return the numbers of a list, or of lists in a list (one for each file)."""
    if not isinstance(given, list | tuple):
        return frozenset()
    found: set[int] = set()
    for one in given:
        if isinstance(one, list | tuple):
            found |= _numbers(one)
        elif isinstance(one, int) and not isinstance(one, bool):
            found.add(one)
    return frozenset(found)


def _file_observations(
    run: CaseRun, group: Hashable
) -> Iterator[tuple[Hashable, str, frozenset[int], float]]:
    """Yield targets, operation and rate of each file of a run, if its layout has "by_file"."""
    files = run.layout.get("by_file")
    for one in files if isinstance(files, list | tuple) else ():
        if not isinstance(one, Mapping):
            continue
        touched, rate = _numbers(one.get("targets")), one.get("bytes_per_second")
        operation = one.get("operation", "write")
        if touched and isinstance(rate, int | float) and rate > 0 and operation in DATA:
            yield ("files", group), operation, touched, log(rate)


def without_target(seen: Observed, target: int) -> Observed | None:
    """Return the runs that do not touch a target."""
    place = seen.targets.index(target) if target in seen.targets else None
    if place is None:
        return seen
    kept = ~seen.touches[:, place]
    groups: dict[Hashable, list[tuple[frozenset[int], float]]] = {}
    for number, row, rest in zip(
        seen.groups[kept], seen.touches[kept], seen.residuals[kept], strict=True
    ):
        touched = frozenset(np.array(seen.targets)[row].tolist())
        groups.setdefault(seen.names[number], []).append((touched, float(rest)))
    return _observed({name: members for name, members in groups.items() if _differ(members)})
