# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what is read before it is stored: records of jobs, compressed profiles, problems.

Times are seconds since 1970 (UTC); None stands for what an input does not report.
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
    """Return a figure of a row, together with what its `missing` reports about it."""
    return Amount.of(row.get(name), row.get("missing", {}).get(name, ""))


@dataclass(frozen=True)
class JobRecord:
    """One run of a job, as the scheduler's accounting reports it.

    Attributes:
        cluster / raw_id / submit_at: The key of the job run.
        sluid: Slurm's identifier of the run; "" before Slurm 24.11.
        user / uid / account: User and account of the job.
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
    """Profile of one run of a program, and the rows that are derived from it.

    Attributes:
        kind / digest / name: See `tables.JobSource`.
        cluster: Name of the cluster; "" if the input does not report it.
        raw_id: Slurm's job number; None if the run was in no job, or its job is not reported.
        user / uid: User of the run; "" and None if not reported.
        is_vouched: Whether the file belongs to root, or to the user who runs the ingest.
        program: Name of the executable, without directories.
        start_at / end_at: Start and end of the program.
        figures: Figures of the profile.
        document / rows: The profile and its lists as compressed JSON.
        io / files / patterns / findings / settings: Rows of the tables, without the key of the
            source.
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
    """A speed-up that a study proved; `columns` are the columns of `tables.PairedRun` by name.

    Without columns the study proves no speed-up, whatever it proved before.
    """

    digest: str
    program: str
    user: str
    columns: Row


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign of benchmarks and its figures."""

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
    """An event of a storage system, or advice of the site."""

    file_system: str
    at: int
    until: int | None
    kind: str
    text: str


Record = (
    JobRecord | SourceRecord | PairRecord | CampaignRecord | SampleRecord | EventRecord
)  # fmt: skip


# Stored profiles are compressed JSON, with the lists of files kept apart from the rest.

LISTS = ("files", "variance", "requests", "mpiio_stats")
"""Lists in a profile that grow with the number of files; a page reads only a part of them."""
_LEVEL = 7


def pack(data: Any) -> bytes:
    """Return data as compressed JSON."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(finite(data), separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), _LEVEL)


def unpack(data: bytes) -> Any:
    """Return the data that `pack` was given; values that are not finite numbers are dropped."""
    return json.loads(zlib.decompress(data))


