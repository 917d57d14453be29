# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A sink for Prometheus that is served, and those who ask it."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stripewise.centre.monitor import Reading
from stripewise.centre.monitor.sinks._base import create_sink
from stripewise.centre.monitor.sinks._prometheus import PrometheusSink
from support.monitor_rounds import READ, made_round

ROUND = made_round([Reading(READ, ("a", "b"), 5)])


@contextmanager
def serving(**settings: Any) -> Iterator[PrometheusSink]:
    """A sink that listens, and has `ROUND`."""
    sink = create_sink("prometheus", {"listen": "127.0.0.1:0", **settings}, "oss1")
    assert isinstance(sink, PrometheusSink)
    sink.start()
    try:
        sink.take(ROUND)
        yield sink
    finally:
        sink.stop()


def ask(
    sink: PrometheusSink, path: str = "/metrics", method: str = "GET", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Ask without TLS, and return status, body and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", sink.port, timeout=60)
    return asked(connection, path, method, headers)


def asked(
    connection: http.client.HTTPConnection, path: str, method: str, headers: dict[str, str]
) -> tuple[int, bytes, dict[str, str]]:
    """Ask, and return status, body and headers."""
    with contextlib.closing(connection):
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request(method, path, headers=sent)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.headers)


def raw(sink: PrometheusSink, data: bytes = b"") -> socket.socket:
    """Connect, and send something."""
    found = socket.create_connection(("127.0.0.1", sink.port), timeout=60)
    found.sendall(data)
    return found


def is_ended(connection: socket.socket) -> bool:
    """Wait until the server has closed a connection, having said nothing."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def ask_tls(sink: PrometheusSink, server: str, client: dict[str, str] | None = None) -> int:
    """Ask for the metrics by TLS, and return the status."""
    context = ssl.create_default_context(cafile=server)
    if client:
        context.load_cert_chain(client["certificate"], client["key"])
    connection = http.client.HTTPSConnection("127.0.0.1", sink.port, timeout=60, context=context)
    return asked(connection, "/metrics", "GET", {})[0]
