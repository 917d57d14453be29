# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing two classic NetCDF files (CDF-1, CDF-2, CDF-5) by content.

Compared are the version, dimensions, attributes, variables, their dimensions, types and every
element as it is stored.  Not compared: where the header ends, padding and alignment, the order
of definitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.verify._written import Written
from stripewise.verify.contents._base import (
    FAILURES,
    MOST,
    WHOLE,
    ContentDifferences,
    ContentFormat,
    Finding,
    boxes,
    element_differs,
)

_MAGICS = (b"CDF\1", b"CDF\2", b"CDF\5")


class ClassicNetcdf(ContentFormat):
    """Classic NetCDF, as NetCDF and PnetCDF write it.  NetCDF-4 files are HDF5."""

    title = "NetCDF"
    noun = "a classic NetCDF file"
    extra = "tune"

    def matches(self, path: Path) -> bool:
        """See `ContentFormat.matches`."""
        try:
            with path.open("rb") as file:
                return file.read(4) in _MAGICS
        except OSError:
            return False

    def differences(
        self,
        first: Path,
        second: Path,
        ignore: Collection[str] = (),
        most: int = MOST,
        written: Written | None = None,
    ) -> ContentDifferences:
        """See `ContentFormat.differences`."""
        found = ContentDifferences()
        try:
            with ExitStack() as stack:
                one, two = (_open(path, stack) for path in (first, second))
                found.collect(_compare(one, two, frozenset(ignore), found), ignore, most)
        except FAILURES as error:
            found.unknown[WHOLE] = f"cannot be read as NetCDF: {error}"
        return found


def _open(path: Path, stack: ExitStack) -> Any:
    """Open by descriptor: a name may look like an address, or be of any bytes."""
    import netCDF4

    file = stack.enter_context(path.open("rb"))
    dataset = netCDF4.Dataset(f"/proc/self/fd/{file.fileno()}", "r")
    stack.callback(dataset.close)
    dataset.set_auto_maskandscale(False)
    dataset.set_auto_chartostring(False)
    return dataset


def _compare(
    one: Any, two: Any, ignore: frozenset[str], found: ContentDifferences
) -> Iterator[Finding]:
    if one.data_model != two.data_model:
        yield WHOLE, f"format {one.data_model} and {two.data_model}", ""
    for name, first, second in _pairs(one.dimensions, two.dimensions):
        different = _missing(first, second) or _lengths_differ(first, second)
        if different:
            yield f"dimension {name}", different, ""
    yield from _compare_attributes("", one, two)
    for name, first, second in _pairs(one.variables, two.variables):
        item = f"/{name}"
        if different := _missing(first, second):
            yield item, different, ""
            continue
        if item not in ignore:
            found.bytes_of[item] = first.size * first.dtype.itemsize
            yield from _compare_variables(item, first, second)
        yield from _compare_attributes(item, first, second)


def _pairs(one: Any, two: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(one.keys() | two.keys()):
        yield name, one.get(name), two.get(name)


def _missing(first: Any, second: Any) -> str:
    if first is not None and second is not None:
        return ""
    return "is missing" if second is None else "is new"


def _lengths_differ(first: Any, second: Any) -> str:
    one, two = (f"{d.size}{' (unlimited)' if d.isunlimited() else ''}" for d in (first, second))
    return "" if one == two else f"length {one} and {two}"


def _compare_variables(item: str, first: Any, second: Any) -> Iterator[Finding]:
    try:
        different = _variables_differ(first, second)
    except FAILURES as error:
        yield item, "", f"cannot be compared: {error}"
        return
    if different:
        yield item, different, ""


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
    names = set(one.ncattrs()), set(two.ncattrs())
    for name in sorted(names[0] | names[1]):
        key = f"{item or WHOLE}@{name}"
        if name not in names[0] or name not in names[1]:
            yield key, "is missing" if name in names[0] else "is new", ""
        elif _value(one, name) != _value(two, name):
            yield key, "value", ""


def _value(located: Any, name: str) -> tuple[str, tuple[int, ...], bytes]:
    """Type, shape and bytes of an attribute; text of any bytes."""
    value = located.getncattr(name, encoding="latin-1")
    if isinstance(value, str):
        return "char", (), value.encode("latin-1")
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tobytes()
