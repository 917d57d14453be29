# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Recorder trace as evidence: a text for each rank, or a directory of version 2.5."""

from __future__ import annotations

import functools
import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap, ReportedPart
from stripewise.core.errors import TraceError
from stripewise.core.inputs import RECORDER_FILE, read_input
from stripewise.evidence.readers._base import (
    LONGEST_LINE,
    RankLogs,
    files_by_rank,
    parsed_lines,
)
from stripewise.evidence.readers._calls import CallLog, evidence_of
from stripewise.evidence.readers.recorder._interpret import MISSING, REMARKS, Interpreter, Record
from stripewise.evidence.trace import Evidence, IoLayer, Op

MAXIMUM_CALLS = RECORDER_FILE.entries
_MOST_NOTES = 20
_LAYERS = ("posix", "stdio", "mpiio", "hdf5")
_RESULTS = "Recorder stores no results: sizes are those requested, failed calls count as done"


class RecorderSource(RankLogs):
    """A trace of Recorder: its directory (2.5), the text made from one, or one rank's text."""

    name = "recorder"
    summary = "a Recorder trace (directory with recorder.mt, or its text form)"
    budget = RECORDER_FILE
    file_name = re.compile(r"(\d{1,9})\.txt")

    def is_call(self, line: str) -> bool:
        """Return whether a line is in the text form."""
        return is_line(line)

    def texts(self, path: Path) -> dict[int, Path]:
        """Return texts by rank, in `_text` below a directory or in the directory itself."""
        return files_by_rank(path / "_text", self.file_name) or super().texts(path)

    def recognises(self, path: Path) -> bool:
        """Look for recorder.mt, or for a line of the text form."""
        binary = (path / "recorder.mt").is_file() and (path / "VERSION").is_file()
        return binary or super().recognises(path)

    def read_one(self, path: Path) -> Evidence:
        """Read one trace.

        Raises:
            TraceError: Its version is not supported, or nothing in it can be read.
            OSError: It cannot be opened.
        """
        if (path / "recorder.mt").is_file():
            directory = Directory(path)
            n_files = sum(1 for _ in path.glob("*.ts"))
            ranks = range(min(directory.n_ranks, n_files + 1))
            calls = {rank: functools.partial(directory.records, rank) for rank in ranks}
            n_ranks, start = directory.n_ranks, directory.start
            return _evidence("Recorder 2.5 trace", calls, n_ranks, start)
        files = self.texts(path)
        if not files:
            raise TraceError(f"{path}: no recorder.mt and no text files of Recorder in it")
        texts = {
            rank: functools.partial(parsed_lines, file, parse_line) for rank, file in files.items()
        }
        return _evidence("Recorder trace (text)", texts, max(files) + 1, 0.0)


def _evidence(
    source: str,
    ranks: Mapping[int, Callable[[list[str]], Iterator[Record]]],
    n_ranks: int,
    start: float,
) -> Evidence:
    calls, counts = CallLog(), Counter[str]()
    notes: list[str] = []
    n_read = 0
    for rank, read in ranks.items():
        room = MAXIMUM_CALLS - len(calls)
        if room <= 0:
            notes.append(f"more than {MAXIMUM_CALLS} calls: rank {rank} and on are left out")
            break
        records = list(islice(read(notes), room))
        Interpreter(rank, calls, counts).follow(records)
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
    remarks = {what: what.format(counts[what]) for what in REMARKS if counts[what]}
    return evidence_of(
        calls,
        _with_hdf5_bytes(calls.rows()),
        (*notes, _RESULTS, *remarks.values()),
        more_notes=("the run's length is that of the trace, from its first to its last",),
        source=source,
        n_ranks=n_ranks,
        start=start,
        layers=_LAYERS,
        partial=partial,
        gaps=(
            *(Gap(ReportedPart.ALL, text) for text in notes),
            *(Gap(part, remarks[what]) for what, part in MISSING.items() if what in remarks),
        ),
    )


