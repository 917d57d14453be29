# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job as sacct would print it, read by the parser that reads real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import gmtime, strftime

from stripewise.centre.database._records import JobRecord
from stripewise.centre.database.ingest import parse_sacct
from synthetic_centre._people import User

_HEADER = (
    "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|UID|Submit|Eligible|Start|End|Elapsed|"
    "ExitCode|State|NNodes|NCPUS|Restarts|Timelimit|NodeList|TRESUsageInTot|TRESUsageOutTot|"
    "JobName"
)
UNFINISHED = frozenset({"PENDING", "RUNNING"})


@dataclass(frozen=True)
class Entry:
    """What accounting knows of a job.

    Attributes:
        visible_id: With the task of an array, or the component of a heterogeneous job.
        user: None: the record names none.
        start / end: Seconds since 1970; start None: it never ran. The end does not count in the
            states of `UNFINISHED`.
        nodes: Names; `node_list`: as sacct abbreviates them.
        slurm_bytes: Read and written by its processes; None: not counted.
        server_bytes: Read and written by the counters of the storage; None: not counted.
    """

    cluster: str
    raw_id: int
    visible_id: str
    name: str
    user: User | None
    state: str
    exit_code: str
    submit: int
    start: int | None
    end: int
    limit_seconds: int
    nodes: int
    cpus: int
    node_list: str = ""
    restarts: int = 0
    slurm_bytes: tuple[int, int] | None = None
    server_bytes: tuple[int, int] | None = None


def record(entry: Entry) -> JobRecord:
    """Return the record that is read from the text of a job."""
    parsed = parse_sacct(text_of(entry))
    assert not parsed.problems, parsed.problems
    (found,) = parsed.records
    if entry.server_bytes is None:
        return found
    read, written = entry.server_bytes
    served = {"server_read_bytes": read, "server_write_bytes": written}
    return replace(found, columns={**found.columns, **served})


def text_of(entry: Entry) -> str:
    """Return what `sacct --parsable2` would print of a job and its step."""
    user, start = entry.user, entry.start
    held = 0 if start is None else entry.end - start
    job = {
        "JobID": entry.visible_id, "JobIDRaw": str(entry.raw_id), "Cluster": entry.cluster,
        "Partition": "short" if entry.limit_seconds <= 3600 else "batch", "QOS": "normal",
        "Account": user.project if user else "", "Group": user.group if user else "",
        "User": user.name if user else "",
        "UID": str(user.uid) if user else "", "Submit": _moment(entry.submit),
        "Eligible": _moment(entry.submit), "Start": _moment(start),
        "End": "Unknown" if entry.state in UNFINISHED else _moment(entry.end),
        "Elapsed": _span(held), "ExitCode": entry.exit_code, "State": entry.state,
        "NNodes": str(entry.nodes), "NCPUS": str(entry.cpus), "Restarts": str(entry.restarts),
        "Timelimit": _span(entry.limit_seconds),
        "NodeList": entry.node_list if start is not None else "None assigned",
        "JobName": entry.name,
    }  # fmt: skip
    lines = [_HEADER, _line(job)]
    if entry.slurm_bytes is not None:
        step = {name: f"{job[name]}.0" for name in ("JobID", "JobIDRaw")}
        read, written = entry.slurm_bytes
        usage = {"TRESUsageInTot": f"cpu={_span(held)},fs/disk={read}",
                 "TRESUsageOutTot": f"energy=0,fs/disk={written}"}  # fmt: skip
        lines.append(_line({**job, **step, **usage}))
    return "\n".join(lines)


def _line(values: Mapping[str, str]) -> str:
    return "|".join(values.get(name, "") for name in _HEADER.split("|"))


def _moment(at: int | None) -> str:
    return "None" if at is None else strftime("%Y-%m-%dT%H:%M:%S", gmtime(at))


def _span(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock
