# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether two runs made the same requests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from stripewise.evidence.replay._calls import rank_calls, top_level
from stripewise.evidence.replay._plan import Tables
from stripewise.evidence.trace import EventFlag, IoLayer, Op, Trace

_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
_MOST_TOLD = 20


@dataclass(frozen=True)
class Differences:
    """What differs between the requests of two runs.

    Attributes:
        calls / bytes: Data calls of the program itself in the first run, and what they moved.
        texts: What differs, in words; the first ones.
        n_different: Calls that have no equal in the other run, at the same turn.
        files: Names of the files that were compared.
    """

    calls: int
    bytes: int
    texts: tuple[str, ...] = ()
    n_different: int = 0
    files: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self.n_different > 0


Request = tuple[int, int, int | None, str, str, str, str]
"""Kind of operation, bytes, offset; dataset, selection, view and buffer in words."""


def compare(first: Trace, second: Trace, names: Mapping[str, str] | None = None) -> Differences:
    """Compare the data calls that two programs made themselves, rank by rank and file by file.

    Compared are their order in each file and interface, direction, collective or not, size,
    offset, dataset and selection, and the file view.  Offsets that one of the runs does not
    know are not compared.

    Args:
        first: Trace of the one run.
        second: Trace of the other.
        names: Path in `first` to the file's name in `second`; the last part of the path if not
            given.
    """
    names = names or {}
    ours = _requests(
        first, {path: names.get(path, os.path.basename(path)) for path in first.paths}
    )
    theirs = _requests(second, {path: os.path.basename(path) for path in second.paths})
    texts: list[str] = []
    n_different = 0
    for key in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(key, []), theirs.get(key, [])
        rank, name, layer = key
        where = f"rank {rank}, {name}, {IoLayer(layer).name.lower()}"
        if len(mine) != len(other):
            texts.append(f"{where}: {len(mine)} calls and {len(other)}")
            n_different += abs(len(mine) - len(other))
        for turn, (a, b) in enumerate(zip(mine, other, strict=False)):
            if not _same(a, b):
                n_different += 1
                texts.append(f"{where}, call {turn}: {_told(a)} and {_told(b)}")
    n_calls = sum(map(len, ours.values()))
    total = sum(request[1] for requests in ours.values() for request in requests)
    files = tuple(sorted({name for _, name, _ in ours}))
    return Differences(n_calls, total, tuple(texts[:_MOST_TOLD]), n_different, files)


def _same(a: Request, b: Request) -> bool:
    if a[2] is None or b[2] is None:
        return a[:2] == b[:2] and a[3:] == b[3:]
    return a == b


def _told(request: Request) -> str:
    op, size, offset, *others = request
    place = "" if offset is None else f" at {offset}"
    return ", ".join((f"{Op(op).name.lower()} of {size} bytes{place}", *filter(None, others)))


def _requests(trace: Trace, names: Mapping[str, str]) -> dict[tuple[int, str, int], list[Request]]:
    rows = trace.rows
    chosen = top_level(trace) & np.isin(rows["op"], _DATA) & (rows["file"] >= 0)
    chosen &= (rows["flags"] & EventFlag.ATTRIBUTE) == 0
    tables = Tables(trace, {})
    told = {int(i): _of_row(trace, tables, int(i)) for i in np.flatnonzero(chosen)}
    found: dict[tuple[int, str, int], list[Request]] = {}
    for calls in rank_calls(trace, chosen):
        for index, offset in zip(calls.row.tolist(), calls.offset.tolist(), strict=True):
            row = rows[index]
            key = (calls.rank, names[trace.paths[row["file"]]], int(row["layer"]))
            known = offset if offset >= 0 else None
            request = (int(row["op"]), int(row["bytes"]), known, *told[index])
            found.setdefault(key, []).append(request)
    return found


def _of_row(trace: Trace, tables: Tables, index: int) -> tuple[str, str, str, str]:
    row = trace.rows[index]
    name = trace.objects[row["object"]].name if row["object"] >= 0 else ""
    shape, view = tables.shape(int(row["shape"])), tables.view(int(row["view"]))
    memory = tables.buffer(int(row["memory"]))
    return (
        name,
        tables.shapes[shape] if shape >= 0 else "",
        tables.views[view] if view >= 0 else "",
        tables.views[memory] if memory >= 0 else "",
    )
