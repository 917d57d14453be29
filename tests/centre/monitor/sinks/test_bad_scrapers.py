# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the Prometheus sink that do not behave: they get little, and disturb nobody."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stripewise.centre.monitor import Reading
from stripewise.centre.monitor.sinks import _prometheus as http_module
from stripewise.centre.monitor.sinks._prometheus import PrometheusSink
from support.certificates import make_certificate
from support.monitor_rounds import READ, made_round
from support.scraping import ask, ask_tls, is_ended, raw, serving


@pytest.fixture
def sink() -> Iterator[PrometheusSink]:
    with serving() as found:
        yield found


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    make_certificate(tmp_path)
    (tmp_path / "key.pem").chmod(0o600)
    return {"certificate": str(tmp_path / "cert.pem"), "key": str(tmp_path / "key.pem")}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"501"),
        (b"GET /metrics HTTP/9.9\r\n\r\n", b"505"),
        (b"GARBAGE\r\n\r\n", b"400"),
        (b"GET " + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", b"404"),
        (b"\x00\xff\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n" + b"".join(b"a%d: b\r\n" % n for n in range(200)) + b"\r\n",
         b"431"),
    ],
)  # fmt: skip
def test_a_bad_request_gets_a_short_answer(
    sink: PrometheusSink, request_bytes: bytes, status: bytes
):
    with raw(sink, request_bytes) as connection:
        said = b"".join(iter(lambda: connection.recv(4096), b""))
    assert status in said[:30]
    assert len(said) < 600
    assert ask(sink)[0] == 200


@pytest.mark.extended
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), is_head=st.booleans())
def test_no_request_disturbs(sink: PrometheusSink, data: bytes, is_head: bool):
    """Noise alone, or after a request that begins well."""
    head = b"GET /metrics HTTP/1.1\r\nAccept: " if is_head else b""
    with raw(sink, head + data + b"\r\n\r\n") as connection:
        with contextlib.suppress(ConnectionError):
            while connection.recv(4096):
                pass
    assert ask(sink)[0] == 200


def test_a_huge_request_is_not_read(sink: PrometheusSink):
    connection = raw(sink)
    with contextlib.suppress(ConnectionError):
        for _ in range(1000):
            connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 4096)
    assert is_ended(connection)
    assert ask(sink)[0] == 200


def test_a_request_that_breaks_off_is_dropped(sink: PrometheusSink):
    with raw(sink, b"GET /metrics HT") as connection:
        connection.shutdown(socket.SHUT_WR)
        assert is_ended(connection)


def test_who_holds_all_connections_shuts_nobody_out(sink: PrometheusSink):
    held = [raw(sink) for _ in range(http_module.MOST_CONNECTIONS)]
    assert ask(sink)[0] == 200
    assert is_ended(held[0])
    with raw(sink, b"GET /-/healthy HTTP/1.1\r\n\r\n") as further:
        assert b"200" in further.recv(4096)[:30]
    for connection in held:
        connection.close()


def test_connections_are_bounded(sink: PrometheusSink, monkeypatch: pytest.MonkeyPatch):
    """Also if those that were ended do not close, as where a processor is busy."""
    monkeypatch.setattr(http_module, "_shut", lambda _: None)
    most = 2 * http_module.MOST_CONNECTIONS
    held = [raw(sink) for _ in range(most)]
    with raw(sink, b"GET /metrics HTTP/1.1\r\n\r\n") as further:
        assert is_ended(further)
    for connection in held:
        connection.close()
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if ask(sink)[0] == 200:
                return
        assert time.monotonic() < end


@pytest.mark.extended
def test_slow_clients_are_ended(monkeypatch: pytest.MonkeyPatch, certificate: dict[str, str]):
    """Whether they say nothing, do not shake hands, send slowly, or do not read."""
    monkeypatch.setattr(http_module, "CONNECTION_SECONDS", 0.6)
    many = (Reading(READ, ("x" * 100, str(number)), 1) for number in range(60_000))
    with serving() as plain, serving(**certificate) as tls:
        plain.take(made_round(many, 0, "large"))
        unread = raw(plain, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert is_ended(raw(plain))
        assert is_ended(raw(plain, b"GET / HTTP/1.1\r\nX: "))
        assert is_ended(raw(tls))
        got = 0  # it came before the silent ones, and was ended before them
        with contextlib.suppress(ConnectionError):
            while piece := unread.recv(1 << 20):
                got += len(piece)
        assert got < 10_000_000  # of 11 MB: what the kernel had
        monkeypatch.setattr(http_module, "CONNECTION_SECONDS", 20.0)
        assert ask(plain, "/-/healthy")[0] == 200
        assert ask_tls(tls, certificate["certificate"]) == 200


def test_rounds_come_while_it_is_scraped(sink: PrometheusSink):
    ending = threading.Event()

    def take() -> None:
        number = 0
        while not ending.is_set():
            number += 1
            same = [Reading(READ, ("a", str(target)), number) for target in range(50)]
            sink.take(made_round(same, number))
            time.sleep(0.001)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        for _ in range(50):
            lines = ask(sink)[1].decode().splitlines()[2:]
            assert len({line.rpartition(" ")[2] for line in lines}) == 1  # one round, whole
    finally:
        ending.set()
        thread.join()


def test_it_leaves_no_thread_behind():
    before = set(threading.enumerate())
    with serving() as sink:
        held = raw(sink)
        ask(sink)
    assert is_ended(held)
    end = time.monotonic() + 60
    while set(threading.enumerate()) - before:
        assert time.monotonic() < end
        time.sleep(0.01)
