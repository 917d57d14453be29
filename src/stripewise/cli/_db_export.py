# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise db export` and `anonymise`: what is in the database, for others."""

from __future__ import annotations

from pathlib import Path

import click

from stripewise.cli._common import answer, examples, json_option, note
from stripewise.cli._db_ingest import db_option
from stripewise.errors import UsageError

TABLES = ("jobs", "io", "files", "patterns", "findings", "settings", "served")


@click.command(
    epilog=examples(
        "stripewise db export --format parquet /data/jobs/",
        "stripewise db export --since 2026-01-01 --program wrf --table jobs --table findings out/",
        "stripewise db export --as alice alice/",
    )
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@db_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="Form of the files.",
)
@click.option(
    "--table",
    "tables",
    type=click.Choice(TABLES),
    multiple=True,
    help="Table to write (repeatable)  [default: all]",
)
@click.option(
    "--as",
    "login",
    metavar="LOGIN",
    default="",
    help="Write what this account sees, instead of everything.",
)
@click.option("--since", metavar="DAY", default="", help="Jobs that started on this day or later.")
@click.option("--until", metavar="DAY", default="", help="Jobs that started before this day.")
@click.option("--user", metavar="NAME", default="", help="Jobs of this user.")
@click.option("--project", metavar="NAME", default="", help="Jobs of this project.")
@click.option("--program", metavar="NAME", default="", help="Jobs of this program.")
@click.option("--cluster", metavar="NAME", default="", help="Jobs of this cluster.")
@json_option
def export(
    directory: Path, database: str, form: str, tables: tuple[str, ...], login: str,
    as_json: bool, **words: str,
) -> None:  # fmt: skip
    """Write tables of jobs, with files, patterns, findings, settings and what servers counted.

    Each is a file in DIR.

    Whoever can open the database sees all of it; --as shows what an account of the portal sees.
    """
    from stripewise.fleet import check, create_engine, export
    from stripewise.fleet.queries import NOBODY, JobFilter, Role, Viewer, viewer_of
    from stripewise.text import plural

    engine = create_engine(database)
    check(engine)
    asked = JobFilter.parse(words)
    with engine.connect() as connection:
        viewer = viewer_of(connection, login) if login else Viewer("", Role.ADMIN)
        if viewer == NOBODY:
            raise UsageError(
                f"no account is called {login!r}: `stripewise db user list` names all"
            )
        counts = export(
            connection, viewer, directory, form, asked=asked, tables=tables or TABLES,
            done=lambda name, rows: note(f"{name}: {rows:,} rows"),
        )  # fmt: skip
    answer(as_json, lambda: {"directory": str(directory), "rows": counts},
           lambda: [f"wrote {plural(len(counts), 'table')} to {directory}"])  # fmt: skip


@click.command(
    epilog=examples(
        "stripewise db anonymise shared.sqlite",
        "stripewise db anonymise --db postgresql://stripewise@db/jobs shared.sqlite",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@json_option
def anonymise(file: Path, database: str, as_json: bool) -> None:
    """Write a copy of the database to FILE that names no user, project, job, file or node.

    Names become pseudonyms with a key that nobody keeps.  Programs that fewer than five users run
    are named like them.  Times, sizes and figures stay as they are: who knows when a job ran
    can find it again, so share the copy with people whom you trust that far.
    """
    from stripewise.fleet import anonymise, check, create_engine, initialise
    from stripewise.outputs import whole_file

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
