# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that write and read by themselves: a file per process or node, one file, or rank 0.

What a rank moves of a dataset is contiguous in its own file or its part of the node's.  It goes
there in calls of at most 4 MiB, unless a contiguous range of the dataset is larger,
which is one call.  Source: measured, the kernels' back end `posix` (backends/posix.c).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stripewise.model import Pattern, PatternKind
from stripewise.simulation._requests import Flow, Phase, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._at_once import at_once, looked_at
from stripewise.simulation.stacks._base import Ints, Setup, Stack, opens
from stripewise.simulation.stacks._pieces import (
    Ranges,
    array_bytes,
    as_requests,
    file_numbers,
    in_order,
    ranges_of,
    split,
)
from stripewise.simulation.stacks._placed import (
    Placed,
    merged,
    steps,
    steps_looked_at,
    times,
    together,
)
from stripewise.simulation.stacks._posix_calls import calls_of, staged, windows_of, within
from stripewise.simulation.stacks._shape import Shape, shape_of
from stripewise.simulation.stacks._shared_file import met_flow, objects_of, shared_flow

Ends = dict[tuple[str, bool], Ints]
"""Of a name and a direction: bytes that each rank has behind it in its file; (n_ranks,)."""


class _Posix(Stack):
    """What the four ways have in common: steps, files, opens."""

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
        """Return who opens a file: one rank of each file makes it."""
        files = self._files(work)
        return opens(files, work.ranks, writing=pattern.writing)

    def _files(self, work: Workload) -> int:
        """Files for each name of the workload."""
        del work
        return 1

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        """Return one step."""
        raise NotImplementedError

    def _place(
        self, one: Placed, ranges: Ranges, work: Workload, ends: Ends
    ) -> tuple[int | Ints, Ranges]:
        """Return the requests of one step, and the file of each."""
        raise NotImplementedError


class PosixShared(_Posix):
    """Each rank writes its contiguous ranges to one shared file."""

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
    """Each rank has a file of its own."""

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
    """The ranks of a node share a file; a step has their parts one after another."""

    name = "posix-node"
    summary = "POSIX calls, a file per node: the node's ranks one after another in it"

    def _files(self, work: Workload) -> int:
        return work.nodes

    def _phase(self, one: Placed, shape: Shape, work: Workload, setup: Setup) -> Phase:
        count = calls_of(shape)
        size = shape.rank_bytes / count
        mates = -(-shape.ranks // shape.nodes)
        chosen = looked_at(mates)
        begins = (chosen * shape.rank_bytes).astype(np.int64)
        meet = at_once(begins, size, np.zeros_like(chosen), mates, setup.layout)
        flow = met_flow(
            meet, shape.ranks, shape.nodes, count, size, 1, setup.layout,
            writing=one.pattern.writing,
        )  # fmt: skip
        flow = replace(flow, files=shape.nodes)
        return Phase(f"{_verb(one.pattern)} of the nodes' files", 1.0, (flow,))

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """Return them; a rank's variables of a step lie together, behind the rank before."""
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
    """Rank 0 collects the array, 4 MiB at a time, and writes it (reads and hands out)."""

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
