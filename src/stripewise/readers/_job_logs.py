# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan's logs of a batch job, found where a site keeps them.

Darshan writes a log for each MPI program, `YEAR/MONTH/DAY/USER_EXE_idJOB-PID_MONTH-DAY-SECOND-
HASH_DURATION.darshan` (numbers without zeros in front; the second is that of the day, in the local
time of the node), so that a job has one for each of its `srun` steps.  Source: darshan-runtime,
darshan_log_name in darshan-core.c (documented; names of 3.1 to 3.4 logs seen).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from stripewise.errors import TraceError

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
        path: Of the log.
        program: "USER_EXE", as in its name.
        started_unix_seconds: Start of the program, if the log's node has this host's time zone.
        elapsed_seconds: Whole seconds that the program ran; None: the name does not tell.
    """

    path: Path
    program: str
    started_unix_seconds: float
    elapsed_seconds: int | None = None


def find_job_logs(directory: Path, job_id: int, start: float, end: float) -> tuple[JobLog, ...]:
    """Find the complete logs of a job, in the order in which its programs started.

    Looked into are `directory` itself and its folders of the days from the one before the start
    to the one after the end, so that a job's number that was used before is not confused with it,
    and nodes in another time zone do not matter.  Links are not followed.

    Args:
        directory: Where the site (or the job, by DARSHAN_LOGPATH) keeps its logs.
        job_id: Number of the job.
        start: Of the job, Unix seconds.
        end: Of the job, Unix seconds.

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


def logs_of_steps(
    logs: Sequence[JobLog], steps: Mapping[int, tuple[float, float]] | None = None
) -> dict[int, tuple[JobLog, ...]]:
    """Tell which log is of which step of the job.

    A step has several logs if it started several programs, and none if it used no MPI, or did not
    end well.

    Args:
        logs: In order of time.
        steps: Number of each step to its start and end, Unix seconds, as the batch system's
            accounting tells; None: each log is of a step of its own, in order, from 0.
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
        if inside:  # of steps one behind the other that which began nearest
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
    """Yield the job's logs in one folder whose names tell one of these days."""
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
    # mktime and not midnight plus seconds: the clock may be put forward or back that day
    second = int(match["second"])
    started = time.mktime((day.year, day.month, day.day, 0, 0, second, 0, 0, -1))
    duration = match["duration"]
    return JobLog(path, match["owner_and_program"], started, int(duration) if duration else None)
