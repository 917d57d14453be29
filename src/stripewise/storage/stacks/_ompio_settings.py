# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Provides OMPIO's parameters with defaults, its number of aggregators and the step it moves.

Source: Open MPI 4.1.4, `ompi_info --all`; ompi/mca/common/ompio: common_ompio_file_view.c
    (set_view), common_ompio_aggregators.c (simple_grouping, forced_grouping, cost_calc).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import Pattern
from stripewise.storage.stacks._base import AtOnce, Ints, Layout, Setup
from stripewise.storage.stacks._hints import MIB, Aggregators, number
from stripewise.storage.stacks._pieces import Placed
from stripewise.storage.stacks._shared_file import Shape, met_flow
from stripewise.storage.stacks._workload import Flow, Workload

ALGORITHMS = ("vulcan", "dynamic", "dynamic_gen2", "two_phase", "individual")
SIMPLE, NO_REFINEMENT, SIMPLE_PLUS = 5, 6, 7
DEFAULT_VIEW = 4 * MIB
"""Bytes of the default file view of a rank (MCA_IO_DEFAULT_FILE_VIEW_SIZE)."""
GEN2_STRIPE = 65536
"""Stripe size that dynamic_gen2 uses if the file system reports none."""

TUNABLES = frozenset(
    {"mpiio.cb_nodes", "mpiio.cb_buffer_size", "mpiio.collective_buffering", "mca.fcoll"}
    | {f"mca.io_ompio_{name}" for name in (
        "num_aggregators", "bytes_per_agg", "grouping_option", "max_aggregators_ratio",
        "aggregators_cutoff_threshold", "cycle_buffer_size",
    )}
    | {f"mca.fbtl_posix_{name}" for name in (
        "write_datasieving", "read_datasieving", "max_block_size", "max_gap_size",
        "max_tmpbuf_size",
    )}
    | {"mca.fcoll_vulcan_async_io"}
)  # fmt: skip


@dataclass(frozen=True)
class Ompio:
    """Parameters of OMPIO.

    Attributes:
        forced: Requested number of aggregators, -1 if there is none.
        only_mca: Number requested by only the MCA parameter, which dynamic_gen2 uses.
        bytes_per_agg: Bytes of a cycle.
        grouping: Option of that name.
        ratio / threshold: Parameters of the automatic number of aggregators.
        cycle_bytes: Maximum bytes of an independent call at once.
        fcoll: Algorithm, empty for OMPIO's choice.
        asynchronous: 0 automatic, 1 always, 2 never.
        write_sieving / read_sieving / max_block / max_gap / max_buffer: Parameters of data
            sieving.
    """

    forced: int = -1
    only_mca: int = -1
    bytes_per_agg: int = 32 * MIB
    grouping: int = SIMPLE
    ratio: int = 8
    threshold: int = 3
    cycle_bytes: int = 512 * MIB
    fcoll: str = ""
    asynchronous: int = 0
    write_sieving: bool = True
    read_sieving: bool = True
    max_block: int = MIB
    max_gap: int = 4096
    max_buffer: int = 64 * MIB

    def waits(self, cycles: int) -> bool:
        """Return whether vulcan's writes of this number of cycles are synchronous."""
        return self.asynchronous == 2 or (self.asynchronous == 0 and cycles <= 2)


@dataclass(frozen=True)
class Stripes:
    """Stripes of a file that the file system reports to OMPIO; 0 if unknown."""

    count: int = 0
    size: int = 0


def read_settings(setup: Setup) -> Ompio:
    """Return OMPIO's parameters under the settings; a hint overrides a parameter.

    Raises:
        UsageError: A value has the wrong kind, or requests something that is not modelled.
    """
    given = setup.settings
    only_mca = number(setup, "mca.io_ompio_num_aggregators", -1)
    fcoll = str(given.get("mca.fcoll", ""))
    if fcoll and fcoll not in ALGORITHMS:
        raise UsageError(
            f"the requests of mca.fcoll {fcoll!r} are not modelled: use {', '.join(ALGORITHMS)}"
        )
    grouping = number(setup, "mca.io_ompio_grouping_option", SIMPLE)
    if grouping not in (SIMPLE, NO_REFINEMENT, SIMPLE_PLUS):
        raise UsageError(f"mca.io_ompio_grouping_option {grouping} is not modelled: use 5, 6 or 7")
    # Any other value than "false" chooses individual (seen: strncmp without == 0).
    buffering = given.get("mpiio.collective_buffering")
    if buffering is not None and str(buffering).lower() != "false":
        fcoll = "individual"
    return Ompio(
        forced=number(setup, "mpiio.cb_nodes", only_mca),
        only_mca=only_mca,
        bytes_per_agg=number(
            setup, "mpiio.cb_buffer_size", number(setup, "mca.io_ompio_bytes_per_agg", 32 * MIB)
        ),
        grouping=grouping,
        ratio=max(1, number(setup, "mca.io_ompio_max_aggregators_ratio", 8)),
        threshold=number(setup, "mca.io_ompio_aggregators_cutoff_threshold", 3),
        cycle_bytes=number(setup, "mca.io_ompio_cycle_buffer_size", 512 * MIB),
        fcoll=fcoll,
        asynchronous=number(setup, "mca.fcoll_vulcan_async_io", 0),
        write_sieving=_truth(given.get("mca.fbtl_posix_write_datasieving")),
        read_sieving=_truth(given.get("mca.fbtl_posix_read_datasieving")),
        max_block=number(setup, "mca.fbtl_posix_max_block_size", MIB),
        max_gap=number(setup, "mca.fbtl_posix_max_gap_size", 4096),
        max_buffer=number(setup, "mca.fbtl_posix_max_tmpbuf_size", 64 * MIB),
    )


