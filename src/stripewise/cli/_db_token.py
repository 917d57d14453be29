# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise db token`: tokens of the API."""

from __future__ import annotations

from dataclasses import asdict

import click

from stripewise.cli._common import answer, echo, examples, json_option, note, print_json
from stripewise.cli._db_ingest import db_option
from stripewise.cli._db_user import actor, aligned, day, login_argument, opened

_SCOPES = ("read", "read:files")


@click.group(
    epilog=examples(
        "stripewise db token add ada scripts --scope read",
        "stripewise db token list",
        "stripewise db token revoke 3",
    )
)
def token() -> None:
    """Manage the tokens by which programs use the portal's API."""


@token.command(
    epilog=examples(
        "stripewise db token add ada scripts --scope read > ~/.stripewise-token",
        "stripewise db token add robot nightly --scope read:files --days 30",
    )
)
@login_argument
@click.argument("name", metavar="NAME")
@click.option(
    "--scope", "scopes", multiple=True, required=True, type=click.Choice(_SCOPES),
    help="What it may do: read what the account sees, or names of files, too (repeatable).",
)  # fmt: skip
@click.option("--days", default=90, show_default=True, metavar="N", help="Lifetime in days.")
@db_option
@json_option
def add(
    login: str, name: str, scopes: tuple[str, ...], days: int, database: str, as_json: bool
) -> None:
    """Make a token for an account and print its secret, which is not kept.

    LOGIN is the account it stands for, NAME says what it is for.
    """
    from stripewise.fleet.accounts import Tokens

    secret, made = Tokens(opened(database)).make(login, name, scopes, by=actor(), days=days)
    if as_json:
        print_json({"token": secret, **asdict(made)})
        return
    echo(secret, wrap=False)
    note(f"token {made.id} of {login} is good until {day(made.expires_at)}; it is shown only now")


@token.command("list", epilog=examples("stripewise db token list", "stripewise db token list ada"))
@click.argument("login", default="", metavar="[LOGIN]")
@db_option
@json_option
def list_tokens(login: str, database: str, as_json: bool) -> None:
    """List the tokens of an account, or of all, without their secrets."""
    from stripewise.fleet.accounts import Tokens

    tokens = Tokens(opened(database))
    found = tokens.list(login)
    now = tokens.now()
    head = ("number", "login", "name", "scopes", "expires", "last used")
    rows = [
        (str(one.id), one.login, one.name, " ".join(one.scopes),
         day(one.expires_at) if one.expires_at > now else "expired", day(one.used_at))
        for one in found
    ]  # fmt: skip
    answer(
        as_json,
        lambda: [asdict(one) for one in found],
        lambda: aligned([head, *rows]) if rows else ["there are no tokens"],
    )


@token.command(epilog=examples("stripewise db token revoke 3"))
@click.argument("number", type=int, metavar="NUMBER")
@db_option
def revoke(number: int, database: str) -> None:
    """Revoke a token by its number in the list."""
    from stripewise.fleet.accounts import Tokens

    Tokens(opened(database)).revoke(number, by=actor())
    echo(f"token {number} is revoked")
