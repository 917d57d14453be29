# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the I/O evidence that a batch job left: Darshan logs, and output of Cray MPICH."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from stripewise.core import MpiioFile, MpiioOutput, MpiioSide, MpiioTimers, ObservedFile
from stripewise.core.errors import TraceError
from stripewise.core.inputs import open_input
from stripewise.evidence.facts import relative_path
from stripewise.evidence.readers._mpiio_stats import parse_mpiio_stats, parse_mpiio_timers

MOST_FILES = 16
"""Maximum number of files of one run; the largest are kept."""
_MOST_BYTES = 64 << 20
"""Maximum size of a log that is read; larger ones are skipped."""
_HEAD_BYTES = 1 << 16
_VERSION = re.compile(r"CRAY MPICH version[^\r\n]*")
_TABLE = re.compile(rb"MPIIO (?:write|read) (?:access patterns|by phases)|MPIIO hints for ")
_LARGEST = ("independent_ranks", "aggregators")
_LAST = ("stripe_count", "stripe_bytes")
_MEANS = ("average_bytes", "average_gap_bytes")


def read_job_output(
    paths: Iterable[Path], directory: Path, worked_in: Path | None = None
) -> MpiioOutput:
    """Read what Cray MPICH printed; nothing if it printed nothing.

    Args:
        paths: Outputs and logs; those that cannot be read, are not text or are too large are
            skipped.
        directory: Directory of the run; paths below it are given relative to it.
        worked_in: Directory of its files while it ran; None if it is the same.
    """
    version, found = "", dict[str, MpiioFile]()
    for text in filter(None, map(_text, paths)):
        if match := _VERSION.search(text):
            version = version or " ".join(match[0].split())
        for one in _files(text):
            name = _name(one.path, directory, worked_in)
            found[name] = _joined(found.get(name, MpiioFile(name)), one)
    largest = sorted(found.values(), key=lambda file: (-file.total_bytes, file.path))
    return MpiioOutput(version, tuple(largest[:MOST_FILES]))


def prints_of_mpi(path: Path) -> bool:
    """Return whether a file is a text with output of Cray MPICH; False if unreadable."""
    return bool(_TABLE.search(_bytes(path)))


def with_printed(
    files: Sequence[ObservedFile], printed: Sequence[MpiioFile]
) -> tuple[ObservedFile, ...]:
    """Return files completed by MPI's output on those that were not observed themselves.

    The output contains the hints (striping unit and buffer among them), the number of processes
    that wrote, and the system calls.
    """
    by_path = {one.path: one for one in printed}
    return tuple(_completed(file, by_path.get(file.path)) for file in files)


def _completed(file: ObservedFile, printed: MpiioFile | None) -> ObservedFile:
    if printed is None:
        return file
    write, read = printed.write or MpiioSide(), printed.read or MpiioSide()
    side = printed.write or printed.read or MpiioSide()
    layout = {"striping_unit": side.stripe_bytes, "striping_factor": side.stripe_count}
    known = {name: str(value) for name, value in layout.items() if value}
    writers = file.writers or _processes(write)
    readers = file.readers or _processes(read)
    processes = {"writers": writers, "readers": readers}
    return replace(
        file,
        writers=writers,
        readers=readers,
        missing={name: why for name, why in file.missing.items() if not processes.get(name)},
        system_writes=file.system_writes or write.system_calls,
        system_write_bytes=file.system_write_bytes or write.total_bytes,
        system_reads=file.system_reads or read.system_calls,
        system_read_bytes=file.system_read_bytes or read.total_bytes,
        reported={**printed.hints, **known, **file.reported},
    )


def _processes(side: MpiioSide) -> int:
    """Return the number of processes that made system calls: aggregators, or else others."""
    return side.aggregators if side.collective else side.independent_ranks


def _text(path: Path) -> str:
    data = _bytes(path)
    printed = _TABLE.search(data) or b"CRAY MPICH version" in data
    return data.decode("utf-8", "surrogateescape") if printed else ""


def _bytes(path: Path) -> bytes:
    """Return a text; empty if it is not text, too large, or cannot be read."""
    try:
        with open_input(path) as file:
            head = file.read(_HEAD_BYTES)
            if b"\0" in head or os.fstat(file.fileno()).st_size > _MOST_BYTES:
                return b""
            return head + file.read(_MOST_BYTES)
    except OSError:
        return b""


def _files(text: str) -> Iterable[MpiioFile]:
    for path, hints in parse_mpiio_hints(text).items():
        yield MpiioFile(path, hints=hints)
    for stats in parse_mpiio_stats(text)[0]:
        yield MpiioFile(stats.path, stats.write, stats.read)
    for timers in parse_mpiio_timers(text):
        yield MpiioFile(timers.path, timers=(timers,))


