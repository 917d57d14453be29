# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The plan: what the replay program does, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    kind: str  # how it is made: "bytes", "hdf5" or "pnetcdf"
    size_bytes: int
    objects: tuple[int, ...] = ()


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
        verbs / files / objects / shapes / views / groups: What indices mean; objects, shapes and
            views are described in the words of the plan's text, `groups` are ranks that open a
            file together, without the first two (all; the rank alone).
        inputs: Files that are made before.
        sections: (n,) `CALL_ROW` each; ranks that do the same share one.
        ranks: In order.
        read_bytes / write_bytes: Of the program's own calls that are replayed.
        notes: What is left out or doubtful, in words.
        mpi: Family that the program ran on, "mpich" or "openmpi"; None: there is no telling.
    """

    n_ranks: int
    verbs: tuple[str, ...]
    files: tuple[PlanFile, ...]
    objects: tuple[str, ...]
    shapes: tuple[str, ...]
    views: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    inputs: tuple[PlanInput, ...]
    sections: tuple[NDArray[Any], ...]
    ranks: tuple[PlanRank, ...]
    read_bytes: int = 0
    write_bytes: int = 0
    notes: tuple[str, ...] = ()
    mpi: str | None = None
