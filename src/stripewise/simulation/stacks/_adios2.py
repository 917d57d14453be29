# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ADIOS2's file engines: each aggregator writes the data of its group into a subfile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stripewise.errors import UsageError
from stripewise.model import Pattern, PatternKind
from stripewise.simulation._requests import Flow, Phase, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._adios2_files import SubFiles, blocks_of
from stripewise.simulation.stacks._adios2_groups import (
    MOST_BYTES,
    TUNABLES,
    Adios2,
    counts,
    groups_of,
    read_parameters,
)
from stripewise.simulation.stacks._at_once import at_once, looked_at, spread
from stripewise.simulation.stacks._base import Setup, Stack
from stripewise.simulation.stacks._contention import PAGE
from stripewise.simulation.stacks._pieces import (
    as_requests,
    file_numbers,
    in_order,
)
from stripewise.simulation.stacks._placed import together
from stripewise.simulation.stacks._shape import shape_of
from stripewise.simulation.stacks._shared_file import met_flow, objects_of

_INDEX_FILES = 4
"""The directory, md.0, md.idx and mmd.0, which rank 0 makes."""


class Adios2Stack(Stack):
    """BP5 (and BP4 in classes): variables of one file that differ in name make up a step."""

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
    """One writer of each subfile makes it, rank 0 the directory and the index files."""
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
    # Of the others, through memory that they share; before each write, and not beside it.
    copied = total * (1 - processes / ranks) / work.nodes
    yield Phase("write of subfiles", steps, (flow,), copied_bytes=copied)
    # Measured: 176 bytes of a rank and 96 of each of its variables.
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
    chosen = looked_at(mates)
    begins = (chosen * each).astype(np.int64) // PAGE * PAGE
    meet = at_once(begins, size, chosen * nodes // processes, mates, layout)
    apart = spread(meet, count, size, each, objects, layout.stripe_size)
    flow = met_flow(
        replace(meet, objects=apart), processes, nodes, count, size, PAGE, layout,
        writing=writing,
    )  # fmt: skip
    return replace(flow, files=files, shared_pages=0.0)
