# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Serves the portal, and manages its accounts, rights and API tokens."""

from __future__ import annotations

import getpass
import ipaddress
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._centre_ingest import db_option
from stripewise.cli._common import answer, echo, note, print_json
from stripewise.cli._help import command, examples, group, option
from stripewise.cli._options import file_option, json_option
from stripewise.core.errors import ConfigurationError, StorageError, UsageError
from stripewise.present import plural

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stripewise.centre.database.accounts import Account, Accounts
    from stripewise.centre.portal import PortalSettings


_ALL_ADDRESSES = ("0.0.0.0", "::", "")


@command(
    "serve",
    epilog=examples(
        "stripewise centre serve",
        "stripewise centre serve --port 9000 --db jobs.sqlite",
        "stripewise centre serve --config /etc/stripewise/portal.toml",
    ),
)
@file_option("--config", help="Settings of the portal (portal.toml).")
@db_option
@option("--host", default=None, metavar="NAME", help="Listen on this address.")
@option("--port", type=click.IntRange(0, 65535), default=None, metavar="N",
              help="Listen on this port; 0: any free port.  [default: 8080]")  # fmt: skip
def serve_command(config: Path | None, database: str, host: str | None, port: int | None) -> None:
    """Serve the portal: jobs, programs and storage, as pages for people and an API.

    Without --config it listens on this host alone, and takes local accounts (`stripewise centre
    user add`).  Other hosts reach it by HTTPS only: with a certificate in portal.toml, or behind
    a proxy whose address is `url` there.
    """
    from stripewise.core.extras import require

    require("web", "the portal")
    from stripewise.centre.database import check, create_engine
    from stripewise.centre.portal import Workers, connection_limits, create_app, make_server

    settings = _settings(config, host, port)
    server = settings.server
    engine = create_engine(database, server.database_connections)
    check(engine)
    _check_certificate(server.certificate, server.key)
    room = connection_limits(server)
    with _listening(server.host, server.port) as listener:
        if server.port == 0:
            number = listener.getsockname()[1]
            server = server.model_copy(update={"port": number})
            settings = settings.model_copy(update={"server": server})
        workers = Workers()
        app = create_app(engine, settings=settings, workers=workers)
        echo(f"the portal is at {server.origin}")
        echo(f"up to {plural(room.connections, 'connection')}, {server.requests_at_once} requests "
             f"at a time; {room.descriptors} of {room.limit} open files at most")  # fmt: skip
        _name_ways_in(engine)
        workers.begin(app, engine, server.requests_at_once)
        make_server(app, server, room).run([listener])
        workers.end()


def _settings(config: Path | None, host: str | None, port: int | None) -> PortalSettings:
    from stripewise.centre.portal import PortalSettings, read_settings

    found = PortalSettings() if config is None else read_settings(config)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = found.server.model_copy(update=given)
    if not server.is_secure and not _is_local(server.host):
        raise ConfigurationError(
            f"{server.host} can be reached from other hosts, and passwords would be sent "
            "unencrypted: give certificate and key in [server], or listen on 127.0.0.1 behind a "
            "proxy"
        )
    if not server.url and server.host in _ALL_ADDRESSES:
        raise ConfigurationError(
            f"{server.host} means every address of this host, and the portal refuses requests for "
            "any name but its own: give url in [server], the address that browsers use"
        )
    return found.model_copy(update={"server": server})


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    if certificate is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror or "they do not match"
        raise ConfigurationError(
            f"certificate {certificate} and key {key} cannot be used ({reason}): give files in "
            "PEM that this user may read"
        ) from error


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # who reads the address may connect at once, and has to wait
    except OSError as error:
        listener.close()
        raise StorageError(
            f"cannot listen on {host}:{port} ({error.strerror}): give another --host or --port"
        ) from error
    return listener


def _name_ways_in(engine: object) -> None:
    from sqlalchemy import Engine

    from stripewise.centre.database.accounts import Accounts

    assert isinstance(engine, Engine)
    if not Accounts(engine).list():
        note(
            "there are no accounts yet: make one that can log in with `stripewise centre user "
            "add NAME --role admin --password`"
        )