def _with_hdf5_bytes(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Set the bytes of HDF5 reads and writes to those of the calls that they made one layer below.

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


# Recorder's text form, one file a rank: `tstart tend function level type ( arguments )`.
#
# Source: tools/recorder2text.c of Recorder 2.3 to 2.5. The numbers of the two times and of the
# level may be missing in hand-made extracts; such lines are counted, not read.

_LINE = re.compile(
    r"\s*(-?[\d.]+(?:[eE][-+]?\d+)?)\s+(-?[\d.]+(?:[eE][-+]?\d+)?)\s+([A-Za-z_]\w*)\s+(\d{1,3})"
    r"\s+(\d{1,3})\s*\((.*)\)\s*"
)


def is_line(line: str) -> bool:
    """Return whether a line is a call in this form."""
    return len(line) <= LONGEST_LINE and _LINE.fullmatch(line) is not None


def parse_line(line: str) -> Record | None:
    """Return one call; None if the line is not a call."""
    match = _LINE.fullmatch(line.rstrip("\n"))
    if match is None:
        return None
    try:
        start, end = float(match[1]), float(match[2])
    except ValueError:
        return None
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        return None
    return Record(start, end, match[3], int(match[4]), tuple(match[6].split()))


# Recorder's 2.5 directory: call signatures, a Sequitur grammar of them, and times.
#
# Little-endian; `int` is 4 bytes.  Source: lib/recorder-cst-cfg.c, include/recorder-logger.h and
# tools/reader.c of Recorder 2.5.
#
#     VERSION       "2.5.0"
#     recorder.mt   int ranks, pad, double start, double resolution (s), int elements, int
#                   compression of times, int interprocess, pad; then a function's name a line
#     N.cst         int entries; each int terminal, rank, length, count, and a key: 8 bytes thread,
#                   byte function, level, number of arguments; int length; arguments, a blank each
#     N.cfg         int rules; each int id (negative), int symbols, symbols x (int value, times);
#                   a value >= 0 is a terminal, otherwise a rule; rule -1 is the whole
#     N.ts          uint32 pairs: start and end in units of the resolution since the last start
#     ug.mt         with interprocess compression: int grammar of each rank, int grammars; then
#                   0.cst holds all signatures and N.cfg is grammar N

MAXIMUM_RANKS = 1 << 24
_METADATA = struct.Struct("<i4xddiii4x")
_ENTRY = struct.Struct("<iiiI")
_KEY = struct.Struct("<qBBBi")
_USER_FUNCTION = 255
_WHOLE = -1
_MOST_CALLS = 1 << 62
_STEPS_PER_CALL = 16


_Grammar = dict[int, NDArray[np.int32]]
_NO_RULE = np.zeros((0, 2), np.int32)


class Directory:
    """Reads the ranks of one directory.

    Attributes:
        n_ranks: Number of ranks of the run.
        start: Seconds since 1970; 0 if unknown.
    """

    def __init__(self, directory: Path) -> None:
        """Read VERSION and recorder.mt.

        Raises:
            TraceError: The version differs, or the files do not exist.
        """
        _check_version(directory)
        data = _bytes(directory / "recorder.mt")
        if len(data) < _METADATA.size:
            raise TraceError(f"{directory}/recorder.mt: cut off after {len(data)} bytes")
        ranks, start, unit, _, compression, merged = _METADATA.unpack_from(data)
        if not 0 < ranks <= MAXIMUM_RANKS or not 0 < unit <= 1:
            raise TraceError(f"{directory}/recorder.mt: damaged ({ranks} ranks, {unit:g} s)")
        if compression:
            raise TraceError(
                f"{directory}: times are compressed (kind {compression}); turn it"
                " to text with recorder2text, and name the _text directory"
            )
        self.n_ranks: int = ranks
        self.start: float = start if 0 < start < 1e11 else 0.0
        self._directory = directory
        self._unit_seconds: float = unit
        self._functions = data[_METADATA.size :].decode("ascii", "replace").split("\n")[:-1]
        self._grammar = cache(_grammar)
        self._shared: dict[int, Record] | None = None
        self._grammar_of: NDArray[np.int32] = np.zeros(0, np.int32)
        if merged:
            self._shared = _signatures(directory / "0.cst", self._functions)
            self._grammar_of = _grammar_numbers(directory / "ug.mt", ranks)

    def records(self, rank: int, notes: list[str]) -> Iterator[Record]:
        """Yield the calls of one rank; damaged parts are left out and mentioned in `notes`."""
        try:
            calls, grammar = self._parts(rank)
            data = _bytes(self._directory / f"{rank}.ts")
        except TraceError as error:
            notes.append(str(error))
            return
        n_calls = len(data) // 8
        times = np.frombuffer(data, "<u4", 2 * n_calls).reshape(-1, 2).tolist()
        n_expected = _n_calls(grammar)
        terminals = _expand(grammar, n_calls, notes)
        if n_expected != n_calls:
            expected = "an endless number of" if n_expected is None else str(n_expected)
            notes.append(f"rank {rank}: {n_calls} times for {expected} calls: damaged")
        unknown = 0
        unit, origin = self._unit_seconds, 0
        for terminal, (begin, end) in zip(terminals.tolist(), times, strict=False):
            call = calls.get(terminal)
            if call is None:
                unknown += 1
            else:
                yield Record((origin + begin) * unit, (origin + end) * unit, *call[2:])
            origin += begin
        if unknown:
            notes.append(f"rank {rank}: {unknown} calls have no readable signature")

    def _parts(self, rank: int) -> tuple[dict[int, Record], _Grammar]:
        if self._shared is not None:
            grammar = self._directory / f"{self._grammar_of[rank]}.cfg"
            return self._shared, self._grammar(grammar)
        own = self._directory / str(rank)
        return _signatures(own.with_suffix(".cst"), self._functions), _grammar(
            own.with_suffix(".cfg")
        )


def _check_version(directory: Path) -> None:
    version = _bytes(directory / "VERSION")[:64].decode("ascii", "replace").strip()
    if not version.startswith("2.5"):
        raise TraceError(
            f"{directory}: a trace of Recorder {version or 'of unknown version'}; the directory of"
            " 2.5 is read: turn others to text with their own recorder2text, and name that"
        )


def _bytes(path: Path) -> bytes:
    try:
        return read_input(path, RECORDER_FILE)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror})") from error


