# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""OMPIO, the MPI-IO of Open MPI 4.1."""

from __future__ import annotations

from dataclasses import replace

from stripewise.model import Pattern
from stripewise.simulation._requests import Phase, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Setup, Stack
from stripewise.simulation.stacks._mpiio import is_collective, through_view
from stripewise.simulation.stacks._ompio_job import Job
from stripewise.simulation.stacks._ompio_phases import phases_of
from stripewise.simulation.stacks._ompio_requests import moves_of
from stripewise.simulation.stacks._ompio_settings import (
    TUNABLES,
    Ompio,
    Stripes,
    algorithm,
    read_settings,
)
from stripewise.simulation.stacks._pieces import (
    file_numbers,
    in_order,
    ranges_of,
)
from stripewise.simulation.stacks._placed import merged, steps, steps_looked_at, times
from stripewise.simulation.stacks._shape import shape_of


class OmpioStack(Stack):
    """OMPIO as Debian builds it: it does not know Lustre, and takes vulcan for all."""

    name = "ompio"
    summary = "OMPIO of Open MPI 4.1, on any file system"
    tunables = TUNABLES
    default = "vulcan"

    def stripes(self, setup: Setup) -> Stripes:
        """Return what the file system tells OMPIO of the stripes."""
        del setup
        return Stripes()

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        ompio = read_settings(setup)
        collective = algorithm(ompio, work.ranks, self.default)
        ways = dict.fromkeys((one.file, one.writing) for one in work.patterns)
        found = [
            phase
            for way in ways
            for phase in _opens(work.ranks, float(work.opens(*way)), writing=way[1])
        ]
        for one in steps_looked_at(work):
            fcoll = collective if is_collective(one.pattern) else "individual"
            job = Job(one, shape_of(one.pattern, work), work, setup.layout, fcoll,
                      _for(one.pattern, ompio), self.stripes(setup))  # fmt: skip
            found += [times(phase, one.times) for phase in phases_of(job)]
        return merged(found, flowing=work.flowing)

    def requests(self, work: Workload, setup: Setup) -> Requests:
        ompio, numbers = read_settings(setup), file_numbers(work)
        collective = algorithm(ompio, work.ranks, self.default)
        tables, phase = [], 0
        for one in steps(work):
            pattern = one.pattern
            ranges = ranges_of(pattern)
            fcoll = collective if is_collective(pattern) else "individual"
            there = replace(ranges, offset=ranges.offset + one.base)
            moves = moves_of(there, work, fcoll, _for(pattern, ompio), self.stripes(setup),
                             writing=pattern.writing)  # fmt: skip
            tables.append(moves.table(phase, numbers[pattern.file]))
            phase += moves.rounds
        return in_order(tables)


def _opens(ranks: int, number: float, *, writing: bool) -> list[Phase]:
    """Return the phases of the opens of a file.

    Each rank makes a small file and removes it, to see whether the file system has locks
    (sharedfp_lockedfile_component.c), and asks which file system it is on (fs_base_get_fstype).
    Rank 0 opens the file before the others do.  Source: measured, Open MPI 4.1.4.
    """
    others = {"open": ranks - 1} if ranks > 1 else {}
    steps = [{"create": ranks}, {"remove": ranks}, others, {"stat": ranks}, {"stat": ranks}]
    first = "create" if writing else "open"
    return [
        Phase("open", metadata={first: 1}),
        *([Phase("open", number - 1, metadata={"open": 1})] if number > 1 else []),
        *(Phase("open", number, metadata=one) for one in steps if one),
    ]


class OmpioLustre(OmpioStack):
    """OMPIO built with its component for Lustre, which takes dynamic_gen2 there."""

    name = "ompio-lustre"
    summary = "OMPIO of Open MPI 4.1 with its Lustre component"
    default = "dynamic_gen2"

    def stripes(self, setup: Setup) -> Stripes:
        return Stripes(setup.layout.stripe_count, setup.layout.stripe_size)


def _for(pattern: Pattern, ompio: Ompio) -> Ompio:
    """Return the parameters without data sieving, where each piece is a call by itself."""
    return ompio if through_view(pattern) else replace(ompio, read_sieving=False)
