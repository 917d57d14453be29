# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of streams that no counted call moved: single characters, and what scanf took.

Such calls are not counted one by one, and not timed.  What the C library read and wrote for the
stream is counted, so the bytes are known: written ones exactly, read ones to a buffer's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import FileFlag, Gap, IoLayer, Op, Part
from stripewise.readers._rows import asked_bytes
from stripewise.readers._unseen import gaps_of_opened

UNTIMED = "calls for single characters (fputc, getc, scanf) are not timed"
WIDE = "wide characters (fputwc, fgetws) are not counted"
_WAYS = ((Op.WRITE, "write"), (Op.READ, "read"))
_LEAST_SHARE = 0.01
"""Of a file's bytes: so few characters do not make its time unknown."""


def add_characters(
    rows: NDArray[Any], issued: NDArray[Any], processes: NDArray[Any]
) -> tuple[Gap, ...]:
    """Add the bytes to counters of streams and to those of their processes, in place.

    Args:
        rows: (n,) `COUNTER_ROW`.
        issued: (i,) `COUNTER_ROW` of what the C library did for streams.
        processes: (p,) `PROCESS_ROW`.

    Returns:
        What stays unknown.
    """
    streams = np.flatnonzero(rows["layer"] == IoLayer.STDIO)
    keys, own = _keys(rows[streams]), _keys(issued)
    order = np.argsort(keys, kind="stable")
    found = np.searchsorted(keys[order], own).clip(max=max(len(order) - 1, 0))
    if not len(order):
        return ()
    same = keys[order][found] == own
    place, own = streams[order][found][same], issued[same]
    added = np.zeros(len(place), np.int64)
    for op, way in _WAYS:
        added += _add(rows, place, own, processes, op, way)
    untimed = added > _LEAST_SHARE * asked_bytes(rows[place])
    return tuple(_gaps(rows[streams], set(rows["file"][place[untimed]].tolist())))


def _keys(rows: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) int64: one number for each process and file."""
    return np.asarray((rows["process"].astype(np.int64) << 32) + rows["file"])


def _add(
    rows: NDArray[Any],
    place: NDArray[np.int64],
    own: NDArray[Any],
    processes: NDArray[Any],
    op: Op,
    way: str,
) -> NDArray[np.int64]:
    """Add what streams moved in one direction beyond their counted calls; return the bytes."""
    counted = rows["bytes"][place, op]
    extra = own["bytes"][:, op] - counted
    if op is Op.READ:
        extra = np.where(rows["flags"][place] & FileFlag.CHARACTERS, extra, 0)
    extra = np.maximum(extra, 0)
    alone = (extra > 0) & (rows["count"][place, op] == 0)
    rows["count"][place[alone], op] = own["count"][alone, op]
    for name in (f"{way}_sizes", f"{way}_min", f"{way}_max"):
        rows[name][place[alone]] = own[name][alone]
    name = f"outermost_{way}_bytes"
    outer = rows[name][place] == counted
    rows[name][place[outer]] += extra[outer]
    moved = extra[outer].astype(np.uint64)
    np.add.at(processes[name], rows["process"][place[outer]], moved)
    rows["bytes"][place, op] += extra
    return np.asarray(extra)


def _gaps(streams: NDArray[Any], untimed: set[int]) -> Iterator[Gap]:
    if untimed:
        yield Gap(Part.SECONDS, UNTIMED, frozenset(untimed))
    yield from gaps_of_opened(streams, FileFlag.WIDE, WIDE)
