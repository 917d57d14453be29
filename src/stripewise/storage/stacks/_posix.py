# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models programs with POSIX I/O: files per process or node, one file, rank 0, or a trace.

The data that a rank moves of a dataset is contiguous in its own file or its part of the node's. It
is moved in calls of at most 4 MiB, unless a contiguous range of the dataset is larger, which is
one call. Source: measured, the kernels' back end `posix` (backends/posix.c).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from stripewise.evidence.patterns import Pattern, PatternKind
from stripewise.storage.stacks._base import (
    Ints,
    Layout,
    Setup,
    Stack,
    at_once,
    opens,
    sampled_processes,
    spread,
)
from stripewise.storage.stacks._pieces import (
    Placed,
    Ranges,
    array_bytes,
    as_requests,
    file_numbers,
    in_order,
    merged,
    ranges_of,
    split,
    steps,
    steps_looked_at,
    times,
    together,
)
from stripewise.storage.stacks._shared_file import (
    Shape,
    met_flow,
    objects_of,
    shape_of,
    shared_flow,
    stripes_of,
)
from stripewise.storage.stacks._workload import (
    Flow,
    Phase,
    Requests,
    Stretch,
    TracedCalls,
    Workload,
)

Ends = dict[tuple[str, bool], Ints]
"""End of each rank's data in its file, in bytes, by name and direction; (n_ranks,)."""


class _Posix(Stack):
    """Common parts of the four POSIX stacks: steps, files, opens."""

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        opened = {(one.file, one.writing): one for one in reversed(work.patterns)}
        first = [phase for one in opened.values() for phase in self._open_phases(work, one)]
        moves = [
            times(phase, one.times)
            for one in steps_looked_at(work)
            if one.pattern.kind != PatternKind.EMPTY
            for phase in [self._phase(one, shape_of(one.pattern, work), work, setup)]
        ]
        return (*reversed(first), *merged(moves, flowing=work.flowing))

    def requests(self, work: Workload, setup: Setup) -> Requests:
        numbers, tables = file_numbers(work), []
        ends: Ends = {}
        for phase, one in enumerate(steps(work)):
            file, calls = self._place(one, ranges_of(one.pattern), work, ends)
            tables.append(
                as_requests(calls, phase=phase, writing=one.pattern.writing,
                            file=numbers[one.pattern.file] * self._files(work) + file)
            )  # fmt: skip
        return in_order(tables)

    def _open_phases(self, work: Workload, pattern: Pattern) -> list[Phase]:
        """Return the opens of a file, the first one last."""
        made = self._opens(work, pattern)
        again = float(work.opens(pattern.file, pattern.writing) - 1)
        later = Phase("open", again, metadata={"open": sum(made.values())})
        return [*([later] if again else []), Phase("open", metadata=made)]

    def _opens(self, work: Workload, pattern: Pattern) -> dict[str, int]:
        """Return the opens of a file by its ranks: one rank creates each file."""
        files = self._files(work)
        return opens(files, work.ranks, writing=pattern.writing)

    def _files(self, work: Workload) -> int:
        """Return the number of files for each name of the workload."""
        del work
        return 1

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        """Return the phase of one step."""
        raise NotImplementedError

    def _place(
        self, one: Placed, ranges: Ranges, work: Workload, ends: Ends
    ) -> tuple[int | Ints, Ranges]:
        """Return the requests of one step, and the file of each."""
        raise NotImplementedError


class PosixShared(_Posix):
    """Stack in which each rank writes its contiguous ranges to one shared file."""

    name = "posix-shared"
    summary = "POSIX calls, all ranks into one file: a call for each contiguous range"

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        flow = shared_flow(one, shape, work, setup.layout, shape.rank_pieces, shape.piece_bytes)
        return Phase(f"independent {_verb(one.pattern)}", 1.0, (flow,))

    def _place(
        self, one: Placed, ranges: Ranges, work: Workload, ends: Ends
    ) -> tuple[int | Ints, Ranges]:
        del work, ends
        return 0, replace(ranges, offset=ranges.offset + one.base)


