# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A database by HTTP that answers as tests say, and keeps what it was sent."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Said(NamedTuple):
    """An answer; status 0 closes the connection, -1 says nothing at all."""

    status: int = 204
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class FakeInflux:
    """The database.

    Attributes:
        answers: For the next requests, in order; then it takes everything.
        refused: Text of lines that it refuses with 400, whatever else comes along.
        taken: Bodies of requests that it took.
        paths / headers: Of all requests.
    """

    def __init__(self) -> None:
        self.answers: list[Said] = []
        self.refused = ""
        self.taken: list[str] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.ending = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Said:
        """Decide what to answer."""
        self.paths.append(path)
        self.headers.append(headers)
        text = gzip.decompress(body).decode()
        said = self.answers.pop(0) if self.answers else Said()
        if self.refused and self.refused in text:
            said = Said(400, '{"error":"unable to parse\\u001b[1m: bad line\\nsecond line"}')
        if said.status == 204:
            self.taken.append(text)
        return said


@contextmanager
def fake_influx() -> Iterator[FakeInflux]:
    """Start one; stop it at the end."""
    fake = FakeInflux()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            said = fake.answer(self.path, dict(self.headers), body)
            if said.status == -1:
                fake.ending.wait(60)
            if said.status <= 0:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(said.status)
            for key, value in said.headers:
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(said.body.encode())

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    fake.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()
