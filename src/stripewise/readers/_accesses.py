# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> which parts of files and datasets each rank moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import DATA_OPS, SYSTEM_LAYERS, EventFlag, IoLayer, Pieces, Selections, Trace
from stripewise.readers._access_bytes import byte_pieces
from stripewise.readers._access_selections import selections_of
from stripewise.readers._rows import take_rows

MOST_PARTS = 4_000_000
"""Selections, and rows of pieces, of one trace."""

_DATASET_LAYERS = (IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.ADIOS2)


def accesses(trace: Trace) -> tuple[Selections | Pieces, ...]:
    """Find what the program itself moved, per file, dataset and direction.

    Datasets come from the HDF5, PnetCDF and ADIOS2 calls.  A file's MPI-IO calls count if the
    program made them, or if nothing above them told of a dataset of that file; its POSIX and
    stdio calls if the program made them.
    What is beyond `MOST_PARTS` is told in the notes.
    """
    rows = _data_rows(trace)
    selections = selections_of(
        trace, take_rows(rows, np.isin(rows["layer"], _DATASET_LAYERS)), MOST_PARTS
    )
    described = {entry.file for entry in selections if len(entry.rank) or entry.irregular}
    known = np.array([path in described for path in trace.paths], bool)
    own = (rows["depth"] == 0) | ~known[rows["file"]]
    mpi = take_rows(rows, (rows["layer"] == IoLayer.MPIIO) & own)
    system = np.isin(rows["layer"], SYSTEM_LAYERS) & (rows["depth"] == 0)
    posix = rows if system.all() else take_rows(rows, system)
    ranges = ((mpi, "view"), (posix, "offsets"))
    pieces = [byte_pieces(trace, chosen, source, MOST_PARTS) for chosen, source in ranges]
    return (*selections, *pieces[0], *pieces[1])


def _data_rows(trace: Trace) -> NDArray[Any]:
    """Rows that moved data of a file, with `rank` numbered from 0 also without MPI."""
    rows = trace.rows
    moved = np.isin(rows["op"], DATA_OPS) & (rows["bytes"] > 0) & (rows["file"] >= 0)
    moved &= (rows["flags"] & (EventFlag.FAILED | EventFlag.WAIT | EventFlag.ATTRIBUTE)) == 0
    if not trace.n_ranks:
        rows = take_rows(rows, moved)
        rows["rank"] = rows["process"]
        return rows
    places = np.flatnonzero(moved & (rows["rank"] >= 0))
    rank = rows["rank"][places]
    in_order = bool((rank[1:] >= rank[:-1]).all())
    if in_order and len(places) == len(rows):
        return rows
    return take_rows(rows, places if in_order else places[np.argsort(rank, kind="stable")])
