# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads files with Slurm's records of jobs: text of sacct, or JSON of sacct and slurmrestd."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stripewise.centre.database._records import (
    JobRecord,
    Parsed,
    Problems,
    job_record,
    not_started,
)
from stripewise.centre.database.ingest._base import HEAD_BYTES, Feed, Reading
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.centre.database.ingest._sacct import parse_sacct, recognises_sacct
from stripewise.core.errors import TraceError
from stripewise.core.inputs import JOBS, input_lines, open_input, read_input

_CLOCKS_SECONDS = 1800
"""By which clocks of hosts differ at most; zones differ by more (assumed)."""
_NO_CLUSTER = (
    "it does not say on which cluster its jobs ran, so that profiles which do are not found to be "
    "theirs: ask sacct for the column `cluster`"
)
_NO_UID = (
    "it does not tell the numbers of users, so that only runs of users whose names this host "
    "knows are found to be theirs: ask sacct for the column `uid`; its JSON has none"
)


class SchedulerFeed(Feed):
    """What the scheduler says of jobs; it tells of everybody, so not every user's is believed."""

    name = "scheduler"
    summary = "output of sacct, as text or JSON, or of Slurm's REST interface"
    budget = JOBS
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether it begins as one of them does."""
        return path.is_file() and (recognises_rest(head) or recognises_sacct(head))

    def read(self, path: Path, origin: Origin) -> Reading:
        """Read records; jobs that cannot be read are named.

        Raises:
            TraceError: There is not one job in it that can be read, the file is too large, or its
                times are not in UTC.
        """
        with open_input(path) as file:
            is_json = recognises_rest(file.read(HEAD_BYTES))
        if is_json:
            found = parse_rest(read_input(path, JOBS).decode("utf-8", "replace"), origin.cluster)
        else:
            found = parse_sacct(input_lines(path, JOBS), origin.cluster, JOBS)
            _check_zone(found.records, path)
        if found.problems and not found.records:
            raise TraceError(f"{path}: no job in it can be read: {found.problems[0]}")
        lacking = []
        if not all(record.cluster for record in found.records):
            lacking.append(_NO_CLUSTER)
        if found.records and all(record.uid is None for record in found.records):
            lacking.append(_NO_UID)
        return Reading(found.records, (*lacking, *found.problems))


def _check_zone(records: Sequence[JobRecord], path: Path) -> None:
    """Refuse times that were still to come when the file was written: they are of another zone."""
    told = (moment for one in records for moment in (one.submit_at, one.start_at, one.end_at))
    ahead = max((moment for moment in told if moment), default=0) - path.stat().st_mtime
    if ahead > _CLOCKS_SECONDS:
        raise TraceError(
            f"{path}: it tells of times up to {ahead / 3600:.1f} h after it was written: "
            "run sacct with TZ=UTC"
        )


# The JSON of `sacct --json` and of slurmrestd's /slurmdb/VERSION/jobs, v0.0.38 to v0.0.46.
#
# The versions differ in how they write numbers (12, or set, infinite and number), states (a word,
# or a list) and signals; names of members stay.  Source: parsers.c of each version in
# src/plugins/data_parser of Slurm, array JOB and STEP; v0.0.38 as seen in 22.05.

_START = re.compile(rb'\s*\{\s*"(?:meta|jobs|errors|warnings)"\s*:')
_MARKS = (b'"openapi/', b'"data_parser"', b'"slurm"', b'"Slurm"', b'"allocation_nodes"')
_FLAGS = ("REQUEUED", "RESIZING")
"""What sacct names instead of the state beside which they stand (job_state_string)."""


def recognises_rest(head: bytes) -> bool:
    """Whether a file begins as such JSON does.

    Args:
        head: The first bytes of it, some thousands.
    """
    return bool(_START.match(head)) and any(mark in head for mark in _MARKS)


def parse_rest(text: str, cluster: str = "") -> Parsed:
    """Read such JSON; jobs that cannot be read are named and left out.

    Args:
        text: The whole document.
        cluster: Of jobs that name none.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Parsed((), (f"it is no JSON, or not all of it: {error}",))
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        return Parsed((), ("it has no list of jobs",))
    problems = Problems()
    for said in filter(None, map(_said, _items(document, "errors"))):
        problems.add(f"Slurm reports: {said}")
    records: dict[tuple[str, int, int], JobRecord] = {}
    rests: list[str] = []
    for number, job in enumerate(jobs, 1):
        try:
            if rest := _rest_of_array(job):
                rests.append(rest)
                continue
            record = _record(job, cluster)
            key = record.cluster, record.raw_id, record.submit_at
            records.pop(key, None)
            records[key] = record
        except (ValueError, OverflowError) as error:
            problems.add(f"job {number} of the list is left out: {error}")
    return Parsed(tuple(records.values()), (*problems.told(), *not_started(rests)))


