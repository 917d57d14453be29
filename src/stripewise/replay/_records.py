# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The plan: what the replay program does, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._members import members

CALL_ROW = np.dtype(
    members(
        "i8 verb",  # index into `Plan.verbs`
        "i8 op flags bytes count",
        ("inner", "<i8", (2,)),
        ("stride", "<i8", (3,)),
        "i8 place",  # of the first call among those of the rank
        ("place_stride", "<i8", (3,)),
    ),
)
"""A folded run of calls, as in `TRACE_ROW`; the rest of it differs by rank."""

COLUMNS = ("file", "object", "detail", "group", "offset", "gap", "rest")
"""What each rank has for each row of its section: file, object (dataset, variable or group),
detail (view of a set_view, selection of others), communicator of an open, first offset,
nanoseconds before the first call and before each further one.  -1: none."""


class InputKind(StrEnum):
    """How a file that the program reads is made."""

    BYTES = "bytes"
    HDF5 = "hdf5"
    PNETCDF = "pnetcdf"


@dataclass(frozen=True)
class PlanFile:
    """A file: where it was, its name in the replay, and the program's own hints for it.

    `variables` are those of PnetCDF, which all ranks define together.
    """

    path: str
    name: str
    hints: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[int, ...] = ()


@dataclass(frozen=True)
class PlanInput:
    """A file that has to be there; `objects` are the datasets that it needs."""

    file: int
    kind: InputKind
    size_bytes: int
    objects: tuple[int, ...] = ()


@dataclass(frozen=True)
class PlanObject:
    """A dataset, variable or group, without the file that it is in; see `TraceObject`."""

    kind: str  # "dataset", "filled" (a dataset, when it is created), "variable" or "group"
    name: str
    extents: tuple[int, ...] = ()
    maximum: tuple[int, ...] = ()
    chunk: tuple[int, ...] = ()
    element_bytes: int = 1
    type_class: str = "other"
    storage: str = "other"


@dataclass(frozen=True)
class PlanShape:
    """A selection; `numbers`: stride, count, block of a regular one, boxes of others.

    `memory`: number of the buffer's shape where that has holes, -1: it is contiguous.
    """

    kind: str
    extents: tuple[int, ...]
    elements: int
    boxes: int = 0
    numbers: tuple[int, ...] = ()
    memory: int = -1


@dataclass(frozen=True)
class PlanView:
    """A file view; `pieces` are (offset, bytes, count, inner x 2, stride x 3) each, bytes."""

    displacement: int
    etype_bytes: int
    filetype_bytes: int
    lower: int
    extent: int
    pieces: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class PlanRank:
    """What one rank does: its section, and (n,) int64 for each of `COLUMNS`."""

    rank: int
    section: int
    columns: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Plan:
    """A whole replay.

    Attributes:
        n_ranks: It has to run with so many.
        verbs / files / objects / shapes / views / groups: What indices mean; `groups` are
            ranks that open a file together, without the first two (all; the rank alone).
        inputs: Files that are made before.
        sections: (n,) `CALL_ROW` each; ranks that do the same share one.
        ranks: In order.
        read_bytes / write_bytes: Of the program's own calls that are replayed.
        lost_bytes: Of those that are not.
        notes: What is left out or doubtful, in words.
    """

    n_ranks: int
    verbs: tuple[str, ...]
    files: tuple[PlanFile, ...]
    objects: tuple[PlanObject, ...]
    shapes: tuple[PlanShape, ...]
    views: tuple[PlanView, ...]
    groups: tuple[tuple[int, ...], ...]
    inputs: tuple[PlanInput, ...]
    sections: tuple[NDArray[Any], ...]
    ranks: tuple[PlanRank, ...]
    read_bytes: int = 0
    write_bytes: int = 0
    lost_bytes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """Path in the trace to the name in the replay."""
        return {file.path: file.name for file in self.files}

    @property
    def layers(self) -> frozenset[str]:
        """Interfaces that it calls: "posix", "stdio", "mpiio", "hdf5", "pnetcdf"."""
        return frozenset(verb.partition(".")[0] for verb in self.verbs) - {"sync"}