def _name(path: str, directory: Path, worked_in: Path | None) -> str:
    """Return the name of a file for a run in `directory`."""
    path = os.path.normpath(path)
    if worked_in is not None and os.path.isabs(path):
        path = str(relative_path(path, Path(os.path.normpath(worked_in))))
    return str(relative_path(path, directory)) if os.path.isabs(path) else path


def _joined(one: MpiioFile, other: MpiioFile) -> MpiioFile:
    timers = {(block.direction, block.scale): block for block in one.timers}
    for block in other.timers:
        before = timers.get((block.direction, block.scale))
        if before is None or _total(before) < _total(block):
            timers[block.direction, block.scale] = replace(block, path=one.path)
    return replace(
        one,
        write=_sum(one.write, other.write),
        read=_sum(one.read, other.read),
        timers=tuple(timers.values()),
        hints={**one.hints, **other.hints},
    )


def _total(timers: MpiioTimers) -> float:
    """Return the time of a block in clock ticks, or in seconds if it is given in seconds."""
    whole = next((phase for phase in timers.phases if phase.name == "total"), None)
    return ((whole and whole.average) or 0.0) * (timers.ticks_per_unit or 1)


def _sum(one: MpiioSide | None, other: MpiioSide | None) -> MpiioSide | None:
    if one is None or other is None:
        return one or other
    made = {item.name: _both(item.name, one, other) for item in fields(MpiioSide)}
    calls, gaps = made["system_calls"], made["gaps"]
    with_gaps = [side for side in (one, other) if side.gaps]
    known = all(side.average_gap_bytes is not None for side in with_gaps)
    distance = sum((side.gaps or 0) * (side.average_gap_bytes or 0) for side in with_gaps)
    made["average_bytes"] = made["total_bytes"] // calls if calls else None
    made["average_gap_bytes"] = distance // gaps if gaps and known else None
    return MpiioSide(**made)


def _both(name: str, one: MpiioSide, other: MpiioSide) -> Any:
    """Return a member of two sides combined."""
    first, second = getattr(one, name), getattr(other, name)
    if name in (*_LAST, *_MEANS):
        return first if second is None else second
    if first is None or second is None:
        return None  # the sum is unknown if a part is
    if name in _LARGEST:
        return max(first, second)
    if name == "active":
        return tuple(a + b for a, b in zip(first, second, strict=True))
    return first + second


# Darshan logs of a batch job, found where a site keeps them.
#
# Darshan writes a log for each MPI program,
# `YEAR/MONTH/DAY/USER_EXE_idJOB-PID_MONTH-DAY-SECOND-HASH_DURATION.darshan` (numbers without
# leading zeros; the second is that of the day, in the local time of the node), so that a job has
# one for each of its `srun` steps. Source: darshan-runtime, darshan_log_name in darshan-core.c
# (documented; names of 3.1 to 3.4 logs seen).

_NAME = re.compile(
    r"(?P<owner_and_program>.+)_id(?P<job>\d+)(?:-\d+)?"
    r"_(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?P<second>\d{1,6})-\d+(?:_(?P<duration>\d+))?\.darshan"
)
_MOST_DAYS = 400
_CLOCKS_DIFFER_SECONDS = 60.0


@dataclass(frozen=True)
class JobLog:
    """One log of a job.

    Attributes:
        path: Path of the log.
        program: "USER_EXE", as in its name.
        started_unix_seconds: Start of the program, if the log's node has this host's time zone.
        elapsed_seconds: Duration of the program in whole seconds; None if not in the name.
    """

    path: Path
    program: str
    started_unix_seconds: float
    elapsed_seconds: int | None = None


def find_job_logs(directory: Path, job_id: int, start: float, end: float) -> tuple[JobLog, ...]:
    """Find the complete logs of a job, in the order in which its programs started.

    The search covers `directory` itself and its folders of the days from the one before the start
    to the one after the end, so that an earlier use of the job's number is not confused with it,
    and nodes in another time zone do not matter. Links are not followed.

    Args:
        directory: Directory in which the site (or the job, by DARSHAN_LOGPATH) keeps its logs.
        job_id: Number of the job.
        start: Start of the job, Unix seconds.
        end: End of the job, Unix seconds.

    Raises:
        TraceError: The directory cannot be read.
    """
    days = _days(start, end)
    folders = [(directory, days)]
    folders += [
        (directory / f"{day.year}/{month}/{number}", [day])
        for day in days
        for month in {str(day.month), f"{day.month:02}"}
        for number in {str(day.day), f"{day.day:02}"}
    ]
    _check(directory)
    logs = [log for folder, of in folders for log in _logs_in(folder, job_id, of)]
    return tuple(sorted(logs, key=lambda log: (log.started_unix_seconds, log.path)))


