# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Joins the logs of processes that Darshan saw one by one, and tells several runs apart.

Where a program is not linked with MPI, or starts processes of its own (DARSHAN_ENABLE_NONMPI),
each process leaves a log of one rank. Those of one job and command that ran at the same time are
one run; a log of several ranks is a run by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import TraceError
from stripewise.evidence.readers.darshan._isolated import RawLog
from stripewise.present import plural, printable

MOST_LOGS = 4096
"""Maximum number of logs that are read together."""
_MOST_NAMED = 8
_JOB = re.compile(r".*_id(\d{1,19})(?:-\d+)?_.*\.darshan")


@dataclass(frozen=True)
class _Part:
    """One log, with what tells its run."""

    path: Path
    log: RawLog
    job_id: int
    command: str
    n_ranks: int
    start: float
    end: float

    @classmethod
    def of(cls, path: Path, log: RawLog) -> _Part:
        job = log.meta["job"]
        start = float(job.get("start_time_sec", 0)) + float(job.get("start_time_nsec", 0)) * 1e-9
        elapsed = max(float(job.get("run_time", 0.0)), 0.0)
        command = str(log.meta["exe"]).strip()
        return cls(path, log, int(job.get("jobid", -1)), command, int(job.get("nprocs", 0)),
                   start, start + elapsed)  # fmt: skip


def check_names(paths: Sequence[Path]) -> None:
    """Raise an error if the names of logs show that they are not of one run.

    Raises:
        TraceError: They are of several jobs, or too many.
    """
    jobs: dict[str, Path] = {}
    for path in paths:
        if match := _JOB.fullmatch(path.name):
            jobs.setdefault(match[1], path)
    if len(jobs) > 1:
        what = [f"job {job}: {path.name}" for job, path in jobs.items()]
        raise TraceError(_named(len(paths), f"at least {len(jobs)} runs", what))
    if len(paths) > MOST_LOGS:
        raise TraceError(f"{len(paths)} logs of one job, and {MOST_LOGS} is the most that is read "
                         "together: name some of them")  # fmt: skip


def joined(logs: Sequence[tuple[Path, RawLog]]) -> tuple[RawLog, tuple[str, ...]]:
    """Return the logs of one run as one log, in which each is a rank; and what to say of that.

    Raises:
        TraceError: They are of several runs, or of different versions.
    """
    parts = sorted((_Part.of(*one) for one in logs), key=lambda one: (one.start, one.path.name))
    runs = _runs(parts)
    if len(runs) > 1:
        raise TraceError(_named(len(parts), plural(len(runs), "run"), list(map(_run_text, runs))))
    note = (
        f"{plural(len(parts), 'log')} of one process each, of one job and command and of the same "
        f"time, are read as one run of {plural(len(parts), 'process', 'processes')}"
    )
    notes = [note]
    if any("HEATMAP" in part.log.arrays for part in parts):
        notes.append("the heat maps of several logs are not joined")
    return _join(parts), tuple(notes)


def _runs(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return the logs of each run; parts are in order of time."""
    runs: list[list[_Part]] = []
    for part in parts:
        run = next((one for one in runs if _belongs(part, one)), None)
        if run is None:
            runs.append([part])
        else:
            run.append(part)
    return runs


def _belongs(part: _Part, run: Sequence[_Part]) -> bool:
    first = run[0]
    if part.n_ranks > 1 or first.n_ranks > 1:
        return False
    same = (part.job_id, _program(part)) == (first.job_id, _program(first))
    return same and part.start <= max(one.end for one in run)


def _program(part: _Part) -> str:
    return part.command.partition(" ")[0]


def _run_text(run: Sequence[_Part]) -> str:
    first = run[0]
    command = printable(first.command[:60]) or "an unknown command"
    names = first.path.name if len(run) == 1 else (
        f"{plural(len(run), 'log')} from {first.path.name} on")  # fmt: skip
    return f"{command}, job {first.job_id}, {plural(first.n_ranks, 'rank')}: {names}"


def _named(n_logs: int, what: str, runs: Sequence[str]) -> str:
    more = f"; and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    return (f"{n_logs} Darshan logs of {what} (name the logs of one): "
            f"{'; '.join(runs[:_MOST_NAMED])}{more}")  # fmt: skip


def _join(parts: Sequence[_Part]) -> RawLog:
    start = min(part.start for part in parts)
    end = max(part.end for part in parts)
    meta: dict[str, Any] = {**parts[0].log.meta, "names": {}, "trouble": [], "modules": {}}
    for key in [key for key in meta if key.endswith("/hosts")]:
        del meta[key]
    meta["job"] = {**meta["job"], "nprocs": len(parts), "run_time": end - start}
    meta["unread"], meta["lustre"] = {}, []
    for part in parts:
        _add(meta, part.log.meta)
    arrays: dict[str, list[NDArray[Any]]] = {}
    for rank, part in enumerate(parts):
        for name, array in part.log.arrays.items():
            if not name.startswith("HEATMAP"):
                arrays.setdefault(name, []).append(_moved(array, rank, part.start - start))
    complaints = tuple(dict.fromkeys(line for part in parts for line in part.log.complaints))
    try:
        whole = {name: np.concatenate(each) for name, each in arrays.items()}
    except TypeError as error:
        raise TraceError(
            f"{parts[0].path}: the logs beside it are of other versions of Darshan: name one"
        ) from error
    return RawLog(meta, whole, complaints)


def _add(meta: dict[str, Any], other: dict[str, Any]) -> None:
    """Add what one log tells beside its records."""
    meta["names"].update(other["names"])
    meta["trouble"] += [one for one in other["trouble"] if one not in meta["trouble"]]
    for name, number in other.get("unread", {}).items():
        meta["unread"][name] = meta["unread"].get(name, 0) + number
    known = {(one["id"], one["component"]) for one in meta["lustre"]}
    meta["lustre"] += [
        one for one in other.get("lustre", ()) if (one["id"], one["component"]) not in known
    ]
    for name, module in other["modules"].items():
        if name == "HEATMAP":
            continue
        mine = meta["modules"].setdefault(name, dict(module))
        mine["partial_flag"] = mine.get("partial_flag") or module.get("partial_flag")
    for key, hosts in other.items():
        if key.endswith("/hosts"):
            meta.setdefault(key, []).extend(hosts)


def _moved(array: NDArray[Any], rank: int, seconds: float) -> NDArray[Any]:
    """Return records or segments as those of a rank of the whole run, from its start on."""
    array = array.copy()
    names = array.dtype.names or ()
    if "rank" in names:
        array["rank"] = rank
    times = [name for name in names if name.endswith("_TIMESTAMP")]
    for name in times + [name for name in ("start", "end") if name in names]:
        array[name] = np.where(array[name] > 0, array[name] + seconds, array[name])
    return array