def split(document: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return a profile in two packed parts: everything but its lists, and only the lists."""
    head = {name: value for name, value in document.items() if name not in LISTS}
    return pack(head), pack({name: document[name] for name in LISTS})


def join(head: bytes, lists: bytes) -> dict[str, Any]:
    """Return the whole profile, with its members in the order of `stripewise profile`."""
    found = {**unpack(head), **unpack(lists)}
    return {name: found[name] for name in sorted(found, key=_place)}


_ORDER = (
    *("version", "size_edges", "headline", "opening", "facts", "checks"),
    *("source", "command", "job_id", "figures", "files", "layers"),
    *("variance", "heat", "phases", "requests", "mpiio_stats", "findings"),
)


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


# Problems of an input: the first ones as sentences, the rest as a number.

MOST_PROBLEMS = 100


class Problems:
    """Problems of one input; the list stays short however many lines the input has."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        """Count one more problem."""
        if len(self._first) < MOST_PROBLEMS:
            self._first.append(text)
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each problem."""
        more = [f"{self._more} more could not be used"] if self._more else []
        return (*self._first, *more)


# Results of reading the scheduler's records, and the checks common to all their formats.

NOT_ASSIGNED = ("", "None assigned", "None", "(null)")
"""What Slurm writes if there is no list of nodes."""
_STATE = re.compile(r"[A-Z][A-Z_]*")
_NAME_AND_UID = re.compile(r"([^()]+)\((\d{1,10})\)", re.ASCII)
"""A user as scontrol writes it, and exports based on it."""
_LENGTHS = {"name": 255, "partition": 64, "qos": 64, "unix_group": 255, "node_list": 1 << 20}
"""Maximum number of characters in columns of `tables.Job`."""
_BOUNDS = {
    **dict.fromkeys(("node_count", "cpu_count", "restart_count"), 2**31 - 1),
    **dict.fromkeys(("exit_code", "exit_signal"), 2**31 - 1),
    **dict.fromkeys(("job_id", "uid", "array_job_id", "array_task_id"), 2**32 - 1),
    **dict.fromkeys(("het_job_id", "het_offset"), 2**32 - 1),
    **dict.fromkeys(("submit_at", "eligible_at", "start_at", "end_at"), 2**53),
    "time_limit_seconds": 2**53,
    **dict.fromkeys(("slurm_read_bytes", "slurm_write_bytes"), 2**63 - 1),
}
"""Largest values of Slurm's types and of columns of `tables.Job`."""


@dataclass(frozen=True)
class Parsed:
    """Records of jobs, and what could not be read.

    Attributes:
        records: Records in the order of the input.
        problems: What could not be read, one sentence each, with the place in the input.
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
        cluster: Name of the cluster; "" if not reported.
        raw_id: Slurm's number of the job.
        submit_at: Time of submission; a requeued job is submitted again.
        sluid: Slurm's identifier of the run, or "".
        user: Name, "name(uid)", or the uid as text where Slurm knows no name.
        uid: Number of the user.
        account: Project that pays.
        start_at: Time of the start; None if the job has not started.
        end_at: Time of the end; None if the job has not ended.
        columns: What the scheduler reports, by the names of `tables.Job`.

    Raises:
        ValueError: The record lacks what identifies a job, or a figure is impossible.
    """
    values = dict(columns)
    if raw_id is None or submit_at is None:
        raise ValueError("it has no job id" if raw_id is None else "it has no submit time")
    user, uid = owner_of(user, uid)
    state = str(values.get("state") or "").partition(" ")[0]
    if not _STATE.fullmatch(state):
        raise ValueError(f"{state!r} is not a job state")
    values["state"] = state[:64]
    if values.get("node_list") in NOT_ASSIGNED:
        values["node_list"] = None
    if values.get("run_seconds") == 0 and values.get("node_list", "") is None:
        start_at = None  # Slurm before 20.11 sets a start for a job cancelled in the queue
    if start_at is None:
        values["run_seconds"] = None
    if end_at is None:
        values["exit_code"] = values["exit_signal"] = None
    for name, length in _LENGTHS.items():
        if values.get(name) is not None:
            values[name] = _storable(values[name])[:length] or None
    _check({**values, "job_id": raw_id, "uid": uid, "submit_at": submit_at, "start_at": start_at,
            "end_at": end_at})  # fmt: skip
    cluster, sluid, user, account = map(_storable, (cluster, sluid, user, account))
    return JobRecord(cluster[:64], raw_id, submit_at, sluid[:64], user[:255], uid, account[:255],
                     start_at, end_at, values)  # fmt: skip


def owner_of(user: str, uid: int | None) -> tuple[str, int | None]:
    """Return the name and number of a user; Slurm may report the number in place of the name.

    Args:
        user: User as reported: "alice", "alice(1001)", "1001" or "".
        uid: Number that is reported separately.

    Raises:
        ValueError: Two different numbers are reported.
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
    """Return whether a user of this host has this name, although it looks like a number."""
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


@lru_cache(maxsize=4096)
def user_name(uid: int) -> str:
    """Return the name of a user of this host, or "" if there is none with this number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return ""


def _storable(text: str) -> str:
    """Return a text without what a database refuses: zero bytes and unpaired surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _check(found: Mapping[str, Any]) -> None:
    for name, most in _BOUNDS.items():
        value = found.get(name)
        if value is not None and not 0 <= value <= most:
            raise ValueError(f"its {name.replace('_', ' ')} {value} is impossible")


def not_started(names: list[str]) -> tuple[str, ...]:
    """Report entries that stand for tasks of job arrays that have not started; () if none do."""
    if not names:
        return ()
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (f"left out {shown}: array tasks that never started have no record of their own",)
