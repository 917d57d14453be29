# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO with its generic driver (ufs): MPICH 4.0.2, and Open MPI's romio321."""

from __future__ import annotations

from stripewise.simulation._requests import Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Setup
from stripewise.simulation.stacks._even import EvenCall, even_phases
from stripewise.simulation.stacks._exact import Moves, even_moves
from stripewise.simulation.stacks._geometry import Geometry
from stripewise.simulation.stacks._hints import NAMES, Hints, names
from stripewise.simulation.stacks._mpiio import Asked, RomioStack
from stripewise.simulation.stacks._pieces import Ranges


class Romio(RomioStack):
    """ROMIO's generic driver; it knows nothing of stripes but the hint `striping_unit`."""

    name = "romio"
    summary = "ROMIO with its generic driver: equal, contiguous shares for the aggregators"
    tunables = names(*NAMES)

    def buffers(self, asked: Asked, hints: Hints) -> bool:
        """Buffer where the ranges of ranks are interleaved."""
        return asked.interleaved

    def unit(self, setup: Setup, hints: Hints) -> int:
        """Return what shares are aligned to; 0: nothing."""
        return hints.striping_unit

    def collective(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """See `RomioStack.collective`."""
        return even_phases(
            EvenCall(
                geometry.union, base, geometry.pattern.writing,
                self.aggregators(work, hints, setup), setup.layout, work.ranks,
                hints.cb_buffer_size, self.unit(setup, hints), hints.min_fdomain_size,
            )
        )  # fmt: skip

    def collective_moves(
        self, ranges: Ranges, writing: bool, work: Workload, setup: Setup, hints: Hints
    ) -> Moves:
        """See `RomioStack.collective_moves`."""
        return even_moves(
            ranges, self.aggregators(work, hints, setup), hints.cb_buffer_size,
            self.unit(setup, hints), hints.min_fdomain_size, writing,
        )  # fmt: skip