def _grammar_numbers(path: Path, n_ranks: int) -> NDArray[np.int32]:
    data = _bytes(path)
    if len(data) < 4 * n_ranks:
        raise TraceError(f"{path}: cut off, {len(data)} bytes for {n_ranks} ranks")
    return np.frombuffer(data, "<i4", n_ranks)


def _signatures(path: Path, functions: Sequence[str]) -> dict[int, Record]:
    """Return the calls by terminal, without their times."""
    data = _bytes(path)
    calls: dict[int, Record] = {}
    offset = 4
    while offset + _ENTRY.size <= len(data):
        terminal, _, length, _ = _ENTRY.unpack_from(data, offset)
        offset += _ENTRY.size
        if length < 0 or offset + length > len(data):
            break
        call = _signature(data[offset : offset + length], functions)
        if call is not None and terminal >= 0:
            calls[terminal] = call
        offset += length
    return calls


def _signature(key: bytes, functions: Sequence[str]) -> Record | None:
    if len(key) < _KEY.size:
        return None
    thread, function, level, count, length = _KEY.unpack_from(key)
    text = key[_KEY.size : _KEY.size + max(length, 0)].decode("utf-8", "surrogateescape")
    arguments = tuple(text.split(" ")[:-1][:count])
    if function == _USER_FUNCTION:
        name = arguments[1] if len(arguments) > 1 else "user function"
    elif function < len(functions):
        name = functions[function]
    else:
        return None
    return Record(0.0, 0.0, name, level, arguments, thread)


def _grammar(path: Path) -> _Grammar:
    data = _bytes(path)
    words = np.frombuffer(data[: len(data) // 4 * 4], "<i4")
    rules: _Grammar = {}
    place = 1
    while place + 2 <= len(words):
        rule, symbols = int(words[place]), int(words[place + 1])
        place += 2
        if symbols < 0 or place + 2 * symbols > len(words):
            symbols = max((len(words) - place) // 2, 0) if symbols > 0 else 0
        rules[rule] = words[place : place + 2 * symbols].reshape(-1, 2)
        place += 2 * symbols
    if _WHOLE not in rules:
        raise TraceError(f"{path}: no grammar, or a damaged one")
    return rules


def _n_calls(grammar: _Grammar) -> int | None:
    """Return the number of terminals that the grammar expands to; None if it is circular."""
    known: dict[int, int] = {}
    begun: set[int] = set()
    stack = [_WHOLE]
    while stack:
        rule = stack[-1]
        body = grammar.get(rule, _NO_RULE)
        inner = [value for value in body[:, 0].tolist() if value < 0 and value not in known]
        if not inner or rule in known:
            known.setdefault(rule, _length(body, known))
            stack.pop()
        elif rule in begun:
            return None
        else:
            begun.add(rule)
            stack.extend(dict.fromkeys(inner))
    return known[_WHOLE]


def _length(body: NDArray[np.int32], known: dict[int, int]) -> int:
    pairs: list[tuple[int, int]] = body.tolist()
    total = sum(max(times, 0) * (1 if value >= 0 else known[value]) for value, times in pairs)
    return min(total, _MOST_CALLS)


def _expand(grammar: _Grammar, n_calls: int, notes: list[str]) -> NDArray[np.int32]:
    """Return the terminals in their order, no more than there are times.

    A grammar that is circular, or whose expansion takes too much work, is given up.
    """
    values: list[int] = []
    repeats: list[int] = []
    left = n_calls
    steps = _STEPS_PER_CALL * n_calls + sum(len(rule) for rule in grammar.values())
    stack: list[tuple[int, int, int]] = [(_WHOLE, 0, 1)]
    while stack and left > 0 and steps > 0:
        steps -= 1
        rule, place, times = stack.pop()
        body = grammar.get(rule)
        if body is None or not len(body):
            continue
        if place == len(body):
            if times > 1:
                stack.append((rule, 0, times - 1))
            continue
        stack.append((rule, place + 1, times))
        value, count = int(body[place, 0]), int(body[place, 1])
        if value >= 0:
            count = min(max(count, 0), left)
            values.append(value)
            repeats.append(count)
            left -= count
        elif count > 0:
            stack.append((value, 0, count))
        if len(stack) > len(grammar) + 1:
            steps = 0
    if steps <= 0:
        notes.append("the grammar is damaged: it was followed up to the damage")
    return np.repeat(np.array(values, np.int32), np.array(repeats, np.int64))
