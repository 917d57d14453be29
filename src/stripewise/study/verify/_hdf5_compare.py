# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two HDF5 or NetCDF-4 files by content with h5py.

It compares links (hard, soft, external), objects, attributes, datatypes, shapes, fill values and
every element.  It does not compare what is not content: offsets, chunking, filters, file format
versions, times and the order of creation.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5r, h5s, h5t

from stripewise.study.verify._base import (
    BLOCK_BYTES,
    FAILURES,
    ContentDifferences,
    Finding,
    Pair,
    boxes,
    element_named,
    finding_of,
    pairs,
)
from stripewise.study.verify._written import Slabs, Written


def compare(one: Side, two: Side, pair: Pair, found: ContentDifferences) -> Iterator[Finding]:
    """Yield how two files differ; `found` gets bytes and holes of datasets.

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
    """Return what the program wrote to each dataset, by its first name; None if unknown.

    It is also unknown if the trace has a dataset that is not in the file.
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
    """Return what was written to a dataset with undefined elements; None if it has none."""
    if slabs is None or not leaves_holes(dataset):
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
    if kind == DATASET and item not in ignore:
        yield finding_of(item, partial(_datasets_differ, item, first, second, sides, found, slabs))
    elif kind == NAMED_TYPE:
        yield item, _types_differ(first, second), ""
    attributes = _attributes(first), _attributes(second)
    for name, one, two, only in pairs(*attributes):
        differ = partial(_attributes_differ, one, two, (first, second), sides)
        key = f"{item}@{text(name)}"
        yield (key, only, "") if only else finding_of(key, differ)


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
    """Return how two datasets differ; empty if they do not."""
    size, number = first.get_type().get_size(), first.get_space().get_simple_extent_npoints()
    found.bytes_of[item] = size * number
    different = _descriptions_differ(first, second) or _fill_values_differ(first, second)
    if not different:
        written = _undefined(slabs, item, first)
        different, holes = elements_differ(first, second, sides, written)
        if holes:
            found.holes[item] = holes
    return different


def _attributes_differ(first: Any, second: Any, objects: tuple[Any, Any], sides: Sides) -> str:
    different = _descriptions_differ(first, second)
    return different or attribute_values_differ(first, second, objects, sides)


def _descriptions_differ(first: Any, second: Any) -> str:
    """Return how types or shapes of two datasets or attributes differ; empty if they do not."""
    if different := _types_differ(first.get_type(), second.get_type()):
        return different
    one, two = extent(first.get_space()), extent(second.get_space())
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
    if defined != h5d.FILL_VALUE_USER_DEFINED or needs_objects(first.get_type()):
        return ""
    return "" if _fill(one, first) == _fill(two, second) else "fill value"


def _fill(properties: Any, dataset: Any) -> bytes:
    value = np.zeros((), dtype=dataset.dtype)
    properties.get_fill_value(value)
    return value.tobytes()


def text(name: bytes) -> str:
    """Return a name in printable form, whatever its bytes."""
    return name.decode("utf-8", "backslashreplace")


# HDF5 files as they are read: links and objects, elements of datasets and attributes.
#
# Elements are compared as stored (bit by bit, so that NaNs compare), without the padding of
# compounds; variable-length data and references are compared by their meaning.

GROUP, DATASET, NAMED_TYPE = 0, 1, 2


