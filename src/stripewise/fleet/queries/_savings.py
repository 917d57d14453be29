# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What proved settings have saved: a ledger over the jobs that ran with them afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, func, tuple_

from stripewise import formats
from stripewise.errors import ConfigurationError
from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._pairs import marked, pairs_of
from stripewise.fleet.queries._period import Period, rows_of
from stripewise.fleet.queries._viewer import Viewer, jobs_of
from stripewise.fleet.tables import Job, JobSource, PairedRun, Project, SettingRow
from stripewise.formats import matches
from stripewise.model import Amount, Figured, reasons, total
from stripewise.tunables import hint_text

_NOT_PROVED = "how much a proof saves in a run is not known"
_NO_NODES = "the nodes of a run are not known"
MOST_LEDGER_PAIRS = 2000
"""Pairs of one ledger, the newest: each program with a pair is searched for later runs."""
Settings = tuple[tuple[str, Mapping[str, str]], ...]
"""(glob of files, settings) of each rule that can be seen in a profile."""


@dataclass(frozen=True)
class Saving(Figured):
    """What one pair has saved.

    Attributes:
        pair: As `program_pairs` gives it.
        is_traceable: Its settings can be seen in profiles; otherwise later runs are not known.
        run_count: Later runs with its settings.
        saved_seconds: Of I/O, if each of them saved what the pair saved.
        saved_node_seconds: The same by their nodes.
        missing: Which of these is not known, or is the least, and why.
    """

    pair: Row
    is_traceable: bool
    run_count: int = 0
    saved_seconds: float | None = 0.0
    saved_node_seconds: float | None = 0.0
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Sum:
    run_count: int = 0
    seconds: list[Amount] = field(default_factory=list)
    node_seconds: list[Amount] = field(default_factory=list)

    def add(self, seconds: float | None, nodes: int | None) -> None:
        self.run_count += 1
        self.seconds.append(Amount.of(seconds, "" if seconds is not None else _NOT_PROVED))
        known = Amount.of(None, _NO_NODES) if not nodes else Amount.of(nodes)
        both = None if seconds is None or not nodes else seconds * nodes
        self.node_seconds.append(Amount.of(both, reasons((self.seconds[-1].why, known.why))))

    @property
    def figures(self) -> dict[str, Any]:
        """What was saved, and what is missing of it."""
        sums = {
            "saved_seconds": total(self.seconds), "saved_node_seconds": total(self.node_seconds)
        }  # fmt: skip
        missing = {name: amount.why for name, amount in sums.items() if amount.why}
        return {**{name: amount.value for name, amount in sums.items()}, "missing": missing}


@dataclass(frozen=True)
class SavingsLedger:
    """All that was saved in a period.

    Attributes:
        savings: Of each pair, the most first.
        projects: (project, program, runs, seconds, node-seconds), the most first.
        is_whole: False: there are more pairs than `MOST_LEDGER_PAIRS`.
    """

    savings: Sequence[Saving]
    projects: Sequence[Row]
    is_whole: bool = True


@dataclass(frozen=True)
class _Run:
    """A later run.

    Attributes:
        settings: By class of files.
    """

    start_at: int
    node_count: int | None
    project: str | None
    settings: dict[str, set[tuple[str, str]]] = field(default_factory=dict)


