# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The text of sacct: `sacct --parsable2 --noconvert --duplicates`, in UTC.

A line has a column for each name of the header.  Without a header the columns are FIELDS.  Only
the job name may itself contain the separator.  Steps follow their job.

Names of jobs are their users', and may hold a line break: what follows it could pass for the line
of another job (seen in 22.05).  So sacct is asked for a separator that nobody knows beforehand,
`--delimiter "|DIGITS|"`; the first header says which one holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from stripewise.fleet._problems import Problems
from stripewise.fleet._records import JobRecord
from stripewise.fleet.scheduler._parsed import Parsed, job_record, not_started
from stripewise.fleet.scheduler._values import JobId, count, exit_codes, job_id, moment, resource
from stripewise.inputs import Budget
from stripewise.slurm import parse_seconds

FIELDS = (
    *("jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user"),
    *("uid", "submit", "eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes"),
    *("ncpus", "reqcpus", "reqmem", "reqtres", "alloctres", "timelimit", "nodelist", "jobname"),
)
"""Of a line without a header.  Source: the call of XDMoD's shredder for Slurm."""
NEEDED = ("jobid", "jobidraw", "user", "submit", "start", "end", "state")
"""Without these a record would be wrong, not only shorter."""
READ_BYTES = "tresusageintot"
WRITE_BYTES = "tresusageouttot"
DISK = "fs/disk"
"""What processes of a step read (in) and wrote (out): rchar and wchar of /proc/PID/io, which
count system calls, also those that a cache, a pipe or a terminal serves, and no mapped memory.
Source: jobacct_gather/common/common_jag.c, acct_gather_profile.c of Slurm; seen in 22.05."""
_OF_STEPS = {READ_BYTES: "slurm_read_bytes", WRITE_BYTES: "slurm_write_bytes"}
_HEADER = re.compile(r"[A-Za-z/]+(\|(?:\d+\|)?)[A-Za-z/]+(?:\1[A-Za-z/]+)*(?:\1)?", re.ASCII)
_FIRST = re.compile(r"\d+[^|]*\|\d+[^|]*\|[^|]*\|")
_SEPARATOR = "|"


