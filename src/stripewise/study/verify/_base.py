# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a format whose content can be compared apart from its bytes."""

from __future__ import annotations

import itertools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stripewise.core.extras import missing
from stripewise.study.verify._written import Box, Written

BLOCK_BYTES = 8 << 20
WHOLE = "/"
"""The item that stands for all of it."""
FAILURES = (OSError, TypeError, ValueError, KeyError, RuntimeError, NotImplementedError)
"""What libraries raise for what they cannot read."""

MOST = 1000
"""Number of differences that tells enough."""

Finding = tuple[str, str, str]
"""Item, what differs, or else why it is unknown; neither: it is the same."""

Elements = NDArray[Any]
Key = TypeVar("Key", str, bytes)
Value = TypeVar("Value")
Side = TypeVar("Side")


@dataclass(frozen=True)
class Pair:
    """Two outputs of one format, and how they are compared.

    Attributes:
        first / second: Where they lie.
        ignore: Items not to compare.
        most: Number of differences after which the comparison ends.
        written: What the program wrote; elements that it left undefined do not count.
    """

    first: Path
    second: Path
    ignore: Collection[str] = ()
    most: int = MOST
    written: Written | None = None


@dataclass
class ContentDifferences:
    """What a comparison found; an item is `/path` or `/path@attribute`.

    Attributes:
        differences: Item to what differs.
        unknown: Item to why it cannot be compared.
        bytes_of: Item to the bytes of its elements, where it has any.
        holes: Item to the bytes of its elements that differ but that no rank wrote.
        cut: There may be more differences than these.
    """

    differences: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    bytes_of: dict[str, int] = field(default_factory=dict)
    holes: dict[str, int] = field(default_factory=dict)
    cut: bool = False

    def collect(self, findings: Iterable[Finding], pair: Pair) -> None:
        """Take findings over, up to so many differences."""
        for item, what, why in findings:
            if item in pair.ignore:
                continue
            if why:
                self.unknown[item] = why
            elif what:
                self.differences[item] = what
            if len(self.differences) >= pair.most:
                self.cut = True
                break


class ContentFormat(ABC):
    """A format: which outputs are in it, and whether two of them mean the same.

    Content is what a reader of the format gets: names, shapes, types, attributes and every
    element, bit by bit (so that NaNs compare).  Not content: offsets, padding, chunking, the
    number of subfiles, times, the order in which things were made.

    Attributes:
        title: For people: "HDF5".
        noun: Title with its article: "an HDF5 file".
        mark: Name of a file that makes the directory it is in one output; "" for formats of
            single files.
        members: Pattern of the names of such a directory's own files; others in it are not its.
        volatile: Those of them that differ from run to run and are no content.
        extra: The extra of this package that brings what reads it.
    """

    title: str
    noun: str
    mark: str = ""
    members: re.Pattern[str] = re.compile(r"(?!)")
    volatile: frozenset[str] = frozenset()
    extra: str

    @abstractmethod
    def matches(self, path: Path) -> bool:
        """Return whether an output is in this format.  Raises nothing."""

    def problem(self) -> str:
        """Return why nothing can be compared here, with the remedy; empty if it can."""
        why = missing(self.extra)
        return f"not verifiable: {why}" if why else ""

    @abstractmethod
    def differences(self, pair: Pair) -> ContentDifferences:
        """Compare two outputs by content, in bounded memory.

        Returns:
            The first differences.  What cannot be read is `unknown`, as a whole under "/".
        """


def boxes(
    dims: tuple[int, ...], element_bytes: int, chunk: tuple[int, ...] | None = None
) -> Iterator[Box]:
    """Cut an array into boxes of at most BLOCK_BYTES (or one element): start, count.

    Boxes begin at chunk borders where that is possible.
    """
    if math.prod(dims) == 0:
        return
    box = list(dims)
    for axis, extent in enumerate(dims):
        rest = element_bytes * math.prod(box[axis + 1 :])
        fitting = max(1, min(extent, BLOCK_BYTES // rest))
        if chunk is not None and chunk[axis] < fitting < extent:
            fitting -= fitting % chunk[axis]
        box[axis] = fitting
        if fitting * rest <= BLOCK_BYTES:
            break
    grid = (range(0, extent, step) for extent, step in zip(dims, box, strict=True))
    for start in itertools.product(*grid):
        ends = zip(start, box, dims, strict=True)
        yield start, tuple(min(step, extent - begin) for begin, step, extent in ends)


def pairs(
    one: Mapping[Key, Value], two: Mapping[Key, Value]
) -> Iterator[tuple[Key, Any, Any, str]]:
    """Yield each name, in order, with what both sides have of it, or which side has none."""
    for name in sorted(one.keys() | two.keys()):
        only = "" if name in one and name in two else "is missing" if name in one else "is new"
        yield name, one.get(name), two.get(name), only


def finding_of(item: str, differ: Callable[[], str]) -> Finding:
    """Return what differs in an item, or why that cannot be told."""
    try:
        return item, differ(), ""
    except FAILURES as error:
        return item, "", f"cannot be compared: {_first_line(error)}"


@contextmanager
def reading(title: str) -> Iterator[tuple[ContentDifferences, ExitStack]]:
    """Begin a comparison; all of it is unknown if a library cannot read the outputs.

    Yields:
        What it finds, and a stack that closes the outputs.
    """
    found = ContentDifferences()
    try:
        with ExitStack() as stack:
            yield found, stack
    except FAILURES as error:
        found.unknown[WHOLE] = f"cannot be read as {title}: {_first_line(error)}"


def compared(
    title: str,
    pair: Pair,
    opened: Callable[[Path, ExitStack], Side],
    compare: Callable[[Side, Side, Pair, ContentDifferences], Iterable[Finding]],
) -> ContentDifferences:
    """Open both outputs and collect how they differ."""
    with reading(title) as (found, stack):
        one, two = (opened(path, stack) for path in (pair.first, pair.second))
        found.collect(compare(one, two, pair, found), pair)
    return found


def _first_line(error: Exception) -> str:
    """Return the first line of what a library says, without its colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return (plain or type(error).__name__).splitlines()[0]


def element_differs(one: Elements, two: Elements, start: Sequence[int]) -> str:
    """Return which element of two equal boxes differs bit by bit; empty if none does."""
    if one.tobytes() == two.tobytes():
        return ""
    unequal = _bits(one) != _bits(two)
    return element_named(start, one.shape, int(unequal.any(axis=1).argmax()))


def element_named(start: Sequence[int], count: tuple[int, ...], number: int) -> str:
    """Name the element of a box, counted in C order, that differs."""
    inside = np.unravel_index(number, count) if count else ()
    return f"element {[b + int(i) for b, i in zip(start, inside, strict=True)]} differs"


def _bits(box: Elements) -> NDArray[np.uint8]:
    """Return the bytes of a box's elements, (n_elements, n_bytes) uint8."""
    return np.frombuffer(box.tobytes(), np.uint8).reshape(-1, box.dtype.itemsize)
