# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A Recorder trace, text or 2.5 directory -> Evidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import TraceError
from stripewise.inputs import RECORDER_FILE
from stripewise.model import Evidence, IoLayer, Op, RunProfile, Trace
from stripewise.readers.sources._accesses import foreign_accesses
from stripewise.readers.sources._base import Source, head_of
from stripewise.readers.sources._calls import CallLog, counters_of, heat_of, set_processes
from stripewise.readers.sources._recorder._binary import Directory
from stripewise.readers.sources._recorder._interpret import Interpreter, Tally, Views
from stripewise.readers.sources._recorder._record import RankRecords, Record
from stripewise.readers.sources._recorder._text import is_line, read_text, text_files

MAXIMUM_CALLS = RECORDER_FILE.entries
_HEAD_BYTES = 4096
_MOST_NOTES = 20
_LAYERS = ("posix", "stdio", "mpiio", "hdf5")


class RecorderSource(Source):
    """A trace of Recorder: its directory (2.5), the text made from one, or one rank's text."""

    name = "recorder"
    summary = "a Recorder trace (directory with recorder.mt, or its text form)"

    def recognises(self, path: Path) -> bool:
        """Look for recorder.mt, or for a line of the text form."""
        if path.is_dir():
            if (path / "recorder.mt").is_file() and (path / "VERSION").is_file():
                return True
            return any(_has_line(file) for file in list(text_files(path).values())[:4])
        return _has_line(path)

    def read(self, path: Path) -> Evidence:
        """Read one trace."""
        return read_recorder(path)


def _has_line(path: Path) -> bool:
    lines = head_of(path, _HEAD_BYTES).decode("utf-8", "replace").splitlines()[:20]
    return any(is_line(line) for line in lines)


def read_recorder(path: Path) -> Evidence:
    """Read a trace of Recorder.

    Raises:
        TraceError: It is of a version that is not read, or nothing of it can be read.
    """
    try:
        if path.is_dir() and (path / "recorder.mt").is_file():
            directory = Directory(path)
            meta = directory.metadata
            n_files = sum(1 for _ in path.glob("*.ts"))
            ranks = (directory.rank(rank) for rank in range(min(meta.n_ranks, n_files + 1)))
            return _evidence("Recorder 2.5 trace", ranks, meta.n_ranks, meta.start)
        files = text_files(path) if path.is_dir() else {_rank_of(path): path}
        if not files:
            raise TraceError(f"{path}: no recorder.mt and no text files of Recorder in it")
        texts = (read_text(file, rank) for rank, file in files.items())
        return _evidence("Recorder trace (text)", texts, max(files) + 1, 0.0)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror})") from error


def _rank_of(path: Path) -> int:
    return int(path.stem) if path.stem.isdecimal() and len(path.stem) < 8 else 0


class _Counted:
    """Counts what is taken from an iterator."""

    def __init__(self, records: Iterator[Record]) -> None:
        self.n = 0
        self._records = records

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self.n += 1
            yield record


def _evidence(source: str, ranks: Iterator[RankRecords], n_ranks: int, start: float) -> Evidence:
    calls, views, tally = CallLog(), Views(), Tally()
    notes: list[str] = []
    n_read = 0
    for records in ranks:
        room = MAXIMUM_CALLS - len(calls)
        if room <= 0:
            notes.append(
                f"more than {MAXIMUM_CALLS} calls: rank {records.rank} and on are left out"
            )
            break
        counted = _Counted(islice(records.records, room))
        records.records = iter(counted)
        Interpreter(records.rank, calls, views, tally).follow(records)
        notes += records.notes
        n_read += 1
        if counted.n == room:
            notes.append(f"rank {records.rank}: calls after the first {room} are left out")
    if n_read < n_ranks and len(calls) < MAXIMUM_CALLS:
        notes.append(f"records of {n_read} of {n_ranks} ranks are there")
    if not len(calls):
        reason = f" ({notes[0]})" if notes else ""
        if notes:
            raise TraceError(f"{source}: no call can be read{reason}")
    partial = bool(notes)
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"and {len(notes) - _MOST_NOTES} more of this kind"]
    rows = calls.rows()
    ranks_seen = set_processes(rows)
    trace = Trace(
        source=source,
        rows=_with_hdf5_bytes(rows),
        names=calls.names.texts,
        paths=calls.paths.texts,
        views=views.all(),
        process_rank=ranks_seen,
        process_host=np.full(len(ranks_seen), -1, np.int64),
        n_ranks=n_ranks,
        start=start,
        notes=(*notes, *_remarks(tally)),
    )
    return _finished(trace, partial)


def _finished(trace: Trace, partial: bool) -> Evidence:
    elapsed = float(trace.rows["end_ns"].max(initial=0)) * 1e-9
    heat, width = heat_of(trace, elapsed)
    profile = RunProfile(
        source=trace.source,
        n_ranks=trace.n_ranks,
        n_processes=len(trace.process_rank),
        start=trace.start,
        elapsed_seconds=elapsed,
        paths=trace.paths,
        counters=counters_of(trace),
        layers=_LAYERS,
        heat=heat,
        heat_bin_seconds=width,
        partial=partial,
        notes=(*trace.notes, "the run's length is that of the trace, from its first to its last"),
    )
    return Evidence(profile, trace, foreign_accesses(trace))


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


def _remarks(tally: Tally) -> list[str]:
    notes = ["Recorder stores no results: sizes are those asked for, failed calls count as done"]
    if tally.hdf5_data:
        notes.append(
            "HDF5 selections are addresses in Recorder's traces: patterns come from the offsets of"
            " MPI-IO or POSIX, and the bytes of an HDF5 call from the calls that it made"
        )
    if tally.hdf5_unknown:
        notes.append(
            f"{tally.hdf5_unknown} HDF5 reads and writes were made with several files open and"
            " belong to none"
        )
    if tally.unknown_sizes:
        notes.append(
            f"{tally.unknown_sizes} MPI-IO calls use derived datatypes, whose sizes Recorder does"
            " not store: they count with 0 bytes"
        )
    if tally.views_with_holes:
        notes.append(
            f"{tally.views_with_holes} file views are derived datatypes, which Recorder does not"
            " store: patterns of those files come from the system calls"
        )
    if tally.unknown_files:
        notes.append(f"{tally.unknown_files} MPI-IO calls are on files whose open is not there")
    return notes
