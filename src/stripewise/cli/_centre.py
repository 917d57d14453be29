# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise centre`: the statistics database, the portal and the agent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._centre_ingest import db_option, ingest
from stripewise.cli._centre_monitor import monitor_command
from stripewise.cli._centre_portal import grant, revoke, serve_command, token, user
from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, command, examples, group, option
from stripewise.cli._options import json_option
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.centre.database.upkeep import Status


# `stripewise centre init|status|prune|backup|restore`: maintenance of the database.

_file = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))


@command(
    epilog=examples(
        "stripewise centre init",
        "stripewise centre init --db /var/lib/stripewise/fleet.sqlite",
        "stripewise centre init --db postgresql://stripewise@db.example.org/jobs",
    )
)
@db_option
@json_option
def init(database: str, as_json: bool) -> None:
    """Make the tables, or update those of an earlier version.

    The data are kept; make a backup before an update.
    """
    from stripewise.centre.database import create_engine, initialise, shown, sqlite_file, url_text

    engine = create_engine(database)
    file = sqlite_file(engine)
    if file is not None and not database and not file.parent.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    revision = initialise(engine)
    name = shown(url_text(engine))
    answer(
        as_json,
        lambda: {"database": name, "revision": revision},
        lambda: [f"{name}: tables of revision {revision} are ready"],
    )


@command(
    epilog=examples("stripewise centre status", "stripewise centre status --json | jq .coverage")
)
@db_option
@json_option
def status(database: str, as_json: bool) -> None:
    """Show what the database holds, how many jobs have a profile, and what was refused."""
    from stripewise.centre.database import create_engine
    from stripewise.centre.database.upkeep import status as status_of

    found = status_of(create_engine(database))
    answer(as_json, found.as_json, lambda: _lines(found))


def _lines(found: Status) -> Iterator[str]:
    from stripewise.present import size_text

    yield f"database      {found.database}"
    yield f"tables        revision {found.revision}"
    yield f"size          {size_text(found.size_bytes)}"
    if found.revision != found.newest_revision:
        yield (
            f"              older than this version, which needs {found.newest_revision}: make a "
            "backup, then run `stripewise centre init`"
        )
        return
    for table, size_bytes in found.largest_tables:
        yield f"  {table:<15} {size_text(size_bytes)}"
    if found.target_year_bytes is not None:
        yield f"  per target and year of monitoring about {size_text(found.target_year_bytes)}"
    for what, count in found.counts.items():
        yield f"{what:<13} {count}"
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.sources.items())
    yield f"profiles      {kinds or 'none'}"
    yield f"coverage      {_coverage(found)}"
    yield f"last ingest   {_moment(found.last_ingest_at)}"
    yield f"refused       {found.outcomes.get('refused', 0)}"
    for one in found.refused:
        yield f"  {one['name']}: {one['reason']}"
    if found.with_problems:
        yield "only partly stored:"
    for one in found.with_problems:
        yield f"  {one['name']}: {one['reason']}"


def _coverage(found: Status) -> str:
    if found.coverage is None:
        return "unknown: there are no records of a scheduler"
    share = f"{found.seen_jobs} of {found.recorded_jobs}"
    return f"{100 * found.coverage:.0f} %: {share} jobs that ran have a profile"


def _moment(at: int | None) -> str:
    if at is None:
        return "never"
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(at))


@command(
    epilog=examples("stripewise centre prune", "stripewise centre prune --files-older-than 365")
)
@db_option
@option("--files-older-than", "days", type=click.IntRange(min=0), metavar="DAYS",
              help="Delete the per-file rows of runs that began more than DAYS days "
                   "ago.")  # fmt: skip
@json_option
def prune(database: str, days: int | None, as_json: bool) -> None:
    """Delete old data: samples of servers by their age, expired sessions and tokens.

    Samples are kept for 14 days as they were delivered, for 90 days by the minute, for 2 years by
    the hour, and by the day for ever.  What servers counted for jobs over time is kept for 90 days
    after a job ended, and its sums for ever.  The figures, patterns, findings and profiles of jobs
    always stay. The space is used again; the file does not get smaller.
    """
    from stripewise.centre.database import create_engine
    from stripewise.centre.database.upkeep import prune as prune_now

    pruned = prune_now(create_engine(database), int(time.time()), days)
    answer(
        as_json,
        lambda: asdict(pruned),
        lambda: [
            f"dropped: {pruned.samples} samples and roll-ups, {pruned.loads} rows of what servers "
            f"counted for jobs, {pruned.files} rows of files, {pruned.logins} sessions and tokens"
        ],
    )


@command(
    epilog=examples("stripewise centre backup /backup/fleet-$(date +%F).sqlite",
                    "stripewise centre backup --db postgresql://stripewise@db/jobs jobs.dump")
)  # fmt: skip
@_file
@db_option
@json_option
def backup(file: Path, database: str, as_json: bool) -> None:
    """Write a consistent copy of the database to a new FILE, while everything runs.

    For SQLite FILE is a database, for PostgreSQL an archive that pg_dump makes.
    """
    from stripewise.centre.database import create_engine
    from stripewise.centre.database.upkeep import backup as back_up
    from stripewise.present import size_text

    back_up(create_engine(database), file)
    size = file.stat().st_size
    answer(
        as_json,
        lambda: {"file": str(file), "size_bytes": size},
        lambda: [f"wrote {file} ({size_text(size)})"],
    )


