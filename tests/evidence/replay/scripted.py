# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small traces made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stripewise.evidence.trace import (
    TRACE_ROW,
    IoLayer,
    Op,
    Trace,
    TraceObject,
    TraceShape,
    TraceView,
)


@dataclass
class Script:
    """What ranks do, one call after the other; each takes 10 us and is 100 us after the last."""

    n_ranks: int = 2
    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    objects: list[TraceObject] = field(default_factory=list)
    shapes: list[TraceShape] = field(default_factory=list)
    views: list[TraceView] = field(default_factory=list)
    clock: dict[int, int] = field(default_factory=dict)
    sequence: dict[int, int] = field(default_factory=dict)

    def call(
        self, rank: int, layer: IoLayer, op: Op, name: str, path: str = "", **more: Any
    ) -> None:
        """Append a call (or a folded run: `count`, `stride`, `sequence_stride`)."""
        values: dict[str, Any] = {
            "process": rank,
            "rank": rank if self.n_ranks else -1,
            "thread": 1,
            "file": _place(self.paths, path) if path else -1,
            "name": _place(self.names, name),
            "parent": -1,
            "object": -1,
            "shape": -1,
            "view": -1,
            "layer": layer,
            "op": op,
            "count": 1,
        }
        values |= more
        count = int(values["count"])
        start = max(self.clock.get(rank, 0), values.pop("at_ns", 0))
        last = start + (count - 1) * 110_000
        sequence = self.sequence.get(rank, 0)
        values.setdefault("sequence", sequence)
        values.setdefault("start_ns", start)
        values.setdefault("last_start_ns", last)
        values.setdefault("end_ns", values["last_start_ns"] + 10_000)
        values.setdefault("busy_ns", count * 10_000)
        if count > 1:
            values.setdefault("sequence_stride", (1, 0, 0))
        self.rows.append((rank, values))
        self.clock[rank] = values["end_ns"] + 100_000
        self.sequence[rank] = max(sequence, values["sequence"]) + count

    def everywhere(self, layer: IoLayer, op: Op, name: str, path: str = "", **more: Any) -> None:
        """Append the call on each rank."""
        for rank in range(max(self.n_ranks, 1)):
            self.call(rank, layer, op, name, path, **more)

    def trace(self) -> Trace:
        """Return it as a trace."""
        ordered = sorted(self.rows, key=lambda item: (item[0], item[1]["sequence"]))
        rows = np.zeros(len(ordered), TRACE_ROW)
        rows["memory"] = -1
        for index, (_, values) in enumerate(ordered):
            for name, value in values.items():
                rows[name][index] = value
        n = max(self.n_ranks, 1)
        ranks = np.arange(n) if self.n_ranks else np.array([-1])
        return Trace(
            "stripewise trace",
            rows,
            tuple(self.names),
            tuple(self.paths),
            tuple(self.objects),
            tuple(self.shapes),
            tuple(self.views),
            process_rank=ranks.astype(np.int64),
            process_host=np.zeros(n, np.int64),
            hosts=("host",),
            n_ranks=self.n_ranks,
        )


def _place(known: list[str], text: str) -> int:
    if text not in known:
        known.append(text)
    return known.index(text)
