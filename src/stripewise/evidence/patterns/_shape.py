# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recovers the shape of an array from byte ranges at nested strides."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stripewise.evidence.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    Columns,
    Flags,
    Ints,
    Keys,
    alike,
    by_rank,
    joined,
    mixed,
    runs,
    without_equals,
)
from stripewise.evidence.trace import Pieces, expanded_index

MOST_STRIDES = 6
MOST_SHAPES = 16
MOST_TRIES = 256
MOST_EXPANDED = 1 << 21
MOST_RANGES = 256
MOST_TURNS = 64


def shapes_of(rows: RangeRows, element_bytes: int) -> list[tuple[int, ...]]:
    """Return possible distances, in bytes, of rows, planes and so on; likeliest first.

    Each divides the one before it. The last possibility is (): an array of one dimension.
    """
    weight = _folded(rows, element_bytes)
    chains = _chains(weight, element_bytes)
    chains.sort(key=lambda chain: (-sum(weight[w] for w in chain), -len(chain)))
    return [*chains[:MOST_SHAPES], ()]


def _folded(rows: RangeRows, element_bytes: int) -> dict[int, float]:
    """Return the most common strides of rows, and how often each occurs."""
    used = rows.times > 1
    if not used.any():
        return {}
    order = np.argsort(rows.step[used])
    sorted_steps = rows.step[used][order]
    first, _ = runs(alike(sorted_steps))
    steps = sorted_steps[first]
    weights = np.add.reduceat((rows.times[used] - 1.0)[order], first)
    top = np.argsort(-weights, kind="stable")[:MOST_STRIDES]
    return {int(steps[i]): float(weights[i]) for i in top if steps[i] > element_bytes}