def _record(job: Any, cluster: str) -> JobRecord:
    if isinstance(job, dict) and "job_state" in job:
        raise ValueError(
            "it is of the controller, which forgets jobs: ask /slurmdb/VERSION/jobs instead"
        )
    code, number = _exit(_at(job, "exit_code"), _state(job))
    limit = _number(_at(job, "time", "limit"))
    task, offset = _number(_at(job, "array", "task_id")), _number(_at(job, "het", "job_offset"))
    columns: dict[str, Any] = {
        "name": _text(_at(job, "name")),
        "state": _state(job),
        "partition": _text(_at(job, "partition")),
        "qos": _text(_at(job, "qos")),
        "unix_group": _text(_at(job, "group")),
        "node_list": _text(_at(job, "nodes")),
        "node_count": _number(_at(job, "allocation_nodes")) or _requested(job, "node"),
        "cpu_count": _resource(_at(job, "tres", "allocated"), "cpu") or _requested(job, "cpu"),
        "time_limit_seconds": None if limit is None else 60 * limit,
        "eligible_at": _number(_at(job, "time", "eligible")) or None,
        "run_seconds": _seconds(_at(job, "time", "elapsed")),
        "array_job_id": None if task is None else _number(_at(job, "array", "job_id")),
        "array_task_id": task,
        "het_job_id": None if offset is None else _number(_at(job, "het", "job_id")),
        "het_offset": offset,
        **_usage(job),
    }
    if code is not None or number is not None:
        columns |= {"exit_code": code, "exit_signal": number}
    if isinstance(job, dict) and "restart_cnt" in job:
        columns["restart_count"] = _number(job["restart_cnt"], bits=16)
    return job_record(
        _text(_at(job, "cluster")) or cluster,
        _number(_at(job, "job_id")),
        _number(_at(job, "time", "submission")) or None,
        sluid=_text(_at(job, "sluid")),
        user=_text(_at(job, "user")) or _text(_at(job, "association", "user")),
        uid=_uid(job),
        account=_text(_at(job, "account")),
        start_at=_number(_at(job, "time", "start")) or None,
        end_at=_number(_at(job, "time", "end")) or None,
        columns=columns,
    )


def _uid(job: Any) -> int | None:
    """Return the number of the user where it is told.

    Slurm itself tells none: it writes the name, else null (JOB_USER of parsers.c, uid is skipped).
    Exports of sites add it, as `uid` or, like the controller's form, as `user_id`.
    """
    told = [_at(job, "uid"), _at(job, "user_id")]
    return next((number for one in told if (number := _number(one)) is not None), None)


def _rest_of_array(job: Any) -> str:
    """Name the tasks of an array that have not started, if an entry stands for them."""
    if not _text(_at(job, "array", "task")) or _number(_at(job, "array", "task_id")) is not None:
        return ""
    array = _number(_at(job, "array", "job_id"))
    return f"{array}_[{_text(_at(job, 'array', 'task'))[:20]}]"


def _usage(job: Any) -> dict[str, int | None]:
    """Sum what the steps read and wrote: `requested` is TRESUsageIn, `consumed` is -Out."""
    found: dict[str, int | None] = {}
    for column, name in (("slurm_read_bytes", "requested"), ("slurm_write_bytes", "consumed")):
        told = [
            _resource(_at(step, "tres", name, "total"), "fs", "disk")
            for step in _items(job, "steps")
        ]
        known = [amount for amount in told if amount is not None]
        found[column] = sum(known) if known else None
    return found


def _state(job: Any) -> str:
    state = _at(job, "state", "current") or _at(job, "state")
    words = [word for word in state if isinstance(word, str)] if isinstance(state, list) else []
    if words:
        return next((word for word in words if word in _FLAGS), words[0])
    return _text(state)


def _exit(told: Any, state: str) -> tuple[int | None, int | None]:
    """Return exit code and signal; None and None: not known.

    Versions that write the status as one word say SUCCESS and 0 of failed jobs, too (seen in
    22.05): of them a zero of a job that failed is not known.
    """
    code = _number(_at(told, "return_code"))
    signal = _at(told, "signal")
    number = _number(_at(signal, "id"), bits=16)
    if number is None:
        number = _number(_at(signal, "signal_id"), bits=16)
    if isinstance(_at(told, "status"), str) and state == "FAILED" and not code and not number:
        return None, None
    if number:
        return code or 0, number
    return code, None if code is None else 0


def _requested(job: Any, kind: str) -> int | None:
    return _resource(_at(job, "tres", "requested"), kind) or None


def _resource(told: Any, kind: str, name: str = "") -> int | None:
    """Return the count of a resource in a list of them."""
    for one in told if isinstance(told, list) else ():
        if _text(_at(one, "type")) == kind and _text(_at(one, "name")) == name:
            return _number(_at(one, "count"), bits=64)
    return None


def _number(told: Any, bits: int = 32) -> int | None:
    """Return a whole number, plain or with `set` and `infinite`; None: none is told.

    Args:
        told: What is told.
        bits: Of its type in Slurm, whose two largest values are INFINITE and NO_VAL (slurm.h).

    Raises:
        ValueError: It is something else.
    """
    if isinstance(told, dict):
        if told.get("set") is False or told.get("infinite") is True:
            return None
        told = told.get("number")
    if isinstance(told, str) and told.isascii() and told.isdigit():
        told = int(told)
    if told is None or told == "":
        return None
    if isinstance(told, bool) or not isinstance(told, int | float) or told != told // 1:
        raise ValueError(f"{str(told)[:40]!r} is no whole number")
    return None if told in (2**bits - 1, 2**bits - 2, -1, -2) else int(told)


def _seconds(told: Any) -> float | None:
    number = _number(told)
    return None if number is None else float(number)


def _at(told: Any, *names: str) -> Any:
    """Return a member of members; None where one is missing."""
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def _items(told: Any, name: str) -> list[Any]:
    found = _at(told, name)
    return found if isinstance(found, list) else []


def _text(told: Any) -> str:
    return told if isinstance(told, str) else ""


def _said(error: Any) -> str:
    return _text(_at(error, "description")) or _text(_at(error, "error")) or _text(error)
