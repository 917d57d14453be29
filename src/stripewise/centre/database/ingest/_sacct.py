# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes job records from the text of sacct, which is queried one day at a time.

Without a header, the columns are FIELDS. Steps follow their job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from stripewise.centre.database._records import (
    JobRecord,
    Parsed,
    Problems,
    job_record,
    not_started,
)
from stripewise.core.inputs import InputBudget
from stripewise.run.slurm import (
    JobId,
    Sacct,
    SacctTable,
    parse_count,
    parse_exit,
    parse_job_id,
    parse_moment,
    parse_resource,
    parse_seconds,
    separator_of,
)

# The text of sacct: `sacct --parsable2 --noconvert --duplicates`, in UTC.

FIELDS = (
    *("jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user"),
    *("uid", "submit", "eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes"),
    *("ncpus", "reqcpus", "reqmem", "reqtres", "alloctres", "timelimit", "nodelist", "jobname"),
)
"""Columns of a line without a header. Source: the call of sacct in XDMoD's Slurm shredder."""
NEEDED = ("jobid", "jobidraw", "user", "submit", "start", "end", "state")
"""Columns without which a record would be wrong, not only incomplete."""
READ_BYTES = "tresusageintot"
WRITE_BYTES = "tresusageouttot"
DISK = "fs/disk"
"""Bytes that processes of a step read (in) and wrote (out): rchar and wchar of /proc/PID/io, which
count system calls, including those served by a cache, a pipe or a terminal, but not mapped memory.
Source: jobacct_gather/common/common_jag.c, acct_gather_profile.c of Slurm; seen in 22.05."""
_OF_STEPS = {READ_BYTES: "slurm_read_bytes", WRITE_BYTES: "slurm_write_bytes"}
_BYTE_ORDER_MARK = "\ufeff"
_FIRST = re.compile(r"\d+[^|]*\|\d+[^|]*\|[^|]*\|")


