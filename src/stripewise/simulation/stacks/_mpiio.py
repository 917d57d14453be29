# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What all stacks over ROMIO have in common: opens, and which calls are collective."""

from __future__ import annotations

from abc import abstractmethod

from stripewise.errors import UsageError
from stripewise.model import Pattern
from stripewise.simulation._requests import Phase, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._aggregators import Aggregators, romio_aggregators
from stripewise.simulation.stacks._base import Setup, Stack
from stripewise.simulation.stacks._geometry import Geometry, geometry_of
from stripewise.simulation.stacks._hints import Hints, read_hints
from stripewise.simulation.stacks._independent import OwnCall, own_phases
from stripewise.simulation.stacks._placed import merged, sampled

THROUGH_VIEWS = frozenset({"view", "pnetcdf"})
"""Sources whose independent accesses are one call with a file view: they are sieved.

HDF5 hands independent accesses to MPI-IO piece by piece.
"""


class RomioStack(Stack):
    """A stack over ROMIO or one of its kin."""

    config_list = "*:1"

    def aggregators(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the ranks that may aggregate."""
        return romio_aggregators(work, hints, setup.hosts)

    @abstractmethod
    def buffers(self, geometry: Geometry, hints: Hints) -> bool:
        """Tell whether a collective call is buffered, where hints leave it open."""

    @abstractmethod
    def collective(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """Return the phases of one buffered collective call."""

    def own(
        self, geometry: Geometry, base: int, setup: Setup, hints: Hints, collective: bool
    ) -> OwnCall:
        """Return a call that every rank carries out by itself."""
        writing = geometry.pattern.writing
        sieve = 0
        if sieved(geometry.pattern, hints, collective):
            sieve = hints.ind_wr_buffer_size if writing else hints.ind_rd_buffer_size
        return OwnCall(geometry, base, setup.layout, sieve)

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """See `Stack.phases`."""
        hints = read_hints(setup, config_list=self.config_list)
        openers = self.aggregators(work, hints, setup).count if hints.deferred_open else 0
        phases: list[Phase] = []
        for one in sampled(work):
            geometry = geometry_of(one.pattern)
            if geometry is None:
                continue
            collective = one.pattern.collective > 0.5
            if collective and self.goes_together(geometry, hints):
                made = self.collective(geometry, one.base, work, setup, hints)
            else:
                made = own_phases(self.own(geometry, one.base, setup, hints, collective), work)
            phases += [_times(phase, one.times) for phase in made]
        return merged([*opens(work, openers), *phases])

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """See `Stack.requests`."""
        raise UsageError(f"the requests of {self.name} cannot be told one by one yet")

    def goes_together(self, geometry: Geometry, hints: Hints) -> bool:
        """Tell whether a collective call is buffered."""
        said = hints.buffering(geometry.pattern.writing)
        return said == "enable" or (said != "disable" and self.buffers(geometry, hints))


def sieved(pattern: Pattern, hints: Hints, collective: bool) -> bool:
    """Tell whether accesses with holes that ranks make for themselves are sieved."""
    return (collective or pattern.source in THROUGH_VIEWS) and hints.sieves(pattern.writing)


def opens(work: Workload, openers: int = 0) -> list[Phase]:
    """Return a phase for the opens of each file: rank 0 makes it, then all open it.

    Args:
        work: The workload.
        openers: Processes that open a file; 0: all.

    Source: ROMIO, adio/common/ad_opencoll.c.
    """
    new: dict[str, bool] = {}
    for pattern in work.patterns:
        new[pattern.file] = new.get(pattern.file, False) or pattern.writing
    made = sum(new.values())
    counts = {"stat": len(new), "create": made, "open": len(new) * (openers or work.ranks)}
    return [Phase("open", metadata={key: n for key, n in counts.items() if n})] if new else []


def _times(phase: Phase, times: float) -> Phase:
    if times == 1:
        return phase
    return Phase(
        phase.name, phase.repeats * times, phase.flows, phase.exchange_bytes, phase.ranks,
        phase.metadata,
    )  # fmt: skip
