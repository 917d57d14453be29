# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise db`: the statistics database, and what is taken into it."""

from __future__ import annotations

import click

from stripewise.cli._common import examples
from stripewise.cli._db_export import anonymise, export
from stripewise.cli._db_ingest import ingest
from stripewise.cli._db_keep import backup, init, prune, restore, status
from stripewise.cli._db_token import token
from stripewise.cli._db_user import grant, revoke, user


@click.group(
    epilog=examples(
        "stripewise db init",
        "stripewise db ingest /var/log/darshan --cluster archer2",
        "stripewise db status",
        "STRIPEWISE_DB=postgresql://stripewise@db/jobs stripewise db ingest --watch 300 /logs",
    )
)
def command() -> None:
    """Keep the statistics of jobs in a database: what ran, its I/O, what to do about it.

    The database is a file of SQLite (~/.local/share/stripewise/fleet.sqlite), or the one that
    --db or the variable STRIPEWISE_DB names: a file, or postgresql://USER@HOST/NAME.  Passwords
    are best kept in ~/.pgpass.
    """


for _one in (
    init,
    ingest,
    status,
    export,
    anonymise,
    prune,
    backup,
    restore,
    user,
    token,
    grant,
    revoke,
):
    command.add_command(_one)