@command(
    epilog=examples("stripewise centre restore /backup/fleet-2026-07-01.sqlite",
                    "stripewise centre restore --replace --db postgresql://me@db/jobs jobs.dump")
)  # fmt: skip
@_file
@db_option
@option("--replace", is_flag=True,
              help="Replace what the database holds; its revision must be that of "
                   "the backup.")  # fmt: skip
@json_option
def restore(file: Path, database: str, replace: bool, as_json: bool) -> None:
    """Restore the backup FILE, into an empty database unless --replace is given."""
    from stripewise.centre.database import create_engine, shown, url_text
    from stripewise.centre.database.upkeep import restore as bring_back

    engine = create_engine(database)
    revision = bring_back(engine, file, replace=replace)
    name = shown(url_text(engine))
    answer(
        as_json,
        lambda: {"database": name, "revision": revision},
        lambda: [f"{name}: restored, tables of revision {revision}"],
    )


# ---- exports of the database

TABLES = ("jobs", "io", "files", "patterns", "findings", "settings", "served")


@command(
    epilog=examples(
        "stripewise centre export --format parquet /data/jobs/",
        "stripewise centre export --since 2026-01-01 --program wrf --table jobs out/",
        "stripewise centre export --as alice alice/",
    )
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@db_option
@option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="Form of the files.",
)
@option(
    "--table",
    "tables",
    type=click.Choice(TABLES),
    multiple=True,
    help="Table to write (repeatable)  [default: all]",
)
@option(
    "--as",
    "login",
    metavar="LOGIN",
    default="",
    help="Write what this account sees, instead of everything.",
)
@option("--since", metavar="DAY", default="", help="Jobs that started on this day or later.")
@option("--until", metavar="DAY", default="", help="Jobs that started before this day.")
@option("--user", metavar="NAME", default="", help="Jobs of this user.")
@option("--project", metavar="NAME", default="", help="Jobs of this project.")
@option("--program", metavar="NAME", default="", help="Jobs of this program.")
@option("--cluster", metavar="NAME", default="", help="Jobs of this cluster.")
@json_option
def export(
    directory: Path, database: str, form: str, tables: tuple[str, ...], login: str,
    as_json: bool, **words: str,
) -> None:  # fmt: skip
    """Write tables of jobs, with files, patterns, findings, settings and what servers counted.

    Each is a file in DIR.

    Whoever can open the database sees all of it; --as shows what an account of the portal sees.
    """
    from stripewise.centre.database import check, create_engine
    from stripewise.centre.database.queries import NOBODY, JobFilter, Role, Viewer, viewer_of
    from stripewise.centre.database.upkeep import export
    from stripewise.present import plural

    engine = create_engine(database)
    check(engine)
    job_filter = JobFilter.parse(words)
    with engine.connect() as connection:
        viewer = viewer_of(connection, login) if login else Viewer("", Role.ADMIN)
        if viewer == NOBODY:
            raise UsageError(
                f"no account is called {login!r}: `stripewise centre user list` names all"
            )
        counts = export(
            connection, viewer, directory, form, job_filter=job_filter, tables=tables or TABLES,
            done=lambda name, rows: note(f"{name}: {rows:,} rows"),
        )  # fmt: skip
    answer(as_json, lambda: {"directory": str(directory), "rows": counts},
           lambda: [f"wrote {plural(len(counts), 'table')} to {directory}"])  # fmt: skip


@command(
    epilog=examples(
        "stripewise centre anonymise shared.sqlite",
        "stripewise centre anonymise --db postgresql://me@db/jobs shared.sqlite",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@json_option
def anonymise(file: Path, database: str, as_json: bool) -> None:
    """Write a copy of the database to FILE that names no user, project, job, file or node.

    Names become pseudonyms with a key that nobody keeps.  Programs that fewer than five users run
    get pseudonyms as well.  Times, sizes and figures stay as they are: whoever knows when a job
    ran can find it, so share the copy only with people whom you trust with that.
    """
    from stripewise.centre.database import check, create_engine, initialise
    from stripewise.centre.database.upkeep import anonymise
    from stripewise.core import whole_file

    if file.exists():
        raise UsageError(f"{file} exists: give the name of a new file")
    engine = create_engine(database)
    check(engine)
    with whole_file(file) as place:
        target = create_engine(str(place))
        initialise(target)
        with engine.connect() as connection:
            rows = anonymise(
                connection, target, done=lambda name, number: note(f"{name}: {number:,} rows")
            )
        target.dispose()
    answer(as_json, lambda: {"file": str(file), "rows": rows},
           lambda: [f"wrote {file}: {rows:,} rows, nobody is named"])  # fmt: skip


# ---- the group


@group(
    epilog=examples(
        "stripewise centre init",
        "stripewise centre ingest /var/log/darshan --cluster archer2",
        "stripewise centre serve --config /etc/stripewise/portal.toml",
        "stripewise doctor monitor",
        "stripewise centre monitor --config /etc/stripewise/monitor.toml",
    )
)
def centre_command() -> None:
    """Keep, show and monitor the I/O of all jobs of a centre.

    A database holds what ran, its I/O, and what to do about it; the portal (`serve`) shows it to
    every user; the agent (`monitor`) watches the storage.  The database is a file of SQLite
    (~/.local/share/stripewise/fleet.sqlite), or the one that --db or the variable STRIPEWISE_DB
    names: a file, or postgresql://USER@HOST/NAME.  Passwords are best kept in ~/.pgpass.
    """


add_all(
    centre_command,
    (
        init,
        ingest,
        status,
        serve_command,
        monitor_command,
        export,
        anonymise,
        prune,
        backup,
        restore,
        user,
        token,
        grant,
        revoke,
    ),
)
