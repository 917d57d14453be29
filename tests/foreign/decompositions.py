# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes for each rank what it has to move, from a distribution in HPF's terms.

The arithmetic is that of High Performance Fortran 2.0, chapter 3, and of MPI 4.0, section 5.1.4.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""First element and number of elements of each dimension."""
Slab = tuple[tuple[int, ...], ...]
"""Start, stride, count and block of each dimension, as of H5Sselect_hyperslab."""


def blocks(n: int, parts: int, how: str) -> list[list[tuple[int, int]]]:
    """Return for each part the (first, length) of its blocks of `n` elements."""
    if how == "*":
        return [[(0, n)]] * parts
    if found := re.fullmatch(r"CYCLIC(?:\((\d+)\))?", how):
        width = int(found[1] or 1)
        starts = [range(p * width, n, parts * width) for p in range(parts)]
        return [[(at, min(width, n - at)) for at in one] for one in starts]
    if how == "BLOCK":
        width = -(-n // parts)
        cuts = [min(p * width, n) for p in range(parts + 1)]
    elif how == "EVEN":
        cuts = [p * (n // parts) + min(p, n % parts) for p in range(parts + 1)]
    else:  # GEN_BLOCK: "10,20,34"
        cuts = [0, *itertools.accumulate(map(int, how.split(",")))]
    return [[(a, b - a)] for a, b in itertools.pairwise(cuts)]


def place_of(rank: int, grid: Sequence[int], order: str) -> tuple[int, ...]:
    """Return the coordinates of a rank: in order C the last dimension varies fastest."""
    found = []
    for parts in reversed(grid) if order == "C" else grid:
        rank, at = divmod(rank, parts)
        found.append(at)
    return tuple(reversed(found) if order == "C" else found)


class Share:
    """What one rank moves of an array.

    Attributes:
        sets: Blocks, as (first, length), of each dimension.
    """

    def __init__(self, case: Mapping[str, Any], rank: int) -> None:
        extents, grid = case["extents"], case["grid"]
        place = place_of(rank, grid, case.get("order", "C"))
        halo = case.get("halo", [0] * len(extents))
        self.sets = []
        for n, parts, how, at, more in zip(extents, grid, case["split"], place, halo, strict=True):
            mine = blocks(n, parts, how)[at]
            if more:
                first, length = mine[0]
                low = max(first - more, 0)
                mine = [(low, min(first + length + more, n) - low)]
            self.sets.append(mine)

    def boxes(self) -> list[Box]:
        """Return all boxes, the last dimension varying fastest."""
        return [
            (tuple(a for a, _ in one), tuple(b for _, b in one))
            for one in itertools.product(*self.sets)
        ]

    def points(self) -> list[tuple[int, ...]]:
        """Return all elements in C order."""
        lists = [[i for a, n in part for i in range(a, a + n)] for part in self.sets]
        return list(itertools.product(*lists))

    def slabs(self) -> list[Slab]:
        """Return regular hyperslabs; a dimension whose last block is shorter needs two."""
        return [
            tuple(zip(*one, strict=True)) for one in itertools.product(*map(_regular, self.sets))
        ]


def _regular(parts: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    lengths = [length for _, length in parts]
    if len(set(lengths)) > 1:
        return [*_regular(parts[:-1]), *_regular(parts[-1:])]
    if len(parts) == 1:
        return [(parts[0][0], 1, 1, lengths[0])]
    return [(parts[0][0], parts[1][0] - parts[0][0], len(parts), lengths[0])]


# The words of one rank; see programs/decomposed.h.


def _words(*values: object) -> str:
    return " ".join(str(value) for value in values)


def _slab(one: Slab) -> str:
    return _words("slab", len(one[0]), *itertools.chain(*one))


def _plain(start: Sequence[int], count: Sequence[int]) -> str:
    ones = (1,) * len(start)
    return _slab((tuple(start), ones, ones, tuple(count)))


def _boxes(kind: str, boxes: Sequence[Box]) -> str:
    numbers = [n for start, count in boxes for n in (*start, *count)]
    return _words(kind, len(boxes[0][0]), len(boxes), *numbers)


def selections(case: Mapping[str, Any], share: Share) -> Iterator[str]:
    """Yield what each call of a rank selects, according to the case's `form`."""
    form = case.get("form", "slab")
    if form == "slab":
        yield from map(_slab, share.slabs())
    elif form in ("boxes", "combined"):
        yield _boxes(form, share.boxes())
    elif form == "points":
        points = share.points()
        yield _words("points", len(points[0]), len(points), *itertools.chain(*points))
    elif form == "rows":  # one call for each index of the first dimension
        for start, count in share.boxes():
            for row in range(count[0]):
                yield _plain((start[0] + row, *start[1:]), (1, *count[1:]))
    elif form == "variables":  # one call for each index of the last dimension
        for start, count in share.boxes():
            for one in range(count[-1]):
                yield _plain((*start[:-1], start[-1] + one), (*count[:-1], 1))
    elif form == "members":  # one call for each of `members` interleaved in the last dimension
        for start, count in share.boxes():
            m, w = case["members"], case.get("width", 1)
            for one in range(m):
                ones = (1,) * (len(start) - 1)
                yield _slab(
                    (
                        (*start[:-1], start[-1] + one * w),
                        (*ones, m * w),
                        (*ones, count[-1] // (m * w)),
                        (*count[:-1], w),
                    )
                )
    elif form == "tiles":  # one call for each tile of a block
        for start, count in share.boxes():
            steps = [range(0, c, t) for c, t in zip(count, case["tile"], strict=True)]
            for at in itertools.product(*steps):
                yield _plain([a + b for a, b in zip(start, at, strict=True)], case["tile"])


def dataset_script(case: Mapping[str, Any], rank: int) -> Iterator[str]:
    """Yield the lines of one rank for the programs that know datasets."""
    grows = case.get("grows", 0)
    names = case.get("datasets", ["d"])
    for name in names:
        first = [grows, *case["extents"][1:]] if grows else case["extents"]
        yield _words("dataset", name, grows, len(first), *first)
    mode, verb = case.get("mode", "collective"), case.get("direction", "write")
    working = rank not in case.get("idle", [])
    for number, _ in enumerate(names):
        yield _words("open", number)
        for step in range(case.get("repeats", 1)):
            calls = _of_step(case, rank, step)
            if grows:
                yield _words("extend", (step + 1) * grows)
            for one in (case.get("calls") and case["calls"][rank]) or calls:
                if working:
                    yield _words(verb, mode, one)
                elif mode == "collective" and not case.get("absent"):
                    yield _words(verb, mode, "none")
    if not case.get("leaks"):
        yield "close"


def _of_step(case: Mapping[str, Any], rank: int, step: int) -> list[str]:
    """Return the selections of a step: the same again, or the next rows of what grows."""
    grows = case.get("grows", 0)
    if not grows:
        return list(selections(case, Share(case, rank)))
    part = {**case, "extents": [grows, *case["extents"][1:]]}
    share = Share(part, rank)
    share.sets[0] = [(a + step * grows, n) for a, n in share.sets[0]]
    return list(selections(part, share))


# MPI-IO: elements of 8 bytes.


def _marks(split: Sequence[str]) -> tuple[str, str]:
    kinds = ["n" if how == "*" else how[0].lower() for how in split]
    args = [(re.search(r"\((\d+)\)", how) or [0, 0])[1] for how in split]
    return _words(*kinds), _words(*args)


def _offset(at: Sequence[int], extents: Sequence[int]) -> int:
    found = 0
    for index, n in zip(at, extents, strict=True):
        found = found * n + index
    return found


def _view(case: Mapping[str, Any], rank: int, share: Share) -> str:
    """Return the kind of view and its arguments."""
    extents, grid, kind = case["extents"], case["grid"], case["view"]
    if kind == "darray":
        kinds, args = _marks(case["split"])
        return _words(
            kind, prod(grid), rank, len(extents), *extents, kinds, args, *grid,
            case.get("order", "C"),
        )  # fmt: skip
    boxes = share.boxes()
    if kind == "subarray":
        (start, count), *_ = boxes
        return _words(kind, len(extents), *extents, *count, *start, "C")
    rows = [
        (_offset((*at, start[-1]), extents), count[-1])
        for start, count in boxes
        for at in itertools.product(
            *(range(a, a + n) for a, n in zip(start[:-1], count[:-1], strict=True))
        )
    ]
    size = 8 if kind == "hindexed" else 1
    return _words(kind, len(rows), *(length for _, length in rows), *(at * size for at, _ in rows))


def view_script(case: Mapping[str, Any], rank: int) -> Iterator[str]:
    """Yield the lines of one rank for the MPI-IO program."""
    share = Share(case, rank)
    elements = len(share.points())
    mode, verb = case.get("mode", "collective"), case.get("direction", "write")
    base, size = case.get("base", 0), prod(case["extents"]) * 8
    repeats, cut = case.get("repeats", 1), case.get("calls_per_view", 1)
    if verb == "read":
        yield _words("size", base + repeats * size)
    lists = case.get("lists")
    for step in range(repeats):
        at = base + step * size * bool(case.get("advances", True))
        if lists:
            lengths, places = lists[rank]
            yield _words("view", at, case["view"], len(lengths), *lengths, *places)
            elements = sum(lengths)
        elif case["view"] == "members":
            yield from _member_views(case, share, at, f"{verb} {mode}")
            continue
        elif case["view"] == "offsets":
            for start, count in share.boxes():
                yield _words(verb, mode, at // 8 + _offset(start, case["extents"]), count[-1])
            continue
        else:
            yield _words("view", at, _view(case, rank, share))
        if rank in case.get("idle", []):
            yield from [_words(verb, mode, 0, 0)] if mode == "collective" else []
            continue
        for part in range(cut):
            yield _words(verb, mode, part * elements // cut, elements // cut)
    yield "close"


def _member_views(case: Mapping[str, Any], share: Share, base: int, verb: str) -> Iterator[str]:
    """Yield a view and a call for each of several interleaved members of one dimension."""
    ((first, length),) = share.sets[0]
    m = case["members"]
    for one in range(m):
        yield _words("view", base + (first + one) * 8, "vector", length // m, 1, m)
        yield _words(verb, 0, length // m)


def write_scripts(case: Mapping[str, Any], n_ranks: int, prefix: Path) -> None:
    """Write a script for each rank: PREFIX.RANK.

    Offsets of a view are in elements without a view (`offsets`), which shows doubles.
    """
    script = view_script if case["library"] == "mpiio" else dataset_script
    for rank in range(n_ranks):
        lines = list(script(case, rank))
        if case.get("view") == "offsets":
            lines.insert(1 if lines[0].startswith("size") else 0, "view 0 plain")
        Path(f"{prefix}.{rank}").write_text("\n".join(lines) + "\n", encoding="ascii")
