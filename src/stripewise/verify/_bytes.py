# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing outputs byte for byte."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_BLOCK_BYTES = 8 << 20


def bytes_differ(first: Path, second: Path) -> str:
    """Say how two files differ, the first offset included; "" if they do not.

    A file that cannot be read differs.
    """
    try:
        sizes = first.stat().st_size, second.stat().st_size
        offset = _first_difference(first, second)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if offset is None:
        return ""
    place = f"first at offset {offset}" if offset < min(sizes) else "otherwise the same"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} and {sizes[1]} bytes, {place}"
    return f"bytes differ, {place}"


def _first_difference(first: Path, second: Path) -> int | None:
    """Offset of the first byte that differs, or that only one of the files has."""
    for position, a, b in _blocks(first, second):
        if a != b:
            length = min(len(a), len(b))
            unequal = np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length)
            return position + (int(unequal.argmax()) if unequal.any() else length)
    return None


def _blocks(first: Path, second: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Read two files side by side, to the end of the longer one: offset, bytes of each."""
    with first.open("rb") as one, second.open("rb") as two:
        for position in itertools.count(0, _BLOCK_BYTES):
            a, b = one.read(_BLOCK_BYTES), two.read(_BLOCK_BYTES)
            if not a and not b:
                return
            yield position, a, b


def bytes_apart(first: Path, second: Path, ranges: NDArray[np.int64] | None = None) -> int:
    """Count the bytes in which two files of one length differ, outside of some ranges.

    Args:
        first: A file.
        second: Another.
        ranges: (n, 2) int64, begin and end, apart and ascending; None: none.

    Raises:
        OSError: One cannot be read.
        ValueError: They are of different lengths.
    """
    number = 0
    for position, a, b in _blocks(first, second):
        if len(a) != len(b):
            raise ValueError(f"{first} and {second} are of different lengths")
        if a != b:
            apart = np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8)
            places = position + np.flatnonzero(apart)
            number += len(places) - (0 if ranges is None else _inside(places, ranges))
    return number


def _inside(places: NDArray[np.int64], ranges: NDArray[np.int64]) -> int:
    before = np.searchsorted(ranges[:, 0], places, side="right") - 1
    return int(((before >= 0) & (places < ranges[before, 1])).sum()) if len(ranges) else 0


def directories_differ(
    first: Path, second: Path, names: tuple[frozenset[str], frozenset[str]]
) -> str:
    """Say how two directories differ that are one output each; "" if they do not.

    Args:
        first: A directory.
        second: Another.
        names: Files of each that count, relative to it.
    """
    for name in sorted(names[0] ^ names[1]):
        return f"{name} is {'missing' if name in names[0] else 'new'}"
    for name in sorted(names[0]):
        if different := bytes_differ(first / name, second / name):
            return f"{name}: {different}"
    return ""
