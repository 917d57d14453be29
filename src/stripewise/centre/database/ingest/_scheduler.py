# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads files with Slurm's records of jobs: text of sacct, or JSON of sacct and slurmrestd."""

from __future__ import annotations

import codecs
import json
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
from stripewise.centre.database.ingest._base import HEAD_BYTES, Feed, InputReading
from stripewise.centre.database.ingest._other_records import why_not_read
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.centre.database.ingest._sacct import parse_sacct, recognises_sacct
from stripewise.core.errors import TraceError
from stripewise.core.inputs import JOBS, input_lines, open_input, read_input
from stripewise.run.slurm import (
    recognises_rest,
    rest_exit,
    rest_items,
    rest_member,
    rest_number,
    rest_resource,
    rest_state,
    rest_text,
)

_CLOCKS_SECONDS = 1800
"""Maximum difference of hosts' clocks; time zones differ by more (assumed)."""
_NO_CLUSTER = (
    "it does not say on which cluster its jobs ran, so that profiles which do cannot be assigned "
    "to them: ask sacct for the column `cluster`"
)
_NO_UID = (
    "it does not contain user ids, so that runs are assigned only to users whose names this host "
    "knows: ask sacct for the column `uid`; its JSON has none"
)


class SchedulerFeed(Feed):
    """Job records of the scheduler, only from trusted users because they cover all users."""

    name = "scheduler"
    summary = "output of sacct, as text or JSON, or of Slurm's REST interface"
    budget = JOBS
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the input begins as one of the formats does."""
        if not path.is_file():
            return False
        bare = head.removeprefix(codecs.BOM_UTF8)
        return recognises_rest(bare) or recognises_sacct(bare) or bool(why_not_read(bare))

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read records; jobs that cannot be read are reported as problems.

        Raises:
            TraceError: No job in it can be read, the file is too large, or its times are not in
                UTC.
        """
        with open_input(path) as file:
            head = file.read(HEAD_BYTES).removeprefix(codecs.BOM_UTF8)
        is_json = recognises_rest(head)
        if not is_json and not recognises_sacct(head) and (why := why_not_read(head)):
            raise TraceError(f"{path}: {why}")
        if is_json:
            text = read_input(path, JOBS).decode("utf-8-sig", "replace")
            found = parse_rest(text, origin.cluster)
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
        return InputReading(found.records, (*lacking, *found.problems))


def _check_zone(records: Sequence[JobRecord], path: Path) -> None:
    """Refuse times that were in the future when the file was written: they are not in UTC."""
    moments = (moment for one in records for moment in (one.submit_at, one.start_at, one.end_at))
    ahead = max((moment for moment in moments if moment), default=0) - path.stat().st_mtime
    if ahead > _CLOCKS_SECONDS:
        raise TraceError(
            f"{path}: it has times up to {ahead / 3600:.1f} h after it was written: "
            "run sacct with TZ=UTC"
        )


# The JSON of `sacct --json` and of slurmrestd's /slurmdb/VERSION/jobs.


