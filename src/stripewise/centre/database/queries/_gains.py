# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists speed-ups that pairs of runs proved, their savings, and settings for a next run."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    false,
    func,
    or_,
    select,
    true,
    tuple_,
)

from stripewise.centre.database.queries._filters import Period, rows_of
from stripewise.centre.database.queries._job import JobView, Row
from stripewise.centre.database.queries._viewer import Viewer, jobs_of
from stripewise.centre.database.tables._jobs import (
    Job,
    JobSource,
    Member,
    PairedRun,
    Person,
    Program,
    Project,
    SettingRow,
)
from stripewise.core import (
    Amount,
    Configuration,
    Figured,
    FileRule,
    JobSettings,
    Value,
    reasons,
    total,
)
from stripewise.core.errors import ConfigurationError, StripewiseError
from stripewise.settings import formats
from stripewise.settings.formats import matches
from stripewise.settings.tunables import check_configuration, hint_text, refused_variables

_NOT_PROVED = "how much a proof saves in a run is not known"
_NO_NODES = "the nodes of a run are not known"
MOST_LEDGER_PAIRS = 2000
"""Maximum number of pairs in a ledger, newest first; each pair's program is searched for later
runs."""
Settings = tuple[tuple[str, Mapping[str, str]], ...]
"""(glob of files, settings) of each rule that is visible in a profile."""


@dataclass(frozen=True)
class Saving(Figured):
    """Savings of one pair.

    Attributes:
        pair: Row as `program_pairs` returns it.
        is_traceable: Whether its settings are visible in profiles; otherwise later runs are
            unknown.
        run_count: Number of later runs with its settings.
        saved_seconds: Saved I/O time, assuming that each of them saved what the pair saved.
        saved_node_seconds: Saved time multiplied by the nodes of each run.
        missing: Which of these is unknown or a lower bound, and why.
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
        """Return what was saved, and what is missing of it."""
        sums = {
            "saved_seconds": total(self.seconds), "saved_node_seconds": total(self.node_seconds)
        }  # fmt: skip
        missing = {name: amount.why for name, amount in sums.items() if amount.why}
        return {**{name: amount.value for name, amount in sums.items()}, "missing": missing}


@dataclass(frozen=True)
class SavingsLedger:
    """All savings of a period.

    Attributes:
        savings: Savings of each pair, largest first.
        projects: (project, program, runs, seconds, node-seconds), largest first.
        is_whole: False if there are more pairs than `MOST_LEDGER_PAIRS`.
    """

    savings: Sequence[Saving]
    projects: Sequence[Row]
    is_whole: bool = True


@dataclass(frozen=True)
class _Run:
    """A later run.

    Attributes:
        settings: Settings by class of files.
    """

    start_at: int
    node_count: int | None
    project: str | None
    settings: dict[str, set[tuple[str, str]]] = field(default_factory=dict)


def savings_ledger(connection: Connection, viewer: Viewer, period: Period) -> SavingsLedger:
    """Return what the pairs that a viewer sees have saved in the jobs that the viewer sees.

    Each run counts once: for the newest earlier pair whose settings it has.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks.
        period: Period in which the later runs started.
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
    """Return the per-file settings of a configuration that profiles report; () if none."""
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
    """Yield later jobs of a program that have any of some settings, with these settings."""
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
    """Return the newest pair before a run whose settings it has; `pairs` are sorted that way."""
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


# Speed-ups that pairs of runs have proved, as far as a viewer sees them.

MOST_PAIRS = 50
_COLUMNS = (
    *(PairedRun.id, PairedRun.made_at, PairedRun.speedup, PairedRun.low, PairedRun.high),
    *(PairedRun.pair_count, PairedRun.elapsed_speedup, PairedRun.saved_seconds),
    *(PairedRun.node_count, PairedRun.rank_count, PairedRun.pattern, PairedRun.verification),
    *(PairedRun.person_id, PairedRun.project_id, PairedRun.program_id),
    *(Program.name.label("program"), Person.name.label("user"), Project.name.label("project")),
)


@dataclass(frozen=True)
class PairSettings:
    """The settings of a pair.

    Attributes:
        row: Row as `program_pairs` returns it.
        configuration: The settings as TOML.
        hints: Lines that work without Stripewise; "" if they cannot express the settings.
    """

    row: Row
    configuration: str
    hints: str


