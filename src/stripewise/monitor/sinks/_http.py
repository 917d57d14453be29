# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A small web server for machines: bounded in everything, undisturbed by whoever asks."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, NamedTuple

MOST_CONNECTIONS = 16
"""At a time; for a further one the oldest is ended: who holds many shuts nobody out."""
_MOST_ENDING = MOST_CONNECTIONS
"""Ended, and not closed yet by their threads; beyond that a new one is closed at once."""
CONNECTION_SECONDS = 10.0
"""Longest life of a connection, as long as Prometheus waits by default."""
_REQUEST_BYTES = 16 << 10
_POLL_SECONDS = 0.5
_ENDS = (b"\r\n\r\n", b"\n\n")


class Answer(NamedTuple):
    """What is answered.

    Attributes:
        status: Of HTTP.
        body: What is sent.
        content_type: Of the body.
        headers: Further ones.
    """

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


Answerer = Callable[[str, Message], Answer]


class Listener(ThreadingMixIn, TCPServer):
    """The server: a thread for each connection, one answer for each.

    Attributes:
        refused: Connections that were closed, since too many were open.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(
        self, host: str, port: int, answerer: Answerer, context: ssl.SSLContext | None = None
    ) -> None:
        """Open the port.

        Args:
            host: Address to listen at.
            port: Of it; 0: any.
            answerer: Returns the answer for a path and the headers of a request.
            context: Of TLS; None: without.

        Raises:
            OSError: It cannot be opened.
        """
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.answerer = answerer
        self.refused = 0
        self._context = context
        self._lock = threading.Lock()
        self._ends: dict[socket.socket, float] = {}
        super().__init__((host, port), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL_SECONDS,))
        self._thread.name, self._thread.daemon = "listen", True

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port and all connections."""
        self.shutdown()
        self.server_close()
        self._thread.join()
        self._end(float("inf"))

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; TLS begins later, in the connection's own thread."""
        try:
            found, address = super().get_request()
        except OSError:
            time.sleep(0.05)  # no descriptors are left: the loop would come back at once
            raise
        if self._context is not None:
            found = self._context.wrap_socket(
                found, server_side=True, do_handshake_on_connect=False
            )
        return found, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, if there are not too many."""
        with self._lock:
            is_full = len(self._ends) >= MOST_CONNECTIONS + _MOST_ENDING
            if not is_full:
                self._make_room()
                self._ends[request] = time.monotonic() + CONNECTION_SECONDS
        if is_full:
            self.refused += 1
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def _make_room(self) -> None:
        """End the oldest connection if there are as many as may be; `_lock` is held."""
        served = [one for one, end in self._ends.items() if end]
        if len(served) >= MOST_CONNECTIONS:
            self._ends[served[0]] = 0.0
            _shut(served[0])

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._ends.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End connections that last too long, whatever they wait for."""
        self._end(time.monotonic())

    def _end(self, now: float) -> None:
        with self._lock:
            for found in [one for one, end in self._ends.items() if end <= now]:
                _shut(found)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what a client does is no error here."""


def _shut(connection: socket.socket) -> None:
    """End a connection, also one of TLS, whatever its thread waits for."""
    with suppress(OSError):  # it has ended by itself
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Listener
    timeout = CONNECTION_SECONDS
    server_version, sys_version = "stripewise", ""
    error_message_format, error_content_type = "%(code)d %(message)s\n", "text/plain"

    def setup(self) -> None:
        """Read the whole head of the request, and no more than that."""
        super().setup()
        if isinstance(self.connection, ssl.SSLSocket):
            self.connection.do_handshake()
        head = b""
        while not any(end in head for end in _ENDS):
            piece = self.connection.recv(4096)
            if not piece or len(head) > _REQUEST_BYTES:
                raise ConnectionError("no whole request")
            head += piece
        self.rfile = io.BufferedReader(io.BytesIO(head))

    def do_GET(self) -> None:
        """Answer."""
        answer = self.server.answerer(self.path.partition("?")[0], self.headers)
        self.send_response(answer.status)
        for key, value in (
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(answer.body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *answer.headers,
        ):
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
