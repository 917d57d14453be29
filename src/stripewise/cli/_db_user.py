# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise db user`, `grant` and `revoke`: accounts of the portal, and who manages what."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, echo, examples, json_option
from stripewise.cli._db_ingest import db_option
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stripewise.fleet.accounts import Account, Accounts

_ROLES = ("user", "support", "admin")
login_argument = click.argument("login", metavar="LOGIN")
role_option = click.option(
    "--role", type=click.Choice(_ROLES), default="user", show_default=True,
    help="user: own jobs; support: all jobs, noted in the audit trail; admin: accounts, too.",
)  # fmt: skip


@click.group(
    epilog=examples(
        "stripewise db user add ada --role admin --password",
        "stripewise db user list",
        "stripewise db user disable bob",
    )
)
def user() -> None:
    """Manage the accounts of the portal.

    Users of OpenID Connect or a proxy get an account at their first login, unless
    portal.toml says otherwise.  A user of the cluster needs no account.
    """


@user.command(
    epilog=examples(
        "stripewise db user add ada --role admin",
        "stripewise db user add demo --password",
        "stripewise db user add demo --password < password.txt",
        'stripewise db user add helpdesk --role support --person ""',
    )
)
@login_argument
@role_option
@click.option(
    "--person", default=None, metavar="USER",
    help='User of the cluster whose jobs are its own; "" for nobody.  [default: LOGIN]',
)  # fmt: skip
@click.option(
    "--password", "has_password", is_flag=True,
    help="Ask for a local password, or read it from standard input; without one, the account "
    "is opened by OpenID Connect or a proxy.",
)  # fmt: skip
@db_option
def add(login: str, role: str, person: str | None, has_password: bool, database: str) -> None:
    """Make an account."""
    accounts = _accounts(database)
    password = _new_password(login) if has_password else ""
    made = accounts.make(login, by=actor(), role=role, person=person, password=password)
    way = "a password of its own" if made.has_password else "the centre's login"
    echo(f"account {made.login}: {made.role}, opened by {way}, {_whose(made)}")


@user.command("list", epilog=examples("stripewise db user list --json | jq '.[].login'"))
@db_option
@json_option
def list_users(database: str, as_json: bool) -> None:
    """List all accounts, and who manages which project."""
    from stripewise.fleet.accounts import Managers

    engine = opened(database)
    found = _accounts(database).list()
    managed: dict[str, list[str]] = {}
    for project, person in Managers(engine).list():
        managed.setdefault(person, []).append(project)
    answer(
        as_json,
        lambda: [{**asdict(one), "manages": managed.get(one.person, [])} for one in found],
        lambda: _lines(found, managed),
    )


@user.command(epilog=examples("stripewise db user disable bob"))
@login_argument
@db_option
def disable(login: str, database: str) -> None:
    """Let an account in no more: its sessions end at once, its tokens are revoked."""
    _accounts(database).disable(login, by=actor())
    echo(f"account {login} is disabled")


@user.command(epilog=examples("stripewise db user enable bob"))
@login_argument
@db_option
def enable(login: str, database: str) -> None:
    """Let a disabled account in again; its tokens stay revoked."""
    _accounts(database).enable(login, by=actor())
    echo(f"account {login} is enabled")


@user.command(
    epilog=examples(
        "stripewise db user password ada",
        "stripewise db user password ada < password.txt",
        "stripewise db user password ada --remove",
    )
)
@login_argument
@click.option("--remove", is_flag=True, help="Open the account by the centre's login instead.")
@db_option
def password(login: str, remove: bool, database: str) -> None:
    """Set a local password; it is asked for, or read from standard input.

    The sessions of the account end.
    """
    accounts = _accounts(database)
    accounts.set_password(login, "" if remove else _new_password(login), by=actor())
    echo(f"the password of {login} is {'removed' if remove else 'set'}")


@user.command(epilog=examples("stripewise db user role ada admin"))
@login_argument
@click.argument("role", type=click.Choice(_ROLES))
@db_option
def role(login: str, role: str, database: str) -> None:
    """Give an account another role; its sessions end."""
    _accounts(database).set_role(login, role, by=actor())
    echo(f"account {login} has the role {role}")


@user.command(epilog=examples("stripewise db user person a.lovelace ada"))
@login_argument
@click.argument("person", metavar="USER")
@db_option
def person(login: str, person: str, database: str) -> None:
    """Say whose jobs are an account's own: a user of the cluster, or "" for nobody."""
    _accounts(database).link(login, person, by=actor())
    echo(f"account {login}: own jobs are those of {person or 'nobody'}")


_manages = click.option("--manages", "project", required=True, metavar="PROJECT",
                        help="Project, as Slurm names its account.")  # fmt: skip
_user = click.argument("user", metavar="USER")


@click.command(epilog=examples("stripewise db grant grace --manages climate"))
@_user
@_manages
@db_option
def grant(user: str, project: str, database: str) -> None:
    """Make a user the manager of a project: they see all its jobs."""
    from stripewise.fleet.accounts import Managers

    Managers(opened(database)).grant(user, project, by=actor())
    echo(f"{user} manages {project}")


@click.command(epilog=examples("stripewise db revoke grace --manages climate"))
@_user
@_manages
@db_option
def revoke(user: str, project: str, database: str) -> None:
    """Make the manager of a project a plain member again."""
    from stripewise.fleet.accounts import Managers

    Managers(opened(database)).revoke(user, project, by=actor())
    echo(f"{user} does not manage {project}")


def opened(database: str) -> Engine:
    """Return the engine of a database whose tables are up to date."""
    from stripewise.fleet import check, create_engine

    engine = create_engine(database)
    check(engine)
    return engine


def actor() -> str:
    """Return who runs the command, for the audit trail."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return "cli"


def day(seconds: int | None) -> str:
    """Return a day for people; "never" if there is none."""
    return "never" if seconds is None else time.strftime("%Y-%m-%d", time.localtime(seconds))


def aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Return lines with their columns below one another."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()


def _accounts(database: str) -> Accounts:
    from stripewise.fleet.accounts import Accounts

    return Accounts(opened(database))


def _new_password(login: str) -> str:
    """Ask for a password twice, or read a line that is piped in."""
    if sys.stdin.isatty():
        text: str = click.prompt(
            f"New password of {login}", hide_input=True, confirmation_prompt=True, err=True
        )
        return text
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise UsageError("standard input has no password: pipe in one line, or use a terminal")
    return line


def _lines(found: list[Account], managed: dict[str, list[str]]) -> Iterator[str]:
    if not found:
        yield "there are no accounts yet: `stripewise db user add` makes one"
        return
    head = ("login", "role", "own jobs of", "opened by", "last login", "manages")
    yield from aligned([head, *(_row(one, managed.get(one.person, [])) for one in found)])


def _row(one: Account, projects: list[str]) -> tuple[str, ...]:
    way = "its password" if one.has_password else "centre's login"
    return (one.login, one.role, one.person or "nobody",
            "disabled" if one.is_disabled else way, day(one.last_seen_at),
            ", ".join(projects) or "-")  # fmt: skip


def _whose(one: Account) -> str:
    return f"own jobs are those of {one.person}" if one.person else "no jobs of its own"