def parse_rest(text: str, cluster: str = "") -> Parsed:
    """Read JSON of Slurm; jobs that cannot be read are reported and left out.

    Args:
        text: The whole document.
        cluster: Cluster of jobs that name none.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Parsed((), (f"it is not JSON, or incomplete: {error}",))
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        return Parsed((), ("it has no list of jobs",))
    problems = Problems()
    for said in filter(None, map(_error_text, rest_items(document, "errors"))):
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
    return Parsed(tuple(records.values()), (*problems.sentences(), *not_started(rests)))


def _record(job: Any, cluster: str) -> JobRecord:
    if isinstance(job, dict) and "job_state" in job:
        raise ValueError(
            "it is of the controller, which forgets jobs: ask /slurmdb/VERSION/jobs instead"
        )
    code, number = rest_exit(rest_member(job, "exit_code"), rest_state(job))
    limit = rest_number(rest_member(job, "time", "limit"))
    task, offset = (
        rest_number(rest_member(job, "array", "task_id")),
        rest_number(rest_member(job, "het", "job_offset")),
    )
    columns: dict[str, Any] = {
        "name": rest_text(rest_member(job, "name")),
        "state": rest_state(job),
        "partition": rest_text(rest_member(job, "partition")),
        "qos": rest_text(rest_member(job, "qos")),
        "unix_group": rest_text(rest_member(job, "group")),
        "node_list": rest_text(rest_member(job, "nodes")),
        "node_count": rest_number(rest_member(job, "allocation_nodes")) or _requested(job, "node"),
        "cpu_count": rest_resource(rest_member(job, "tres", "allocated"), "cpu")
        or _requested(job, "cpu"),
        "time_limit_seconds": None if limit is None else 60 * limit,
        "eligible_at": rest_number(rest_member(job, "time", "eligible")) or None,
        "run_seconds": _seconds(rest_member(job, "time", "elapsed")),
        "array_job_id": None if task is None else rest_number(rest_member(job, "array", "job_id")),
        "array_task_id": task,
        "het_job_id": None if offset is None else rest_number(rest_member(job, "het", "job_id")),
        "het_offset": offset,
        **_usage(job),
    }
    if code is not None or number is not None:
        columns |= {"exit_code": code, "exit_signal": number}
    if isinstance(job, dict) and "restart_cnt" in job:
        columns["restart_count"] = rest_number(job["restart_cnt"], bits=16)
    return job_record(
        rest_text(rest_member(job, "cluster")) or cluster,
        rest_number(rest_member(job, "job_id")),
        rest_number(rest_member(job, "time", "submission")) or None,
        sluid=rest_text(rest_member(job, "sluid")),
        user=rest_text(rest_member(job, "user"))
        or rest_text(rest_member(job, "association", "user")),
        uid=_uid(job),
        account=rest_text(rest_member(job, "account")),
        start_at=rest_number(rest_member(job, "time", "start")) or None,
        end_at=rest_number(rest_member(job, "time", "end")) or None,
        columns=columns,
    )


def _uid(job: Any) -> int | None:
    """Return the number of the user, if it is reported.

    Slurm itself does not report it: it writes the name, else null (JOB_USER in parsers.c, uid is
    skipped). Exports of sites add it as `uid` or, as the controller does, as `user_id`.
    """
    numbers = [rest_member(job, "uid"), rest_member(job, "user_id")]
    return next((number for one in numbers if (number := rest_number(one)) is not None), None)


def _rest_of_array(job: Any) -> str:
    """Return the tasks of an array that have not started, if an entry stands for them."""
    if (
        not rest_text(rest_member(job, "array", "task"))
        or rest_number(rest_member(job, "array", "task_id")) is not None
    ):
        return ""
    array = rest_number(rest_member(job, "array", "job_id"))
    return f"{array}_[{rest_text(rest_member(job, 'array', 'task'))[:20]}]"


def _usage(job: Any) -> dict[str, int | None]:
    """Sum the bytes of the steps: `requested` is TRESUsageIn, `consumed` is TRESUsageOut."""
    found: dict[str, int | None] = {}
    for column, name in (("slurm_read_bytes", "requested"), ("slurm_write_bytes", "consumed")):
        reported = [
            rest_resource(rest_member(step, "tres", name, "total"), "fs", "disk")
            for step in rest_items(job, "steps")
        ]
        known = [amount for amount in reported if amount is not None]
        found[column] = sum(known) if known else None
    return found


def _requested(job: Any, kind: str) -> int | None:
    return rest_resource(rest_member(job, "tres", "requested"), kind) or None


def _seconds(value: Any) -> float | None:
    number = rest_number(value)
    return None if number is None else float(number)


def _error_text(error: Any) -> str:
    return (
        rest_text(rest_member(error, "description"))
        or rest_text(rest_member(error, "error"))
        or rest_text(error)
    )