def logs_beside(path: Path) -> int:
    """Return how many other logs of a Darshan log's job are in its directory."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return 0
    try:
        with os.scandir(path.parent) as entries:
            names = [_NAME.fullmatch(entry.name) for entry in entries if entry.name != path.name]
    except OSError:
        return 0
    return sum(one is not None and one["job"] == match["job"] for one in names)


def logs_of_steps(
    logs: Sequence[JobLog], steps: Mapping[int, tuple[float, float]] | None = None
) -> dict[int, tuple[JobLog, ...]]:
    """Determine which log belongs to which step of the job.

    A step has several logs if it started several programs, and none if it did not use MPI, or
    failed.

    Args:
        logs: Logs in order of time.
        steps: Start and end of each step by number, Unix seconds, from the batch system's
            accounting; None: each log belongs to a step of its own, in order, from 0.
    """
    if steps is None:
        return {number: (log,) for number, log in enumerate(logs)}
    ordered = sorted(steps.items(), key=lambda step: step[1])
    found: dict[int, list[JobLog]] = {number: [] for number, _ in ordered}
    for log in logs:
        at = log.started_unix_seconds
        inside = [
            number
            for number, (start, end) in ordered
            if start - _CLOCKS_DIFFER_SECONDS <= at <= end + _CLOCKS_DIFFER_SECONDS
        ]
        if inside:  # of consecutive steps, the one with the closest start
            found[min(inside, key=lambda number: abs(steps[number][0] - at))].append(log)
    return {number: tuple(own) for number, own in found.items()}


def _days(start: float, end: float) -> list[date]:
    first = date.fromtimestamp(start) - timedelta(days=1)
    n_days = (date.fromtimestamp(max(start, end)) - first).days + 2
    return [first + timedelta(days=number) for number in range(min(n_days, _MOST_DAYS))]


def _check(directory: Path) -> None:
    try:
        os.scandir(directory).close()
    except OSError as error:
        why = error.strerror or error
        raise TraceError(
            f"cannot read {directory}: {why}: name the directory of Darshan's logs"
            " (`darshan-config --log-path` prints it)"
        ) from error


def _logs_in(folder: Path, job_id: int, days: Sequence[date]) -> Iterator[JobLog]:
    """Yield the job's logs in one folder whose names contain one of these days."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return
    for name in names:
        match = _NAME.fullmatch(name)
        if match is None or int(match["job"]) != job_id:
            continue
        day = next((d for d in days if (d.month, d.day) == _month_and_day(match)), None)
        if day is not None:
            yield _log(folder / name, match, day)


def _month_and_day(match: re.Match[str]) -> tuple[int, int]:
    return int(match["month"]), int(match["day"])


def _log(path: Path, match: re.Match[str], day: date) -> JobLog:
    # mktime and not midnight plus seconds: clocks may change that day
    second = int(match["second"])
    started = time.mktime((day.year, day.month, day.day, 0, 0, second, 0, 0, -1))
    duration = match["duration"]
    return JobLog(path, match["owner_and_program"], started, int(duration) if duration else None)


# Blocks of Cray's MPICH_MPIIO_HINTS_DISPLAY=1 in the output of a job.
#
# A block begins with "PE 0: MPIIO hints for NAME:" and has lines "   key = value".
# Source: intro_mpi(3) of Cray MPICH, and blocks in published job outputs.

_TITLE = re.compile(r"MPIIO hints for[ \t]+([^\r\n]+?):?[ \t]*$")
_HINT = re.compile(r"(?:PE \d+:)?[ \t]+(\w+)[ \t]*=[ \t]*([^\r\n]*)")
_MOST_HINTS = 200


def parse_mpiio_hints(text: str) -> dict[str, dict[str, str]]:
    """Return the last printed hints of each file; files in order."""
    found: dict[str, dict[str, str]] = {}
    hints: dict[str, str] | None = None
    for line in text.splitlines():
        if title := _TITLE.search(line):
            hints = found[title[1].strip()] = {}
        elif hints is not None:
            match = _HINT.match(line)
            if match is None or len(hints) >= _MOST_HINTS:
                hints = None
            else:
                hints[match[1]] = match[2].strip()
    return {path: hints for path, hints in found.items() if hints}
