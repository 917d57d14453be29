# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""DXT segments -> Trace: each read and write of POSIX and MPI-IO, with offset and time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index
from stripewise.model import TRACE_ROW, EventFlag, IoLayer, Op, Trace
from stripewise.readers._trace_parse import make_single
from stripewise.readers.sources._calls import set_processes
from stripewise.readers.sources._darshan._counters import Files
from stripewise.readers.sources._darshan._isolated import RawLog
from stripewise.text import plural

_LAYERS = {"DXT_POSIX": IoLayer.POSIX, "DXT_MPIIO": IoLayer.MPIIO}
NAMES = ("POSIX read", "POSIX write", "MPI-IO read", "MPI-IO write")
VIEW_NOTE = (
    "DXT has one offset and length for a call of MPI-IO, whatever its file view: the patterns"
    " come from the system calls below where there are any, and MPI-IO calls are not told apart"
    " into collective and independent ones"
)


def read_trace(log: RawLog, files: Files, source: str) -> Trace | None:
    """Trace of the calls that DXT recorded; None without DXT."""
    parts = [_rows(log, module, files) for module in _LAYERS if module in log.arrays]
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    rows = np.concatenate(parts)
    _set_parents(rows)
    order = np.lexsort((rows["depth"], rows["start_ns"], rows["rank"]))
    rows = rows[order]
    rank = rows["rank"].astype(np.int64)
    rows["sequence"] = np.arange(len(rows)) - np.searchsorted(rank, rank)
    ranks = set_processes(rows)
    job = log.meta["job"]
    notes = (VIEW_NOTE,) if (rows["layer"] == IoLayer.MPIIO).any() else ()
    here = [f"{name}/segments" for name in _LAYERS if name in log.arrays]
    if number := sum(_impossible(log.arrays[name]) for name in here):
        notes = (
            *notes,
            f"the times or sizes of {plural(number, 'call')} in DXT cannot be: not known",
        )
    return Trace(
        source=f"{source} (DXT)",
        rows=rows,
        names=NAMES,
        paths=tuple(files.paths),
        process_rank=ranks,
        process_host=np.full(len(ranks), -1, np.int64),
        n_ranks=int(job.get("nprocs", 0)),
        start=float(job.get("start_time_sec", 0)) + float(job.get("start_time_nsec", 0)) * 1e-9,
        notes=(*notes, "reads and writes only: DXT records no opens, closes or metadata calls"),
    )


def hosts(log: RawLog) -> tuple[str, ...]:
    """Names of the nodes, known only to DXT."""
    found = {name for module in _LAYERS for name in log.meta.get(f"{module}/hosts", ())}
    return tuple(sorted(name for name in found if name))


def _impossible(segments: NDArray[Any]) -> int:
    """Count calls whose time or size is none; they stand at 0 in the trace."""
    start, end = segments["start"], segments["end"]
    return int((~((start >= 0) & (end >= start)) | (segments["length"] < 0)).sum())


def _rows(log: RawLog, module: str, files: Files) -> NDArray[Any]:
    owners, segments = log.arrays[module], log.arrays[f"{module}/segments"]
    layer = _LAYERS[module]
    record, place = expanded_index(owners["n_writes"] + owners["n_reads"])
    writing = place < owners["n_writes"][record]
    rows = np.zeros(len(segments), TRACE_ROW)
    rows["rank"] = owners["rank"][record]
    rows["file"] = files.indices(owners["id"])[record]
    rows["name"] = (2 if layer == IoLayer.MPIIO else 0) + writing
    for name in ("parent", "object", "shape", "view", "memory"):
        rows[name] = -1
    rows["layer"] = layer
    rows["op"] = np.where(writing, Op.WRITE, Op.READ)
    rows["offset"], rows["bytes"] = segments["offset"], np.maximum(segments["length"], 0)
    rows["flags"] = np.where(segments["offset"] < 0, EventFlag.NO_OFFSET, 0)
    start = np.clip(np.nan_to_num(segments["start"]), 0, 4e9)
    end = np.maximum(np.clip(np.nan_to_num(segments["end"]), 0, 4e9), start)
    rows["start_ns"], rows["end_ns"] = np.rint(start * 1e9), np.rint(end * 1e9)
    make_single(rows, rows["end_ns"] - rows["start_ns"])
    return rows


def _set_parents(rows: NDArray[Any]) -> None:
    """System calls on a file that is read and written by MPI-IO serve it."""
    through = np.unique(rows["file"][rows["layer"] == IoLayer.MPIIO])
    served = (rows["layer"] == IoLayer.POSIX) & np.isin(rows["file"], through)
    rows["parent"][served] = 2 + (rows["op"][served] == Op.WRITE)
    rows["depth"][served] = 1
