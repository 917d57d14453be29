# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing two HDF5 (or NetCDF-4) files by content.

Compared are links (hard, soft, external), objects, attributes, datatypes, shapes, fill values
and every element.  Not compared, since it is not content: offsets, chunking, filters, file
format versions, times, the order in which things were made.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5l, h5o

from stripewise.verify._written import Slabs, Written
from stripewise.verify.contents import _hdf5_values as values
from stripewise.verify.contents._base import (
    FAILURES,
    ContentDifferences,
    Finding,
    Pair,
    pairs,
    told,
)
from stripewise.verify.contents._hdf5_values import Side, Sides


def compare(one: Side, two: Side, pair: Pair, found: ContentDifferences) -> Iterator[Finding]:
    """Find how two files differ; `found` gets bytes and holes of datasets.

    Raises:
        Exception: One of `FAILURES`: a file cannot be read as HDF5.
    """
    for name, first, second, only in pairs(one.links, two.links):
        if only or first != second:
            yield text(name), only or f"links to {first[-1]!r} and {second[-1]!r}", ""
    slabs = _slabs(one, pair.written)
    for path, kind in one.objects.items():
        if two.objects.get(path) == kind:
            yield from _compare_object(path, kind, (one, two), pair.ignore, found, slabs)


def _slabs(side: Side, written: Written | None) -> dict[str, Slabs] | None:
    """What the program wrote of each dataset, by its first name; None: not known.

    That is so too if the trace knows a dataset that is not in the file.
    """
    if written is None or not written.datasets:
        return None
    found = {}
    for name, slabs in written.datasets.items():
        link = side.links.get(os.fsencode(name))
        if link is None or link[0] != h5l.TYPE_HARD or (first := text(link[2])) in found:
            return None
        found[first] = slabs
    return found


def _undefined(
    slabs: Mapping[str, Slabs] | None, item: str, dataset: h5d.DatasetID
) -> Slabs | None:
    """What was written of a dataset whose other elements nothing defines; None: all are."""
    if slabs is None or not values.leaves_holes(dataset):
        return None
    n_dims = len(dataset.get_space().get_simple_extent_dims())
    mine = slabs.get(item, Slabs(np.zeros((0, 4, n_dims), np.int64)))
    return mine if mine.rows.shape[2] == n_dims else None


def _compare_object(
    path: bytes,
    kind: int,
    sides: Sides,
    ignore: Collection[str],
    found: ContentDifferences,
    slabs: Mapping[str, Slabs] | None,
) -> Iterator[Finding]:
    item = text(path)
    try:
        first, second = (h5o.open(side.file, path) for side in sides)
    except FAILURES as error:
        yield item, "", f"cannot be opened: {error}"
        return
    if kind == values.DATASET and item not in ignore:
        yield told(item, partial(_datasets_differ, item, first, second, sides, found, slabs))
    elif kind == values.NAMED_TYPE:
        yield item, _types_differ(first, second), ""
    attributes = _attributes(first), _attributes(second)
    for name, one, two, only in pairs(*attributes):
        differ = partial(_attributes_differ, one, two, (first, second), sides)
        key = f"{item}@{text(name)}"
        yield (key, only, "") if only else told(key, differ)


def _attributes(located: Any) -> dict[bytes, Any]:
    found = (h5a.open(located, index=index) for index in range(h5a.get_num_attrs(located)))
    return {attribute.name: attribute for attribute in found}


def _datasets_differ(
    item: str,
    first: h5d.DatasetID,
    second: h5d.DatasetID,
    sides: Sides,
    found: ContentDifferences,
    slabs: Mapping[str, Slabs] | None,
) -> str:
    """Say how two datasets differ; "" if they do not."""
    size, number = first.get_type().get_size(), first.get_space().get_simple_extent_npoints()
    found.bytes_of[item] = size * number
    different = _descriptions_differ(first, second) or _fill_values_differ(first, second)
    if not different:
        written = _undefined(slabs, item, first)
        different, holes = values.elements_differ(first, second, sides, written)
        if holes:
            found.holes[item] = holes
    return different


def _attributes_differ(first: Any, second: Any, objects: tuple[Any, Any], sides: Sides) -> str:
    different = _descriptions_differ(first, second)
    return different or values.attribute_values_differ(first, second, objects, sides)


def _descriptions_differ(first: Any, second: Any) -> str:
    """Say how the types or shapes of two datasets or attributes differ; "" if they do not."""
    if different := _types_differ(first.get_type(), second.get_type()):
        return different
    one, two = values.extent(first.get_space()), values.extent(second.get_space())
    return "" if one == two else f"shape {one} and {two}"


def _types_differ(first: Any, second: Any) -> str:
    if bool(first.committed()) != bool(second.committed()):
        return "a named datatype in one only"
    return "" if first.equal(second) else f"datatype {_name(first)} and {_name(second)}"


def _name(datatype: Any) -> str:
    try:
        return str(datatype.dtype)
    except (TypeError, ValueError):
        return f"of class {datatype.get_class()}, {datatype.get_size()} bytes"


def _fill_values_differ(first: Any, second: Any) -> str:
    one, two = first.get_create_plist(), second.get_create_plist()
    defined = one.fill_value_defined()
    if defined != two.fill_value_defined():
        return "a fill value is defined in one only"
    if defined != h5d.FILL_VALUE_USER_DEFINED or values.needs_objects(first.get_type()):
        return ""
    return "" if _fill(one, first) == _fill(two, second) else "fill value"


def _fill(properties: Any, dataset: Any) -> bytes:
    value = np.zeros((), dtype=dataset.dtype)
    properties.get_fill_value(value)
    return value.tobytes()


def text(name: bytes) -> str:
    """Show a name of any bytes."""
    return name.decode("utf-8", "backslashreplace")
