# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models ADIOS2's file engines, whose aggregators write the data of their group into subfiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import Pattern, PatternKind, generate
from stripewise.storage.stacks._base import (
    PAGE,
    Ints,
    Setup,
    Stack,
    at_once,
    sampled_processes,
    spread,
)
from stripewise.storage.stacks._hints import first_of_groups, number
from stripewise.storage.stacks._pieces import (
    Ranges,
    as_requests,
    file_numbers,
    in_order,
    split,
    together,
)
from stripewise.storage.stacks._shared_file import met_flow, objects_of, shape_of
from stripewise.storage.stacks._workload import Flow, Phase, Requests, Workload

# Which ranks write into which subfile in ADIOS2, and the maximum size of a write. Source: ADIOS2
# 2.12, toolkit/aggregator/mpi/MPIShmChain.cpp (Init), MPIChain.cpp; measured: writes and reads of
# BP5 and BP4 under capture (ADIOS2 2.12.1, one host).

MOST_BYTES = 2_147_381_248
"""Maximum bytes of one call (DefaultMaxFileBatchSize)."""
MAX_SHM = 4_294_762_496
TUNABLES = frozenset(
    f"adios2.{name}"
    for name in (
        "engine", "NumAggregators", "AggregatorRatio", "NumSubFiles", "SubStreams",
        "AggregationType", "StripeSize", "MaxShmSize",
    )
)  # fmt: skip
SHM, EVERYONE, SERIAL = "TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial"


@dataclass(frozen=True)
class Adios2:
    """Parameters of ADIOS2.

    Attributes:
        engine: "BP5" or "BP4".
        everyone: Whether every rank writes its data itself; otherwise one of each group does.
        aggregators: Requested number of groups of ranks; 0 for one per host.
        subfiles: Requested number of data files; 0 for one per group.
        align: Alignment of the beginning of a group's (each rank's) data of a step, in bytes.
        segment: Bytes per write of another rank's data.
    """

    engine: str
    everyone: bool
    aggregators: int
    subfiles: int
    align: int
    segment: int


