# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the figures of a job from the profiles of its runs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, delete, select, update

from stripewise.centre.database._records import Row, known_amount, unpack
from stripewise.centre.database.store._jobs import NameKeys, fitted, reason
from stripewise.centre.database.tables._jobs import FindingRow, Job, JobPattern, JobSource
from stripewise.core import NO_REASON, Amount, reasons, total
from stripewise.present import plural

_OF_TOTALS = (
    *("io_seconds", "io_share", "read_bytes", "write_bytes", "read_seconds", "write_seconds"),
    *("meta_seconds", "meta_operations", "file_count", "shared_file_count", "bytes_per_second"),
    *("finding_count", "top_finding", "avoidable_seconds", "avoidable_node_seconds", "pattern"),
    *("rank_count", "program_id", "read_only_count", "write_only_count"),
    *("cumulated_read_seconds", "cumulated_write_seconds", "cumulated_meta_seconds"),
    "missing",
)
_NO_NODES = "the number of nodes is not known"


def store_figures(connection: Connection, names: NameKeys, job_id: int) -> None:
    """Bring the figures of a job up to date, and delete a job that has no sources any more.

    Args:
        connection: Connection within a transaction.
        names: Resolves user numbers to users.
        job_id: Key of the job.
    """
    job = connection.execute(select(Job.__table__).where(Job.id == job_id)).mappings().first()
    if job is None:
        return
    sources = _sources(connection, job_id)
    if not sources and not job["is_recorded"]:
        connection.execute(delete(Job).where(Job.id == job_id))
        return
    source_figures = _source_figures(connection, job_id, sources)
    row: dict[str, Any] = {**dict.fromkeys(_OF_TOTALS), "missing": {}, **totals(source_figures)}
    profiled = row.pop("profiled_seconds", None)
    if not job["is_recorded"]:
        row |= _unrecorded_columns(names, job["cluster_id"], sources, source_figures)
        row["run_seconds"] = profiled
    node_count = row.get("node_count", job["node_count"])
    if source_figures:
        row |= _avoidable_on_nodes(row, node_count)
    row["source_count"] = len(source_figures)
    row["no_data_reason"] = None if source_figures else reason(dict(job))
    changes = {name: value for name, value in fitted(Job, row).items() if job[name] != value}
    if changes:
        line = update(Job).where(Job.id == job_id)
        connection.execute(line.values(**changes, changed_at=int(time.time())))


def _avoidable_on_nodes(row: Mapping[str, Any], node_count: int | None) -> dict[str, Any]:
    seconds, missing = row["avoidable_seconds"], row["missing"]
    why = missing.get("avoidable_seconds", "") or ("" if node_count else _NO_NODES)
    amount = Amount.of(None if seconds is None or not node_count else seconds * node_count, why)
    name = "avoidable_node_seconds"
    return {name: amount.value, "missing": {**missing, name: why} if why else missing}


def _sources(connection: Connection, job_id: int) -> Sequence[Any]:
    query = select(
        *(JobSource.id, JobSource.kind, JobSource.program_id, JobSource.start_at),
        *(JobSource.end_at, JobSource.document, JobSource.uid, JobSource.user),
    )
    return connection.execute(
        query.where(JobSource.job_id == job_id).order_by(JobSource.digest)
    ).all()


def _source_figures(
    connection: Connection, job_id: int, sources: Sequence[Any]
) -> list[SourceFigures]:
    if not sources:
        return []
    of_job = (JobSource.job_id == job_id,)
    findings: dict[int, list[tuple[str, float | None]]] = defaultdict(list)
    query = select(FindingRow.source_id, FindingRow.code, FindingRow.cost_seconds)
    query = query.join(JobSource, JobSource.id == FindingRow.source_id).where(*of_job)
    for source_id, code, seconds in connection.execute(query.order_by(FindingRow.number)):
        findings[source_id].append((code, seconds))
    columns = (JobPattern.source_id, JobPattern.form, JobPattern.moved_bytes, JobPattern.missing)
    patterns: dict[int, list[tuple[str, Amount]]] = defaultdict(list)
    every = select(*columns).join(JobSource, JobSource.id == JobPattern.source_id).where(*of_job)
    for source_id, form, moved, missing in connection.execute(every.order_by(JobPattern.number)):
        patterns[source_id].append(
            (form, Amount.of(moved, (missing or {}).get("moved_bytes", "")))
        )
    return [
        SourceFigures(
            row.kind, row.program_id, row.start_at, row.end_at, _figures(unpack(row.document)),
            findings[row.id], _largest(patterns[row.id]),
        )
        for row in sources
    ]  # fmt: skip