def more_shapes_of(rows: RangeRows, element_bytes: int) -> list[tuple[int, ...]]:
    """Return shapes for rows that do not fold well: common distances in and between ranks."""
    ranks, begin = np.unique(rows.rank, return_index=True)
    weight = {step: MOST_RANGES * count for step, count in _folded(rows, element_bytes).items()}
    sample = begin[:: -(-begin.size // MOST_RANGES)]
    _add_distances(weight, rows.offset[sample], element_bytes)
    for rank in {int(ranks[0]), int(ranks[ranks.size // 2]), int(ranks[-1])}:
        low, high = np.searchsorted(rows.rank, (rank, rank + 1))
        offset, size = _first_ranges(rows.take(np.arange(low, high)))
        _add_distances(weight, offset, element_bytes)
        _add_distances(weight, offset + size, element_bytes)
    top = dict(sorted(weight.items(), key=lambda item: -item[1])[: 2 * MOST_STRIDES])
    top |= _dealt_lines(top, ranks.size, element_bytes)
    chains = _chains(top, element_bytes, 3)
    chains.sort(key=lambda chain: (len(chain), -sum(top[w] for w in chain)))
    return chains[: max(2, min(MOST_TRIES, MOST_EXPANDED // rows.rank.size))]


def _add_distances(weight: dict[int, float], places: Ints, element_bytes: int) -> None:
    """Count the most common distances between places."""
    apart = (places[:, None] - places[None, :]).reshape(-1)
    steps, counts = np.unique(apart[apart > element_bytes], return_counts=True)
    for i in np.argsort(-counts, kind="stable")[:MOST_STRIDES]:
        weight[int(steps[i])] = weight.get(int(steps[i]), 0) + float(counts[i])


def _dealt_lines(
    weight: Mapping[int, float], n_ranks: int, element_bytes: int
) -> dict[int, float]:
    """Return lengths of lines that are assigned cyclically, so that a rank sees every n-th one."""
    turns = [n for n in range(2, min(n_ranks, MOST_TURNS) + 1) if n_ranks % n == 0]
    return {
        step // turn: weight[step] / (turn + 1)
        for step in list(weight)[:MOST_STRIDES]
        for turn in turns
        if step % (turn * element_bytes) == 0
        and step > turn * element_bytes
        and step // turn not in weight
    }


def _first_ranges(rows: RangeRows) -> tuple[Ints, Ints]:
    """Return offset and size of the first ranges of rows, `MOST_RANGES` of them."""
    rows = rows.take(np.arange(min(rows.rank.size, MOST_RANGES)))
    for level in reversed(range(MOST_LEVELS)):
        times = np.minimum(rows.times[level], MOST_RANGES)
        index, number = (part[:MOST_RANGES] for part in expanded_index(times))
        rows = rows.take(index)
        rows = replace(rows, offset=rows.offset + number * rows.step[level])
    return rows.offset, rows.size


def _chains(
    weight: Mapping[int, float], element_bytes: int, most: int = MOST_STRIDES
) -> list[tuple[int, ...]]:
    """Return chains of distances, each of which divides the one before it."""
    return [
        chain
        for length in range(1, min(len(weight), most) + 1)
        for chain in itertools.combinations(sorted(weight, reverse=True), length)
        if all(a % b == 0 for a, b in itertools.pairwise((*chain, element_bytes)))
    ]


def boxes_in(rows: RangeRows, shape: Sequence[int], element_bytes: int) -> Boxes | None:
    """Return what the rows select in an array of this shape; None if it does not fit.

    Args:
        rows: Rows with offsets relative to the first byte of the array.
        shape: Shape as returned by `shapes_of`.
        element_bytes: Size of one element.
    """
    units = (*shape, element_bytes)
    fitting: RangeRows | None = rows
    for line in reversed(shape):
        fitting = _split(fitting, line) if fitting else None
    while fitting:
        placed = _BoxBuilder(fitting, units)
        if placed.broken.any():
            return None
        if not placed.loose.any():
            return by_rank(Boxes(fitting.rank, fitting.call, placed.sets))
        fitting = _expanded(fitting, placed.loose)
    return None


def _split(rows: RangeRows, line: int) -> RangeRows | None:
    """Split ranges at the ends of lines of this many bytes; None if they are too many.

    Ranges that begin and end with a line stay whole.
    """
    crosses = _crossing(rows, line)
    while (loose := crosses & (rows.times > 1) & (rows.step % line != 0)).any():
        expanded = _expanded(rows, loose)
        if expanded is None:
            return None
        rows = expanded
        crosses = _crossing(rows, line)
    if not crosses.any():
        return rows
    cut = rows.take(crosses)
    head = -cut.offset % line
    tail = (cut.offset + cut.size) % line
    parts = [rows.take(~crosses)]
    for at, size in ((head * 0, head), (head, cut.size - head - tail), (cut.size - tail, tail)):
        parts.append(replace(cut, offset=cut.offset + at, size=size).take(size > 0))
    return joined(*parts)


def _crossing(rows: RangeRows, line: int) -> Flags:
    within = rows.offset % line
    crosses: Flags = within + rows.size > line
    crosses &= (within != 0) | (rows.size % line != 0)
    return crosses


def _expanded(rows: RangeRows, loose: Flags) -> RangeRows | None:
    """Return the rows with the levels expanded that do not fit; None if they are too many."""
    level = np.argmax(loose, axis=0)
    columns = np.arange(level.size)
    chosen = loose.any(axis=0)
    times = np.where(chosen, rows.times[level, columns], 1)
    if float(times.sum()) > MOST_EXPANDED:
        return None
    step = rows.step[level, columns]
    new_times, new_step = rows.times.copy(), rows.step.copy()
    new_times[level[chosen], columns[chosen]] = 1
    new_step[level[chosen], columns[chosen]] = 0
    index, number = expanded_index(times)
    flat = replace(rows, times=new_times, step=new_step).take(index)
    return replace(flat, offset=flat.offset + number * step[index])


class _BoxBuilder:
    """Rows in conversion to boxes.

    Attributes:
        extents: Extents per dimension; the first is unbounded.
        units: Bytes from one index to the next, per dimension.
        sets: (n_dims, 5, n) int64, index sets per dimension.
        broken: (n,) rows that do not fit; `loose`: (MOST_LEVELS, n) levels that do not.
    """

    def __init__(self, rows: RangeRows, units: tuple[int, ...]) -> None:
        """Add the first range of each row, then its levels."""
        n, no_end = rows.rank.size, np.iinfo(np.int64).max // 4
        self.extents = (no_end, *(a // b for a, b in itertools.pairwise(units)))
        self.units = units
        self.sets = np.zeros((len(units), 5, n), np.int64)
        self.sets[:, BLOCKS] = self.sets[:, LENGTH] = self.sets[:, LAST] = 1
        rest = rows.offset
        for d, unit in enumerate(units):
            self.sets[d, START], rest = np.divmod(rest, unit)
        fits = self._lengthen(len(units) - 1, rows.size // units[-1], np.ones(n, bool))
        self.broken = (rest != 0) | (rows.size % units[-1] != 0) | ~fits
        self.loose = np.zeros((MOST_LEVELS, n), bool)
        for level in range(MOST_LEVELS):
            self._add_level(rows.times[level], rows.step[level], level)

    def _lengthen(self, d: int, length: Ints, chosen: Flags) -> Flags:
        """Set the length of chosen rows in dimension d; full lines continue in d - 1."""
        left = np.where(chosen, length, 1)
        fits = np.ones(left.size, bool)
        new = self.sets[:, LENGTH].copy()
        for e in range(d, -1, -1):
            start, own = self.sets[e, START], self.sets[e, LENGTH]
            going = chosen & (left > 1)
            if e < d:
                fits &= ~going | ((own == 1) & (self.sets[e, BLOCKS] == 1))
            inside = start + left <= self.extents[e]
            full = ~inside & (start == 0) & (left % self.extents[e] == 0)
            fits &= ~going | inside | full
            new[e] = np.where(going, np.where(inside, left, self.extents[e]), new[e])
            left = np.where(inside, 1, left // self.extents[e])
        now = chosen & fits
        self.sets[:, LENGTH] = np.where(now, new, self.sets[:, LENGTH])
        self.sets[:, LAST] = self.sets[:, LENGTH]
        return fits

    def _add_level(self, times: Ints, step: Ints, level: int) -> None:
        """Add one level of ranges; mark levels that do not fit as loose."""
        used = times > 1
        if not used.any():
            return
        dimension = np.searchsorted([-unit for unit in self.units], -step)
        for d in np.unique(dimension[used]).tolist():
            chosen = used & (dimension == d) & ~self.loose.any(axis=0)
            if d < len(self.units):
                chosen &= ~self._repeat(d, times, step, chosen)
            self.loose[level] |= chosen

    def _repeat(self, d: int, times: Ints, step: Ints, chosen: Flags) -> Flags:
        stride = step // self.units[d]
        whole = chosen & (step % self.units[d] == 0) & (self.sets[d, BLOCKS] == 1)
        touching = whole & (stride == self.sets[d, LENGTH])
        fits = touching & self._lengthen(d, times * self.sets[d, LENGTH], touching)
        apart = whole & (stride > self.sets[d, LENGTH])
        found: Flags = fits | (apart & self._spread(d, times, stride, apart))
        return found

    def _spread(self, d: int, times: Ints, stride: Ints, chosen: Flags) -> Flags:
        """Give chosen rows blocks at a stride in dimension d; full rounds continue in d - 1."""
        step = np.where(chosen, stride, 1)
        extent = self.extents[d]
        start, length = self.sets[d, START], self.sets[d, LENGTH]
        inside = start + (times - 1) * step + length <= extent
        a_line = np.maximum(extent // step, 1)
        rounds = times // a_line
        lines = ~inside & (extent % step == 0) & (times % a_line == 0)
        lines &= start + (a_line - 1) * step + length <= extent
        fits: Flags = inside.copy()
        if d > 0 and (chosen & lines).any():
            fits |= lines & self._lengthen(d - 1, rounds, chosen & lines)
        now = chosen & fits
        count = np.where(inside, times, a_line)
        self.sets[d, BLOCKS] = np.where(now, count, self.sets[d, BLOCKS])
        self.sets[d, STRIDE] = np.where(now & (count > 1), step, self.sets[d, STRIDE])
        return fits


# Rows: byte ranges at nested strides, from views and from offset lists.
#
# The ranges of each rank are folded into few rows.

MOST_LEVELS = 6


@dataclass(frozen=True, eq=False)
class RangeRows(Columns):
    """Ranges of `size` bytes, `times[l]` of them `step[l]` bytes apart on each level.

    Attributes:
        rank / call / offset / size: (n,) int64, values of each row.
        times / step: (MOST_LEVELS, n) int64; 1 and 0 for an unused level. Used levels are first,
            in the order of their steps.
    """

    rank: Ints
    call: Ints
    offset: Ints
    size: Ints
    times: Ints
    step: Ints

    def total_bytes(self) -> float:
        """Return the bytes of all ranges."""
        return float((self.size * np.prod(self.times.astype(np.float64), axis=0)).sum())


def rows_of(pieces: Pieces) -> RangeRows:
    """Return the rows of pieces; one that ends in the middle of a level becomes several."""
    something = (pieces.size > 0) & (pieces.repeat > 0)
    kept = slice(None) if something.all() else something
    n = pieces.rank[kept].size
    rows = RangeRows(
        pieces.rank[kept], pieces.call[kept], pieces.offset[kept], pieces.size[kept],
        np.ones((MOST_LEVELS, n), np.int64), np.zeros((MOST_LEVELS, n), np.int64),
    )  # fmt: skip
    repeat, inner, stride = pieces.repeat[kept], pieces.inner[kept], pieces.stride[kept]
    if (repeat == 1).all():
        return rows
    return canonical(joined(*_unfolded(rows, repeat, inner, stride)))


def _unfolded(rows: RangeRows, repeat: Ints, inner: Ints, stride: Ints) -> list[RangeRows]:
    """Return the full levels, and the remainders on the first and the second one."""
    a = np.where(inner[:, 0] == 0, repeat, np.minimum(inner[:, 0], repeat))
    b_limit = np.where(inner[:, 1] == 0, np.iinfo(np.int64).max, inner[:, 1])
    whole, rest = repeat // a, repeat % a
    at = (whole % b_limit) * stride[:, 1] + (whole // b_limit) * stride[:, 2]
    b = np.minimum(b_limit, whole)
    full, over = whole // b, whole % b
    return [
        *_levelled(rows, at, stride, (rest, 1, 1), rest > 0),
        *_levelled(rows, full * stride[:, 2], stride, (a, over, 1), over > 0),
        *_levelled(rows, np.zeros_like(a), stride, (a, b, full), a > 0),
    ]


def _levelled(
    rows: RangeRows, at: Ints, stride: Ints, times: Sequence[Ints | int], chosen: Flags
) -> list[RangeRows]:
    """Return the chosen rows, `at` bytes further, with levels of these sizes, if there are any."""
    if not chosen.any():
        return []
    new_times, new_step = np.ones_like(rows.times), np.zeros_like(rows.step)
    for level, n in enumerate(times):
        new_times[level], new_step[level] = n, stride[:, level]
    found = replace(rows, offset=rows.offset + at, times=new_times, step=new_step)
    return [found if chosen.all() else found.take(chosen)]


def canonical(rows: RangeRows) -> RangeRows:
    """Order levels by step, join those without gaps, drop those of one range."""
    used = np.flatnonzero((rows.times != 1).any(axis=1))
    if not used.size:
        return rows
    times, step = rows.times[used], rows.step[used]
    offset, size = rows.offset + ((times - 1) * np.minimum(step, 0)).sum(axis=0), rows.size
    np.abs(step, out=step)
    times[step == 0] = 1
    for _ in range(MOST_LEVELS):
        times, step = _sorted(times, step)
        inside = (step[0] == size) & (times[0] > 1)
        size = np.where(inside, size * times[0], size)
        times[0, inside] = 1
        joins = (times[:-1] * step[:-1] == step[1:]) & (times[1:] > 1) & (times[:-1] > 1)
        joins[1:] &= ~joins[:-1]
        times[:-1][joins] *= times[1:][joins]
        times[1:][joins] = 1
        if not inside.any() and not joins.any():
            break
    times, step = _sorted(times, step)
    all_times, all_step = np.ones_like(rows.times), np.zeros_like(rows.step)
    all_times[: used.size], all_step[: used.size] = times, step
    return replace(rows, offset=offset, size=size, times=all_times, step=all_step)


def _sorted(times: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Order levels by step, those of one range last."""
    step[times == 1] = 0
    key = np.where(step == 0, np.iinfo(np.int64).max, step)
    if (np.diff(key, axis=0) >= 0).all():
        return times, step
    order = np.argsort(key, axis=0)
    return np.take_along_axis(times, order, 0), np.take_along_axis(step, order, 0)


def without_repeats(rows: RangeRows) -> RangeRows:
    """Return the rows without those that a rank moves again; ordered by rank and offset."""
    if (np.diff(rows.rank) > 0).all():
        return rows
    rows = rows.take(np.lexsort((rows.offset, rows.rank)))
    return without_equals(rows, mixed(rows.rank, rows.offset, rows.size, *rows.times, *rows.step))


def fold(rows: RangeRows) -> RangeRows:
    """Join adjacent ranges, then ranges at equal distances, until nothing changes."""
    before = rows.rank.size + 1
    while rows.rank.size < before and not (np.diff(rows.rank) > 0).all():
        before = rows.rank.size
        rows = canonical(_regular(canonical(_touching(rows))))
    if (np.diff(rows.rank) > 0).all():
        return rows
    return rows.take(np.lexsort((rows.offset, rows.rank)))


def _by(rows: RangeRows, key: Keys) -> tuple[RangeRows, Flags]:
    """Order rows by key and offset; return also whether each continues the previous group."""
    order = np.lexsort((rows.offset, key, rows.rank))
    return rows.take(order), alike(key[order])


def _touching(rows: RangeRows) -> RangeRows:
    """Join ranges of equal levels that end where the next one begins."""
    rows, same = _by(rows, mixed(rows.rank, *rows.times, *rows.step))
    goes_on = same & (rows.offset[:-1] + rows.size[:-1] == rows.offset[1:])
    if not goes_on.any():
        return rows
    first, number = runs(goes_on)
    size = np.add.reduceat(rows.size, first)
    fits = (rows.step[0, first] == 0) | (size <= rows.step[0, first])
    keep = ~np.repeat(fits, number)
    keep[first] = True
    changed = rows.size.copy()
    changed[first[fits]] = size[fits]
    return replace(rows, size=changed).take(keep)


def _regular(rows: RangeRows) -> RangeRows:
    """Make a new level of equal rows at the most common distance."""
    rows, same = _by(rows, mixed(rows.rank, rows.size, *rows.times, *rows.step))
    steps = np.diff(rows.offset)
    free = rows.times[MOST_LEVELS - 1] == 1
    group = np.concatenate(([0], np.cumsum(~same)))
    usual = _most_common(group[1:][same], steps[same], int(group[-1]) + 1)
    goes_on = same & (steps == usual[group[1:]]) & free[1:] & (steps >= rows.size[1:])
    if not goes_on.any():
        return rows
    first, number = runs(goes_on)
    found = rows.take(first)
    found.times[MOST_LEVELS - 1] = np.where(number > 1, number, found.times[-1])
    found.step[MOST_LEVELS - 1] = np.where(number > 1, usual[group[first]], found.step[-1])
    return found


def _most_common(group: Ints, value: Ints, n_groups: int) -> Ints:
    """Return the most common value of each group (least of equally common ones), or 0."""
    found = np.zeros(n_groups, np.int64)
    if not group.size:
        return found
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    first, number = runs(alike(group) & alike(value))
    best = np.lexsort((-value[first], number, group[first]))
    found[group[first][best]] = value[first][best]
    return found
