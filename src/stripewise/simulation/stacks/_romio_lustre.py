# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO with its Lustre driver, as MPICH 4.0.2 has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stripewise.model import Value
from stripewise.simulation._requests import Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._aggregators import Aggregators
from stripewise.simulation.stacks._base import Setup
from stripewise.simulation.stacks._cyclic import CyclicCall, cyclic_phases
from stripewise.simulation.stacks._exact import Moves, cyclic_moves
from stripewise.simulation.stacks._geometry import Geometry
from stripewise.simulation.stacks._hints import LUSTRE_NAMES, NAMES, Hints, names
from stripewise.simulation.stacks._mpiio import Asked
from stripewise.simulation.stacks._pieces import Ranges
from stripewise.simulation.stacks._romio import Romio
from stripewise.tunables import lustre_aggregators


class RomioLustre(Romio):
    """ROMIO's Lustre driver: writes by stripes, reads as the generic driver, aligned to stripes.

    Source: ROMIO, adio/ad_lustre of MPICH 4.0.2.
    """

    name = "romio-lustre"
    summary = "ROMIO with its Lustre driver: collective writes stripe by stripe"
    tunables = names(*NAMES, *LUSTRE_NAMES) - names("striping_unit")
    asks_for_layouts = True

    def layout_defaults(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Ask for all targets where only the size of stripes is given (ad_lustre_open.c)."""
        only_size = bool(settings.get("mpiio.striping_unit"))
        return {"mpiio.striping_factor": -1} if only_size else {}

    def buffers(self, asked: Asked, hints: Hints) -> bool:
        """Buffer writes unless their pieces are large and not interleaved (Docollect).

        A rank that calls with nothing counts as a piece.  At the beginning of the file its range
        is taken for one byte, which is interleaved: the greatest of all ranks' numbers is taken,
        and those are 0 where its own are -1.
        """
        if asked.interleaved or not asked.writing:
            return asked.interleaved
        threshold = hints.coll_threshold
        if not threshold or (asked.empty and not asked.base):
            return True
        return asked.bytes // max(asked.pieces + asked.empty, 1) <= threshold

    def unit(self, setup: Setup, hints: Hints) -> int:
        """Return the stripe size, which the driver asks the file system for."""
        return setup.layout.stripe_size

    def collective(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """See `RomioStack.collective`."""
        if not geometry.pattern.writing:
            return super().collective(geometry, base, work, setup, hints)
        return cyclic_phases(
            CyclicCall(
                geometry.union, base, True, self._writers(work, setup, hints), setup.layout,
                work.ranks, sieves=hints.ds_in_coll,
            )
        )  # fmt: skip

    def collective_moves(
        self, ranges: Ranges, writing: bool, work: Workload, setup: Setup, hints: Hints
    ) -> Moves:
        """See `RomioStack.collective_moves`."""
        if not writing:
            return super().collective_moves(ranges, writing, work, setup, hints)
        chosen = self._writers(work, setup, hints)
        return cyclic_moves(ranges, chosen, setup.layout, hints.ds_in_coll, writing)

    def _writers(self, work: Workload, setup: Setup, hints: Hints) -> Aggregators:
        """Return the aggregators of collective writes."""
        chosen = self.aggregators(work, hints, setup)
        count = lustre_aggregators(chosen.count, setup.layout.stripe_count, hints.co_ratio)
        return replace(chosen, count=count)

    def stripe_windows(self, setup: Setup, writing: bool) -> int:
        """Return the stripe size: windows of writes end at stripes, and pieces are cut there."""
        return setup.layout.stripe_size if writing else 0