def _largest(patterns: Sequence[tuple[str, Amount]]) -> str:
    """Return the form that moved most bytes, or "" if it is unknown which one did."""
    for form, amount in patterns:
        others = (other.most for name, other in patterns if name != form)
        if amount.least >= max(others, default=0.0):
            return form
    return ""


def _figures(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a profile, without zeros of incomplete profiles of old versions."""
    figures: dict[str, Any] = document["figures"]
    if "missing" in figures or not document.get("partial"):
        return figures
    zeros = [name for name, value in figures.items() if value == 0 and name in _AMOUNTS]
    return {**figures, "missing": dict.fromkeys(zeros, "a profile is not complete")}


_AMOUNTS = ("read_bytes", "write_bytes", "io_seconds", "meta_operations", "n_files")


def _unrecorded_columns(
    names: NameKeys,
    cluster_id: int,
    sources: Sequence[Any],
    source_figures: Sequence[SourceFigures],
) -> dict[str, Any]:
    """Return the columns that profiles provide for a job without a scheduler record."""
    users = [row.user for row in sources if row.user]
    uid = next((row.uid for row in sources if row.uid is not None), None)
    starts = [row.start_at for row in sources if row.start_at is not None]
    ends = [row.end_at for row in sources if row.end_at is not None]
    hosts = [one.figures.get("n_hosts") or 0 for one in source_figures]
    return {
        "person_id": names.person(users[0]) if users else names.owner(cluster_id, uid),
        "uid": uid,
        "start_at": int(min(starts)) if starts else None,
        "end_at": int(max(ends)) if ends else None,
        "node_count": max(hosts, default=0) or None,
    }


# Computes the figures of a job from the profiles of its runs.
#
# Programs that ran one after the other are summed; of those that ran side by side, the slowest
# counts. If two sources describe the same run, such as a trace and a Darshan log, one of them
# counts.

_BEST = ("trace", "report", "recorder", "darshan", "mpiio-stats")
"""Kinds of sources, most informative first."""
_SAME_RUN = 0.5
"""Minimum share of the shorter run's time in which both ran, if they are one run (assumed)."""
NO_ESTIMATE = "no finding has an estimate"
_RATIOS = ("io_share", "bytes_per_second")
"""Figures that may have no value because the divisor is zero."""
_CLOCK_SECONDS = 1.0
"""Apparent overlap of successive runs, since Darshan reports whole seconds."""


@dataclass(frozen=True)
class SourceFigures:
    """Data of one source.

    Attributes:
        kind / program: See `tables.JobSource`.
        start / end: Seconds since 1970; None if unknown.
        figures: Figures of the profile.
        findings: (code, predicted saving in seconds; None for a mere fact).
        pattern: Form of the pattern that moved most; "" if there is none.
    """

    kind: str
    program: int | None
    start: float | None
    end: float | None
    figures: Row
    findings: Sequence[tuple[str, float | None]] = ()
    pattern: str = ""

    def amount(self, name: str) -> Amount:
        """Return a figure with what is missing of it."""
        return known_amount(self.figures, name)

    @property
    def avoidable(self) -> Amount:
        """Predicted saving of a change: that of the finding that saves most.

        Without a finding it is zero, unless the run is unknown; if some findings have no estimate,
        it is unknown or a lower bound.
        """
        without = sum(gain is None for _, gain in self.findings)
        if not self.findings:
            return Amount.of(0.0, self.amount("io_seconds").why)
        if without == len(self.findings):
            return Amount.of(None, NO_ESTIMATE)
        have = "has" if without == 1 else "have"
        why = f"{plural(without, 'finding')} {have} no estimate" if without else ""
        return Amount.of(self.best[1], why)

    @property
    def best(self) -> tuple[str, float | None]:
        """The finding that saves most; ("", None) if there is none."""
        gains = [one for one in self.findings if one[1] is not None]
        return max(gains, key=lambda one: one[1] or 0.0, default=("", None))


_SUMS = (
    *("read_bytes", "write_bytes", "meta_operations", "cumulated_read_seconds"),
    *("cumulated_write_seconds", "cumulated_meta_seconds"),
)
_COUNTS = {
    "file_count": "n_files", "shared_file_count": "n_shared",
    "read_only_count": "n_read_only", "write_only_count": "n_write_only",
}  # fmt: skip
_SECONDS = {
    "io_seconds": "io_seconds", "read_seconds": "elapsed_read_seconds",
    "write_seconds": "elapsed_write_seconds", "meta_seconds": "elapsed_meta_seconds",
}  # fmt: skip


def totals(sources: Sequence[SourceFigures]) -> dict[str, Any]:
    """Return the columns of `tables.Job` that follow from its sources; {} if there are none.

    If a source does not report a figure, the sum is a lower bound.
    """
    counted = distinct(sources)
    if not counted:
        return {}
    groups = _together(counted)
    found = {column: total(one.amount(column) for one in counted) for column in _SUMS}
    for column, name in _COUNTS.items():
        found[column] = total(one.amount(name) for one in counted)
    for column, name in _SECONDS.items():
        found[column] = total(_most(one.amount(name) for one in group) for group in groups)
    found["io_share"], run = _share(counted, groups, found["io_seconds"])
    found["bytes_per_second"] = _rate(counted, found)
    found["avoidable_seconds"] = total(_most(one.avoidable for one in group) for group in groups)
    row: dict[str, Any] = {name: amount.value for name, amount in found.items()}
    row["missing"] = {
        name: amount.why
        for name, amount in found.items()
        if amount.why and not (name in _RATIOS and amount.why == NO_REASON)
    }
    row["rank_count"] = max(one.figures.get("n_ranks") or 0 for one in counted) or None
    row["finding_count"] = sum(len(one.findings) for one in counted)
    best = max((one.best for one in counted), key=lambda found: found[1] or 0.0)
    row["top_finding"] = best[0] or None
    main = max(counted, key=lambda one: one.figures.get("io_seconds") or 0.0)
    row["program_id"], row["pattern"] = main.program, main.pattern or None
    row["profiled_seconds"] = run.value
    return row


def distinct(sources: Sequence[SourceFigures]) -> list[SourceFigures]:
    """Return one source of each run, the one that reports most."""
    kept: list[SourceFigures] = []
    ordered = sorted(sources, key=lambda one: (_place(one.kind), one.kind))
    for _, same_kind in groupby(ordered, key=lambda one: one.kind):  # each is its own run
        kept += [one for one in same_kind if not any(_is_same_run(one, it) for it in kept)]
    return sorted(kept, key=lambda one: one.start or 0.0)


def _place(kind: str) -> int:
    return _BEST.index(kind) if kind in _BEST else len(_BEST)


def _is_same_run(one: SourceFigures, other: SourceFigures) -> bool:
    if one.program != other.program:
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    both = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return both >= _SAME_RUN * shorter


def _together(sources: Sequence[SourceFigures]) -> list[list[SourceFigures]]:
    """Group sources whose times overlap; those without times form their own groups."""
    groups = [[one] for one in sources if one.start is None or one.end is None]
    last: tuple[float, float] | None = None
    for one in sources:
        if one.start is None or one.end is None:
            continue
        if last is not None and _is_beside(one.start, one.end, *last):
            groups[-1].append(one)
        else:
            groups.append([one])
        if last is None or one.end > last[1]:
            last = (one.start, one.end)
    return groups


def _is_beside(start: float, end: float, other_start: float, other_end: float) -> bool:
    shorter = min(end - start, other_end - other_start)
    return min(end, other_end) - start > min(_CLOCK_SECONDS, _SAME_RUN * shorter)


def _share(
    counted: Sequence[SourceFigures], groups: Sequence[Sequence[SourceFigures]], io_seconds: Amount
) -> tuple[Amount, Amount]:
    """Return the share of I/O in the run, and the duration of the run."""
    run = total(_most(one.amount("run_seconds") for one in group) for group in groups)
    if len(counted) == 1:
        return _at_most_all(counted[0].amount("io_share")), run
    why = io_seconds.why or run.why
    if io_seconds.value is None or not run.value or run.why:
        return Amount.of(None, why), run
    return _at_most_all(Amount.of(io_seconds.value / run.value, why)), run


def _at_most_all(share: Amount) -> Amount:
    """Limit a share to the whole: older profiles summed the times of threads."""
    return share if share.value is None else Amount.of(min(share.value, 1.0), share.why)


def _rate(counted: Sequence[SourceFigures], found: Mapping[str, Amount]) -> Amount:
    if len(counted) == 1:
        return counted[0].amount("rate_bytes_per_second")
    parts = [found[name] for name in ("read_bytes", "write_bytes", "io_seconds")]
    why = reasons(part.why for part in parts)
    if why or not parts[2].value:
        return Amount.of(None, why)
    return Amount.of(((parts[0].value or 0) + (parts[1].value or 0)) / parts[2].value)


def _most(amounts: Iterable[Amount]) -> Amount:
    """Return the largest of simultaneous amounts; a lower bound if one is unknown."""
    parts = tuple(amounts)
    known = [part.value for part in parts if part.value is not None]
    return Amount.of(max(known, default=None), reasons(part.why for part in parts))
