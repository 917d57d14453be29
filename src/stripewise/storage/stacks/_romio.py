# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models MPI-IO over ROMIO: its generic and Lustre drivers, and Cray MPICH on Lustre."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import Pattern
from stripewise.settings.tunables import lustre_aggregators
from stripewise.storage.stacks._base import Layout, Setup, Stack
from stripewise.storage.stacks._exact import (
    Moves,
    cyclic_moves,
    even_moves,
    piece_moves,
    rows_of,
    sieved_moves,
)
from stripewise.storage.stacks._geometry import Geometry, geometry_of
from stripewise.storage.stacks._hints import (
    LUSTRE_NAMES,
    NAMES,
    Aggregators,
    Hints,
    each_host,
    names,
    number,
    read_hints,
    romio_aggregators,
)
from stripewise.storage.stacks._independent import OwnCall, own_phases
from stripewise.storage.stacks._pieces import (
    Placed,
    Ranges,
    array_bytes,
    datasets,
    file_numbers,
    in_order,
    merged,
    placed,
    ranges_of,
    sampled,
    times,
)
from stripewise.storage.stacks._two_phase import CyclicCall, EvenCall, cyclic_phases, even_phases
from stripewise.storage.stacks._workload import Phase, Requests, Workload

# Common parts of all stacks over ROMIO: opens, and which calls are collective.

THROUGH_VIEWS = frozenset({"view", "pnetcdf"})
"""Sources whose independent accesses are one call with a file view, and therefore sieved. HDF5
passes independent accesses to MPI-IO piece by piece."""


@dataclass(frozen=True)
class CallFacts:
    """Properties that ROMIO tests before it buffers a collective call.

    Attributes:
        writing: Whether data is written; otherwise it is read.
        interleaved: Whether a rank begins before the last byte of the previous rank.
        bytes / pieces: Totals over all ranks.
        empty: Number of ranks that call without data.
        base: Offset of the dataset in the file.
    """

    writing: bool
    interleaved: bool
    bytes: int
    pieces: int
    empty: int = 0
    base: int = 0

    @classmethod
    def of(cls, geometry: Geometry, n_ranks: int, base: int) -> CallFacts:
        """Return the facts of a pattern in closed form."""
        pieces = sum(one.ranks * one.sets * one.shape.pieces for one in geometry.classes)
        writing = geometry.pattern.writing
        empty = max(n_ranks - geometry.ranks, 0)
        return cls(
            writing, geometry.interleaved, geometry.bytes, round(pieces), empty, base
        )  # fmt: skip

    @classmethod
    def by(cls, ranges: Ranges, writing: bool, n_ranks: int, base: int) -> CallFacts:
        """Return the facts of the ranges of all ranks."""
        rank, first = np.unique(ranges.rank, return_index=True)
        last = np.append(first[1:], ranges.rank.size) - 1
        top = ranges.offset[last] + ranges.size[last] - 1
        early = ranges.offset[first][1:] < top[:-1]
        interleaved = bool((early & (np.diff(rank) == 1)).any())
        empty = n_ranks - rank.size
        return cls(writing, interleaved, int(ranges.size.sum()), ranges.rank.size, empty, base)


# The two kinds of two-phase I/O, each in closed form and request by request.


@dataclass(frozen=True)
class EvenShares:
    """Division in which each aggregator has an equal, contiguous share of a call's data.

    Attributes:
        aggregators: Aggregators that have the shares.
        buffer: Bytes of a round of an aggregator.
        unit: Alignment of shares; 0 without.
        least: Minimum bytes of a share.
    """

    aggregators: Aggregators
    buffer: int
    unit: int = 0
    least: int = 0

    def phases(self, geometry: Geometry, base: int, layout: Layout, ranks: int) -> list[Phase]:
        """Return the phases of a call."""
        return even_phases(
            EvenCall(
                geometry.union, base, geometry.pattern.writing, self.aggregators, layout, ranks,
                self.buffer, self.unit, self.least,
            )
        )  # fmt: skip

    def moves(self, ranges: Ranges, writing: bool, layout: Layout) -> Moves:
        """Return the requests of a call."""
        del layout
        return even_moves(ranges, self.aggregators, self.buffer, self.unit, self.least, writing)