def algorithm(ompio: Ompio, ranks: int, default: str) -> str:
    """Return the algorithm of collective calls; one or two ranks make independent calls."""
    return ompio.fcoll or ("individual" if ranks <= 2 else default)


def aggregators(ompio: Ompio, ranks: int, piece_bytes: int, view_bytes: int) -> int:
    """Return the number of aggregators, with grouping 5 and 7.

    Args:
        ompio: Parameters of OMPIO.
        ranks: Number of ranks of the communicator.
        piece_bytes: Size of a contiguous piece of a file view, mean over ranks.
        view_bytes: Mean size of a file view.
    """
    if ompio.forced != -1:
        return max(1, min(ompio.forced, ranks))
    if ompio.grouping == SIMPLE_PLUS:
        piece_bytes = DEFAULT_VIEW
    most = max(1, ranks // ompio.ratio)
    if most == 1:
        return 1
    step = next(
        by for below, by in ((16, 2), (128, 4), (4096, 16), (1 << 62, 32)) if ranks < below
    )
    flat = piece_bytes == view_bytes
    best, last, gain = 1, _cost(ranks, 1, piece_bytes, ompio.bytes_per_agg, flat), 0.0
    for count in range(step, ranks + 1, step):
        now = _cost(ranks, count, piece_bytes, ompio.bytes_per_agg, flat)
        saved = (last - now) / last
        # Compared with the gain of the previous step; the first one is its own reference.
        growth = saved if count == step else gain - saved
        if growth < ompio.threshold / 100 or last - now < 0.001:
            break
        best, last, gain = count, now, saved
        if best >= most:
            break
    return min(best, most)


def stripe_aggregators(ompio: Ompio, stripes: Stripes, ranks: int) -> int:
    """Return dynamic_gen2's number of aggregators: one per stripe if it knows the stripes."""
    wanted = stripes.count if stripes.count > 1 else ompio.only_mca
    return min(max(wanted if wanted >= 1 else stripes.count, 1), ranks)


@dataclass(frozen=True)
class Apart(Aggregators):
    """Aggregators of `two_phase`: the first rank of each of equal parts of the ranks."""

    def rank(self, index: Ints) -> Ints:
        """Return the ranks of the aggregators with these indices."""
        found: Ints = index * self.ranks // self.count
        return found

    def nodes_of(self, count: int) -> int:
        """Return the number of nodes of the first `count` aggregators."""
        chosen = np.linspace(0, count - 1, min(count, 4096)).astype(np.int64)
        return int(np.unique(self.node(chosen)).size)


def apart(ompio: Ompio, work: Workload, piece_bytes: int, view_bytes: int) -> Apart:
    """Return the aggregators of `two_phase`; there the parameter overrides the hint."""
    ranks = work.ranks
    count = min(ompio.only_mca, ranks)
    if count < 1:
        count = aggregators(ompio, ranks, piece_bytes, view_bytes)
    return Apart(count, 1, ranks, work.ranks_per_node, ranks)


def _cost(ranks: int, count: int, piece: int, buffer: int, flat: bool) -> float:
    """Return the seconds that OMPIO expects of the exchange (LogGP, DDR InfiniBand)."""
    latency, overhead, per_byte = 1.84e-6, 1.49e-6, 6.7e-10
    if piece <= 0:
        return 0.0
    received = (ranks * piece // count) / buffer
    sent_to, parts = 1.0, max(1.0, buffer / piece)
    message = float(min(piece, buffer))
    if not flat:
        side = max(1, math.isqrt(ranks))
        sent_to, parts = count / side, float(side)
        whole = piece > count * buffer // ranks
        message = min(buffer / side if whole else piece * side / count, float(piece))
    between = 1.08e-6 if message < 33554432 else 1.19e-5
    messages = piece / (sent_to * message)
    fixed = latency + 2 * overhead
    sending = messages * (fixed + (sent_to - 1) * between + (message - 1) * sent_to * per_byte)
    taking = received * (fixed + (parts - 1) * between + (message - 1) * parts * per_byte)
    return sending + taking


def _truth(value: Value | None) -> bool:
    return value is None or str(value).lower() not in ("false", "0", "no")


# A step that OMPIO moves, and the calls of one process that moves a part of it.


@dataclass(frozen=True)
class OmpioPattern:
    """A pattern with everything that determines how OMPIO moves it.

    Attributes:
        one / shape: One step of a pattern at its place.
        work / layout: Workload and layout, for nodes and stripes.
        fcoll: Algorithm; "individual" also for independent calls.
        ompio / stripes: Parameters, and stripes that the file system reports.
    """

    one: Placed
    shape: Shape
    work: Workload
    layout: Layout
    fcoll: str
    ompio: Ompio
    stripes: Stripes

    @property
    def pattern(self) -> Pattern:
        """Pattern that is moved."""
        return self.one.pattern


@dataclass(frozen=True)
class Calls:
    """Calls of one process and their bytes in a step, and the rounds in which they happen."""

    count: float
    size: float
    rounds: float


def flow_of(job: OmpioPattern, processes: int, calls: Calls, meet: AtOnce) -> Flow:
    """Return the flow of aggregators that each move one part of the file, round by round."""
    granule = math.gcd(int(calls.size), job.shape.granule) or 1
    return met_flow(
        meet, processes, job.shape.nodes, calls.count / calls.rounds, calls.size, granule,
        job.layout, writing=job.pattern.writing,
    )  # fmt: skip