def recognises_sacct(head: bytes) -> bool:
    """Return whether a file begins as text of sacct does.

    Args:
        head: First bytes of the file, at least one line.
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if separator_of(line):
        return True
    parts = line.split("|")
    return len(parts) >= len(FIELDS) and bool(_FIRST.match(line)) and _is_moment(parts[10])


def parse_sacct(
    text: str | Iterable[str], cluster: str = "", budget: InputBudget | None = None
) -> Parsed:
    """Read the text of sacct; lines that cannot be read are reported and left out.

    Args:
        text: The whole text or its lines, with or without a header, with or without lines of
            steps.
        cluster: Cluster of jobs whose line names none.
        budget: Maximum number of jobs; None for any number.

    Raises:
        StripewiseError: There are more jobs than the budget; its class is the budget's.
    """
    reader = _Reader(cluster)
    lines = text.split("\n") if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        if line.strip():
            reader.read(number, line.removesuffix("\r"))
        if budget is not None:
            budget.check_entries(len(reader.jobs), f"line {number}")
    return reader.parsed()


def _is_moment(text: str) -> bool:
    try:
        return parse_moment(text) is not None
    except (ValueError, OverflowError):
        return False


@dataclass
class _Reader:
    """Reads the text line by line.

    Attributes:
        cluster: Cluster of jobs whose line names none.
        table: Splits lines into columns.
        jobs: Jobs by their key; a job that is listed twice counts once.
        rests: Entries for tasks of arrays that have not started.
        last: The latest job, whose steps may follow.
        usage: Bytes that the steps of that job read and wrote.
    """

    cluster: str
    table: SacctTable = field(default_factory=lambda: SacctTable(FIELDS, NEEDED))
    jobs: dict[tuple[str, int, int], JobRecord] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    rests: list[str] = field(default_factory=list)
    last: JobRecord | None = None
    usage: list[int | None] = field(default_factory=lambda: [None, None])

    def read(self, number: int, line: str) -> None:
        """Read one line."""
        try:
            if self.table.is_header(line):
                self._end_of_job()
                self.table.take_header(line)
            elif self.table.columns:
                self._line(self.table.row(line))
        except (ValueError, OverflowError) as error:
            self.problems.add(f"line {number} is left out: {error}")

    def _line(self, row: dict[str, str]) -> None:
        visible = row["jobid"]
        if "." in visible and "[" not in visible:
            self._step(row)
            return
        self._end_of_job()
        seen = parse_job_id(visible)
        if seen.is_rest:
            self.rests.append(visible[:40])
        else:
            self.last = _record(row, seen, self.cluster)

    def _step(self, row: dict[str, str]) -> None:
        raw_id = row["jobidraw"].partition(".")[0]
        if self.last is None or raw_id != str(self.last.raw_id):
            raise ValueError(f"the step {row['jobid'][:40]} does not follow its job")
        for place, name in enumerate(_OF_STEPS):
            amount = parse_resource(row.get(name, ""), DISK)
            if amount is not None:
                self.usage[place] = (self.usage[place] or 0) + amount

    def _end_of_job(self) -> None:
        """Store the latest job, with what its steps read and wrote."""
        record = self.last
        if record is not None:
            sums = zip(_OF_STEPS.items(), self.usage, strict=True)
            reported = {
                column: amount for (name, column), amount in sums if name in self.table.columns
            }
            assert isinstance(record.columns, dict)  # made by job_record, and not shared yet
            record.columns.update(reported)
            key = record.cluster, record.raw_id, record.submit_at
            self.jobs.pop(key, None)
            self.jobs[key] = record
        self.last, self.usage = None, [None, None]

    def parsed(self) -> Parsed:
        """Return what has been read."""
        self._end_of_job()
        return Parsed(
            tuple(self.jobs.values()), (*self.problems.sentences(), *not_started(self.rests))
        )


def _record(row: dict[str, str], seen: JobId, cluster: str) -> JobRecord:
    start, end = parse_moment(row["start"]), parse_moment(row["end"])
    code, number = parse_exit(row.get("exitcode", ""))
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
    columns |= {name: read(row[column]) for column, name, read in _FURTHER if column in row}
    if not columns.get("cpu_count") and "reqcpus" in row:
        columns["cpu_count"] = parse_count(row["reqcpus"]) or None
    return job_record(
        row.get("cluster") or cluster, parse_count(row["jobidraw"]),
        parse_moment(row["submit"]),
        sluid=row.get("sluid", ""), user=row["user"], uid=parse_count(row.get("uid", "")),
        account=row.get("account", ""), start_at=start, end_at=end, columns=columns,
    )  # fmt: skip


_FURTHER: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("partition", "partition", str), ("qos", "qos", str), ("nodelist", "node_list", str),
    ("group", "unix_group", str),
    ("nnodes", "node_count", parse_count), ("ncpus", "cpu_count", parse_count),
    ("restarts", "restart_count", parse_count),
    ("timelimit", "time_limit_seconds", parse_seconds),
    ("eligible", "eligible_at", parse_moment), ("elapsed", "run_seconds", parse_seconds),
)  # fmt: skip
"""Columns of sacct, columns of the table, and functions that parse the text."""


_OF_NEWER = ("restarts", "sluid")
"""Columns that only newer versions of Slurm have: Restarts since 23.11 or later, SLUID since
24.11."""


def read_sacct(sacct: Sacct, window: Window) -> Iterator[Parsed]:
    """Yield the jobs that waited or ran at any moment of a time span, one day at a time.

    A job that runs for several days is returned with each of them; the latest record counts.

    Args:
        sacct: The sacct command that is queried.
        window: The time span.

    Raises:
        SlurmMissingError: There is no sacct.
        SlurmError: sacct fails, or does not end in time.
    """
    columns = sacct.columns(FIELDS, (*_OF_NEWER, *_OF_STEPS))
    for day in window.days():
        yield parse_sacct(sacct.lines(columns, day.start, day.end))


# The time span to read.

DAY_SECONDS = 86400
OVERLAP_SECONDS = 3600
"""Overlap of readings: slurmctld holds records back while slurmdbd is down, and delivers them when
it is up again (assumed)."""
DAILY_SECONDS = 2 * DAY_SECONDS
"""Overlap once a day, for records that arrive later (assumed)."""
FIRST_SECONDS = 30 * DAY_SECONDS
"""How far back the first reading goes, unless more is requested."""


@dataclass(frozen=True)
class Window:
    """A span of time.

    Attributes:
        start / end: Start and end in seconds since 1970.
    """

    start: int
    end: int

    def days(self) -> Iterator[Window]:
        """Divide the span into spans of at most a day, each a query that slurmdbd can handle."""
        start = self.start
        while start < self.end:
            end = min(start + DAY_SECONDS, self.end)
            yield Window(start, end)
            start = end


def window(last_end: int | None, now: int) -> Window:
    """Return the time span to read next.

    Slurm lists every job that waited or ran at any moment of a span: a job that ran at the last
    query has ended since or still runs, and is in the new span either way.

    Args:
        last_end: End of what was read before; None if nothing was.
        now: Current time, in seconds since 1970.
    """
    if last_end is None:
        return Window(max(now - FIRST_SECONDS, 0), now)
    same_day = last_end // DAY_SECONDS == now // DAY_SECONDS
    start = last_end - (OVERLAP_SECONDS if same_day else DAILY_SECONDS)
    return Window(max(min(start, now), 0), now)