def program_pairs(connection: Connection, viewer: Viewer, program_id: int) -> Sequence[Row]:
    """Return the pairs of a program that the viewer sees, those that save most first.

    Each row has `shows_settings`: whether the viewer may see the settings.
    """
    query = pairs_of(viewer).where(PairedRun.program_id == program_id)
    saved = PairedRun.saved_seconds
    query = query.order_by(saved.desc().nulls_last(), PairedRun.id).limit(MOST_PAIRS)
    return [marked(viewer, row) for row in rows_of(connection.execute(query))]


def pair_settings(connection: Connection, viewer: Viewer, pair_id: int) -> PairSettings | None:
    """Return the settings of a pair, or None if there is none or the viewer may not see them."""
    if not 0 < pair_id < 1 << 62:
        return None
    query = pairs_of(viewer).add_columns(PairedRun.configuration, PairedRun.hints)
    found = connection.execute(query.where(PairedRun.id == pair_id)).one_or_none()
    row = None if found is None else dict(found._mapping)
    if row is None or not viewer.reads_names(row):
        return None
    configuration, hints = row.pop("configuration"), row.pop("hints")
    return PairSettings(marked(viewer, row), configuration, hints)


def pairs_of(viewer: Viewer) -> Select[Any]:
    """Return the query for the pairs that a viewer sees."""
    columns: Sequence[Any] = _COLUMNS
    return (
        select(*columns)
        .outerjoin(Program, Program.id == PairedRun.program_id)
        .outerjoin(Person, Person.id == PairedRun.person_id)
        .outerjoin(Project, Project.id == PairedRun.project_id)
        .where(visible_pairs(viewer))
    )


def visible_pairs(viewer: Viewer) -> ColumnElement[bool]:
    """Return the condition that a viewer sees a pair, which follows the rules for jobs.

    A pair that names no project belongs to the project of its user, if there is only one.
    """
    if viewer.role is None:
        return PairedRun.id < 0
    if viewer.is_staff:
        return true()
    seen: list[ColumnElement[bool]] = [PairedRun.id < 0]
    if viewer.person_id is not None:
        seen.append(PairedRun.person_id == viewer.person_id)
    if viewer.managed:
        managed = sorted(viewer.managed)
        only = (
            select(Member.person_id)
            .group_by(Member.person_id)
            .having(func.count() == 1, func.max(Member.project_id).in_(managed))
        )
        seen.append(PairedRun.project_id.in_(managed))
        seen.append(and_(PairedRun.project_id.is_(None), PairedRun.person_id.in_(only)))
    return or_(*seen)


def marked(viewer: Viewer, row: Mapping[str, Any]) -> Row:
    """Return the row of a pair with `shows_settings` added."""
    return {**row, "shows_settings": viewer.reads_names(row)}


# Speed-ups that studies of a job's program have proved by pairs of runs.

_MOST = 50


def pairs_of_job(connection: Connection, viewer: Viewer, job: Row) -> Sequence[Row]:
    """Return proved speed-ups of a job's program by its user or in its project, newest first.

    Settings of a study may name files: they are None if the viewer may not read such names.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks; the rules for studies are those for jobs.
        job: Row that `find_job` returned for that viewer.
    """
    if job["program_id"] is None:
        return []
    query = (
        select(*PairedRun.__table__.c)
        .where(PairedRun.program_id == job["program_id"], _related(job), visible_pairs(viewer))
        .order_by(PairedRun.made_at.desc(), PairedRun.id.desc())
        .limit(_MOST)
    )
    rows = [dict(row._mapping) for row in connection.execute(query)]
    for row in rows:
        if not viewer.reads_names(row):
            row.update(dict.fromkeys(("configuration", "hints")))
    return rows


def may_apply_to(pair: Row, job: Row) -> bool:
    """Return whether a proved speed-up may apply to a job, unless their patterns differ."""
    return not pair["pattern"] or not job["pattern"] or pair["pattern"] == job["pattern"]


def _related(job: Row) -> ColumnElement[bool]:
    found: list[ColumnElement[bool]] = []
    if job["person_id"] is not None:
        found.append(PairedRun.person_id == job["person_id"])
    if job["project_id"] is not None:
        found.append(PairedRun.project_id == job["project_id"])
    return or_(*found) if found else false()


# Makes a configuration, and text, from lines of a job script that findings advise.
#
# Only what a format of `stripewise.formats` reads is accepted, and it is written anew, because a
# profile may come from anywhere.

