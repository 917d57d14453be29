# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program's own requests, as its trace has them, on files with a layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation._traced import Stretch, TracedCalls
from stripewise.simulation.stacks._at_once import at_once, spread
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._placed import merged
from stripewise.simulation.stacks._shared_file import met_flow, objects_of, stripes_of


def traced_phases(stretches: Iterable[Stretch], layout: Layout) -> tuple[Phase, ...]:
    """Return the phases of what a program asks for by itself."""
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
    """Return requests to files that each process has to itself, one after another.

    The next file lies on other targets: so many at most are counted as in use together.
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