class PosixProcess(_Posix):
    """Stack in which each rank has a file of its own."""

    name = "posix-process"
    summary = "POSIX calls, a file per process"

    def _files(self, work: Workload) -> int:
        return work.ranks

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        objects = objects_of(shape.rank_bytes, setup.layout)
        flow = Flow(
            writing=one.pattern.writing,
            processes=shape.ranks,
            nodes=shape.nodes,
            count=calls_of(shape),
            size=shape.rank_bytes / calls_of(shape),
            files=shape.ranks,
            objects=objects,
            objects_per_process=objects,
        )
        return Phase(f"{_verb(one.pattern)} of own files", 1.0, (flow,))

    def _place(
        self, one: Placed, ranges: Ranges, work: Workload, ends: Ends
    ) -> tuple[int | Ints, Ranges]:
        calls = staged(ranges)
        end = _end(ends, one.pattern, work)
        moved = np.bincount(calls.rank, calls.size, work.ranks).astype(np.int64)
        placed = replace(calls, offset=within(calls) + end[calls.rank])
        end += moved
        return placed.rank, placed


class PosixNode(_Posix):
    """Stack in which the ranks of a node share a file, with their parts of a step in a row."""

    name = "posix-node"
    summary = "POSIX calls, a file per node: the node's ranks one after another in it"

    def _files(self, work: Workload) -> int:
        return work.nodes

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        count = calls_of(shape)
        size = shape.rank_bytes / count
        mates = -(-shape.ranks // shape.nodes)
        chosen = sampled_processes(mates)
        begins = (chosen * shape.rank_bytes).astype(np.int64)
        meet = at_once(begins, size, np.zeros_like(chosen), mates, setup.layout)
        flow = met_flow(
            meet, shape.ranks, shape.nodes, count, size, 1, setup.layout,
            writing=one.pattern.writing,
        )  # fmt: skip
        flow = replace(flow, files=shape.nodes)
        return Phase(f"{_verb(one.pattern)} of the nodes' files", 1.0, (flow,))

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """Return the requests: the variables of a step are contiguous for each rank."""
        numbers, tables, phase = file_numbers(work), [], 0
        nodes = np.arange(work.ranks) // work.ranks_per_node
        ends: Ends = {}
        for patterns in together(work.patterns):
            calls = [staged(ranges_of(pattern)) for pattern in patterns]
            moved = [np.bincount(c.rank, c.size, work.ranks).astype(np.int64) for c in calls]
            total: Ints = np.stack(moved).sum(axis=0)
            before = np.cumsum(total) - total
            before -= before[nodes * work.ranks_per_node]
            first = patterns[0]
            end = _end(ends, first, work)
            for _ in range(first.steps):
                place = end + before
                for call, size in zip(calls, moved, strict=True):
                    there = replace(call, offset=within(call) + place[call.rank])
                    tables.append(
                        as_requests(there, phase=phase, writing=first.writing,
                                    file=numbers[first.file] * work.nodes + nodes[call.rank])
                    )  # fmt: skip
                    place = place + size
                    phase += 1
                end += np.bincount(nodes, total, work.nodes).astype(np.int64)[nodes]
        return in_order(tables)


class PosixSerial(_Posix):
    """Stack in which rank 0 gathers and writes the array, 4 MiB at a time (or the reverse)."""

    name = "posix-serial"
    summary = "POSIX calls by rank 0 alone, to which the others send"

    def _opens(self, work: Workload, pattern: Pattern) -> dict[str, int]:
        return opens(1, 1, writing=pattern.writing)

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        total = array_bytes(one.pattern)
        _, windows = windows_of(one.pattern)
        flow = Flow(
            writing=one.pattern.writing, processes=1, nodes=1, count=1, size=total / windows,
            objects=objects_of(total, setup.layout),
            objects_per_process=objects_of(total / windows, setup.layout),
        )  # fmt: skip
        return Phase(
            f"{_verb(one.pattern)} by rank 0", float(windows), (flow,),
            exchange_bytes=total / windows, ranks=shape.ranks,
        )  # fmt: skip

    def _place(
        self, one: Placed, ranges: Ranges, work: Workload, ends: Ends
    ) -> tuple[int | Ints, Ranges]:
        del work, ends, ranges
        length, _ = windows_of(one.pattern)
        before, none = one.base, np.zeros(1, np.int64)
        return 0, split(Ranges(none, none + before, none + array_bytes(one.pattern)), length)


def _end(ends: Ends, pattern: Pattern, work: Workload) -> Ints:
    return ends.setdefault((pattern.file, pattern.writing), np.zeros(work.ranks, np.int64))


def _verb(pattern: Pattern) -> str:
    return "write" if pattern.writing else "read"


# Calls of programs that write without a library: data of a dataset in each of them.

STAGE_BYTES = 4 << 20
"""Size of the buffer in which ranges that are adjacent in the file become one call."""


def windows_of(pattern: Pattern) -> tuple[int, int]:
    """Return bytes and number of the windows in which the array passes through rank 0."""
    length = max(STAGE_BYTES // pattern.element_bytes, 1) * pattern.element_bytes
    return length, -(-array_bytes(pattern) // length)


def calls_of(shape: Shape) -> float:
    """Return a rank's calls for data that is contiguous in its file but not in the dataset."""
    together = max(1, int(STAGE_BYTES // shape.piece_bytes))
    return max(1.0, -(-shape.rank_pieces // together))


def staged(ranges: Ranges) -> Ranges:
    """Return calls, each with consecutive ranges until the next does not fit in the buffer."""
    first = np.searchsorted(ranges.rank, ranges.rank)
    ends = np.cumsum(ranges.size)
    begins = np.append(0, ends)[:-1]
    begin = begins - begins[first]
    starts: list[int] = []
    for low, high in _spans(ranges.rank):
        at = low
        while at < high:
            starts.append(at)
            reach = np.searchsorted(ends[low:high], begins[at] + STAGE_BYTES, "right") + low
            at = max(at + 1, int(reach))
    index = np.asarray(starts, np.int64)
    size = np.add.reduceat(ranges.size, index) if index.size else ranges.size[:0]
    return Ranges(ranges.rank[index], begin[index], size)


def _spans(rank: Ints) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(rank, prepend=-1, append=-1))
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def within(calls: Ranges) -> Ints:
    """Return the bytes of the same rank before each call."""
    before = np.cumsum(calls.size) - calls.size
    inside: Ints = before - before[np.searchsorted(calls.rank, calls.rank)]
    return inside


# A program's own requests, as in its trace, on files with a layout.


def traced_phases(stretches: Iterable[Stretch], layout: Layout) -> tuple[Phase, ...]:
    """Return the phases of the requests that a program makes itself."""
    return merged([_phase(one, layout) for one in stretches])


def _phase(stretch: Stretch, layout: Layout) -> Phase:
    operations: Counter[str] = Counter()
    for one in stretch.turns:
        for name, number in one.metadata.items():
            operations[name] += round(one.processes * number)
    flows = tuple(_flow(call, layout) for call in stretch.calls)
    return Phase(stretch.name, flows=flows, metadata=dict(operations), turns=stretch.turns)


def _flow(call: TracedCalls, layout: Layout) -> Flow:
    return _own_files(call, layout) if call.sharers == 1 else _shared_files(call, layout)


def _own_files(call: TracedCalls, layout: Layout) -> Flow:
    """Return requests to files that each process uses exclusively, one after another.

    The next file is on other targets, so at most this number counts as in use together.
    """
    objects = objects_of(call.reach_bytes, layout)
    together = min(call.files, layout.targets)
    parts = stripes_of(call.size, call.granule, layout.stripe_size)
    return Flow(
        writing=call.writing,
        processes=call.processes,
        nodes=call.nodes,
        count=call.count,
        size=call.size,
        files=call.different * together,
        objects=objects,
        objects_per_process=objects * together,
        parts=min(parts, float(objects)),
    )


def _shared_files(call: TracedCalls, layout: Layout) -> Flow:
    """Return requests to files that several processes use at the same time."""
    begins, nodes = np.array(call.begins, np.int64), np.array(call.on_nodes, np.int64)
    meet = at_once(begins, call.size, nodes, call.sharers, layout)
    objects = spread(
        meet, call.count / call.files, call.size, call.reach_bytes,
        objects_of(call.span_bytes, layout), layout.stripe_size,
    )  # fmt: skip
    flow = met_flow(
        replace(meet, objects=objects), call.processes, call.nodes, call.count, call.size,
        call.granule, layout, writing=call.writing,
    )  # fmt: skip
    found = 1 - 1 / max(1.0, call.sharers * call.count / call.files)  # the first one finds no lock
    return replace(flow, files=call.different, handovers=flow.handovers * found)
