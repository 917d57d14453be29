# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of runs of equal calls for which the order of calls matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index
from stripewise.diagnosis._boxes import Boxes, Budget, boxes_of

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Gaps:
    """Calls that do not begin where the process's last one ended.

    Attributes:
        count: How many; None: not known, too many calls of runs that interleave.
        mean_bytes: Mean distance; None without any.
    """

    count: int | None = None
    mean_bytes: float | None = None


def find_gaps(rows: NDArray[Any], budget: Budget) -> Gaps:
    """Find gaps between the calls of each process.

    Runs that do not overlap in sequence, and those whose calls take turns evenly (a loop's
    body), repeat the same few distances.  Others are expanded.
    """
    boxes = boxes_of(rows)
    if not len(boxes.row):
        return Gaps(0)
    group = _overlapping(boxes)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:], len(group)) - 1
    even = _even(boxes, first, last)
    loose = ~even[group]
    if not budget.take(boxes.calls[loose]):
        return Gaps()
    begin = boxes.offset[first]
    end = (boxes.offset + boxes.bytes + ((boxes.n - 1) * boxes.stride).sum(axis=1))[last]
    jumps = [_even_jumps(boxes, first[even], last[even])]
    if loose.any():
        box, offset, sequence = boxes.expanded(loose)
        order = np.lexsort((sequence, group[box]))
        box, offset = box[order], offset[order]
        ends, new = offset + boxes.bytes[box], np.diff(group[box], prepend=-1) > 0
        begin[~even], end[~even] = offset[new], ends[np.append(new[1:], True)]
        inside = np.flatnonzero(~new)
        jumps.append(_once(offset[inside] - ends[inside - 1]))
    same = np.diff(boxes.process[first]) == 0
    jumps.append(_once((begin[1:] - end[:-1])[same]))
    distance, times = (np.concatenate(parts) for parts in zip(*jumps, strict=True))
    count = int(times[distance != 0].sum())
    total = float(np.dot(np.abs(distance).astype(np.float64), times))
    return Gaps(count, total / count if count else None)


def _once(distance: _Ints) -> tuple[_Ints, _Ints]:
    return distance, np.ones_like(distance)


def _overlapping(boxes: Boxes) -> _Ints:
    """(m,) number of the group of each box: groups of a thread do not overlap in sequence."""
    far = (boxes.n - 1) * boxes.step
    low = boxes.sequence + np.minimum(far, 0).sum(axis=1)
    high = boxes.sequence + np.maximum(far, 0).sum(axis=1)
    new = (np.diff(boxes.process, prepend=-1) != 0) | (np.diff(boxes.thread, prepend=-1) != 0)
    lift = np.cumsum(new) * (high.max(keepdims=True) - low.min() + 1)
    new[1:] |= (low + lift)[1:] > np.maximum.accumulate(high + lift)[:-1]
    return np.asarray(np.cumsum(new) - 1)


def _even(boxes: Boxes, first: _Ints, last: _Ints) -> NDArray[np.bool_]:
    """Whether all boxes of each group are one loop, and each makes its call in every turn."""
    shape = np.concatenate([boxes.n, boxes.stride, boxes.step], axis=1)
    alike = np.append(True, (shape[1:] == shape[:-1]).all(axis=1))
    alike[first] = True
    turn = boxes.sequence[last] - boxes.sequence[first]
    fits = (_moves(boxes.step, boxes.n)[first] > turn[:, None]) | (boxes.n[first] == 1)
    found: NDArray[np.bool_] = np.logical_and.reduceat(alike, first) & fits.all(axis=1)
    return found


def _moves(stride: _Ints, n: _Ints) -> _Ints:
    """(m, 3) from a call to the next one, where this is in the same row, plane, neither."""
    far = (n - 1) * stride
    return np.asarray(stride + far - np.cumsum(far, axis=1))


def _even_jumps(boxes: Boxes, first: _Ints, last: _Ints) -> tuple[_Ints, _Ints]:
    """Distance from each call's end to the next, and how often: within a turn, to the next."""
    group, place = expanded_index(last - first)
    place += first[group]
    n = boxes.n[first]
    end = boxes.offset + boxes.bytes
    back = boxes.offset[first] - end[last]
    turns = (n - 1) * np.stack([n[:, 1] * n[:, 2], n[:, 2], np.ones(len(n), np.int64)], axis=1)
    return (
        np.append(
            boxes.offset[place + 1] - end[place], _moves(boxes.stride[first], n) + back[:, None]
        ),
        np.append(boxes.calls[place], turns),
    )


def calls_served(
    asked: NDArray[Any], system: NDArray[Any], budget: Budget
) -> tuple[_Ints, _Ints] | None:
    """For each process, which of its calls the system's calls serve: (n,) process, (n,) number.

    Both kinds of (n,) `TRACE_ROW` are expanded; None: too many calls.  Calls of `asked` are
    numbered from 0 in each process; `system` are those beneath them.
    """
    boxes = boxes_of(np.concatenate([asked, system]))
    if not budget.take(boxes.calls):
        return None
    box, _, sequence = boxes.expanded(np.ones(len(boxes.row), np.bool_))
    box = box[np.lexsort((sequence, boxes.thread[box], boxes.process[box]))]
    process, above = boxes.process[box], boxes.row[box] < len(asked)
    number = np.cumsum(above, dtype=np.int64)
    _, first, place = np.unique(process, return_index=True, return_inverse=True)
    number -= (number - above)[first][place] + 1
    pairs = np.unique(np.stack([process, number])[:, ~above & (number >= 0)], axis=1)
    return pairs[0], pairs[1]
