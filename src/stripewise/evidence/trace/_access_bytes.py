# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives the byte ranges that POSIX, stdio and MPI-IO calls moved, using file views."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace._rows import groups, number_in_rank, ranks_of, take_rows, within
from stripewise.evidence.trace._trace import (
    COLLECTIVE_OPS,
    PIECE_ROW,
    TRACE_ROW,
    WRITES,
    EventFlag,
    Pieces,
    Trace,
    TraceView,
    expanded_index,
    levels_of,
    moved,
)

_PIECE_COLUMNS = ("offset", "size", "repeat", "inner", "stride")
_FARTHEST = 1 << 61
_MOST_TEMPLATES = 20_000
_UNKNOWN = {
    "view": "calls have no known offset (they use a shared pointer, or their view was not "
    "recorded)",
    "offsets": "calls have no known offset",
}


class _PieceColumns:
    """Pieces of one file and direction while they are collected, each with its call."""

    def __init__(self, most: int) -> None:
        self.room = most
        self.n_calls = 0
        self.parts: list[dict[str, NDArray[Any]]] = []
        self.troubles: Counter[str] = Counter()
        self.element_bytes: set[int] = set()
        self.templates = 0

    def add(self, calls: NDArray[Any], call: NDArray[np.int64], **columns: NDArray[Any]) -> None:
        """Add pieces; `calls` contains the data of each piece's call, `call` its number."""
        part = {name: calls[name] for name in ("rank", "process", "thread", "sequence")} | columns
        part = {name: values.astype(np.int64) for name, values in part.items()}
        part["call"] = call + self.n_calls
        part["collective"] = np.isin(calls["op"], COLLECTIVE_OPS)
        self.parts.append(part)
        self.room -= len(calls)
        self.n_calls += int(call.max()) + 1 if len(call) else 0

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all values of each column."""
        if len(self.parts) == 1:
            return self.parts[0]
        names = self.parts[0]
        return {name: np.concatenate([part[name] for part in self.parts]) for name in names}


def byte_pieces(trace: Trace, rows: NDArray[Any], source: str, most: int) -> tuple[Pieces, ...]:
    """Group calls by file and direction; folded runs stay folded where possible.

    Args:
        trace: Trace of one run.
        rows: Data calls of MPI-IO in it, or those whose offsets are bytes of the file.
        source: "view" for MPI-IO calls, "offsets" for the others.
        most: Maximum number of rows of pieces.
    """
    found = []
    for (file, writing), places in groups(rows["file"], np.isin(rows["op"], WRITES)):
        gathered = _PieceColumns(most)
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


def _pieces(
    trace: Trace, file: str, writing: bool, source: str, gathered: _PieceColumns
) -> Pieces:
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


def _through(view: TraceView | None, rows: NDArray[Any], gathered: _PieceColumns) -> None:
    """Add the calls that share a view (None for the default one)."""
    etype = max(view.etype_bytes, 1) if view else 1
    gathered.element_bytes.add(etype)
    if view is None or view.contiguous:
        begin = 0 if view is None else view.displacement + _data_begin(view)
        kept = rows[: max(gathered.room, 0)]
        what = "runs of calls beyond the limit are left out"
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
    if view.truncated or not _is_consistent(view):
        gathered.troubles["calls use a file view with more pieces than were recorded"] += n_calls
        return
    rows, left_out = within(rows, max(gathered.room, 0))
    gathered.troubles["calls beyond the limit are left out"] += left_out
    _with_holes(view, etype, rows, gathered)


def _data_begin(view: TraceView) -> int:
    return int(view.pieces["offset"][0]) if len(view.pieces) else view.lower


def _is_consistent(view: TraceView) -> bool:
    """Return whether the pieces add up to the filetype's data and all sizes are possible."""
    pieces = view.pieces
    if not len(pieces) or view.filetype_bytes <= 0 or not 0 < abs(view.extent) < _FARTHEST:
        return False
    if (pieces["bytes"] <= 0).any() or (pieces["count"] <= 0).any():
        return False
    total = (pieces["bytes"].astype(float) * pieces["count"]).sum()
    return bool(total == view.filetype_bytes and total < _FARTHEST)


def _with_holes(view: TraceView, etype: int, rows: NDArray[Any], gathered: _PieceColumns) -> None:
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
            gathered.troubles["calls beyond the limit are left out"] += len(places)
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


# Bytes of a file that a range of a view's data covers, in folded pieces.

MOST_PIECES = 65536
"""Maximum number of pieces of one call that are listed."""

_ENDLESS = np.iinfo(np.int64).max