def recognises_sacct(head: bytes) -> bool:
    """Whether a file begins as text of sacct does.

    Args:
        head: The first bytes of it, a line or more.
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if _separator_of(line):
        return True
    parts = line.split(_SEPARATOR)
    return len(parts) >= len(FIELDS) and bool(_FIRST.match(line)) and _is_moment(parts[10])


def parse_sacct(
    text: str | Iterable[str], cluster: str = "", budget: Budget | None = None
) -> Parsed:
    """Read the text of sacct; lines that cannot be read are named and left out.

    Args:
        text: Whole or its lines; with or without a header, with or without lines of steps.
        cluster: Of jobs whose line names none.
        budget: How many jobs there may be; None: any number.

    Raises:
        StripewiseError: There are more; the class is the budget's.
    """
    reader = _Reader(cluster)
    lines = text.split("\n") if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        if line.strip():
            reader.read(number, line.removesuffix("\r"))
        if budget is not None:
            budget.check_entries(len(reader.jobs), f"line {number}")
    return reader.parsed()


def _separator_of(line: str) -> str:
    """Return the separator of a header; "": the line is none."""
    match = _HEADER.fullmatch(line)
    return match[1] if match and "jobid" in line.lower().split(match[1]) else ""


def _is_moment(text: str) -> bool:
    try:
        return moment(text) is not None
    except (ValueError, OverflowError):
        return False


@dataclass
class _Reader:
    """Reads line after line.

    Attributes:
        cluster: Of jobs whose line names none.
        separator: Between columns; "" until the first line came.
        columns: Names of the columns.
        jobs: A job that is listed twice counts once.
        rests: Entries for tasks of arrays that have not started.
        last: The job whose steps may follow.
        usage: Bytes that its steps read and wrote.
    """

    cluster: str
    separator: str = ""
    columns: tuple[str, ...] = FIELDS
    jobs: dict[tuple[str, int, int], JobRecord] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    rests: list[str] = field(default_factory=list)
    last: JobRecord | None = None
    usage: list[int | None] = field(default_factory=lambda: [None, None])

    def read(self, number: int, line: str) -> None:
        """Read a line."""
        separator = _separator_of(line)
        self.separator = self.separator or separator or _SEPARATOR
        try:
            if separator == self.separator:
                self._header(line)
            elif self.columns:
                self._line(self._split(line))
        except (ValueError, OverflowError) as error:
            self.problems.add(f"line {number} is left out: {error}")

    def _header(self, line: str) -> None:
        self._end_of_job()
        self.columns = tuple(line.lower().split(self.separator))
        if missing := [name for name in NEEDED if name not in self.columns]:
            self.columns = ()
            raise ValueError(
                f"the header lacks {', '.join(missing)}; lines below it cannot be read: "
                f"run sacct with --format={','.join(FIELDS)}"
            )

    def _split(self, line: str) -> dict[str, str]:
        if "\0" in line:
            raise ValueError("it contains a zero byte")
        parts, wanted = line.split(self.separator), len(self.columns)
        if len(parts) < wanted or (len(parts) > wanted and "jobname" not in self.columns):
            raise ValueError(f"it has {len(parts)} columns instead of {wanted}")
        if len(parts) > wanted:
            name = self.columns.index("jobname")
            after = len(parts) - (wanted - 1 - name)
            parts[name:after] = [self.separator.join(parts[name:after])]
        return dict(zip(self.columns, parts, strict=True))

    def _line(self, row: dict[str, str]) -> None:
        visible = row["jobid"]
        if "." in visible and "[" not in visible:
            self._step(row)
            return
        self._end_of_job()
        seen = job_id(visible)
        if seen.is_rest:
            self.rests.append(visible[:40])
        else:
            self.last = _record(row, seen, self.cluster)

    def _step(self, row: dict[str, str]) -> None:
        raw_id = row["jobidraw"].partition(".")[0]
        if self.last is None or raw_id != str(self.last.raw_id):
            raise ValueError(f"the step {row['jobid'][:40]} does not follow its job")
        for place, name in enumerate(_OF_STEPS):
            told = resource(row.get(name, ""), DISK)
            if told is not None:
                self.usage[place] = (self.usage[place] or 0) + told

    def _end_of_job(self) -> None:
        """Keep the last job, with what its steps read and wrote."""
        record = self.last
        if record is not None:
            sums = zip(_OF_STEPS.items(), self.usage, strict=True)
            told = {column: amount for (name, column), amount in sums if name in self.columns}
            assert isinstance(record.columns, dict)  # of job_record, and nobody has it yet
            record.columns.update(told)
            key = record.cluster, record.raw_id, record.submit_at
            self.jobs.pop(key, None)
            self.jobs[key] = record
        self.last, self.usage = None, [None, None]

    def parsed(self) -> Parsed:
        """Return what was read."""
        self._end_of_job()
        return Parsed(tuple(self.jobs.values()), (*self.problems.told(), *not_started(self.rests)))


def _record(row: dict[str, str], seen: JobId, cluster: str) -> JobRecord:
    start, end = moment(row["start"]), moment(row["end"])
    code, number = exit_codes(row.get("exitcode", ""))
    columns: dict[str, Any] = {
        "name": row.get("jobname"),
        "state": row["state"],
        "exit_code": code,
        "exit_signal": number,
        "array_job_id": None if seen.task is None else seen.number,
        "array_task_id": seen.task,
        "het_job_id": None if seen.offset is None else seen.number,
        "het_offset": seen.offset,
    }
    columns |= {name: read(row[told]) for told, name, read in _FURTHER if told in row}
    if not columns.get("cpu_count") and "reqcpus" in row:
        columns["cpu_count"] = count(row["reqcpus"]) or None
    return job_record(
        row.get("cluster") or cluster, count(row["jobidraw"]), moment(row["submit"]),
        sluid=row.get("sluid", ""), user=row["user"], uid=count(row.get("uid", "")),
        account=row.get("account", ""), start_at=start, end_at=end, columns=columns,
    )  # fmt: skip


_seconds = lru_cache(maxsize=65536)(parse_seconds)


def _whole_seconds(text: str) -> int | None:
    seconds = _seconds(text)
    return None if seconds is None else int(seconds)


_FURTHER: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("partition", "partition", str), ("qos", "qos", str), ("nodelist", "node_list", str),
    ("group", "unix_group", str),
    ("nnodes", "node_count", count), ("ncpus", "cpu_count", count),
    ("restarts", "restart_count", count), ("timelimit", "time_limit_seconds", _whole_seconds),
    ("eligible", "eligible_at", moment), ("elapsed", "run_seconds", _seconds),
)  # fmt: skip
"""Names of sacct and of the table, and how the text is read."""
