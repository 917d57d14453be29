# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The portal under load: 200 page loads at once, and among clients that keep it waiting.

Each page is answered, and none waits for longer than the work of those before it takes: a stall
would show as a wait that work does not explain, on whatever machine and beside whatever else.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import url_text
from support.databases import empty_engine, postgres_template, sqlite_template  # noqa: F401
from support.page_loads import Loaded, load, missing, page_loads
from support.portal_server import serving

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]

AT_ONCE, SECONDS = 200, 20
WANTED_SECONDS = 3.0
"""p95 of 200 page loads at once on a quiet machine of two processors."""
_HELD = 600


@pytest.fixture
def place(empty_engine: Engine, tmp_path: Path) -> Iterator[tuple[str, Path]]:  # noqa: F811
    """Address of a portal over a year of a centre, and what its users load."""
    from stripewise.centre.database import initialise
    from synthetic_centre import make_centre

    initialise(empty_engine)
    make_centre(empty_engine, jobs=1500)
    file = tmp_path / "loads"
    page_loads(empty_engine, 20, file)
    settings = tmp_path / "portal.toml"
    settings.write_text("[server]\nrequests_per_minute = 1000000\nconnections = 500\n")
    with serving(url_text(empty_engine), "--config", str(settings)) as address:
        load(address, file, 8, 5)  # what is found once an hour
        yield address, file


def told(capsys: pytest.CaptureFixture[str], what: str, found: Loaded) -> None:
    with capsys.disabled():
        print(f"\n{what}: {found}")


def test_two_hundred_page_loads_at_once(
    place: tuple[str, Path], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    address, file = place
    kind = request.node.callspec.id
    alone = load(address, file, 1, 5)
    told(capsys, f"{kind}, one at a time", alone)
    found = load(address, file, AT_ONCE, SECONDS)
    told(capsys, f"{kind}, {AT_ONCE} at once", found)
    assert found.failed == 0
    assert found.requests > 0
    assert found.p95 <= max(WANTED_SECONDS, 1.5 * AT_ONCE * alone.mean)


def test_page_loads_among_clients_that_keep_the_portal_waiting(
    place: tuple[str, Path], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    address, file = place
    parts = urlsplit(address)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 3 * _HELD)), hard))
    cookie, path = file.read_text().split("\n")[0].split(" ")
    head = f"Host: {parts.netloc}\r\nCookie: stripewise={cookie}\r\n".encode()
    large = b"GET " + path.encode() + b" HTTP/1.1\r\n" + head + b"\r\n"
    kinds = [
        b"",
        b"GET / HTTP/1.1\r\nX-a: ",
        b"POST /login HTTP/1.1\r\n" + head + b"Content-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 1000\r\n\r\nuser=",
        large,
        b"GET / HTTP/1.1\r\n" + head + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ]
    with ExitStack() as stack:
        for number in range(_HELD):
            one = stack.enter_context(socket.create_connection((parts.hostname, parts.port), 30))
            one.sendall(kinds[number % len(kinds)])
        found = load(address, file, 20, SECONDS)
        told(capsys, f"{request.node.callspec.id}, among {_HELD} others", found)
        assert found.failed == 0
        assert found.requests > 0
