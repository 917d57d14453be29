# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise db init|status|prune|backup|restore`: the database kept in order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, examples, json_option
from stripewise.cli._db_ingest import db_option

if TYPE_CHECKING:
    from stripewise.fleet.upkeep import Status

_file = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))


@click.command(
    epilog=examples(
        "stripewise db init",
        "stripewise db init --db /var/lib/stripewise/fleet.sqlite",
        "stripewise db init --db postgresql://stripewise@db.example.org/jobs",
    )
)
@db_option
@json_option
def init(database: str, as_json: bool) -> None:
    """Make the tables, or bring those of an earlier version up to date.

    Data stay; make a backup before an update.
    """
    from stripewise.fleet import create_engine, initialise, shown, sqlite_file, str_of

    engine = create_engine(database)
    file = sqlite_file(engine)
    if file is not None and not database and not file.parent.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    revision = initialise(engine)
    name = shown(str_of(engine))
    answer(
        as_json,
        lambda: {"database": name, "revision": revision},
        lambda: [f"{name}: tables of revision {revision} are ready"],
    )


@click.command(
    epilog=examples("stripewise db status", "stripewise db status --json | jq .coverage")
)
@db_option
@json_option
def status(database: str, as_json: bool) -> None:
    """Show what the database holds, how many jobs are seen, and which inputs were refused."""
    from stripewise.fleet import create_engine
    from stripewise.fleet.upkeep import status as status_of

    found = status_of(create_engine(database))
    answer(as_json, found.as_json, lambda: _lines(found))


def _lines(found: Status) -> Iterator[str]:
    from stripewise.text import size_text

    yield f"database      {found.database}"
    yield f"tables        revision {found.revision}"
    yield f"size          {size_text(found.size_bytes)}"
    if found.revision != found.newest_revision:
        yield (
            f"              older than this version, which needs {found.newest_revision}: make a "
            "backup, then run `stripewise db init`"
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
        yield "only a part was taken in of"
    for one in found.with_problems:
        yield f"  {one['name']}: {one['reason']}"


def _coverage(found: Status) -> str:
    if found.coverage is None:
        return "unknown: no record of a scheduler is there"
    share = f"{found.seen_jobs} of {found.recorded_jobs}"
    return f"{100 * found.coverage:.0f} %: {share} jobs that ran have a profile"


def _moment(at: int | None) -> str:
    if at is None:
        return "never"
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(at))


@click.command(
    epilog=examples("stripewise db prune", "stripewise db prune --files-older-than 365")
)
@db_option
@click.option("--files-older-than", "days", type=click.IntRange(min=0), metavar="DAYS",
              help="Drop the rows of single files of runs that began earlier.")  # fmt: skip
@json_option
def prune(database: str, days: int | None, as_json: bool) -> None:
    """Drop what is old: samples of servers by their age, sessions and tokens that expired.

    Samples are kept for 14 days as they came, for 90 days by the minute, for 2 years by the hour,
    and by the day for ever.  What servers counted for jobs over time is kept for 90 days after a
    job ended, and its sums for ever.  The figures, patterns, findings and profiles of jobs always
    stay.
    The room is used again; the file does not get smaller.
    """
    from stripewise.fleet import create_engine
    from stripewise.fleet.upkeep import prune as prune_now

    gone = prune_now(create_engine(database), int(time.time()), days)
    answer(
        as_json,
        lambda: asdict(gone),
        lambda: [
            f"dropped: {gone.samples} samples and roll-ups, {gone.loads} rows of what servers "
            f"counted for jobs, {gone.files} rows of files, {gone.logins} sessions and tokens"
        ],
    )


@click.command(
    epilog=examples("stripewise db backup /backup/fleet-$(date +%F).sqlite",
                    "stripewise db backup --db postgresql://stripewise@db/jobs jobs.dump")
)  # fmt: skip
@_file
@db_option
@json_option
def backup(file: Path, database: str, as_json: bool) -> None:
    """Write the database to a new FILE, as it is at one moment; nobody needs to stop meanwhile.

    Of SQLite FILE is a database again; of PostgreSQL it is an archive that pg_dump makes.
    """
    from stripewise.fleet import create_engine
    from stripewise.fleet.upkeep import backup as back_up
    from stripewise.text import size_text

    back_up(create_engine(database), file)
    size = file.stat().st_size
    answer(
        as_json,
        lambda: {"file": str(file), "size_bytes": size},
        lambda: [f"wrote {file} ({size_text(size)})"],
    )


@click.command(
    epilog=examples("stripewise db restore /backup/fleet-2026-07-01.sqlite",
                    "stripewise db restore --replace --db postgresql://me@db/jobs jobs.dump")
)  # fmt: skip
@_file
@db_option
@click.option("--replace", is_flag=True,
              help="Drop what the database holds; its revision must be the same.")  # fmt: skip
@json_option
def restore(file: Path, database: str, replace: bool, as_json: bool) -> None:
    """Bring the backup FILE back, into an empty database unless --replace is given."""
    from stripewise.fleet import create_engine, shown, str_of
    from stripewise.fleet.upkeep import restore as bring_back

    engine = create_engine(database)
    revision = bring_back(engine, file, replace=replace)
    name = shown(str_of(engine))
    answer(
        as_json,
        lambda: {"database": name, "revision": revision},
        lambda: [f"{name}: restored, tables of revision {revision}"],
    )