_COMMENT = "   #"
_ROMIO, _CRAY, _OPENMPI = "ROMIO_HINTS", "MPICH_MPIIO_HINTS", "OMPI_MCA_"


@dataclass(frozen=True)
class Recipe:
    """Settings for the next run.

    Attributes:
        configuration: The settings.
        toml: The same, for `stripewise run --config`.
        shell: Lines of a job script that work without Stripewise; "" if they cannot express the
            settings.
    """

    configuration: Configuration
    toml: str
    shell: str


def recipe_of_lines(lines: Iterable[str]) -> Recipe | None:
    """Return the settings in the lines of findings, or None if there are none."""
    texts = [line.partition(_COMMENT)[0].strip() for line in lines]
    mpiio: dict[str, Value] = {}
    variables: dict[str, str] = {}
    for text in texts:
        found = _parsed(text)
        for rule in found.files:
            mpiio |= rule.mpiio if rule.match == "*" else {}
        # as a variable: "^ompio" is a value of the variable, but not of the tunable
        variables |= formats.job_environment(found)
    rules = (FileRule("*", mpiio=mpiio, override=True),) if mpiio else ()
    configuration = Configuration(rules, JobSettings(environment=variables))
    if configuration.is_empty or _problems(configuration):
        return None
    names = [name for name in (_ROMIO, _CRAY) if any(name in text for text in texts)]
    return Recipe(
        configuration,
        formats.get("toml").write(configuration).text,
        _shell(configuration, names),
    )


def recipe_of_study(toml: str, hints: str) -> Recipe | None:
    """Return the settings that a study proved, or None if this version cannot use them."""
    try:
        found = formats.get("toml").read(toml).configuration
    except StripewiseError:
        return None
    if found.is_empty or refused_variables(found):
        return None
    return Recipe(found, toml, hints)


def _parsed(text: str) -> Configuration:
    """Return what one line sets; an empty configuration if it is not a line of settings."""
    try:
        if text.startswith(f"export {_OPENMPI}"):
            return formats.get("mca").parse(text.partition(";")[0]).configuration
        if text.startswith(f"export {_CRAY}"):
            return formats.get("mpich-hints").parse(text).configuration
        if text.startswith("printf ") and _ROMIO in text:
            words = shlex.split(text)
            hints = words[2 : words.index(">")]
            return formats.get("romio-hints").parse("\n".join(hints)).configuration
    except (StripewiseError, ValueError):
        pass
    return Configuration()


def _problems(configuration: Configuration) -> list[str]:
    return [*check_configuration(configuration), *refused_variables(configuration)]


def _shell(configuration: Configuration, names: Iterable[str]) -> str:
    """Return shell lines; lines for another MPI implementation than the job's have no effect."""
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in formats.job_environment(configuration).items()
    ]
    for name in names:
        if name == _CRAY:
            lines.append(formats.get("mpich-hints").write(configuration).text.strip())
            continue
        text = formats.get("romio-hints").write(configuration).text.strip()
        lines += ["cat > romio-hints <<'END'", text, "END", f'export {_ROMIO}="$PWD/romio-hints"']
    return "".join(f"{line}\n" for line in lines)


# Settings for the next run of a job's program: proved ones, else those that findings advise.


@dataclass(frozen=True)
class NextRun:
    """Settings for the next run.

    Attributes:
        recipe: The settings.
        proof: The study that proved them, as `pairs_of_job` returns it; None if only advised.
        findings: Codes of those findings.
    """

    recipe: Recipe
    proof: Row | None
    findings: tuple[str, ...] = ()


def next_run(view: JobView, pairs: Sequence[Row]) -> NextRun | None:
    """Return settings for the next run, or None if there are none or names of files are hidden.

    Args:
        view: The job as its viewer sees it.
        pairs: Rows of `pairs_of_job` for the same viewer.
    """
    if not view.shows_names:
        return None
    for pair in pairs:
        if pair["configuration"] is None or not may_apply_to(pair, view.row):
            continue
        proved = recipe_of_study(pair["configuration"], pair["hints"])
        if proved is not None:
            return NextRun(proved, pair)
    advised = [
        found
        for source in view.counted
        if source.document is not None
        for found in source.document["findings"]
        if found["lines"]
    ]
    recipe = recipe_of_lines(line for found in advised for line in found["lines"])
    if recipe is None:
        return None
    return NextRun(recipe, None, tuple(dict.fromkeys(found["code"] for found in advised)))