def savings_ledger(connection: Connection, viewer: Viewer, period: Period) -> SavingsLedger:
    """Return what the pairs that a viewer sees have saved in the jobs that the viewer sees.

    Each run counts once: for the newest pair before it whose settings it has.

    Args:
        connection: To the database.
        viewer: Who asks.
        period: In which the later runs started.
    """
    query = pairs_of(viewer).add_columns(PairedRun.configuration)
    query = query.where(PairedRun.made_at < period.until)
    query = query.order_by(PairedRun.made_at.desc(), PairedRun.id.desc())
    rows = rows_of(connection.execute(query.limit(MOST_LEDGER_PAIRS + 1)))
    wanted = {row["id"]: visible_settings(row.pop("configuration")) for row in rows}
    pairs = [marked(viewer, row) for row in rows[:MOST_LEDGER_PAIRS]]
    sums: dict[int, _Sum] = defaultdict(_Sum)
    projects: dict[tuple[str | None, str | None], _Sum] = defaultdict(_Sum)
    by_program: dict[int, list[Row]] = defaultdict(list)
    for row in pairs:
        if row["program_id"] is not None and wanted[row["id"]]:
            by_program[row["program_id"]].append(row)
    for program_id, own in by_program.items():
        rules = [rule for row in own for _, rule in wanted[row["id"]]]
        names = {setting for rule in rules for setting in rule.items()}
        since = min(row["made_at"] for row in own)
        for run in _runs(connection, viewer, program_id, period, since, names):
            pair = _followed(run, own, wanted)
            if pair is not None:
                for one in (sums[pair["id"]], projects[run.project, pair["program"]]):
                    one.add(pair["saved_seconds"], run.node_count)
    savings = [_saving(row, bool(wanted[row["id"]]), sums) for row in pairs]
    savings.sort(key=lambda one: -one.amount("saved_seconds").least)
    return SavingsLedger(savings, _by_project(projects), len(rows) <= MOST_LEDGER_PAIRS)


def visible_settings(configuration: str) -> Settings:
    """Return the settings of files in a configuration that profiles tell of; () without any."""
    try:
        files = formats.get("toml").parse(configuration).configuration.files
    except ConfigurationError:
        return ()
    rules = (
        (rule.match, {name: hint_text(value) for name, value in rule.mpiio.items()})
        for rule in files
    )
    return tuple((match, settings) for match, settings in rules if settings)


def _runs(
    connection: Connection,
    viewer: Viewer,
    program_id: int,
    period: Period,
    since: int,
    settings: Iterable[tuple[str, str]],
) -> Iterable[_Run]:
    """Yield jobs of a program after a moment that have any of some settings, with these."""
    value = func.coalesce(SettingRow.applied, SettingRow.requested)
    query = (
        jobs_of(viewer, Job.id, Job.start_at, Job.node_count, Project.name.label("project"))
        .add_columns(SettingRow.file_class, SettingRow.name, value.label("value"))
        .outerjoin(Project, Project.id == Job.project_id)
        .join(JobSource, JobSource.job_id == Job.id)
        .join(SettingRow, SettingRow.source_id == JobSource.id)
        .where(Job.program_id == program_id, Job.start_at > since, *period.jobs)
        .where(tuple_(SettingRow.name, value).in_(sorted(settings)))
        .order_by(Job.start_at, Job.id)
    )
    last, run = None, None
    for row in connection.execute(query):
        if row.id != last:
            if run is not None:
                yield run
            last, run = row.id, _Run(row.start_at, row.node_count, row.project)
        assert run is not None
        run.settings.setdefault(row.file_class, set()).add((row.name, row.value))
    if run is not None:
        yield run


def _followed(run: _Run, pairs: Sequence[Row], wanted: Mapping[int, Settings]) -> Row | None:
    """Return the newest pair before a run whose settings it has; pairs are sorted so."""
    for pair in pairs:
        if pair["made_at"] < run.start_at and all(
            any(
                set(rule.items()) <= had
                for name, had in run.settings.items()
                if matches(match.rpartition("/")[2], name)
            )
            for match, rule in wanted[pair["id"]]
        ):
            return pair
    return None


def _saving(pair: Row, is_traceable: bool, sums: Mapping[int, _Sum]) -> Saving:
    found = Saving(pair, is_traceable and pair["program_id"] is not None)
    if pair["id"] not in sums:
        return found
    one = sums[pair["id"]]
    return replace(found, run_count=one.run_count, **one.figures)


def _by_project(sums: Mapping[tuple[str | None, str | None], _Sum]) -> list[dict[str, Any]]:
    rows = [
        {"project": project, "program": program, "run_count": one.run_count, **one.figures}
        for (project, program), one in sums.items()
    ]
    return sorted(rows, key=lambda row: -(row["saved_seconds"] or 0.0))
