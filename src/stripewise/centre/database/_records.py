# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what is read before it is stored: records of jobs, compressed profiles, problems.

Times are seconds since 1970 (UTC); None is what an input does not tell.
"""

from __future__ import annotations

import json
import pwd
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from stripewise.core import Amount
from stripewise.present import finite

Row = Mapping[str, Any]


def known_amount(row: Row, name: str) -> Amount:
    """Return a figure of a row, with what its `missing` says of it."""
    return Amount.of(row.get(name), row.get("missing", {}).get(name, ""))


@dataclass(frozen=True)
class JobRecord:
    """One run of a job, as the scheduler's accounting tells it.

    Attributes:
        cluster / raw_id / submit_at: Together its key.
        sluid: Slurm's identity of the run; "" before 24.11.
        user / uid / account: Its user and account.
        columns: Further columns of `tables.Job` by name.
    """

    cluster: str
    raw_id: int
    submit_at: int
    sluid: str = ""
    user: str = ""
    uid: int | None = None
    account: str = ""
    start_at: int | None = None
    end_at: int | None = None
    columns: Row = field(default_factory=dict)


@dataclass(frozen=True)
class SourceRecord:
    """The profile of one run of a program, and the rows that follow from it.

    Attributes:
        kind / digest / name: As in `tables.JobSource`.
        cluster: "" if the input does not tell it.
        raw_id: Of Slurm; None: it ran in no job, or its job is not told.
        user / uid: Whose; "" and None if they are not told.
        is_vouched: Its file belongs to root, or to whoever takes it in.
        program: Name of the executable, without directories.
        start_at / end_at: Of the program.
        figures: Of the profile.
        document / rows: Compressed JSON.
        io / files / patterns / findings / settings: Rows of the tables, without their source.
    """

    kind: str
    digest: str
    name: str
    program: str
    figures: Row
    document: bytes
    rows: bytes
    cluster: str = ""
    raw_id: int | None = None
    user: str = ""
    uid: int | None = None
    start_at: float | None = None
    end_at: float | None = None
    is_partial: bool = False
    is_vouched: bool = False
    io: tuple[Row, ...] = ()
    files: tuple[Row, ...] = ()
    patterns: tuple[Row, ...] = ()
    findings: tuple[Row, ...] = ()
    settings: tuple[Row, ...] = ()


@dataclass(frozen=True)
class PairRecord:
    """A gain that a study showed; the columns of `tables.PairedRun` by name.

    Without columns the study shows none, whatever it showed before.
    """

    digest: str
    program: str
    user: str
    columns: Row


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign of benchmarks, and its figures."""

    digest: str
    columns: Row
    figures: tuple[Row, ...]


@dataclass(frozen=True)
class SampleRecord:
    """Samples of one series: rows of (at, seconds, value)."""

    file_system: str
    server: str
    target: str
    metric: str
    unit: str
    is_counter: bool
    values: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class EventRecord:
    """An event of a storage, or advice of the site."""

    file_system: str
    at: int
    until: int | None
    kind: str
    text: str


Record = (
    JobRecord | SourceRecord | PairRecord | CampaignRecord | SampleRecord | EventRecord
)  # fmt: skip


# Profiles as they are kept: JSON, compressed, the lists of files apart from the rest.

LISTS = ("files", "variance", "requests", "mpiio_stats")
"""Members of a profile that grow with the number of files: a page reads them only in part."""
_LEVEL = 7


def pack(data: Any) -> bytes:
    """Return data as compressed JSON."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(finite(data), separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), _LEVEL)


def unpack(data: bytes) -> Any:
    """Return what `pack` was given, without what is no number."""
    return json.loads(zlib.decompress(data))


def split(document: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return a profile packed: without its lists, and the lists alone."""
    head = {name: value for name, value in document.items() if name not in LISTS}
    return pack(head), pack({name: document[name] for name in LISTS})


def join(head: bytes, lists: bytes) -> dict[str, Any]:
    """Return the whole profile, with its members in the order of `stripewise profile`."""
    found = {**unpack(head), **unpack(lists)}
    return {name: found[name] for name in sorted(found, key=_place)}


_ORDER = (
    *("version", "size_edges", "source", "command", "job_id", "figures", "files", "layers"),
    *("variance", "heat", "phases", "requests", "mpiio_stats", "findings"),
)


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


# What of an input cannot be used: the first of it in words, the rest as a number.

MOST_PROBLEMS = 100


class Problems:
    """Problems of one input, however many lines it has."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        """Note one more."""
        if len(self._first) < MOST_PROBLEMS:
            self._first.append(text)
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence each."""
        more = [f"{self._more} more could not be used"] if self._more else []
        return (*self._first, *more)


# What reading the scheduler's records gives, and what holds for a record of any form.

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
        raise ValueError(f"{state!r} is not a job state")
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
            raise ValueError(f"its user is given as uid {number} and as uid {uid}")
        uid = number
    if not (user.isascii() and user.isdigit()):
        return user, uid
    if uid is None:
        return (user, None) if _is_name(user) else ("", int(user))
    return ("" if int(user) == uid else user), uid


@lru_cache(maxsize=4096)
def _is_name(user: str) -> bool:
    """Return whether somebody is called so on this host, though it looks like a number."""
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


@lru_cache(maxsize=4096)
def user_name(uid: int) -> str:
    """Return the name of a user of this host; "" if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return ""


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
