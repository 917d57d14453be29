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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5t

from stripewise.verify._written import Slabs, Written
from stripewise.verify.contents import _hdf5_values as values
from stripewise.verify.contents._base import FAILURES, ContentDifferences, Finding

_GROUP, _DATASET, _NAMED_TYPE = 0, 1, 2


class _Side:
    """One of the two files: its links by path, and its objects by address."""

    def __init__(self, path: Path) -> None:
        self.file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY, values.open_properties())
        self.paths: dict[int, bytes] = {}
        self.links: dict[bytes, tuple[Any, ...]] = {}
        self.objects: dict[bytes, int] = {}
        self._index()

    def _index(self) -> None:
        self._see(b"/", h5o.get_info(self.file))
        pending = [b"/"]
        while pending:
            folder = pending.pop()
            group = h5g.open(self.file, folder)
            for name in sorted(group):
                path = folder.rstrip(b"/") + b"/" + name
                if self._link(group, name, path):
                    pending.append(path)

    def _see(self, path: bytes, info: Any) -> bool:
        if info.addr in self.paths:
            return False
        self.paths[info.addr] = path
        self.objects[path] = info.type
        return True

    def _link(self, group: Any, name: bytes, path: bytes) -> bool:
        """Note one link; whether it leads to a group not seen before."""
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
        return new and info.type == _GROUP


@dataclass(frozen=True)
class _Elements:
    """What comparing elements needs to know, and fills in.

    Attributes:
        found: Gets bytes and holes of datasets.
        slabs: What the program wrote of each dataset, by its first name; None: not known.
    """

    found: ContentDifferences
    slabs: Mapping[str, Slabs] | None

    def undefined(self, item: str, dataset: h5d.DatasetID) -> Slabs | None:
        """What was written of a dataset whose other elements nothing defines; None: all are."""
        if self.slabs is None or not values.leaves_holes(dataset):
            return None
        n_dims = len(dataset.get_space().get_simple_extent_dims())
        slabs = self.slabs.get(item, Slabs(np.zeros((0, 4, n_dims), np.int64)))
        return slabs if slabs.rows.shape[2] == n_dims else None


def _slabs(side: _Side, written: Written | None) -> dict[str, Slabs] | None:
    """By the first name of each dataset; None if the trace knows one that is not in the file."""
    if written is None or not written.datasets:
        return None
    found = {}
    for name, slabs in written.datasets.items():
        link = side.links.get(os.fsencode(name))
        if link is None or link[0] != h5l.TYPE_HARD or (first := text(link[2])) in found:
            return None
        found[first] = slabs
    return found


def compare(
    first: Path,
    second: Path,
    ignore: Collection[str],
    most: int,
    found: ContentDifferences,
    written: Written | None = None,
) -> None:
    """Add to `found` how two files differ.

    Raises:
        Exception: One of `FAILURES`: a file cannot be read as HDF5.
    """
    sides: list[_Side] = []
    try:
        for path in (first, second):
            sides.append(_Side(path))
        elements = _Elements(found, _slabs(sides[0], written))
        found.collect(_compare(sides[0], sides[1], frozenset(ignore), elements), ignore, most)
    finally:
        for side in sides:
            side.file.close()


def _compare(
    one: _Side, two: _Side, ignore: frozenset[str], elements: _Elements
) -> Iterator[Finding]:
    for path in sorted(one.links.keys() | two.links.keys()):
        first, second = one.links.get(path), two.links.get(path)
        if first is None or second is None:
            yield text(path), "is missing" if second is None else "is new", ""
        elif first != second:
            yield text(path), f"links to {_shown(first)} and {_shown(second)}", ""
    for path, kind in one.objects.items():
        if two.objects.get(path) == kind:
            yield from _compare_object(path, kind, (one, two), ignore, elements)


def _shown(link: tuple[Any, ...]) -> str:
    return repr(link[-1])


def _compare_object(
    path: bytes,
    kind: int,
    sides: tuple[_Side, _Side],
    ignore: frozenset[str],
    elements: _Elements,
) -> Iterator[Finding]:
    item = text(path)
    try:
        first, second = (h5o.open(side.file, path) for side in sides)
    except FAILURES as error:
        yield item, "", f"cannot be opened: {error}"
        return
    paths = sides[0].paths, sides[1].paths
    if kind == _DATASET and item not in ignore:
        yield from _compare_datasets(item, first, second, paths, elements)
    elif kind == _NAMED_TYPE:
        different = values.types_differ(first, second)
        if different:
            yield item, different, ""
    yield from _compare_attributes(item, first, second, paths)


def _compare_datasets(
    item: str, first: h5d.DatasetID, second: h5d.DatasetID, paths: Any, elements: _Elements
) -> Iterator[Finding]:
    try:
        datatype: h5t.TypeID = first.get_type()
        elements.found.bytes_of[item] = (
            datatype.get_size() * first.get_space().get_simple_extent_npoints()
        )
        different = values.types_differ(datatype, second.get_type())
        different = different or values.spaces_differ(first.get_space(), second.get_space())
        different = different or values.fill_values_differ(first, second)
        if not different:
            slabs = elements.undefined(item, first)
            different, holes = values.datasets_differ(first, second, paths, slabs)
            if holes:
                elements.found.holes[item] = holes
    except FAILURES as error:
        yield item, "", f"cannot be compared: {error}"
        return
    if different:
        yield item, different, ""


def _compare_attributes(item: str, first: Any, second: Any, paths: Any) -> Iterator[Finding]:
    one, two = _attribute_names(first), _attribute_names(second)
    for name in sorted(one | two):
        key = f"{item}@{text(name)}"
        if name not in one or name not in two:
            yield key, "is missing" if name in one else "is new", ""
            continue
        try:
            attributes = h5a.open(first, name), h5a.open(second, name)
            different = values.attributes_differ(*attributes, (first, second), paths)
        except FAILURES as error:
            yield key, "", f"cannot be compared: {error}"
            continue
        if different:
            yield key, different, ""


def _attribute_names(located: Any) -> set[bytes]:
    count = h5a.get_num_attrs(located)
    return {h5a.open(located, index=index).name for index in range(count)}


def text(name: bytes) -> str:
    """Show a name of any bytes."""
    return name.decode("utf-8", "backslashreplace")
