# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cray MPICH on Lustre, with its alignment of shares to stripes (cb_align=2).

Source: Knaak, "Getting started on MPI I/O", Cray S-0013; intro_mpi(3) of Cray MPICH.  The code
is not public: what is taken over from ROMIO's Lustre driver is assumed.
"""

from __future__ import annotations

from stripewise.errors import UsageError
from stripewise.simulation._requests import Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._aggregators import Aggregators, each_host
from stripewise.simulation.stacks._base import Setup
from stripewise.simulation.stacks._cyclic import CyclicCall, cyclic_phases
from stripewise.simulation.stacks._exact import Moves, cyclic_moves
from stripewise.simulation.stacks._geometry import Geometry
from stripewise.simulation.stacks._hints import NAMES, Hints, names, number
from stripewise.simulation.stacks._mpiio import Asked, RomioStack
from stripewise.simulation.stacks._pieces import Ranges

_OWN = ("cray_cb_nodes_multiplier", "cray_cb_write_lock_mode", "aggregator_placement_stride")


class Cray(RomioStack):
    """Cray MPICH: stripe by stripe, aggregators on all nodes in turn."""

    name = "cray"
    summary = "Cray MPICH on Lustre: stripe by stripe, several aggregators per stripe, lock modes"
    tunables = names(*NAMES, *_OWN) - names("striping_unit", "cb_buffer_size")
    config_list = "*:*"

    def buffers(self, asked: Asked, hints: Hints) -> bool:
        """Buffer; assumed, as ROMIO's Lustre driver does without a threshold."""
        return True

    def aggregators(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the aggregators: the first rank of every node, then the second ones.

        There are as many as stripes times `cray_cb_nodes_multiplier`, or `cb_nodes`, at most as
        the list of hosts and the job allow.
        """
        wanted = hints.cb_nodes
        if not wanted:
            wanted = setup.layout.stripe_count * number(setup, "mpiio.cray_cb_nodes_multiplier", 1)
        each = min(each_host(hints.cb_config_list, work.ranks), work.ranks_per_node)
        if each < 1:
            raise UsageError(
                f"cb_config_list is {hints.cb_config_list!r}: it leaves no aggregator"
            )
        return Aggregators(
            count=min(wanted, each * work.nodes, work.ranks), each=each,
            ranks_per_host=work.ranks_per_node, ranks_per_node=work.ranks_per_node,
            ranks=work.ranks, in_turn=True,
            stride=max(number(setup, "mpiio.aggregator_placement_stride", -1), 0),
        )  # fmt: skip

    def collective(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """See `RomioStack.collective`."""
        chosen = self.aggregators(work, hints, setup)
        writing = geometry.pattern.writing
        return cyclic_phases(
            CyclicCall(
                geometry.union, base, writing, chosen, setup.layout, work.ranks,
                sieves=hints.ds_write != "disable",
                lock_mode=number(setup, "mpiio.cray_cb_write_lock_mode", 0) if writing else 0,
            )
        )  # fmt: skip

    def collective_moves(
        self, ranges: Ranges, writing: bool, work: Workload, setup: Setup, hints: Hints
    ) -> Moves:
        """See `RomioStack.collective_moves`."""
        chosen = self.aggregators(work, hints, setup)
        sieves = hints.ds_write != "disable"
        return cyclic_moves(ranges, chosen, setup.layout, sieves, writing)