class Side:
    """One of the two files, with its links by path and its objects by address.

    Attributes:
        file: Open file.
        paths: Address of an object to its canonical path.
        links: Path to the kind of a link and its target.
        objects: Canonical path to the kind of object.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        """Open a file until the stack closes it, and index it."""
        self.file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY, _open_properties())
        stack.callback(self.file.close)
        self.paths: dict[int, bytes] = {}
        self.links: dict[bytes, tuple[Any, ...]] = {}
        self.objects: dict[bytes, int] = {}
        self._see(b"/", h5o.get_info(self.file))
        pending = [b"/"]
        while pending:
            folder = pending.pop()
            group = h5g.open(self.file, folder)
            for name in sorted(group):
                path_of = folder.rstrip(b"/") + b"/" + name
                if self._link(group, name, path_of):
                    pending.append(path_of)

    def _see(self, path: bytes, info: Any) -> bool:
        if info.addr in self.paths:
            return False
        self.paths[info.addr] = path
        self.objects[path] = info.type
        return True

    def _link(self, group: Any, name: bytes, path: bytes) -> bool:
        """Record one link; return whether it leads to a group that was not visited before."""
        kind = group.links.get_info(name).type
        if kind in (h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL):
            self.links[path] = (kind, group.links.get_val(name))
            return False
        if kind != h5l.TYPE_HARD:
            self.links[path] = (kind,)
            return False
        info = h5o.get_info(group, name)
        new = self._see(path, info)
        self.links[path] = (kind, info.type, self.paths[info.addr])
        return new and info.type == GROUP


Sides = tuple[Side, Side]


def _open_properties() -> Any:
    """Return file access properties without locks, which close everything with the file."""
    properties = h5p.create(h5p.FILE_ACCESS)
    properties.set_fclose_degree(h5f.CLOSE_STRONG)
    properties.set_file_locking(False, True)
    elements, slots, _, policy = properties.get_cache()
    properties.set_cache(elements, slots, 4 * BLOCK_BYTES, policy)
    return properties


def extent(space: Any) -> str:
    """Return a description of a dataspace: "empty", "scalar", "4x5", "4x5 (up to unlimitedx5)"."""
    kind = space.get_simple_extent_type()
    if kind == h5s.NULL:
        return "empty"
    if kind == h5s.SCALAR:
        return "scalar"
    dims = space.get_simple_extent_dims()
    limits = space.get_simple_extent_dims(True)
    text = "x".join(map(str, dims))
    return text if dims == limits else f"{text} (up to {'x'.join(map(_limit, limits))})"


def _limit(limit: int | None) -> str:
    return "unlimited" if limit is None or limit in (-1, h5s.UNLIMITED) else str(limit)


def needs_objects(datatype: Any) -> bool:
    """Return whether elements contain pointers: variable-length data or references."""
    kind = datatype.get_class()
    if kind in (h5t.VLEN, h5t.REFERENCE):
        return True
    if kind == h5t.STRING:
        return bool(datatype.is_variable_str())
    if kind == h5t.ARRAY:
        return needs_objects(datatype.get_super())
    if kind == h5t.COMPOUND:
        members = range(datatype.get_nmembers())
        return any(needs_objects(datatype.get_member_type(index)) for index in members)
    return False


def _packed(datatype: Any) -> Any:
    """Return the same type without the padding of compounds."""
    copy = datatype.copy()
    if copy.get_class() == h5t.COMPOUND:
        copy.pack()
    return copy


def leaves_holes(dataset: Any) -> bool:
    """Return whether unwritten elements contain whatever was on the storage."""
    properties = dataset.get_create_plist()
    if properties.get_layout() not in (h5d.CONTIGUOUS, h5d.CHUNKED):
        return False
    undefined = properties.fill_value_defined() == h5d.FILL_VALUE_UNDEFINED
    return bool(undefined or properties.get_fill_time() == h5d.FILL_TIME_NEVER)


def _untouched(dataset: Any) -> bool:
    """Return whether no chunk was ever written, so that every element is the fill value."""
    chunked = dataset.get_create_plist().get_layout() == h5d.CHUNKED
    return bool(chunked and dataset.get_storage_size() == 0)


def elements_differ(
    first: Any, second: Any, sides: Sides, written: Slabs | None
) -> tuple[str, int]:
    """Return where elements of two datasets of equal type and shape differ; empty if nowhere.

    Args:
        first: One dataset.
        second: Another dataset.
        sides: Files of the datasets.
        written: Elements that count; None for all.

    Returns:
        Where they differ, and the number of bytes that differ in elements that do not count.
    """
    empty = first.get_space().get_simple_extent_type() == h5s.NULL
    if empty or (_untouched(first) and _untouched(second)):
        return "", 0
    if needs_objects(first.get_type()):
        return _objects_differ(first, second, sides), 0
    return _raw_differ(first, second, written)


def _raw_differ(first: Any, second: Any, written: Slabs | None) -> tuple[str, int]:
    datatype = _packed(first.get_type())
    size = datatype.get_size()
    dims = first.get_space().get_simple_extent_dims()
    holes = 0
    for start, count in boxes(dims, size, _chunk(first)):
        one = _read_raw(first, datatype, start, count)
        two = _read_raw(second, datatype, start, count)
        if np.array_equal(one, two):
            continue
        unequal = (one != two).reshape(-1, size)
        bad = unequal.any(axis=1)
        if written is not None:
            counts = written.inside((start, count))
            holes += int(unequal[~counts].sum())
            bad &= counts
        if bad.any():
            return element_named(start, count, int(bad.argmax())), holes
    return "", holes


def _read_raw(
    dataset: Any, datatype: Any, start: tuple[int, ...], count: tuple[int, ...]
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    data = np.zeros(math.prod(count) * datatype.get_size(), dtype=np.uint8)
    if not count:
        dataset.read(h5s.ALL, h5s.ALL, data, datatype)
        return data
    space = dataset.get_space()
    space.select_hyperslab(start, count)
    dataset.read(h5s.create_simple(count), space, data, datatype)
    return data


def _chunk(dataset: Any) -> tuple[int, ...] | None:
    properties = dataset.get_create_plist()
    return properties.get_chunk() if properties.get_layout() == h5d.CHUNKED else None


# -- variable-length data and references -----------------------------------------------------


def _objects_differ(first: Any, second: Any, sides: Sides) -> str:
    one, two = h5py.Dataset(first), h5py.Dataset(second)
    size = max(first.get_type().get_size(), 256)
    for start, count in boxes(one.shape, size, _chunk(first)):
        box = tuple(slice(begin, begin + n) for begin, n in zip(start, count, strict=True))
        if not _same_values(one[box], two[box], sides):
            return (
                f"an element in the block at {list(start)} of shape {list(count)} differs"
                if count
                else "the value differs"
            )
    return ""


def _same_values(first: Any, second: Any, sides: Sides) -> bool:
    """Return whether two values that h5py read have the same meaning."""
    if isinstance(first, h5r.Reference) and isinstance(second, h5r.Reference):
        return _target(first, sides[0]) == _target(second, sides[1])
    if isinstance(first, bytes | str) or first is None or isinstance(first, h5py.Empty):
        return type(first) is type(second) and bool(first == second)
    one, two = np.asarray(first), np.asarray(second)
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.names:
        return all(_same_values(one[name], two[name], sides) for name in one.dtype.names)
    if one.dtype.hasobject:
        pairs = zip(one.ravel().tolist(), two.ravel().tolist(), strict=True)
        return all(_same_values(a, b, sides) for a, b in pairs)
    return one.tobytes() == two.tobytes()


def _target(reference: Any, side: Side) -> tuple[Any, ...]:
    """Return the meaning of a reference: the path of its object, and the region selected there."""
    if not reference:
        return ("null",)
    target = h5r.dereference(reference, side.file)
    path = side.paths.get(h5o.get_info(target).addr, b"")
    if not isinstance(reference, h5r.RegionReference):
        return ("object", path)
    space = h5r.get_region(reference, side.file)
    return ("region", path, extent(space), *_selection(space))


def _selection(space: Any) -> tuple[Any, ...]:
    kind = space.get_select_type()
    if kind == h5s.SEL_POINTS:
        return (kind, space.get_select_elem_pointlist().tobytes())
    if kind == h5s.SEL_HYPERSLABS:
        return (kind, space.get_select_hyper_blocklist().tobytes())
    return (kind,)


class _Attributes(h5py.AttributeManager):  # type: ignore[misc]
    """Attributes of an object of any kind, by its identifier."""

    def __init__(self, identifier: Any) -> None:
        self._id = identifier


def attribute_values_differ(
    first: Any, second: Any, objects: tuple[Any, Any], sides: Sides
) -> str:
    """Return how two attributes of equal name, type and shape differ; empty if they do not."""
    if first.get_space().get_simple_extent_type() == h5s.NULL:
        return ""
    if needs_objects(first.get_type()):
        one, two = (_Attributes(located)[first.name] for located in objects)
        return "" if _same_values(one, two, sides) else "value"
    return "" if _attribute_bytes(first) == _attribute_bytes(second) else "value"


def _attribute_bytes(attribute: Any) -> bytes:
    datatype = _packed(attribute.get_type())
    shape = attribute.get_space().get_simple_extent_dims()
    data = np.zeros(shape, dtype=np.dtype((np.void, datatype.get_size())))
    if data.size:
        attribute.read(data, datatype)
    return data.tobytes()
