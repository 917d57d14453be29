# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""POSIX and stdio calls, and MPI-IO calls through file views -> byte ranges per file."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index, levels_of, moved
from stripewise.model import COLLECTIVE_OPS, TRACE_ROW, WRITES, EventFlag, Pieces, Trace, TraceView
from stripewise.readers._rows import (
    groups,
    number_in_rank,
    ranks_of,
    take_rows,
    within,
)
from stripewise.readers._view_pieces import pieces_of_range

_PIECE_COLUMNS = ("offset", "size", "repeat", "inner", "stride")
_FARTHEST = 1 << 61
_MOST_TEMPLATES = 20_000
_UNKNOWN = {
    "view": "calls have no known place (at a shared pointer, or their view was not recorded)",
    "offsets": "calls have no known offset",
}


class _Gathered:
    """Pieces of one file and direction as they come, each with the call that it is of."""

    def __init__(self, most: int) -> None:
        self.room = most
        self.n_calls = 0
        self.parts: list[dict[str, NDArray[Any]]] = []
        self.troubles: Counter[str] = Counter()
        self.element_bytes: set[int] = set()
        self.templates = 0

    def add(self, calls: NDArray[Any], call: NDArray[np.int64], **columns: NDArray[Any]) -> None:
        """Add pieces; `calls` has what is known of the call of each, `call` its number."""
        part = {name: calls[name] for name in ("rank", "process", "thread", "sequence")} | columns
        part = {name: values.astype(np.int64) for name, values in part.items()}
        part["call"] = call + self.n_calls
        part["collective"] = np.isin(calls["op"], COLLECTIVE_OPS)
        self.parts.append(part)
        self.room -= len(calls)
        self.n_calls += int(call.max()) + 1 if len(call) else 0

    def columns(self) -> dict[str, NDArray[Any]]:
        """All values of each column."""
        if len(self.parts) == 1:
            return self.parts[0]
        names = self.parts[0]
        return {name: np.concatenate([part[name] for part in self.parts]) for name in names}


def byte_pieces(trace: Trace, rows: NDArray[Any], source: str, most: int) -> tuple[Pieces, ...]:
    """Group calls by file and direction; folded runs stay folded where they can.

    Args:
        trace: Of one run.
        rows: Its data calls of MPI-IO, or those whose offsets are bytes of the file.
        source: "view" or "offsets", accordingly.
        most: Rows of pieces that are made.
    """
    found = []
    for (file, writing), places in groups(rows["file"], np.isin(rows["op"], WRITES)):
        gathered = _Gathered(most)
        mine = rows if len(places) == len(rows) else take_rows(rows, places)
        unknown = (mine["flags"] & EventFlag.NO_OFFSET) != 0
        if unknown.any():
            gathered.troubles[_UNKNOWN[source]] = int(mine["count"][unknown].sum())
            mine = mine[~unknown]
        if source == "offsets" or not len(mine):
            _through(None, mine, gathered)
        else:
            for (number,), of_view in groups(mine["view"]):
                _through(trace.views[number] if number >= 0 else None, mine[of_view], gathered)
        most = gathered.room
        found.append(_pieces(trace, trace.paths[file], bool(writing), source, gathered))
    return tuple(found)


def _pieces(trace: Trace, file: str, writing: bool, source: str, gathered: _Gathered) -> Pieces:
    if not gathered.parts:
        _through(None, np.zeros(0, TRACE_ROW), gathered)
    columns = gathered.columns()
    rank, n_ranks = ranks_of(trace, columns["rank"])
    keys = [columns[name] for name in ("process", "thread", "sequence")]
    call, element = columns["call"], gathered.element_bytes
    if (call[1:] > call[:-1]).all():
        order = number_in_rank(rank, *keys)
    else:
        _, first, inverse = np.unique(call, return_index=True, return_inverse=True)
        order = number_in_rank(rank[first], *(key[first] for key in keys))[inverse.reshape(-1)]
    return Pieces(
        file=file,
        writing=writing,
        rank=rank,
        **{name: columns[name] for name in (*_PIECE_COLUMNS, "collective", "call")},
        order=order,
        n_ranks=n_ranks,
        element_bytes=next(iter(element)) if len(element) == 1 else 1,
        source=source,
        notes=tuple(f"{number} {what}" for what, number in gathered.troubles.items() if number),
    )


def _through(view: TraceView | None, rows: NDArray[Any], gathered: _Gathered) -> None:
    """Add the calls that share a view (None: the default one)."""
    etype = max(view.etype_bytes, 1) if view else 1
    gathered.element_bytes.add(etype)
    if view is None or view.contiguous:
        begin = 0 if view is None else view.displacement + _data_begin(view)
        kept = rows[: max(gathered.room, 0)]
        what = "runs of calls beyond the bound are left out"
        gathered.troubles[what] += len(rows) - len(kept)
        rows = kept
        gathered.add(
            rows,
            np.arange(len(rows)),
            offset=begin + rows["offset"] * etype,
            size=rows["bytes"],
            repeat=rows["count"],
            inner=rows["inner"],
            stride=rows["stride"] * etype,
        )
        return
    n_calls = int(rows["count"].sum())
    if view.truncated or not _sound(view):
        gathered.troubles["calls use a file view with more pieces than were recorded"] += n_calls
        return
    rows, left_out = within(rows, max(gathered.room, 0))
    gathered.troubles["calls beyond the bound are left out"] += left_out
    _with_holes(view, etype, rows, gathered)


def _data_begin(view: TraceView) -> int:
    return int(view.pieces["offset"][0]) if len(view.pieces) else view.lower


def _sound(view: TraceView) -> bool:
    """Whether the pieces add up to the data of the filetype, with numbers of a sane size."""
    pieces = view.pieces
    if not len(pieces) or view.filetype_bytes <= 0 or not 0 < abs(view.extent) < _FARTHEST:
        return False
    if (pieces["bytes"] <= 0).any() or (pieces["count"] <= 0).any():
        return False
    total = (pieces["bytes"].astype(float) * pieces["count"]).sum()
    return bool(total == view.filetype_bytes and total < _FARTHEST)


def _with_holes(view: TraceView, etype: int, rows: NDArray[Any], gathered: _Gathered) -> None:
    row, k = expanded_index(rows["count"])
    levels = levels_of(k, rows["inner"][row])
    position = (rows["offset"][row] + moved(levels, rows["stride"][row])) * etype
    calls = rows[row]
    calls["sequence"] += moved(levels, rows["sequence_stride"][row])
    good = (position >= 0) & (position < _FARTHEST) & (calls["bytes"] < _FARTHEST)
    calls, position = calls[good], position[good]
    tile, phase = np.divmod(position, view.filetype_bytes)
    for (begin, size), places in groups(phase, calls["bytes"]):
        gathered.templates += 1
        pieces = None
        if gathered.templates <= _MOST_TEMPLATES:
            pieces = pieces_of_range(view, begin, size)
        if pieces is None or len(pieces) * len(places) > gathered.room:
            gathered.troubles["calls beyond the bound are left out"] += len(places)
            continue
        start = view.displacement + tile[places] * view.extent
        times, n = len(places), len(pieces)
        gathered.add(
            np.repeat(calls[places], n),
            np.repeat(np.arange(times), n),
            offset=(start[:, None] + pieces["offset"]).reshape(-1),
            size=np.tile(pieces["bytes"], times),
            repeat=np.tile(pieces["count"], times),
            inner=np.tile(pieces["inner"], (times, 1)),
            stride=np.tile(pieces["stride"], (times, 1)),
        )
