# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Offsets and lengths of single calls -> Pieces, one per file and direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import EventFlag, IoLayer, Op, Pieces, Trace

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_DATA = (*_READS, *_WRITES)
_SYSTEM = (IoLayer.POSIX, IoLayer.STDIO)


def offset_pieces(trace: Trace, *, of_mpiio: bool = True) -> tuple[Pieces, ...]:
    """Byte ranges by file and direction.

    Taken from MPI-IO where all of a file's MPI-IO calls have their place in it (a default
    view or a contiguous one); otherwise from the system calls.

    Args:
        trace: Its rows are single calls.
        of_mpiio: The source knows the views of MPI-IO calls.
    """
    rows = trace.rows
    data = rows[np.isin(rows["op"], _DATA) & (rows["file"] >= 0)]
    data = data[np.isin(data["layer"], (*_SYSTEM, IoLayer.MPIIO))]
    found = []
    for file in np.unique(data["file"]):
        mine = data[data["file"] == file]
        for writing in (False, True):
            calls = mine[np.isin(mine["op"], _WRITES if writing else _READS)]
            if len(calls):
                found.extend(_of_file(trace, calls, writing, of_mpiio))
    return tuple(found)


def _of_file(trace: Trace, calls: NDArray[Any], writing: bool, of_mpiio: bool) -> list[Pieces]:
    of_mpi = calls["layer"] == IoLayer.MPIIO
    notes: tuple[str, ...] = ()
    chosen = calls[~of_mpi]
    if of_mpi.any():
        upper = calls[of_mpi]
        if (of_mpiio and _placed(trace, upper)) or not len(chosen):
            chosen = upper
        else:
            notes = (
                "from the system calls below MPI-IO, whose file views are not in the source:"
                " with collective buffering they are the aggregators' accesses",
            )
    lost = (chosen["flags"] & EventFlag.NO_OFFSET) != 0
    if lost.any():
        notes = (*notes, f"{int(lost.sum())} calls have no known offset and are left out")
    chosen = chosen[~lost & (chosen["bytes"] > 0)]
    return [_pieces(trace, chosen, writing, notes)] if len(chosen) else []


def _placed(trace: Trace, calls: NDArray[Any]) -> bool:
    """Whether all calls have an offset, in a view without holes."""
    if ((calls["flags"] & EventFlag.NO_OFFSET) != 0).any():
        return False
    used = np.unique(calls["view"])
    return all(view < 0 or trace.views[view].contiguous for view in used)


def _pieces(trace: Trace, calls: NDArray[Any], writing: bool, notes: tuple[str, ...]) -> Pieces:
    n = len(calls)
    views = calls["view"]
    scale, shift = (
        np.ones(len(trace.views) + 1, np.int64),
        np.zeros(len(trace.views) + 1, np.int64),
    )
    for place, view in enumerate(trace.views):
        scale[place], shift[place] = view.etype_bytes, view.displacement
    in_mpi = (calls["layer"] == IoLayer.MPIIO) & (views >= 0)
    which = np.where(in_mpi, views, len(trace.views))
    sizes = np.unique(scale[which])
    return Pieces(
        file=trace.paths[int(calls["file"][0])],
        writing=writing,
        rank=calls["rank"].astype(np.int64),
        offset=calls["offset"] * scale[which] + shift[which],
        size=calls["bytes"].astype(np.int64),
        repeat=np.ones(n, np.int64),
        inner=np.zeros((n, 2), np.int64),
        stride=np.zeros((n, 3), np.int64),
        order=calls["sequence"].astype(np.int64),
        collective=np.isin(calls["op"], (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)),
        call=np.arange(n),
        n_ranks=max(trace.n_ranks, len(trace.process_rank)),
        element_bytes=int(sizes[0]) if len(sizes) == 1 else 1,
        source="view" if in_mpi.any() else "offsets",
        notes=notes,
    )