def read_parameters(work: Workload, setup: Setup) -> Adios2:
    """Return the parameters.

    Raises:
        UsageError: A value has the wrong kind, or requests something that is not modelled.
    """
    engine = str(setup.settings.get("adios2.engine", "BP5"))
    if engine not in ("BP5", "BP4"):
        raise UsageError(f"the requests of ADIOS2's engine {engine!r} are not modelled: BP5, BP4")
    kind = str(setup.settings.get("adios2.AggregationType", SHM))
    if kind not in (SHM, EVERYONE, SERIAL):
        raise UsageError(
            f"adios2.AggregationType {kind!r} is not modelled: use {SHM}, {EVERYONE} or {SERIAL}"
        )
    ratio = number(setup, "adios2.AggregatorRatio", 0)
    wanted = number(setup, "adios2.NumAggregators", number(setup, "adios2.SubStreams", 0))
    shared = max(number(setup, "adios2.MaxShmSize", MAX_SHM) // 2 - 64, 32) // 32 * 32
    bp5 = engine == "BP5"
    return Adios2(
        engine=engine,
        everyone=bp5 and kind != SHM,
        aggregators=work.ranks // ratio if ratio > 0 and not wanted else wanted,
        subfiles=number(setup, "adios2.NumSubFiles", 0) if bp5 and kind == SHM else 0,
        align=max(1, number(setup, "adios2.StripeSize", PAGE)) if bp5 else 1,
        segment=min(shared, MOST_BYTES) if bp5 else MOST_BYTES,
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """Writer and subfile of each rank: `writer` and `subfile` are (n_ranks,) int64."""

    writer: Ints
    subfile: Ints


def counts(adios2: Adios2, work: Workload, setup: Setup) -> tuple[int, int]:
    """Return the numbers of groups and of subfiles."""
    hosts = max(1, min(setup.hosts, work.ranks))
    if adios2.everyone or adios2.engine == "BP4":
        groups = min(adios2.aggregators or hosts, work.ranks)
        return groups, groups
    on_host = max(1, min(adios2.aggregators // hosts, work.ranks // hosts))
    groups = on_host * hosts
    return groups, min(adios2.subfiles or groups, groups)


def groups_of(adios2: Adios2, work: Workload, setup: Setup) -> Groups:
    """Return which rank writes for each rank, and into which subfile."""
    rank = np.arange(work.ranks, dtype=np.int64)
    groups, subfiles = counts(adios2, work, setup)
    if adios2.everyone or adios2.engine == "BP4":
        first = first_of_groups(work.ranks, groups)
        group = np.searchsorted(first, rank, "right") - 1
        return Groups(rank if adios2.everyone else first[group], group)
    hosts = max(1, min(setup.hosts, work.ranks))
    size = -(-work.ranks // hosts)
    on_host = groups // hosts
    # Single precision, as in ADIOS2.
    width = np.float32(size) / np.float32(on_host)
    group = rank // size * on_host + ((rank % size).astype(np.float32) / width).astype(np.int64)
    first = np.searchsorted(group, group)
    share = np.float32(groups) / np.float32(subfiles)
    return Groups(rank[first], (group.astype(np.float32) / share).astype(np.int64))


# File engines of ADIOS2: each aggregator writes the data of its group into a subfile.

_INDEX_FILES = 4
"""Number of files that rank 0 creates: the directory, md.0, md.idx and mmd.0."""


class Adios2Stack(Stack):
    """BP5 (and BP4 in classes): variables of one file with different names form a step."""

    name = "adios2"
    summary = "ADIOS2, engines BP5 and BP4: subfiles, each written by an aggregator"
    tunables = TUNABLES

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        adios2 = read_parameters(work, setup)
        opened: dict[tuple[str, bool], Phase] = {}
        found: list[Phase] = []
        for patterns in together(work.patterns):
            first = patterns[0]
            opened.setdefault(
                (first.file, first.writing), _open(adios2, work, setup, first.writing)
            )
            found.extend(_phases(patterns, adios2, work, setup))
        return (*opened.values(), *found)

    def requests(self, work: Workload, setup: Setup) -> Requests:
        adios2 = read_parameters(work, setup)
        if adios2.engine == "BP4":
            raise UsageError(
                "the requests of ADIOS2's engine BP4 cannot be told one by one, because its index"
                " lies between the data: use BP5"
            )
        files = SubFiles(work, adios2, groups_of(adios2, work, setup))
        numbers = file_numbers(work)
        tables, phase = [], 0
        for patterns in together(work.patterns):
            blocks = [blocks_of(pattern) for pattern in patterns]
            for _ in range(patterns[0].steps):
                placed = files.place(patterns[0], blocks)
                subfile = files.groups.subfile[placed.rank]
                tables.append(
                    as_requests(placed, phase=phase, writing=patterns[0].writing,
                                file=numbers[patterns[0].file] * work.ranks + subfile)
                )  # fmt: skip
                phase += 1
        return in_order(tables)


def _open(adios2: Adios2, work: Workload, setup: Setup, writing: bool) -> Phase:
    """Return the open: a writer creates each subfile, rank 0 the directory and index files."""
    groups, subfiles = counts(adios2, work, setup)
    if not writing:
        return Phase("open", metadata={"open": work.ranks + _INDEX_FILES - 1})
    others = (work.ranks if adios2.everyone else groups) - subfiles
    made = {"create": subfiles + _INDEX_FILES}
    return Phase("open", metadata=made | ({"open": others} if others > 0 else {}))


def _phases(
    patterns: tuple[Pattern, ...], adios2: Adios2, work: Workload, setup: Setup
) -> Iterator[Phase]:
    shapes = [shape_of(one, work) for one in patterns if one.kind != PatternKind.EMPTY]
    total = sum(shape.total_bytes for shape in shapes)
    if not total:
        return
    writing, steps = patterns[0].writing, float(patterns[0].steps)
    ranks = max(shape.ranks for shape in shapes)
    groups, subfiles = counts(adios2, work, setup)
    if not writing:
        calls = sum(shape.blocks for shape in shapes)
        flow = _flow(total, calls, ranks, subfiles, work, setup, writing=False)
        yield Phase("read of subfiles", steps, (flow,))
        return
    each = total / ranks
    own, others = math.ceil(each / MOST_BYTES), math.ceil(each / adios2.segment)
    processes = ranks if adios2.everyone else min(groups, ranks)
    calls = ranks * own if adios2.everyone else processes * own + (ranks - processes) * others
    flow = _flow(total, calls, processes, subfiles, work, setup, writing=True)
    # Data of others comes through shared memory, before each write and not overlapping it.
    copied = total * (1 - processes / ranks) / work.nodes
    yield Phase("write of subfiles", steps, (flow,), copied_bytes=copied)
    # Measured: 176 bytes for a rank and 96 for each of its variables.
    index = Flow(True, 1, 1, 2, (73 + ranks * (176 + 96 * len(shapes))) / 2)
    yield Phase("index by rank 0", steps, (index,))


def _flow(
    total: int, calls: float, processes: int, subfiles: int, work: Workload, setup: Setup,
    *, writing: bool,
) -> Flow:  # fmt: skip
    """Return the requests of processes that share subfiles, each in its own contiguous part."""
    layout = setup.layout
    files = min(subfiles, processes)
    nodes, each = min(work.nodes, processes), total / processes
    count, size = calls / processes, total / calls
    objects = objects_of(total / files, layout)
    if files == processes:
        return Flow(
            writing=writing, processes=processes, nodes=nodes, count=count, size=size,
            files=files, objects=objects, objects_per_process=objects,
        )  # fmt: skip
    mates = -(-processes // files)
    chosen = sampled_processes(mates)
    begins = (chosen * each).astype(np.int64) // PAGE * PAGE
    meet = at_once(begins, size, chosen * nodes // processes, mates, layout)
    apart = spread(meet, count, size, each, objects, layout.stripe_size)
    flow = met_flow(
        replace(meet, objects=apart), processes, nodes, count, size, PAGE, layout,
        writing=writing,
    )  # fmt: skip
    return replace(flow, files=files, shared_pages=0.0)


# Subfiles of BP5: places and calls of the data of a step.


def blocks_of(pattern: Pattern) -> Ranges:
    """Return the blocks that each rank puts, in its order; offsets are 0."""
    found = generate(pattern)
    solid = found.stride == found.block
    size = np.prod(np.where(solid, found.block * found.count, found.block), axis=1)
    size *= found.element_bytes
    many = np.prod(np.where(solid, 1, found.count), axis=1)
    rank, size = np.repeat(found.rank, many), np.repeat(size, many)
    keep = size > 0
    return Ranges(rank[keep], np.zeros(np.count_nonzero(keep), np.int64), size[keep])


@dataclass(eq=False)
class SubFiles:
    """Growing subfiles; `ends` has the end of each, for a name and a direction."""

    work: Workload
    adios2: Adios2
    groups: Groups
    ends: dict[tuple[str, bool], Ints] = field(default_factory=dict)

    def place(self, pattern: Pattern, blocks: list[Ranges]) -> Ranges:
        """Return the requests of a step at their places in the subfiles."""
        ranks = self.work.ranks
        sums = [np.bincount(one.rank, one.size, ranks).astype(np.int64) for one in blocks]
        total: Ints = np.stack(sums).sum(axis=0)
        begin = self._begins((pattern.file, pattern.writing), total)
        if not pattern.writing:
            return self._read(begin, blocks, sums)
        return self._written(begin, total)

    def _begins(self, key: tuple[str, bool], total: Ints) -> Ints:
        """Return where each rank's data of the step begins in its subfile; advance the ends."""
        writer, subfile = self.groups.writer, self.groups.subfile
        ends = self.ends.setdefault(key, np.zeros(int(subfile.max()) + 1, np.int64))
        heads, unit = np.unique(writer, return_inverse=True)
        inside = np.cumsum(total) - total
        inside -= inside[heads[unit]]
        units = np.bincount(unit, total, heads.size).astype(np.int64)
        room = _aligned(units, self.adios2.align)
        file = subfile[heads]
        before = np.cumsum(room) - room
        start = _aligned(ends, self.adios2.align)[file]
        place = start + before - before[np.searchsorted(file, file)]
        np.maximum.at(ends, file, place + units)
        begin: Ints = place[unit] + inside
        return begin

    def _written(self, begin: Ints, total: Ints) -> Ranges:
        """Return the writes: own data in one call, others' in pieces of shared memory."""
        rank = np.flatnonzero(total)
        own = self.groups.writer[rank] == rank
        data = Ranges(rank, begin[rank], total[rank])
        parts = [split(data.take(own), MOST_BYTES), split(data.take(~own), self.adios2.segment)]
        both = Ranges.together(parts)
        order = np.lexsort((both.offset, both.rank))
        sorted_ = both.take(order)
        return replace(sorted_, rank=self.groups.writer[sorted_.rank])

    def _read(self, begin: Ints, blocks: list[Ranges], sums: list[Ints]) -> Ranges:
        """Return the reads, in which each rank reads the blocks that it put."""
        tables, before = [], np.zeros_like(begin)
        for one, moved in zip(blocks, sums, strict=True):
            inside = np.cumsum(one.size) - one.size
            inside -= inside[np.searchsorted(one.rank, one.rank)]
            tables.append(replace(one, offset=(begin + before)[one.rank] + inside))
            before = before + moved
        return Ranges.together(tables)


def _aligned(place: Ints, unit: int) -> Ints:
    return -(-place // unit) * unit
