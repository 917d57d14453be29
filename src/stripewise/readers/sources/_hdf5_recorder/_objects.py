# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What ids of HDF5 stand for: spaces, types, datasets."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from stripewise.model import ShapeKind

_SIZED = re.compile(r"H5T_[A-Z]+_([IUFBRSD])(?:NT)?(\d{1,3})(?:LE|BE)?")
_NATIVE = {
    name: (type_class, n_bytes)
    for type_class, n_bytes, names in (
        ("integer", 1, "CHAR SCHAR UCHAR HBOOL"),
        ("integer", 2, "SHORT USHORT"),
        ("integer", 4, "INT UINT HERR"),
        ("integer", 8, "LONG ULONG LLONG ULLONG HSIZE HSSIZE HADDR"),
        ("float", 4, "FLOAT"),
        ("float", 8, "DOUBLE"),
        ("float", 16, "LDOUBLE"),
    )
    for name in names.split()
}


@dataclass(frozen=True)
class ElementType:
    """Size of an element, and its class in the words of `TraceObject`."""

    n_bytes: int
    type_class: str


def element_type(name: str) -> ElementType | None:
    """Type by its name in HDF5; None if the name tells no size."""
    if name == "H5T_C_S1" or name == "H5T_FORTRAN_S1":
        return ElementType(1, "string")
    native = _NATIVE.get(name.removeprefix("H5T_NATIVE_"))
    if name.startswith("H5T_NATIVE_") and native:
        return ElementType(native[1], native[0])
    match = _SIZED.fullmatch(name)
    if match is None or int(match[2]) % 8 or not int(match[2]):
        return None
    type_class = {"F": "float", "I": "integer", "U": "integer"}.get(match[1], "other")
    return ElementType(int(match[2]) // 8, type_class)


@dataclass(frozen=True)
class Slab:
    """A selection: "all", "none", "regular" with its four vectors, otherwise irregular."""

    kind: ShapeKind
    start: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    count: tuple[int, ...] = ()
    block: tuple[int, ...] = ()

    @property
    def elements(self) -> int:
        """Elements of a regular one."""
        return math.prod(c * b for c, b in zip(self.count, self.block, strict=True))

    @property
    def end(self) -> tuple[int, ...]:
        """One behind the last element, per dimension."""
        return tuple(
            a + (c - 1) * s + b if c else 0
            for a, s, c, b in zip(self.start, self.stride, self.count, self.block, strict=True)
        )


ALL = Slab(ShapeKind.ALL)


@dataclass
class Dataset:
    """A dataset, shared by all ranks that name it alike.

    Attributes:
        extents: None: not told by any line.
        guessed: From all selections together, as no line tells them.
    """

    path: str
    name: str
    extents: tuple[int, ...] | None = None
    element: ElementType | None = None
    chunk: tuple[int, ...] = ()
    guessed: bool = False


@dataclass
class Space:
    """A dataspace; `extents` None: not known.  `dataset`: of which it was taken."""

    extents: tuple[int, ...] | None
    slab: Slab = ALL
    dataset: Dataset | None = None

    @property
    def elements(self) -> int:
        """Selected elements; 0: not known, or none."""
        if self.slab.kind == ShapeKind.REGULAR:
            return self.slab.elements
        return math.prod(self.extents) if self.slab is ALL and self.extents else 0


Datasets = dict[tuple[str, str], Dataset]
"""All datasets of a run, by file and name."""
