# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing the types, shapes and elements of HDF5 datasets and attributes.

Elements are compared as they are stored (bit by bit, so that NaNs compare), without the
padding of compounds; variable-length data and references by what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5o, h5p, h5r, h5s, h5t

from stripewise.verify._written import Slabs
from stripewise.verify.contents._base import BLOCK_BYTES, boxes

Paths = Mapping[int, bytes]
"""Address of an object in its file to its canonical path."""


def spaces_differ(first: Any, second: Any) -> str:
    """Say how two dataspaces differ; "" if they do not."""
    one, two = _extent(first), _extent(second)
    return "" if one == two else f"shape {one} and {two}"


def _extent(space: Any) -> str:
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


def types_differ(first: Any, second: Any) -> str:
    """Say how two datatypes differ; "" if they do not."""
    if bool(first.committed()) != bool(second.committed()):
        return "a named datatype in one only"
    return "" if first.equal(second) else f"datatype {_name(first)} and {_name(second)}"


def _name(datatype: Any) -> str:
    try:
        return str(datatype.dtype)
    except (TypeError, ValueError):
        return f"of class {datatype.get_class()}, {datatype.get_size()} bytes"


def needs_objects(datatype: Any) -> bool:
    """Whether elements hold pointers: variable-length data or references."""
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


def packed(datatype: Any) -> Any:
    """Return the same type without the padding of compounds."""
    copy = datatype.copy()
    if copy.get_class() == h5t.COMPOUND:
        copy.pack()
    return copy


def datasets_differ(
    first: Any, second: Any, paths: tuple[Paths, Paths], written: Slabs | None = None
) -> tuple[str, int]:
    """Say where the elements of two datasets of equal type and shape differ; "" if nowhere.

    Args:
        first: A dataset.
        second: Another.
        paths: Of the objects of both files.
        written: Elements that count; None: all.

    Returns:
        That, and the bytes that differ in elements that do not count.
    """
    kind = first.get_space().get_simple_extent_type()
    if kind == h5s.NULL:
        return "", 0
    by_object = needs_objects(first.get_type())
    if by_object and kind == h5s.SCALAR:
        return _scalars_differ(first, second, paths), 0
    if kind != h5s.SCALAR and _untouched(first) and _untouched(second):
        return "", 0
    if by_object:
        return _objects_differ(first, second, paths), 0
    return _raw_differ(first, second, written)


def leaves_holes(dataset: Any) -> bool:
    """Whether elements that nobody writes hold whatever was on the storage."""
    properties = dataset.get_create_plist()
    if properties.get_layout() not in (h5d.CONTIGUOUS, h5d.CHUNKED):
        return False
    undefined = properties.fill_value_defined() == h5d.FILL_VALUE_UNDEFINED
    return bool(undefined or properties.get_fill_time() == h5d.FILL_TIME_NEVER)


def fill_values_differ(first: Any, second: Any) -> str:
    """Say how the fill values of two datasets of equal type differ; "" if they do not."""
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


def _untouched(dataset: Any) -> bool:
    """Chunked, and no chunk was ever written: every element is the fill value."""
    chunked = dataset.get_create_plist().get_layout() == h5d.CHUNKED
    return bool(chunked and dataset.get_storage_size() == 0)


def _raw_differ(first: Any, second: Any, written: Slabs | None) -> tuple[str, int]:
    datatype = packed(first.get_type())
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
            element = int(bad.argmax())
            return f"element {_index(start, count, element)} differs", holes
    return "", holes


def _index(start: tuple[int, ...], count: tuple[int, ...], element: int) -> list[int]:
    inside = np.unravel_index(element, count) if count else ()
    return [begin + int(offset) for begin, offset in zip(start, inside, strict=True)]