# `stripewise centre user`, `grant` and `revoke`: accounts of the portal, and who manages what.

_ROLES = ("user", "support", "admin")
login_argument = click.argument("login", metavar="LOGIN")
role_option = option(
    "--role", type=click.Choice(_ROLES), default="user", show_default=True,
    help="user: own jobs; support: all jobs, noted in the audit trail; admin: the same, and "
        "accounts.",
)  # fmt: skip


@group(
    epilog=examples(
        "stripewise centre user add ada --role admin --password",
        "stripewise centre user list",
        "stripewise centre user disable bob",
    )
)
def user() -> None:
    """Manage the accounts of the portal.

    Users of OpenID Connect or a proxy get an account at their first login, unless
    portal.toml says otherwise.  A user of the cluster needs no account.
    """


@user.command(
    epilog=examples(
        "stripewise centre user add ada --role admin",
        "stripewise centre user add demo --password",
        "stripewise centre user add demo --password < password.txt",
        'stripewise centre user add helpdesk --role support --person ""',
    )
)
@login_argument
@role_option
@option(
    "--person", default=None, metavar="USER",
    help='User of the cluster whose jobs belong to the account; "" for nobody.  [default: LOGIN]',
)  # fmt: skip
@option(
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
    echo(f"account {made.login}: {made.role}, opened by {way}, {_owner(made)}")


@user.command("list", epilog=examples("stripewise centre user list --json | jq '.[].login'"))
@db_option
@json_option
def list_users(database: str, as_json: bool) -> None:
    """List all accounts, and who manages which project."""
    from stripewise.centre.database.accounts import Managers

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


@user.command(epilog=examples("stripewise centre user disable bob"))
@login_argument
@db_option
def disable(login: str, database: str) -> None:
    """Disable an account: its sessions end at once, its tokens are revoked."""
    _accounts(database).disable(login, by=actor())
    echo(f"account {login} is disabled")


@user.command(epilog=examples("stripewise centre user enable bob"))
@login_argument
@db_option
def enable(login: str, database: str) -> None:
    """Enable a disabled account; its tokens stay revoked."""
    _accounts(database).enable(login, by=actor())
    echo(f"account {login} is enabled")


@user.command(
    epilog=examples(
        "stripewise centre user password ada",
        "stripewise centre user password ada < password.txt",
        "stripewise centre user password ada --remove",
    )
)
@login_argument
@option("--remove", is_flag=True, help="Open the account by the centre's login instead.")
@db_option
def password(login: str, remove: bool, database: str) -> None:
    """Set a local password, typed in or read from standard input.

    The sessions of the account end.
    """
    accounts = _accounts(database)
    accounts.set_password(login, "" if remove else _new_password(login), by=actor())
    echo(f"the password of {login} is {'removed' if remove else 'set'}")


@user.command(epilog=examples("stripewise centre user role ada admin"))
@login_argument
@click.argument("role", type=click.Choice(_ROLES))
@db_option
def role(login: str, role: str, database: str) -> None:
    """Give an account another role; its sessions end."""
    _accounts(database).set_role(login, role, by=actor())
    echo(f"account {login} has the role {role}")


@user.command(epilog=examples("stripewise centre user person a.lovelace ada"))
@login_argument
@click.argument("person", metavar="USER")
@db_option
def person(login: str, person: str, database: str) -> None:
    """Set whose jobs an account owns: those of a user of the cluster, or "" for nobody."""
    _accounts(database).link(login, person, by=actor())
    echo(f"account {login}: own jobs are those of {person or 'nobody'}")


_manages = option("--manages", "project", required=True, metavar="PROJECT",
                        help="Project, as Slurm names its account.")  # fmt: skip
_user = click.argument("user", metavar="USER")


@command(epilog=examples("stripewise centre grant grace --manages climate"))
@_user
@_manages
@db_option
def grant(user: str, project: str, database: str) -> None:
    """Make a user the manager of a project: they see all its jobs."""
    from stripewise.centre.database.accounts import Managers

    Managers(opened(database)).grant(user, project, by=actor())
    echo(f"{user} manages {project}")


@command(epilog=examples("stripewise centre revoke grace --manages climate"))
@_user
@_manages
@db_option
def revoke(user: str, project: str, database: str) -> None:
    """Make the manager of a project a plain member again."""
    from stripewise.centre.database.accounts import Managers

    Managers(opened(database)).revoke(user, project, by=actor())
    echo(f"{user} does not manage {project}")


def opened(database: str) -> Engine:
    """Return the engine of a database whose tables are up to date."""
    from stripewise.centre.database import check, create_engine

    engine = create_engine(database)
    check(engine)
    return engine


def actor() -> str:
    """Return the name of the user who runs the command, for the audit trail."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return "cli"


def day(seconds: int | None) -> str:
    """Return seconds since 1970 as a date; "never" if there are none."""
    return "never" if seconds is None else time.strftime("%Y-%m-%d", time.localtime(seconds))


def _accounts(database: str) -> Accounts:
    from stripewise.centre.database.accounts import Accounts

    return Accounts(opened(database))


def _new_password(login: str) -> str:
    """Prompt for a password twice, or read it as a line from a pipe."""
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
    from stripewise.present import aligned

    if not found:
        yield "there are no accounts yet: `stripewise centre user add` makes one"
        return
    head = ("login", "role", "own jobs of", "opened by", "last login", "manages")
    yield from aligned([head, *(_row(one, managed.get(one.person, [])) for one in found)])


def _row(one: Account, projects: list[str]) -> tuple[str, ...]:
    way = "its password" if one.has_password else "centre's login"
    return (one.login, one.role, one.person or "nobody",
            "disabled" if one.is_disabled else way, day(one.last_seen_at),
            ", ".join(projects) or "-")  # fmt: skip


def _owner(one: Account) -> str:
    return f"own jobs are those of {one.person}" if one.person else "no jobs of its own"


# `stripewise centre token`: tokens of the API.

_SCOPES = ("read", "read:files")


@group(
    epilog=examples(
        "stripewise centre token add ada scripts --scope read",
        "stripewise centre token list",
        "stripewise centre token revoke 3",
    )
)
def token() -> None:
    """Manage the tokens by which programs use the portal's API."""


@token.command(
    "add",
    epilog=examples(
        "stripewise centre token add ada scripts --scope read > ~/.stripewise-token",
        "stripewise centre token add robot nightly --scope read:files --days 30",
    ),
)
@login_argument
@click.argument("name", metavar="NAME")
@option(
    "--scope", "scopes", multiple=True, required=True, type=click.Choice(_SCOPES),
    help="Access that the token gives; read: what the account sees; read:files: names of files as "
        "well (repeatable).",
)  # fmt: skip
@option("--days", default=90, show_default=True, metavar="N", help="Lifetime in days.")
@db_option
@json_option
def add_token(
    login: str, name: str, scopes: tuple[str, ...], days: int, database: str, as_json: bool
) -> None:
    """Make a token for an account and print its secret, which is not kept.

    LOGIN is the account whose rights it has; NAME says what it is for.
    """
    from stripewise.centre.database.accounts import Tokens

    secret, made = Tokens(opened(database)).make(login, name, scopes, by=actor(), days=days)
    if as_json:
        print_json({"token": secret, **asdict(made)})
        return
    echo(secret, wrap=False)
    note(f"token {made.id} of {login} is good until {day(made.expires_at)}; it is shown only now")


@token.command(
    "list", epilog=examples("stripewise centre token list", "stripewise centre token list ada")
)
@click.argument("login", default="", metavar="[LOGIN]")
@db_option
@json_option
def list_tokens(login: str, database: str, as_json: bool) -> None:
    """List the tokens of an account, or of all, without their secrets."""
    from stripewise.centre.database.accounts import Tokens
    from stripewise.present import aligned

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


@token.command("revoke", epilog=examples("stripewise centre token revoke 3"))
@click.argument("number", type=int, metavar="NUMBER")
@db_option
def revoke_token(number: int, database: str) -> None:
    """Revoke a token by its number in the list."""
    from stripewise.centre.database.accounts import Tokens

    Tokens(opened(database)).revoke(number, by=actor())
    echo(f"token {number} is revoked")
