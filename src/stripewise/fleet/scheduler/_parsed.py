# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What reading the scheduler's records gives, and what holds for a record of any form."""

from __future__ import annotations

import pwd
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stripewise.fleet._records import JobRecord

NOT_ASSIGNED = ("", "None assigned", "None", "(null)")
"""What Slurm writes instead of a list of nodes."""
_STATE = re.compile(r"[A-Z][A-Z_]*")
_NAME_AND_UID = re.compile(r"([^()]+)\((\d{1,10})\)", re.ASCII)
"""As scontrol writes a user, and exports made from it."""
_LENGTHS = {"name": 255, "partition": 64, "qos": 64, "unix_group": 255, "node_list": 1 << 20}
"""Characters that columns of `tables.Job` hold."""
_BOUNDS = {
    **dict.fromkeys(("node_count", "cpu_count", "restart_count"), 2**31 - 1),
    **dict.fromkeys(("exit_code", "exit_signal"), 2**31 - 1),
    **dict.fromkeys(("job_id", "uid", "array_job_id", "array_task_id"), 2**32 - 1),
    **dict.fromkeys(("het_job_id", "het_offset"), 2**32 - 1),
    **dict.fromkeys(("submit_at", "eligible_at", "start_at", "end_at"), 2**53),
    "time_limit_seconds": 2**53,
    **dict.fromkeys(("slurm_read_bytes", "slurm_write_bytes"), 2**63 - 1),
}
"""What Slurm's types and columns of `tables.Job` hold."""


@dataclass(frozen=True)
class Parsed:
    """Records of jobs, and what could not be read.

    Attributes:
        records: In the order of the input.
        problems: One sentence each, with the place in the input.
    """

    records: tuple[JobRecord, ...] = ()
    problems: tuple[str, ...] = ()


def job_record(
    cluster: str, raw_id: int | None, submit_at: int | None, *, sluid: str = "", user: str = "",
    uid: int | None = None, account: str = "", start_at: int | None = None,
    end_at: int | None = None, columns: Mapping[str, Any],
) -> JobRecord:  # fmt: skip
    """Return the record of a job; figures that are not final or not possible are unknown.

    Args:
        cluster: Its name; "" if it is not told.
        raw_id: Slurm's number of the job.
        submit_at: When it was submitted; a requeued job is submitted again.
        sluid: Slurm's identity of the run, or "".
        user: Name, "name(uid)", or the uid as text where Slurm knows no name.
        uid: Of the user.
        account: Project that pays.
        start_at: None: it has not started.
        end_at: None: it has not ended.
        columns: What is told, by the names of `tables.Job`.

    Raises:
        ValueError: It lacks what identifies a job, or a figure is impossible.
    """
    told = dict(columns)
    if raw_id is None or submit_at is None:
        raise ValueError("it has no job id" if raw_id is None else "it has no submit time")
    user, uid = owner_of(user, uid)
    state = str(told.get("state") or "").partition(" ")[0]
    if not _STATE.fullmatch(state):
        raise ValueError(f"{state!r} is no state of a job")
    told["state"] = state[:64]
    if told.get("node_list") in NOT_ASSIGNED:
        told["node_list"] = None
    if told.get("run_seconds") == 0 and told.get("node_list", "") is None:
        start_at = None  # Slurm before 20.11 gives a job cancelled in the queue a start
    if start_at is None:
        told["run_seconds"] = None
    if end_at is None:
        told["exit_code"] = told["exit_signal"] = None
    for name, length in _LENGTHS.items():
        if told.get(name) is not None:
            told[name] = _storable(told[name])[:length] or None
    _check({**told, "job_id": raw_id, "uid": uid, "submit_at": submit_at, "start_at": start_at,
            "end_at": end_at})  # fmt: skip
    cluster, sluid, user, account = map(_storable, (cluster, sluid, user, account))
    return JobRecord(cluster[:64], raw_id, submit_at, sluid[:64], user[:255], uid, account[:255],
                     start_at, end_at, told)  # fmt: skip


def owner_of(user: str, uid: int | None) -> tuple[str, int | None]:
    """Return name and number of a user, of whom Slurm may tell the number in place of the name.

    Args:
        user: As it is told: "alice", "alice(1001)", "1001", "".
        uid: As it is told beside it.

    Raises:
        ValueError: Two numbers are told.
    """
    if both := _NAME_AND_UID.fullmatch(user):
        user, number = both[1], int(both[2])
        if uid not in (None, number):
            raise ValueError(f"its user is told as uid {number} and as uid {uid}")
        uid = number
    if not (user.isascii() and user.isdigit()):
        return user, uid
    if uid is None:
        return (user, None) if _is_name(user) else ("", int(user))
    return ("" if int(user) == uid else user), uid


@lru_cache(maxsize=4096)
def _is_name(user: str) -> bool:
    """Whether somebody is called so on this host, though it looks like a number."""
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _storable(text: str) -> str:
    """Return a text without what a database refuses: zero bytes, halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _check(found: Mapping[str, Any]) -> None:
    for name, most in _BOUNDS.items():
        value = found.get(name)
        if value is not None and not 0 <= value <= most:
            raise ValueError(f"its {name.replace('_', ' ')} {value} is impossible")


def not_started(names: list[str]) -> tuple[str, ...]:
    """Say that entries stand for tasks of job arrays that have not started; () without any."""
    if not names:
        return ()
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (f"left out {shown}: array tasks that never started have no record of their own",)