def _read_raw(
    dataset: Any, datatype: Any, start: tuple[int, ...], count: tuple[int, ...]
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    data = np.zeros(math.prod(count) * datatype.get_size(), dtype=np.uint8)
    if not data.size:
        return data
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


def _scalars_differ(first: Any, second: Any, paths: tuple[Paths, Paths]) -> str:
    files = h5py.h5i.get_file_id(first), h5py.h5i.get_file_id(second)
    one, two = h5py.Dataset(first)[()], h5py.Dataset(second)[()]
    return "" if same_values(one, two, files, paths) else "the value differs"


def _objects_differ(first: Any, second: Any, paths: tuple[Paths, Paths]) -> str:
    files = h5py.h5i.get_file_id(first), h5py.h5i.get_file_id(second)
    one, two = h5py.Dataset(first), h5py.Dataset(second)
    size = max(first.get_type().get_size(), 256)
    for start, count in boxes(one.shape, size, _chunk(first)):
        box = tuple(slice(begin, begin + n) for begin, n in zip(start, count, strict=True))
        a, b = one[box], two[box]
        if not same_values(a, b, files, paths):
            return f"an element in the block at {list(start)} of shape {list(count)} differs"
    return ""


def same_values(
    first: Any, second: Any, files: tuple[Any, Any], paths: tuple[Paths, Paths]
) -> bool:
    """Whether two values that h5py read mean the same."""
    if isinstance(first, h5py.h5r.Reference) and isinstance(second, h5py.h5r.Reference):
        return _target(first, files[0], paths[0]) == _target(second, files[1], paths[1])
    if isinstance(first, bytes | str) or first is None or isinstance(first, h5py.Empty):
        return type(first) is type(second) and bool(first == second)
    one, two = np.asarray(first), np.asarray(second)
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.names:
        return all(same_values(one[name], two[name], files, paths) for name in one.dtype.names)
    if one.dtype.hasobject:
        pairs = zip(one.ravel().tolist(), two.ravel().tolist(), strict=True)
        return all(same_values(a, b, files, paths) for a, b in pairs)
    return one.tobytes() == two.tobytes()


def _target(reference: Any, file: Any, paths: Paths) -> tuple[Any, ...]:
    """What a reference means: the path of its object, and the region selected there."""
    if not reference:
        return ("null",)
    target = h5r.dereference(reference, file)
    path = paths.get(h5o.get_info(target).addr, b"")
    if not isinstance(reference, h5py.h5r.RegionReference):
        return ("object", path)
    space = h5r.get_region(reference, file)
    return ("region", path, _extent(space), *_selection(space))


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


def attributes_differ(
    first: Any, second: Any, objects: tuple[Any, Any], paths: tuple[Paths, Paths]
) -> str:
    """Say how two attributes of the same name differ; "" if they do not."""
    spaces = first.get_space(), second.get_space()
    types = first.get_type(), second.get_type()
    different = types_differ(*types) or spaces_differ(*spaces)
    if different or spaces[0].get_simple_extent_type() == h5s.NULL:
        return different
    if not needs_objects(types[0]):
        same = _attribute_bytes(first) == _attribute_bytes(second)
        return "" if same else "value"
    files = h5py.h5i.get_file_id(objects[0]), h5py.h5i.get_file_id(objects[1])
    one = _Attributes(objects[0])[first.name]
    two = _Attributes(objects[1])[second.name]
    return "" if same_values(one, two, files, paths) else "value"


def _attribute_bytes(attribute: Any) -> bytes:
    datatype = packed(attribute.get_type())
    shape = attribute.get_space().get_simple_extent_dims()
    data = np.zeros(shape, dtype=np.dtype((np.void, datatype.get_size())))
    if data.size:
        attribute.read(data, datatype)
    return data.tobytes()


def open_properties() -> Any:
    """File access that takes no locks and closes everything with the file."""
    properties = h5p.create(h5p.FILE_ACCESS)
    properties.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    properties.set_file_locking(False, True)
    elements, slots, _, policy = properties.get_cache()
    properties.set_cache(elements, slots, 4 * BLOCK_BYTES, policy)
    return properties
