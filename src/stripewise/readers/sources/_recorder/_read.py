# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A Recorder trace, text or 2.5 directory -> Evidence."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import TraceError
from stripewise.inputs import RECORDER_FILE
from stripewise.model import Evidence, Gap, IoLayer, Op, Part
from stripewise.readers.sources._base import Source, begins_with_line, parsed_lines
from stripewise.readers.sources._calls import CallLog, evidence_of
from stripewise.readers.sources._recorder._binary import Directory
from stripewise.readers.sources._recorder._functions import Record
from stripewise.readers.sources._recorder._interpret import MISSING, REMARKS, Interpreter
from stripewise.readers.sources._recorder._text import is_line, parse_line, text_files

MAXIMUM_CALLS = RECORDER_FILE.entries
_MOST_NOTES = 20
_LAYERS = ("posix", "stdio", "mpiio", "hdf5")
_RESULTS = "Recorder stores no results: sizes are those asked for, failed calls count as done"


class RecorderSource(Source):
    """A trace of Recorder: its directory (2.5), the text made from one, or one rank's text."""

    name = "recorder"
    summary = "a Recorder trace (directory with recorder.mt, or its text form)"

    def recognises(self, path: Path) -> bool:
        """Look for recorder.mt, or for a line of the text form."""
        if path.is_dir():
            if (path / "recorder.mt").is_file() and (path / "VERSION").is_file():
                return True
            files = list(text_files(path).values())[:4]
            return any(begins_with_line(file, is_line) for file in files)
        return begins_with_line(path, is_line)

    def read(self, path: Path) -> Evidence:
        """Read one trace.

        Raises:
            TraceError: It is of a version that is not read, or nothing of it can be read.
        """
        try:
            if path.is_dir() and (path / "recorder.mt").is_file():
                directory = Directory(path)
                n_files = sum(1 for _ in path.glob("*.ts"))
                ranks = range(min(directory.n_ranks, n_files + 1))
                calls = {rank: functools.partial(directory.records, rank) for rank in ranks}
                n_ranks, start = directory.n_ranks, directory.start
                return _evidence("Recorder 2.5 trace", calls, n_ranks, start)
            files = text_files(path) if path.is_dir() else {_rank_of(path): path}
            if not files:
                raise TraceError(f"{path}: no recorder.mt and no text files of Recorder in it")
            texts = {
                rank: functools.partial(parsed_lines, file, parse_line)
                for rank, file in files.items()
            }
            return _evidence("Recorder trace (text)", texts, max(files) + 1, 0.0)
        except OSError as error:
            raise TraceError(f"{path}: cannot be read ({error.strerror})") from error


def _rank_of(path: Path) -> int:
    return int(path.stem) if path.stem.isdecimal() and len(path.stem) < 8 else 0


def _evidence(
    source: str,
    ranks: Mapping[int, Callable[[list[str]], Iterator[Record]]],
    n_ranks: int,
    start: float,
) -> Evidence:
    calls, untold = CallLog(), Counter[str]()
    notes: list[str] = []
    n_read = 0
    for rank, read in ranks.items():
        room = MAXIMUM_CALLS - len(calls)
        if room <= 0:
            notes.append(f"more than {MAXIMUM_CALLS} calls: rank {rank} and on are left out")
            break
        records = list(islice(read(notes), room))
        Interpreter(rank, calls, untold).follow(records)
        n_read += 1
        if len(records) == room:
            notes.append(f"rank {rank}: calls after the first {room} are left out")
    if n_read < n_ranks and len(calls) < MAXIMUM_CALLS:
        notes.append(f"records of {n_read} of {n_ranks} ranks are there")
    if notes and not len(calls):
        raise TraceError(f"{source}: no call can be read ({notes[0]})")
    partial = bool(notes)
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"and {len(notes) - _MOST_NOTES} more of this kind"]
    told = {what: what.format(untold[what]) for what in REMARKS if untold[what]}
    return evidence_of(
        calls,
        _with_hdf5_bytes(calls.rows()),
        (*notes, _RESULTS, *told.values()),
        more_notes=("the run's length is that of the trace, from its first to its last",),
        source=source,
        n_ranks=n_ranks,
        start=start,
        layers=_LAYERS,
        partial=partial,
        gaps=(
            *(Gap(Part.ALL, text) for text in notes),
            *(Gap(part, told[what]) for what, part in MISSING.items() if what in told),
        ),
    )


def _with_hdf5_bytes(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Give a read or write of HDF5 the bytes of the calls that it made one layer below.

    Recorder has the address of a selection, not the selection.
    """
    data = np.isin(rows["op"], (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE))
    of_hdf5 = rows["layer"] == IoLayer.HDF5
    if not of_hdf5.any():
        return rows
    places = np.flatnonzero(data | of_hdf5)
    names = ("op", "depth", "rank", "end_ns", "bytes")
    columns = [rows[name][places].tolist() for name in names]
    owner: tuple[int, int, int, int, int] | None = None
    for place, upper, moves, op, depth, rank, end, n_bytes in zip(
        places.tolist(), of_hdf5[places].tolist(), data[places].tolist(), *columns, strict=True
    ):
        if upper:
            owner = (place, op, depth, rank, end) if moves else None
        elif owner is not None and (depth, rank) == (owner[2] + 1, owner[3]) and end <= owner[4]:
            if _reads(op) == _reads(owner[1]):
                rows["bytes"][owner[0]] += n_bytes
    return rows


def _reads(op: int) -> bool:
    return op in (Op.READ, Op.READ_COLLECTIVE)
