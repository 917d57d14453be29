# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several datasets that one collective call moves together, as PnetCDF's `wait_all` does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from stripewise.simulation._requests import Phase, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Setup
from stripewise.simulation.stacks._geometry import Geometry, geometry_of
from stripewise.simulation.stacks._hints import Hints, read_hints
from stripewise.simulation.stacks._mpiio import Asked, RomioStack
from stripewise.simulation.stacks._pieces import (
    Ranges,
    file_numbers,
    in_order,
    joined,
    ranges_of,
)
from stripewise.simulation.stacks._placed import Placed, merged, placed, sampled, times
from stripewise.simulation.stacks._regular import Level, Regular


class Gathered(RomioStack):
    """Datasets of one file, direction and step are moved by one call."""

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """See `Stack.phases`."""
        hints = read_hints(setup, config_list=self.config_list)
        phases = self.first_phases(work, setup, hints)
        for group in _groups(self.datasets(work, setup), sampled):
            made = self._moved(group, work, setup, hints)
            phases += [times(phase, group[0].times) for phase in made]
        return merged(phases)

    def _moved(
        self, group: list[Placed], work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """Return the phases of one call; of several, where it isn't collective or has holes."""
        found = [(geometry_of(one.pattern), one.base) for one in group]
        parts = [(geometry, base) for geometry, base in found if geometry is not None]
        whole = _whole(parts)
        if whole is not None:
            geometry, base = whole
            asked = Asked.of(geometry, work.ranks, base)
            if self.together(geometry.pattern, asked, hints):
                return self.collective(geometry, base, work, setup, hints)
        every = [self.call(geometry, base, work, setup, hints) for geometry, base in parts]
        return list(itertools.chain.from_iterable(every))

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """See `Stack.requests`."""
        hints = read_hints(setup, config_list=self.config_list)
        numbers = file_numbers(work)
        tables, phase = self.first_requests(work, setup)
        for group in _groups(self.datasets(work, setup), placed):
            ranges = _ranges(group)
            if not ranges.rank.size:
                continue
            first = group[0]
            moves = self.call_moves(ranges, first.base, first.pattern, work, setup, hints)
            tables.append(moves.table(phase, numbers[first.pattern.file]))
            phase += moves.rounds
        return in_order(tables)


def _groups(
    datasets: Iterable[Placed], steps: Callable[[Placed], Iterable[Placed]]
) -> Iterator[list[Placed]]:
    """Yield what one call moves: a step of all datasets that follow each other in one file."""

    def call(one: Placed) -> tuple[object, ...]:
        pattern = one.pattern
        return pattern.file, pattern.writing, pattern.collective > 0.5, pattern.steps

    for _, several in itertools.groupby(datasets, call):
        for group in zip(*(list(steps(one)) for one in several), strict=False):
            yield list(group)


def _ranges(group: list[Placed]) -> Ranges:
    """Return what all ranks move of several datasets, in the file."""
    every = [
        replace(ranges, offset=ranges.offset + one.base)
        for one in group
        for ranges in (ranges_of(one.pattern),)
    ]
    return joined(Ranges.together(every))


def _whole(parts: list[tuple[Geometry, int]]) -> tuple[Geometry, int] | None:
    """Return several datasets as one, and where it begins; None if they have holes.

    What lies between variables of different sizes, less than their alignment, counts as data.
    """
    if not parts or not all(geometry.union.is_contiguous for geometry, _ in parts):
        return None
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda part: part[1] + part[0].union.first)
    begins = [base + geometry.union.first for geometry, base in parts]
    sizes = {geometry.union.size for geometry, _ in parts}
    apart = {after - before for before, after in itertools.pairwise(begins)}
    ranks = max(geometry.ranks for geometry, _ in parts)
    if len(sizes) == len(apart) == 1 and min(apart) > min(sizes):
        size, step = min(sizes), min(apart)
        outer = Level(0, 0, 1, len(parts), len(parts), step)
        union = Regular((outer, Level(0, 0, 1, size, size, 1)))
    else:
        end = max(base + geometry.union.end for geometry, base in parts)
        union = Regular((Level(0, 0, 1, end - begins[0], end - begins[0], 1),))
    first = parts[0][0]
    return replace(
        first, union=union, ranks=ranks, bytes=sum(geometry.bytes for geometry, _ in parts),
        classes=tuple(one for geometry, _ in parts for one in geometry.classes),
        extent=union.end, interleaved=ranks > 1,
    ), begins[0]  # fmt: skip
