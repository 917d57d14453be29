# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs by the targets of their files.

Where a run's files lie is in its `layout`: "targets", the numbers of its file's targets, or a list
of them for each file; and if the runner tells files apart, "by_file": for each "targets",
"operation" and "bytes_per_second".  Without either, a directory with one stripe and a first
target says it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.bench._campaign import Campaign
from stripewise.bench._case import Case
from stripewise.bench._cells import DATA
from stripewise.bench._pooled import Floats
from stripewise.bench._sample import CaseRun
from stripewise.bench._suite import Place

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Observed:
    """Runs of one operation whose targets are known.

    Attributes:
        residuals: Log of each rate over the median of its group: `(n,)`.
        groups: Number of the group of each: `(n,)`.
        touches: Whether a run touches a target: `(n, len(targets))` bool.
        targets: Their numbers.
        names: Of the groups, by number.
    """

    residuals: Floats
    groups: Integers
    touches: Bools
    targets: tuple[int, ...]
    names: tuple[Hashable, ...]


def observed(campaign: Campaign, operation: str) -> Observed | None:
    """Return the runs of an operation by their targets; None: they tell none apart."""
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
        place = campaign.suite.directories.get(case.directory, Place())
        group = _group(case, place)
        for run in runs:
            yield from _of_files(run, group)
            touched = _touched(run, place)
            for sample in run.samples if touched else ():
                if sample.operation in DATA and sample.amount > 0:
                    yield group, sample.operation, touched, log(sample.rate)


def _group(case: Case, place: Place) -> Hashable:
    """Return what cases have in common that differ only in the targets that they use."""
    return replace(case, series="", directory="", repeats=1), replace(place, target=-1)


def _touched(run: CaseRun, place: Place) -> frozenset[int]:
    """Return the targets of a run's files; none: they are not known."""
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


def _of_files(
    run: CaseRun, group: Hashable
) -> Iterator[tuple[Hashable, str, frozenset[int], float]]:
    """Yield targets, operation and rate of each file of a run, where its layout has "by_file"."""
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