@dataclass(frozen=True)
class StripesInTurn:
    """Division in which each aggregator has stripes of the file in turn.

    Attributes:
        aggregators: Aggregators that have the stripes.
        sieves: Whether holes are read first; otherwise each piece is a request.
        lock_mode: Same as in `Flow`.
        flush: Number of an aggregator's stripes that are gathered before it writes them.
        ranks: Number of ranks that take part in the exchange; 0 for all.
    """

    aggregators: Aggregators
    sieves: bool
    lock_mode: int = 0
    flush: int = 1
    ranks: int = 0

    def phases(self, geometry: Geometry, base: int, layout: Layout, ranks: int) -> list[Phase]:
        """Return the phases of a call."""
        return cyclic_phases(
            CyclicCall(
                geometry.union, base, geometry.pattern.writing, self.aggregators, layout,
                self.ranks or ranks, self.sieves, self.lock_mode, self.flush,
            )
        )  # fmt: skip

    def moves(self, ranges: Ranges, writing: bool, layout: Layout) -> Moves:
        """Return the requests of a call."""
        moves = cyclic_moves(ranges, self.aggregators, layout, self.sieves, writing)
        return replace(moves, round=moves.round // self.flush)


TwoPhase = EvenShares | StripesInTurn


class RomioStack(Stack):
    """A stack over ROMIO or a related implementation."""

    config_list = "*:1"
    asks_for_layouts = False

    def aggregators(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the ranks that may aggregate."""
        return romio_aggregators(work, hints, setup.hosts)

    @abstractmethod
    def buffers(self, facts: CallFacts, hints: Hints) -> bool:
        """Return whether a collective call is buffered if hints do not decide it."""

    @abstractmethod
    def two_phase(self, writing: bool, work: Workload, setup: Setup, hints: Hints) -> TwoPhase:
        """Return how a buffered collective call is divided among aggregators."""

    def collective(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """Return the phases of one buffered collective call."""
        way = self.two_phase(geometry.pattern.writing, work, setup, hints)
        return way.phases(geometry, base, setup.layout, work.ranks)

    def stripe_windows(self, setup: Setup, writing: bool) -> int:
        """Return the stripe size if windows of data sieving end at stripes; otherwise 0."""
        del setup, writing
        return 0

    def datasets(self, work: Workload, setup: Setup) -> Iterable[Placed]:
        """Return the datasets in order, each with where it begins."""
        del setup
        return datasets(work)

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """See `Stack.phases`."""
        hints = read_hints(setup, config_list=self.config_list)
        phases = self.first_phases(work, setup, hints)
        for dataset in self.datasets(work, setup):
            geometry = geometry_of(dataset.pattern)
            if geometry is None:
                continue
            for one in sampled(dataset):
                made = self.call(geometry, one.base, work, setup, hints)
                phases += [times(phase, one.times) for phase in made]
        return merged(phases, flowing=work.flowing)

    def first_phases(self, work: Workload, setup: Setup, hints: Hints) -> list[Phase]:
        """Return the phases before the first dataset is moved."""
        openers = self.aggregators(work, hints, setup).count if hints.deferred_open else 0
        return opens(work, openers, layouts=self.asks_for_layouts)

    def call(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """Return the phases of one call."""
        if self.together(geometry.pattern, CallFacts.of(geometry, work.ranks, base), hints):
            return self.collective(geometry, base, work, setup, hints)
        return own_phases(self._own(geometry, base, work, setup, hints), work)

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """See `Stack.requests`."""
        hints = read_hints(setup, config_list=self.config_list)
        numbers = file_numbers(work)
        tables, phase = self.first_requests(work, setup)
        for dataset in self.datasets(work, setup):
            ranges = ranges_of(dataset.pattern)
            if not ranges.rank.size:
                continue
            for one in placed(dataset):
                here = replace(ranges, offset=ranges.offset + one.base)
                moves = self.call_moves(here, one.base, one.pattern, work, setup, hints)
                tables.append(moves.table(phase, numbers[one.pattern.file]))
                phase += moves.rounds
        return in_order(tables)

    def first_requests(self, work: Workload, setup: Setup) -> tuple[list[Requests], int]:
        """Return the requests before the first dataset, and the number of their phases."""
        del work, setup
        return [], 0

    def call_moves(
        self,
        ranges: Ranges,
        base: int,
        pattern: Pattern,
        work: Workload,
        setup: Setup,
        hints: Hints,
    ) -> Moves:
        """Return the requests of one call."""
        facts = CallFacts.by(ranges, pattern.writing, work.ranks, base)
        if self.together(pattern, facts, hints):
            way = self.two_phase(pattern.writing, work, setup, hints)
            return way.moves(ranges, pattern.writing, setup.layout)
        return self._own_moves(ranges, pattern, work, setup, hints)

    def together(self, pattern: Pattern, facts: CallFacts, hints: Hints) -> bool:
        """Return whether a call is collective and buffered."""
        mode = hints.buffering(pattern.writing)
        wanted = mode == "enable" or (mode != "disable" and self.buffers(facts, hints))
        return is_collective(pattern) and wanted

    def _own(
        self, geometry: Geometry, base: int, work: Workload, setup: Setup, hints: Hints
    ) -> OwnCall:
        """Return a call that every rank carries out by itself."""
        pattern = geometry.pattern
        stripe = self.stripe_windows(setup, pattern.writing)
        sieve = sieve_buffer(pattern, hints)
        whole = all(one.shape.size == geometry.extent for one in geometry.classes)
        run = work.memory_run if through_view(pattern) else 0
        return OwnCall(geometry, base, setup.layout, sieve, bool(stripe), run, whole)

    def _own_moves(
        self, ranges: Ranges, pattern: Pattern, work: Workload, setup: Setup, hints: Hints
    ) -> Moves:
        """Return the requests of a call that every rank carries out by itself."""
        sieve = sieve_buffer(pattern, hints)
        run = work.memory_run if through_view(pattern) else 0
        if not sieve:
            return piece_moves(rows_of(ranges, run), pattern.writing)
        stripe = self.stripe_windows(setup, pattern.writing)
        if (ranges.size == array_bytes(pattern)).all():  # the view has no holes
            if not run:
                return piece_moves(ranges, pattern.writing)
            return piece_moves(rows_of(ranges, 0 if stripe else sieve), pattern.writing, stripe)
        return sieved_moves(rows_of(ranges, run), pattern.writing, sieve, stripe, bool(run))


def is_collective(pattern: Pattern) -> bool:
    """Return whether most of a pattern's calls are collective."""
    return pattern.collective > 0.5


def through_view(pattern: Pattern) -> bool:
    """Return whether a rank's access is one call with a file view."""
    return is_collective(pattern) or pattern.source in THROUGH_VIEWS


def sieve_buffer(pattern: Pattern, hints: Hints) -> int:
    """Return the bytes of a window of data sieving for independent accesses; 0 without sieving."""
    if not through_view(pattern) or not hints.sieves(pattern.writing):
        return 0
    return hints.ind_wr_buffer_size if pattern.writing else hints.ind_rd_buffer_size


_LOOKS = 3
"""Number of queries of a new file's layout by rank 0. Source: measured, MPICH 4.0.2."""


def opens(work: Workload, openers: int = 0, *, layouts: bool = False) -> list[Phase]:
    """Return the phases of the opens of each file: rank 0 creates it, then all open it.

    A file that is written and read is opened for each.

    Args:
        work: The workload.
        openers: Number of processes that open a file; 0 for all.
        layouts: Whether rank 0 sets the layout of a new file; to request one takes no time.

    Source: ROMIO, adio/common/ad_opencoll.c.
    """
    ways = dict.fromkeys((one.file, one.writing) for one in work.patterns)
    new = {file: (file, True) in ways for file, _ in ways}
    made = sum(new.values())
    counts = {"stat": len(new), "create": made, "open": len(new) * (openers or work.ranks)}
    alone = [Phase("open", _LOOKS - 1 + layouts, metadata={"stat": made})] if made else []
    found = [Phase("open", metadata={key: n for key, n in counts.items() if n})] if new else []
    again = float(sum(work.opens(*way) for way in ways) - len(new))
    each = {"stat": 1, "open": openers or work.ranks}
    return [*alone, *found, *([Phase("open", again, metadata=each)] if again else [])]


# ROMIO with its generic driver (ufs): MPICH 4.0.2, and Open MPI's romio321.


class Romio(RomioStack):
    """ROMIO's generic driver, which knows nothing of stripes except the hint `striping_unit`."""

    name = "romio"
    summary = "ROMIO with its generic driver: equal, contiguous shares for the aggregators"
    tunables = names(*NAMES)

    def buffers(self, facts: CallFacts, hints: Hints) -> bool:
        """Return whether the ranges of ranks are interleaved, which makes ROMIO buffer."""
        return facts.interleaved

    def unit(self, setup: Setup, hints: Hints) -> int:
        """Return the alignment of shares; 0 without."""
        return hints.striping_unit

    def two_phase(self, writing: bool, work: Workload, setup: Setup, hints: Hints) -> TwoPhase:
        """Divide the range evenly."""
        chosen, unit = self.aggregators(work, hints, setup), self.unit(setup, hints)
        return EvenShares(chosen, hints.cb_buffer_size, unit, hints.min_fdomain_size)


# ROMIO with its Lustre driver, as in MPICH 4.0.2.


class RomioLustre(Romio):
    """ROMIO's Lustre driver: writes by stripes, reads as the generic driver, aligned to stripes.

    Source: ROMIO, adio/ad_lustre of MPICH 4.0.2.
    """

    name = "romio-lustre"
    summary = "ROMIO with its Lustre driver: collective writes stripe by stripe"
    tunables = names(*NAMES, *LUSTRE_NAMES) - names("striping_unit")
    asks_for_layouts = True

    def layout_defaults(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Request all targets if only the size of stripes is given (ad_lustre_open.c)."""
        only_size = bool(settings.get("mpiio.striping_unit"))
        return {"mpiio.striping_factor": -1} if only_size else {}

    def buffers(self, facts: CallFacts, hints: Hints) -> bool:
        """Return True for interleaved calls, and for writes of small pieces (Docollect).

        A rank that calls without data counts as a piece. At the beginning of the file its range is
        taken as one byte, which is interleaved: the maximum of all ranks' numbers is used, and
        those are 0 where its own are -1.
        """
        if facts.interleaved or not facts.writing:
            return facts.interleaved
        threshold = hints.coll_threshold
        if not threshold or (facts.empty and not facts.base):
            return True
        return facts.bytes // max(facts.pieces + facts.empty, 1) <= threshold

    def unit(self, setup: Setup, hints: Hints) -> int:
        """Return the stripe size, which the driver requests from the file system."""
        return setup.layout.stripe_size

    def two_phase(self, writing: bool, work: Workload, setup: Setup, hints: Hints) -> TwoPhase:
        """Write stripes in turn; read as the generic driver does."""
        if not writing:
            return super().two_phase(writing, work, setup, hints)
        chosen = self.aggregators(work, hints, setup)
        count = lustre_aggregators(chosen.count, setup.layout.stripe_count, hints.co_ratio)
        return StripesInTurn(replace(chosen, count=count), hints.ds_in_coll)

    def stripe_windows(self, setup: Setup, writing: bool) -> int:
        """Return the stripe size: windows of writes end at stripes, and pieces are cut there."""
        return setup.layout.stripe_size if writing else 0


# Cray MPICH on Lustre, with its alignment of shares to stripes (cb_align=2). Source: Knaak,
# "Getting started on MPI I/O", Cray S-0013; intro_mpi(3) of Cray MPICH. The code is not public:
# properties adopted from ROMIO's Lustre driver are assumed.

_OWN = ("cray_cb_nodes_multiplier", "cray_cb_write_lock_mode", "aggregator_placement_stride")


class Cray(RomioStack):
    """Cray MPICH: stripe by stripe, aggregators on all nodes in turn."""

    name = "cray"
    summary = "Cray MPICH on Lustre: stripe by stripe, several aggregators per stripe, lock modes"
    tunables = names(*NAMES, *_OWN) - names("striping_unit", "cb_buffer_size")
    config_list = "*:*"

    def buffers(self, facts: CallFacts, hints: Hints) -> bool:
        """Return True, as ROMIO's Lustre driver without a threshold does (assumed)."""
        return True

    def aggregators(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the aggregators: the first rank of every node, then the second ones.

        Their number is that of stripes times `cray_cb_nodes_multiplier`, or `cb_nodes`, at most
        what the list of hosts and the job allow.
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

    def two_phase(self, writing: bool, work: Workload, setup: Setup, hints: Hints) -> TwoPhase:
        """Move stripes in turn."""
        chosen = self.aggregators(work, hints, setup)
        locks = number(setup, "mpiio.cray_cb_write_lock_mode", 0) if writing else 0
        return StripesInTurn(chosen, hints.ds_write != "disable", locks)
