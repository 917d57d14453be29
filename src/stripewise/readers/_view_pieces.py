# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which bytes of a file a range of a view's data is, in folded pieces."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import levels_of, moved
from stripewise.model import PIECE_ROW, TraceView

MOST_PIECES = 65536
"""Pieces of one call that are listed."""

_ENDLESS = np.iinfo(np.int64).max


def pieces_of_range(view: TraceView, phase: int, size: int) -> NDArray[Any] | None:
    """Pieces that hold `size` bytes of data from `phase` bytes into a filetype on.

    Args:
        view: With all its pieces and some data.
        phase: Below `view.filetype_bytes`.
        size: More than 0.

    Returns:
        (n,) `PIECE_ROW`, offsets from the start of that filetype; None: more than `MOST_PIECES`.
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
    """The pieces of `n_tiles` filetypes one after the other."""
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
    """One more level over the tiles; None if the piece has all levels already, or a ragged one."""
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
    """Pieces that hold the bytes `begin` to `end` of one filetype's data."""
    sizes = pieces["bytes"] * pieces["count"]
    starts = np.cumsum(sizes) - sizes
    parts: list[tuple[Any, ...]] = []
    for place in np.flatnonzero((starts < end) & (starts + sizes > begin)).tolist():
        low = max(begin - int(starts[place]), 0)
        high = min(end - int(starts[place]), int(sizes[place]))
        parts += _part_of(pieces[place], low, high)
    return np.array(parts, PIECE_ROW)


def _part_of(piece: Any, low: int, high: int) -> list[tuple[Any, ...]]:
    """The bytes `low` to `high` of the data of a folded piece."""
    size = int(piece["bytes"])
    first, skipped = divmod(low, size)
    last, rest = divmod(high, size)
    if first == last:
        return [_one(_at(piece, first) + skipped, high - low)]
    parts = []
    if skipped:
        parts.append(_one(_at(piece, first) + skipped, size - skipped))
        first += 1
    parts += _between(piece, first, last)
    if rest:
        parts.append(_one(_at(piece, last), rest))
    return parts


def _between(piece: Any, first: int, last: int) -> list[tuple[Any, ...]]:
    """Pieces `first` to `last` (exclusive) of a folded one, in at most five entries."""
    inner = [int(number) or _ENDLESS for number in piece["inner"].tolist()]
    line, plane = inner[0], min(inner[0] * inner[1], _ENDLESS)
    cuts = {first, last}
    for unit in (line, plane):
        up, down = -(-first // unit) * unit, last // unit * unit
        cuts |= {cut for cut in (up, down) if first < cut < last}
    bounds = sorted(cuts)
    stride = tuple(piece["stride"].tolist())
    return [
        (_at(piece, a), int(piece["bytes"]), b - a, tuple(piece["inner"].tolist()), stride)
        for a, b in itertools.pairwise(bounds)
    ]


def _one(offset: int, size: int) -> tuple[Any, ...]:
    return (offset, size, 1, (0, 0), (0, 0, 0))


def _at(piece: Any, k: int) -> int:
    """Offset of the k-th piece."""
    levels = levels_of(np.array([k]), piece["inner"][None])
    return int(piece["offset"] + moved(levels, piece["stride"][None])[0])
