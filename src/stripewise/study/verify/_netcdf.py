# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two classic NetCDF files (CDF-1, CDF-2, CDF-5) by content.

It compares the version, dimensions, attributes, variables, their dimensions, types and every
element as stored.  It does not compare the end of the header, padding and alignment, and the order
of definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.study.verify._base import (
    WHOLE,
    ContentDifferences,
    ContentFormat,
    Finding,
    Pair,
    boxes,
    compared,
    element_differs,
    finding_of,
    pairs,
)

_MAGICS = (b"CDF\1", b"CDF\2", b"CDF\5")


class ClassicNetcdf(ContentFormat):
    """Classic NetCDF, as written by NetCDF and PnetCDF.  NetCDF-4 files are HDF5."""

    title = "NetCDF"
    noun = "a classic NetCDF file"
    extra = "tune"

    def matches(self, path: Path) -> bool:
        try:
            with path.open("rb") as file:
                return file.read(4) in _MAGICS
        except OSError:
            return False

    def differences(self, pair: Pair) -> ContentDifferences:
        return compared(self.title, pair, _open, _compare)


def _open(path: Path, stack: ExitStack) -> Any:
    """Open by descriptor, because a name may look like an address or contain any bytes."""
    import netCDF4

    file = stack.enter_context(path.open("rb"))
    dataset = netCDF4.Dataset(f"/proc/self/fd/{file.fileno()}", "r")
    stack.callback(dataset.close)
    dataset.set_auto_maskandscale(False)
    dataset.set_auto_chartostring(False)
    return dataset


def _compare(one: Any, two: Any, pair: Pair, found: ContentDifferences) -> Iterator[Finding]:
    if one.data_model != two.data_model:
        yield WHOLE, f"format {one.data_model} and {two.data_model}", ""
    for name, first, second, only in pairs(one.dimensions, two.dimensions):
        yield f"dimension {name}", only or _lengths_differ(first, second), ""
    yield from _compare_attributes(WHOLE, one, two)
    for name, first, second, only in pairs(one.variables, two.variables):
        item = f"/{name}"
        if only:
            yield item, only, ""
            continue
        if item not in pair.ignore:
            found.bytes_of[item] = first.size * first.dtype.itemsize
            yield finding_of(item, partial(_variables_differ, first, second))
        yield from _compare_attributes(item, first, second)


def _lengths_differ(first: Any, second: Any) -> str:
    one, two = (f"{d.size}{' (unlimited)' if d.isunlimited() else ''}" for d in (first, second))
    return "" if one == two else f"length {one} and {two}"


def _variables_differ(first: Any, second: Any) -> str:
    if first.dimensions != second.dimensions:
        return f"dimensions {first.dimensions} and {second.dimensions}"
    if first.dtype != second.dtype:
        return f"type {first.dtype} and {second.dtype}"
    if first.shape != second.shape:
        return f"shape {first.shape} and {second.shape}"
    for start, count in boxes(first.shape, first.dtype.itemsize):
        box = tuple(slice(begin, begin + n) for begin, n in zip(start, count, strict=True))
        different = element_differs(np.asarray(first[box]), np.asarray(second[box]), start)
        if different:
            return different
    return ""


def _compare_attributes(item: str, one: Any, two: Any) -> Iterator[Finding]:
    for name, first, second, only in pairs(_attributes(one), _attributes(two)):
        yield f"{item}@{name}", only or ("value" if first != second else ""), ""


def _attributes(located: Any) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Return type, shape and bytes of the attributes by name; text may contain any bytes."""
    found: dict[str, tuple[str, tuple[int, ...], bytes]] = {}
    for name in located.ncattrs():
        value = located.getncattr(name, encoding="latin-1")
        if isinstance(value, str):
            found[name] = "char", (), value.encode("latin-1")
        else:
            array = np.asarray(value)
            found[name] = str(array.dtype), array.shape, array.tobytes()
    return found
