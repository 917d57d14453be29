# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of traces that do not know the file views of MPI-IO."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import (
    DATA_OPS,
    SYSTEM_LAYERS,
    WRITES,
    EventFlag,
    IoLayer,
    Pieces,
    Selections,
    Trace,
)
from stripewise.readers._accesses import accesses
from stripewise.readers._rows import groups

_NOTE = (
    "from the system calls below MPI-IO, as the source does not know its file views: with"
    " collective buffering they are the aggregators' accesses"
)


def foreign_accesses(trace: Trace, *, knows_views: bool = True) -> tuple[Selections | Pieces, ...]:
    """Find accesses as `readers.accesses` does.

    Where the place of a file's MPI-IO calls is not known its system calls stand in for them.

    Args:
        trace: Its rows are single calls.
        knows_views: Views of MPI-IO calls are in the trace, with or without holes.
    """
    rows = trace.rows.copy()
    data = np.isin(rows["op"], DATA_OPS) & (rows["file"] >= 0)
    of_mpi = data & (rows["layer"] == IoLayer.MPIIO)
    system = data & np.isin(rows["layer"], SYSTEM_LAYERS) & (rows["bytes"] > 0)
    placed = of_mpi & _placed(trace, rows) & knows_views
    instead: set[tuple[str, bool]] = set()
    dropped = np.zeros(len(rows), bool)
    places = np.flatnonzero(of_mpi | system)
    chosen = rows[places]
    for (file, writing), group in groups(chosen["file"], np.isin(chosen["op"], WRITES)):
        mine = places[group]
        if placed[mine][of_mpi[mine]].all() or not system[mine].any():
            continue
        instead.add((trace.paths[file], bool(writing)))
        dropped[mine[of_mpi[mine]]] = True
        rows["depth"][mine[system[mine]]] = 0
    found = accesses(replace(trace, rows=rows[~dropped]))
    return tuple(_noted(entry, instead) for entry in found)


def _placed(trace: Trace, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) bool: the call has an offset and a size, in a view without holes."""
    whole = np.array([*(view.contiguous for view in trace.views), True], bool)
    known = (rows["flags"] & EventFlag.NO_OFFSET) == 0
    return np.asarray(known & (rows["bytes"] > 0) & whole[rows["view"]])


def _noted(entry: Selections | Pieces, instead: set[tuple[str, bool]]) -> Selections | Pieces:
    if isinstance(entry, Pieces) and (entry.file, entry.writing) in instead:
        return replace(entry, notes=(*entry.notes, _NOTE))
    return entry
