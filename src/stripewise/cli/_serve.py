# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise serve`: the portal."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import echo, examples, file_option, note
from stripewise.cli._db_ingest import db_option
from stripewise.errors import ConfigurationError, StorageError
from stripewise.text import plural

if TYPE_CHECKING:
    from stripewise.web import PortalSettings

_ALL_ADDRESSES = ("0.0.0.0", "::", "")


@click.command(
    epilog=examples(
        "stripewise serve",
        "stripewise serve --port 9000 --db jobs.sqlite",
        "stripewise serve --config /etc/stripewise/portal.toml",
    )
)
@file_option("--config", help="Settings of the portal (portal.toml).")
@db_option
@click.option("--host", default=None, metavar="NAME", help="Listen at this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=None, metavar="N",
              help="Listen at this port; 0: any that is free.  [default: 8080]")  # fmt: skip
def command(config: Path | None, database: str, host: str | None, port: int | None) -> None:
    """Serve the portal: jobs, programs and storage, as pages for people and an API.

    Without --config it listens on this host alone, and takes local accounts (`stripewise db user
    add`).  Other hosts reach it by HTTPS only: by a certificate in portal.toml, or behind a proxy
    whose address is `url` there.
    """
    from stripewise.extras import require

    require("web", "the portal")
    from stripewise.fleet import check, create_engine
    from stripewise.web import Workers, create_app, make_room, make_server

    settings = _settings(config, host, port)
    server = settings.server
    engine = create_engine(database, server.database_connections)
    check(engine)
    _check_certificate(server.certificate, server.key)
    room = make_room(server)
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
    from stripewise.web import PortalSettings, read_settings

    found = PortalSettings() if config is None else read_settings(config, PortalSettings)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = found.server.model_copy(update=given)
    if not server.is_secure and not _is_local(server.host):
        raise ConfigurationError(
            f"{server.host} is reached from other hosts, and passwords would go there in plain: "
            "give certificate and key in [server], or listen at 127.0.0.1 behind a proxy"
        )
    if not server.url and server.host in _ALL_ADDRESSES:
        raise ConfigurationError(
            f"{server.host} is each address of this host, and requests for other names than the "
            "portal's are refused: give url in [server], as browsers see it"
        )
    return found.model_copy(update={"server": server})


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    if certificate is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror or "they do not belong together"
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
        listener.listen()  # who reads the address may come at once, and waits
    except OSError as error:
        listener.close()
        raise StorageError(
            f"cannot listen at {host}:{port} ({error.strerror}): give another --host or --port"
        ) from error
    return listener


def _name_ways_in(engine: object) -> None:
    from sqlalchemy import Engine

    from stripewise.fleet.accounts import Accounts

    assert isinstance(engine, Engine)
    if not Accounts(engine).list():
        note("there are no accounts yet: make one that can log in with `stripewise db user add "
             "NAME --role admin --password`")  # fmt: skip
