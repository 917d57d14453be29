# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From the notation of High Performance Fortran back to a workload."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TypeVar

from stripewise.errors import UsageError
from stripewise.model import Distribution, Pattern, PatternKind
from stripewise.simulation._grid import process_grid
from stripewise.simulation._workload import Workload

_T = TypeVar("_T")
_TOKEN = re.compile(r"\s*([A-Za-z]+|[0-9]+|.)", re.DOTALL)
_EXAMPLE = "<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>"
MOST_ELEMENTS, MOST_BYTES = 1 << 53, 1 << 60


def workload_from_notation(
    notation: str,
    nodes: int,
    ranks_per_node: int,
    *,
    element_bytes: int = 8,
    steps: int = 1,
    datasets: int = 1,
    collective: bool = True,
    writing: bool = True,
) -> Workload:
    """Return the workload that a pattern stands for.

    Args:
        notation: "<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>": dimensions, how each is divided
            (BLOCK, CYCLIC, CYCLIC(k) or *), and the elements of one process in each.
        nodes: Of the job.
        ranks_per_node: Of which each moves such a block; the grid is that of MPI_Dims_create.
        element_bytes: Of one element.
        steps: How often each dataset is written, each time elsewhere in the file.
        datasets: Arrays of the file, one after another.
        collective: Whether the calls are collective.
        writing: Otherwise reading.

    Raises:
        UsageError: It is no such notation, or a number is impossible.
    """
    distributions, block = parse_notation(notation)
    pattern = arranged(distributions, block, nodes * ranks_per_node, element_bytes)
    pattern = replace(pattern, writing=writing, collective=float(collective), steps=steps)
    return in_one_file([pattern] * datasets, nodes, ranks_per_node)


def arranged(
    distributions: Sequence[Distribution], block: Sequence[int], ranks: int, element_bytes: int
) -> Pattern:
    """Return the pattern in which each of some ranks has a block of the same size."""
    grid = process_grid(ranks, [one.kind != "*" for one in distributions])
    extents = tuple(size * parts for size, parts in zip(block, grid, strict=True))
    if prod(extents) * element_bytes > MOST_BYTES:
        raise UsageError(
            f"{ranks:,} blocks of {' x '.join(map(str, block))} elements are more than 1 EiB: "
            "give smaller blocks"
        )
    return divided(distributions, extents, grid, ranks, element_bytes)


def divided(
    distributions: Sequence[Distribution],
    extents: tuple[int, ...],
    grid: tuple[int, ...],
    ranks: int,
    element_bytes: int,
) -> Pattern:
    """Return the pattern in which an array is divided between the processes of a grid."""
    places = prod(grid)
    kind = PatternKind.DISTRIBUTED if places > 1 else PatternKind.REPLICATED
    block = tuple(-(-size // parts) for size, parts in zip(extents, grid, strict=True))
    return Pattern(
        file="data",
        dataset="data",
        writing=True,
        kind=PatternKind.SINGLE if ranks == 1 else kind,
        distributions=tuple(distributions),
        block=block,
        grid=grid,
        extents=extents,
        element_bytes=element_bytes,
        n_ranks=ranks,
        active_ranks=ranks,
        rank_strides=tuple(prod(grid[d + 1 :]) for d in range(len(grid))),
        uneven=any(size % parts for size, parts in zip(extents, grid, strict=True)),
        source="view",
        collective=1.0,
    )


def in_one_file(patterns: Sequence[Pattern], nodes: int, ranks_per_node: int) -> Workload:
    """Return a workload of datasets that lie in one file, one after another."""
    placed, offset = [], 0
    for number, one in enumerate(patterns):
        name = f"{one.dataset}{number + 1}" if len(patterns) > 1 else one.dataset
        placed.append(replace(one, dataset=name, file_offset=offset))
        offset += prod(one.extents) * one.element_bytes * one.steps
    if offset > MOST_BYTES:
        raise UsageError(
            "the ranks move more than 1 EiB in all: give fewer steps or smaller blocks"
        )
    return Workload(tuple(placed), nodes, ranks_per_node)


def parse_notation(notation: str) -> tuple[tuple[Distribution, ...], tuple[int, ...]]:
    """Return the distribution of each dimension, and the elements that one process has of it.

    Raises:
        UsageError: It is no such notation; the message says at which character.
    """
    return _Reader(notation).pattern()


class _Reader:
    """Takes a notation apart, word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        stripped = text.rstrip()
        self._words = [(m[1], m.start(1)) for m in _TOKEN.finditer(stripped)]
        self._at = 0

    def pattern(self) -> tuple[tuple[Distribution, ...], tuple[int, ...]]:
        angle = self._accept("<")
        n_dims = self._number("the number of dimensions (3D)")
        self._expect("D")
        self._expect(",")
        kinds = self._several(self._distribution, n_dims, "distribution")
        self._expect(",")
        sizes = self._several(lambda: self._number("a number of elements"), n_dims, "size")
        if angle:
            self._expect(">")
        if self._at < len(self._words):
            raise self._error("the end")
        return tuple(kinds), tuple(sizes)

    def _several(self, one: Callable[[], _T], number: int, noun: str) -> list[_T]:
        parentheses = self._accept("(")
        found = [one()]
        while len(found) < number:
            if self._word() != ",":
                raise self._error(f"{number} {noun}s, one for each dimension")
            self._at += 1
            found.append(one())
        if parentheses:
            self._expect(")")
        return found

    def _distribution(self) -> Distribution:
        for kind in ("BLOCK", "*", "CYCLIC"):
            if self._accept(kind):
                if kind != "CYCLIC":
                    return Distribution(kind)
                width = 1
                if self._accept("("):
                    width = self._number("the k of CYCLIC(k)")
                    self._expect(")")
                return Distribution(kind, width)
        raise self._error("BLOCK, CYCLIC, CYCLIC(k) or *")

    def _number(self, meaning: str) -> int:
        word = self._word()
        if not word.isdecimal() or not 0 < int(word) < MOST_ELEMENTS:
            raise self._error(meaning)
        self._at += 1
        return int(word)

    def _word(self) -> str:
        return self._words[self._at][0] if self._at < len(self._words) else ""

    def _accept(self, word: str) -> bool:
        if self._word().upper() != word:
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._error(f"{word!r}")

    def _error(self, expected: str) -> UsageError:
        found = f"{self._word()!r}" if self._word() else "the end"
        place = self._words[self._at][1] if self._at < len(self._words) else len(self._text)
        return UsageError(
            f"pattern {self._text!r}, character {place + 1}: expected {expected}, found "
            f"{found}; write it as {_EXAMPLE}"
        )