def pieces_of_range(view: TraceView, phase: int, size: int) -> NDArray[Any] | None:
    """Return the pieces that contain `size` bytes of data from byte `phase` of a filetype on.

    Args:
        view: View that lists all its pieces and contains some data.
        phase: Offset in the data, below `view.filetype_bytes`.
        size: Number of bytes, more than 0.

    Returns:
        (n,) `PIECE_ROW`, offsets from the start of that filetype; None if there are more than
        `MOST_PIECES`.
    """
    whole = view.filetype_bytes
    head = min(whole - phase, size) if phase else 0
    n_tiles, tail = divmod(size - head, whole)
    first = 1 if phase else 0
    parts = []
    if head:
        parts.append(_clipped(view.pieces, phase, phase + head))
    if n_tiles:
        tiles = _tiled(view.pieces, n_tiles, view.extent)
        if tiles is None:
            return None
        parts.append(_shifted(tiles, first * view.extent))
    if tail:
        parts.append(_shifted(_clipped(view.pieces, 0, tail), (first + n_tiles) * view.extent))
    found = np.concatenate(parts)
    return found if len(found) <= MOST_PIECES else None


def _shifted(pieces: NDArray[Any], distance: int) -> NDArray[Any]:
    found = pieces.copy()
    found["offset"] += distance
    return found


def _tiled(pieces: NDArray[Any], n_tiles: int, extent: int) -> NDArray[Any] | None:
    """Return the pieces of `n_tiles` consecutive filetypes."""
    if n_tiles == 1:
        return pieces
    parts = []
    for piece in pieces:
        folded = _fold_tiles(piece, n_tiles, extent)
        if folded is None:
            if n_tiles > MOST_PIECES:
                return None
            folded = np.repeat(piece[None], n_tiles)
            folded["offset"] += np.arange(n_tiles) * extent
        parts.append(folded)
        if sum(map(len, parts)) > MOST_PIECES:
            return None
    return np.concatenate(parts)


def _fold_tiles(piece: Any, n_tiles: int, extent: int) -> NDArray[Any] | None:
    """Fold a piece over the tiles; None if it has all levels already, or an incomplete one."""
    count, inner, stride = int(piece["count"]), piece["inner"].tolist(), piece["stride"].tolist()
    found = np.array([piece], PIECE_ROW)
    found["count"] = count * n_tiles
    if count == 1:
        found["inner"], found["stride"] = (0, 0), (extent, 0, 0)
    elif not inner[0] or count <= inner[0]:
        found["inner"], found["stride"] = (count, 0), (stride[0], extent, 0)
    elif (not inner[1] or count <= inner[0] * inner[1]) and count % inner[0] == 0:
        found["inner"] = (inner[0], count // inner[0])
        found["stride"] = (stride[0], stride[1], extent)
    else:
        return None
    return found


def _clipped(pieces: NDArray[Any], begin: int, end: int) -> NDArray[Any]:
    """Return the pieces that contain the bytes `begin` to `end` of one filetype's data."""
    sizes = pieces["bytes"] * pieces["count"]
    starts = np.cumsum(sizes) - sizes
    parts: list[tuple[Any, ...]] = []
    for place in np.flatnonzero((starts < end) & (starts + sizes > begin)).tolist():
        low = max(begin - int(starts[place]), 0)
        high = min(end - int(starts[place]), int(sizes[place]))
        parts += _part_of(pieces[place], low, high)
    return np.array(parts, PIECE_ROW)


def _part_of(piece: Any, low: int, high: int) -> list[tuple[Any, ...]]:
    """Return the bytes `low` to `high` of the data of a folded piece."""
    size = int(piece["bytes"])
    first, skipped = divmod(low, size)
    last, rest = divmod(high, size)
    if first == last:
        return [_single_piece(_offset_of(piece, first) + skipped, high - low)]
    parts = []
    if skipped:
        parts.append(_single_piece(_offset_of(piece, first) + skipped, size - skipped))
        first += 1
    parts += _between(piece, first, last)
    if rest:
        parts.append(_single_piece(_offset_of(piece, last), rest))
    return parts


def _between(piece: Any, first: int, last: int) -> list[tuple[Any, ...]]:
    """Return the pieces `first` to `last` (exclusive) of a folded one, in at most five entries."""
    inner = [int(number) or _ENDLESS for number in piece["inner"].tolist()]
    line, plane = inner[0], min(inner[0] * inner[1], _ENDLESS)
    cuts = {first, last}
    for unit in (line, plane):
        up, down = -(-first // unit) * unit, last // unit * unit
        cuts |= {cut for cut in (up, down) if first < cut < last}
    bounds = sorted(cuts)
    stride = tuple(piece["stride"].tolist())
    return [
        (_offset_of(piece, a), int(piece["bytes"]), b - a, tuple(piece["inner"].tolist()), stride)
        for a, b in itertools.pairwise(bounds)
    ]


def _single_piece(offset: int, size: int) -> tuple[Any, ...]:
    return (offset, size, 1, (0, 0), (0, 0, 0))


def _offset_of(piece: Any, k: int) -> int:
    """Return the offset of the k-th piece."""
    levels = levels_of(np.array([k]), piece["inner"][None])
    return int(piece["offset"] + moved(levels, piece["stride"][None])[0])
