# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a format whose content can be compared apart from its bytes."""

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
"""Item that stands for the whole output."""
FAILURES = (OSError, TypeError, ValueError, KeyError, RuntimeError, NotImplementedError)
"""Errors of libraries about data that they cannot read."""

MOST = 1000
"""Maximum number of differences to collect."""

Finding = tuple[str, str, str]
"""Item, how it differs, or why it is unknown; both empty if it is the same."""

Elements = NDArray[Any]
Key = TypeVar("Key", str, bytes)
Value = TypeVar("Value")
Side = TypeVar("Side")


@dataclass(frozen=True)
class Pair:
    """Two outputs of one format, and options for their comparison.

    Attributes:
        first / second: Paths of the outputs.
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
    """Result of a comparison; an item is `/path` or `/path@attribute`.

    Attributes:
        differences: Item to how it differs.
        unknown: Item to why it cannot be compared.
        bytes_of: Item to the bytes of its elements, if it has any.
        holes: Item to the bytes of its elements that differ but were not written by any rank.
        cut: Whether there may be more differences than these.
    """

    differences: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    bytes_of: dict[str, int] = field(default_factory=dict)
    holes: dict[str, int] = field(default_factory=dict)
    cut: bool = False

    def collect(self, findings: Iterable[Finding], pair: Pair) -> None:
        """Add findings, up to the maximum number of differences."""
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
    """Format of outputs, which recognises them and compares two of them by content.

    Content is what a reader of the format gets: names, shapes, types, attributes and every
    element, bit by bit (so that NaNs compare).  Offsets, padding, chunking, the number of
    subfiles, times and the order of creation are not content.

    Attributes:
        title: Name for users: "HDF5".
        noun: Title with its article: "an HDF5 file".
        mark: Name of a file that marks its directory as one output; empty for formats of single
            files.
        members: Pattern of the names of such a directory's own files; others do not belong to it.
        volatile: Members that differ from run to run and are not content.
        extra: Optional extra of this package with the libraries that read the format.
    """

    title: str
    noun: str
    mark: str = ""
    members: re.Pattern[str] = re.compile(r"(?!)")
    volatile: frozenset[str] = frozenset()
    extra: str

    @abstractmethod
    def matches(self, path: Path) -> bool:
        """Return whether an output is in this format, without raising an error."""

    def problem(self) -> str:
        """Return why nothing can be compared here, with the remedy; empty if it can."""
        why = missing(self.extra)
        return f"not verifiable: {why}" if why else ""

    @abstractmethod
    def differences(self, pair: Pair) -> ContentDifferences:
        """Compare two outputs by content, in bounded memory.

        Returns:
            The first differences.  What cannot be read is `unknown`; the whole output is "/".
        """


def boxes(
    dims: tuple[int, ...], element_bytes: int, chunk: tuple[int, ...] | None = None
) -> Iterator[Box]:
    """Divide an array into boxes of at most BLOCK_BYTES (or one element): start, count.

    Boxes begin at chunk borders if possible.
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
    """Yield each name, in order, with both sides' values, or with which side has none."""
    for name in sorted(one.keys() | two.keys()):
        only = "" if name in one and name in two else "is missing" if name in one else "is new"
        yield name, one.get(name), two.get(name), only


def finding_of(item: str, differ: Callable[[], str]) -> Finding:
    """Return how an item differs, or why that is unknown."""
    try:
        return item, differ(), ""
    except FAILURES as error:
        return item, "", f"cannot be compared: {_first_line(error)}"


@contextmanager
def reading(title: str) -> Iterator[tuple[ContentDifferences, ExitStack]]:
    """Provide an empty comparison; it becomes unknown if a library cannot read the outputs.

    Yields:
        The comparison, and a stack that closes the outputs.
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
    """Open both outputs and collect their differences."""
    with reading(title) as (found, stack):
        one, two = (opened(path, stack) for path in (pair.first, pair.second))
        found.collect(compare(one, two, pair, found), pair)
    return found


def _first_line(error: Exception) -> str:
    """Return the first line of a library's message, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return (plain or type(error).__name__).splitlines()[0]


def element_differs(one: Elements, two: Elements, start: Sequence[int]) -> str:
    """Return which element of two equal boxes differs bit by bit; empty if none does."""
    if one.tobytes() == two.tobytes():
        return ""
    unequal = _bits(one) != _bits(two)
    return element_named(start, one.shape, int(unequal.any(axis=1).argmax()))


def element_named(start: Sequence[int], count: tuple[int, ...], number: int) -> str:
    """Return the name of an element of a box, given its number in C order."""
    inside = np.unravel_index(number, count) if count else ()
    return f"element {[b + int(i) for b, i in zip(start, inside, strict=True)]} differs"


def _bits(box: Elements) -> NDArray[np.uint8]:
    """Return the bytes of a box's elements, (n_elements, n_bytes) uint8."""
    return np.frombuffer(box.tobytes(), np.uint8).reshape(-1, box.dtype.itemsize)
