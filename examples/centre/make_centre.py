# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Make a synthetic centre, to look at the portal.

python examples/centre/make_centre.py demo.sqlite
python examples/centre/make_centre.py --jobs 500 --seed 7 demo.sqlite
stripewise centre serve --db demo.sqlite
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from stripewise.centre.database import create_engine, initialise
from stripewise.core.errors import StripewiseError
from synthetic_centre import JOBS, Centre, Login, make_centre, open_accounts


@click.command()
@click.argument("database", metavar="URL|FILE")
@click.option("--jobs", type=click.IntRange(1, 1_000_000), default=JOBS, show_default=True,
              metavar="N", help="Number of jobs.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="Another seed makes other jobs.")  # fmt: skip
@click.option("--until", type=click.IntRange(min=1_000_000_000), default=None, metavar="SECONDS",
              help="When the year ends, in seconds since 1970.  [default: now]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def main(database: str, jobs: int, seed: int, until: int | None, as_json: bool) -> None:
    """Fill a database with a year of a made-up centre, and make accounts to look at it.

    Jobs, users, storage and benchmarks follow from the seed; nothing in it was measured.  The
    database must be a new one, or one without jobs.  The passwords of the accounts are printed,
    and are kept nowhere else.
    """
    try:
        engine = create_engine(database)
        initialise(engine)
        centre = make_centre(engine, seed, until=until, jobs=jobs)
        passwords = open_accounts(engine, centre.logins)
    except StripewiseError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(_document(centre, passwords)))
    else:
        click.echo("\n".join(_lines(centre, passwords)))


def _document(centre: Centre, passwords: Mapping[Login, str]) -> dict[str, Any]:
    accounts = [
        {"login": one.login, "role": one.role, "project": one.project, "password": password}
        for one, password in passwords.items()
    ]
    return {"jobs": centre.jobs, "profiles": centre.profiles, "accounts": accounts}


def _lines(centre: Centre, passwords: Mapping[Login, str]) -> Iterator[str]:
    yield f"made {centre.jobs:,} jobs with {centre.profiles:,} profiles, all of them synthetic"
    yield "accounts:"
    for one, password in passwords.items():
        yield f"  {one.login:10}  {password}   {one.title}"


if __name__ == "__main__":
    main()
