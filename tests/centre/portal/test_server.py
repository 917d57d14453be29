# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What clients may hold open, and for how long: by real sockets, with short times."""

from __future__ import annotations

import resource
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")

import uvicorn

from stripewise.centre.portal import _server
from stripewise.centre.portal._server import ConnectionLimits, connection_limits
from stripewise.centre.portal._settings import ServerSettings
from stripewise.core.errors import ConfigurationError

HEAD = b"GET /%s HTTP/1.1\r\nhost: x\r\n"
GET = HEAD + b"\r\n"
LARGE = 8 << 20
WAIT = 30.0
"""Seconds after which a test has failed."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the body, or with much for /large."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    body = b"x" * LARGE if scope["path"] == "/large" else body or b"answer"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class Served:
    """A server in a thread, and sockets to it."""

    def __init__(self, server: _server._Server, port: int) -> None:
        self.server = server
        self.port = port
        self.sockets = ExitStack()

    def connect(self, *sent: bytes) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
        self.sockets.callback(made.close)
        for one in sent:
            made.sendall(one)
        return made

    @property
    def open(self) -> int:
        return len(self.server.server_state.connections)


@contextmanager
def serving(
    connections: int = 100, certificate: Path | None = None, app: Any = application
) -> Iterator[Served]:
    room = ConnectionLimits(connections, 10 * connections, 1000, 10)
    settings = ServerSettings(certificate=certificate, key=certificate)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        server = _server.make_server(app, settings, room)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        served = Served(server, listener.getsockname()[1])
        try:
            with served.sockets:
                yield served
        finally:
            server.force_exit = True
            server.should_exit = True
            thread.join(WAIT)
            assert not thread.is_alive()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody have time."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "ANSWER_SECONDS", "HANDSHAKE_SECONDS"):
        monkeypatch.setattr(_server, name, 0.1)
    monkeypatch.setattr(_server, "SLOWEST_BYTES_PER_SECOND", 1 << 30)


def said(client: socket.socket) -> bytes:
    """Return all that comes until the other end closes."""
    found = b""
    try:
        while part := client.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        HEAD + b"x-a: ",
        GET + HEAD,
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
    ids=["nothing", "a byte", "half a head", "half a second head", "half a body", "half a chunk"],
)
def test_an_unfinished_request_expires(sent: bytes) -> None:
    with serving() as served:
        heard = said(served.connect(sent))
        assert heard.count(b"HTTP/1.1 200") == sent.startswith(GET)
        assert heard.count(b"HTTP/1.1 408") == 1
        assert served.open == 0


@pytest.mark.usefixtures("hurried")
def test_a_head_that_trickles_expires_although_something_comes() -> None:
    with serving() as served:
        client = served.connect(HEAD)
        gone = threading.Event()

        def trickle() -> None:
            while not gone.wait(0.02):
                try:
                    client.sendall(b"x-a: b\r\n")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        heard = said(client)
        gone.set()
        thread.join(WAIT)
        assert b"408" in heard or heard == b""  # a reset may overtake the answer


@pytest.mark.usefixtures("hurried")
def test_who_never_takes_a_large_answer_is_cut_off() -> None:
    with serving() as served:
        client = served.connect()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(GET % b"large")
        poll(lambda: served.server.server_state.total_requests == 1)
        poll(lambda: served.open == 0)


def test_who_takes_a_large_answer_in_time_gets_all_of_it() -> None:
    with serving() as served:
        client = served.connect((HEAD + b"connection: close\r\n\r\n") % b"large")
        head, _, body = said(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert len(body) == LARGE


def test_requests_that_come_at_once_on_one_connection_are_answered_in_order() -> None:
    with serving() as served:
        posts = [
            b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n%d" % n for n in range(9)
        ]
        client = served.connect(b"".join(posts), (HEAD + b"connection: close\r\n\r\n") % b"")
        bodies = said(client).split(b"HTTP/1.1 200")[1:]
        assert [one[-1:] for one in bodies] == [b"%d" % n for n in range(9)] + [b"r"]


def test_a_request_for_a_web_socket_is_one_like_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: eA==\r\n"
    with serving() as served:
        client = served.connect(HEAD % b"" + upgrade + b"\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert caplog.records == []


def test_where_all_places_are_taken_the_oldest_that_is_idle_makes_room() -> None:
    with serving(connections=10) as served:
        held = [served.connect(HEAD) for _ in range(30)]
        for _ in range(3):
            heard = said(served.connect((HEAD + b"connection: close\r\n\r\n") % b""))
            assert heard.startswith(b"HTTP/1.1 200")
        assert served.open <= 10
        held[0].settimeout(WAIT)
        assert said(held[0]) == b""


def test_where_all_send_slowly_the_slowest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_server, "_BODY_PATIENCE", 0.0)
    half = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc"
    with serving(connections=3) as served:
        held = [served.connect(half) for _ in range(3)]
        poll(lambda: len(served.server.server_state.tasks) == 3)
        heard = said(served.connect((HEAD + b"connection: close\r\n\r\n") % b""))
        assert heard.startswith(b"HTTP/1.1 200")
        assert said(held[0]) == b""
        held[1].sendall(b"defghij")
        assert held[1].recv(100).startswith(b"HTTP/1.1 200")


def test_where_all_places_are_at_work_a_new_client_is_told_when_to_come_again() -> None:
    let = threading.Event()

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        import asyncio

        while not let.is_set():
            await asyncio.sleep(0.01)
        await application(scope, receive, send)

    with serving(connections=3, app=busy) as served:
        working = [served.connect((HEAD + b"connection: close\r\n\r\n") % b"") for _ in range(3)]
        poll(lambda: len(served.server.server_state.tasks) == 3)
        refused = said(served.connect())
        assert refused.startswith(b"HTTP/1.1 503")
        assert b"\r\nretry-after: 10\r\n" in refused
        let.set()
        assert all(said(one).startswith(b"HTTP/1.1 200") for one in working)


@pytest.mark.usefixtures("hurried")
def test_handshakes_that_are_not_finished_expire_and_are_bounded(tmp_path: Path) -> None:
    certificate = tmp_path / "one.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-keyout", certificate, "-out", tmp_path / "c.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    certificate.write_text(certificate.read_text() + (tmp_path / "c.pem").read_text())
    with serving(connections=2, certificate=certificate) as served:
        held = [served.connect() for _ in range(20)]
        assert all(said(one) == b"" for one in held)
        context = ssl.create_default_context(cafile=str(tmp_path / "c.pem"))
        context.check_hostname = False
        client = context.wrap_socket(served.connect())
        client.sendall((HEAD + b"connection: close\r\n\r\n") % b"")
        assert said(client).startswith(b"HTTP/1.1 200")
        client.close()


def poll(is_so: Any) -> None:
    done = threading.Event()
    for _ in range(int(WAIT / 0.01)):
        if is_so():
            return
        done.wait(0.01)
    pytest.fail("it did not come about")


@pytest.mark.parametrize(
    ("soft", "hard", "wanted"),
    [
        (1024, 524288, ConnectionLimits(1000, 1384, 1384, 64)),
        (4096, 4096, ConnectionLimits(1000, 1384, 4096, 64)),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, ConnectionLimits(1000, 1384, -1, 64)),
        (256, resource.RLIM_INFINITY, ConnectionLimits(1000, 1384, 1384, 64)),
        (256, 1024, ConnectionLimits(672, 1024, 1024, 56)),
        (200, 200, ConnectionLimits(56, 200, 200, 4)),
    ],
)
def test_descriptors_are_bounded(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, wanted: ConnectionLimits
) -> None:
    limits(monkeypatch, soft, hard)
    assert connection_limits(ServerSettings(requests_at_once=8)) == wanted
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (wanted.limit, hard)


def test_too_few_descriptors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, 130, 130)
    with pytest.raises(
        ConfigurationError, match=r"^130 open files are too few.*1384.*LimitNOFILE"
    ):
        connection_limits(ServerSettings(requests_at_once=8))


def limits(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
    held = [soft, hard]

    def set_limit(_: int, given: tuple[int, int]) -> None:
        held[:] = given

    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(held))
    monkeypatch.setattr(resource, "setrlimit", set_limit)


def test_the_unit_of_systemd_has_limits_in_which_the_portal_fits() -> None:
    path = Path(__file__).parents[3] / "deploy" / "systemd" / "stripewise-portal.service"
    told = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
    assert int(told["LimitNOFILE"]) >= 1384
    assert {"MemoryMax", "TasksMax", "LogRateLimitBurst", "TimeoutStopSec"} <= set(told)


def test_uvicorn_still_asks_for_protocols_as_here() -> None:
    """What the server and the protocol rely on beyond uvicorn's documentation."""
    config = uvicorn.Config(application, http=_server.BoundedProtocol, lifespan="off")
    assert {"connections", "tasks"} <= set(vars(uvicorn.Server(config).server_state))
