# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing outputs byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_BLOCK_BYTES = 8 << 20


def bytes_differ(first: Path, second: Path) -> str:
    """Say how two files differ, the first offset included; "" if they do not.

    A file that cannot be read differs.
    """
    try:
        with first.open("rb", buffering=0) as one, second.open("rb", buffering=0) as two:
            sizes = os.fstat(one.fileno()).st_size, os.fstat(two.fileno()).st_size
            offset = _first_difference(one.fileno(), two.fileno(), min(sizes))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if offset is None and sizes[0] == sizes[1]:
        return ""
    place = f"first at offset {offset}" if offset is not None else "otherwise the same"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} and {sizes[1]} bytes, {place}"
    return f"bytes differ, {place}"


def _first_difference(one: int, two: int, size: int) -> int | None:
    position = 0
    while position < size:
        wanted = min(_BLOCK_BYTES, size - position)
        a, b = _read_fully(one, wanted), _read_fully(two, wanted)
        if a != b:
            length = min(len(a), len(b))
            unequal = np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length)
            return position + (int(unequal.argmax()) if unequal.any() else length)
        if not a:
            return None
        position += len(a)
    return None


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
    number = position = 0
    with first.open("rb", buffering=0) as one, second.open("rb", buffering=0) as two:
        while True:
            a, b = (_read_fully(file.fileno(), _BLOCK_BYTES) for file in (one, two))
            if len(a) != len(b):
                raise ValueError(f"{first} and {second} are of different lengths")
            if not a:
                return number
            if a != b:
                apart = np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8)
                places = position + np.flatnonzero(apart)
                number += len(places) - (0 if ranges is None else _inside(places, ranges))
            position += len(a)


def _inside(places: NDArray[np.int64], ranges: NDArray[np.int64]) -> int:
    before = np.searchsorted(ranges[:, 0], places, side="right") - 1
    return int(((before >= 0) & (places < ranges[before, 1])).sum()) if len(ranges) else 0


def _read_fully(file: int, wanted: int) -> bytes:
    data = os.read(file, wanted)
    while len(data) < wanted and (more := os.read(file, wanted - len(data))):
        data += more
    return data


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
