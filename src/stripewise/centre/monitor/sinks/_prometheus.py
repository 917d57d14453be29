# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Serves the last values to Prometheus from a small web server with limited resources."""

from __future__ import annotations

import hashlib
import hmac
import io
import logging
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import model_validator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.sinks._base import (
    Sink,
    SinkError,
    SinkSettings,
    check_private,
    check_regular,
    is_loopback,
    read_token,
)
from stripewise.centre.monitor.sinks._exposition import Exposition, Form

# Settings in [sinks.prometheus].

_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>\d{1,5})")


class PrometheusSettings(SinkSettings):
    """Settings in [sinks.prometheus].

    Attributes:
        listen: Address and port, such as "127.0.0.1:9823" or "[::1]:9823"; port 0 for any.
        certificate: File of a TLS certificate, with `key`.
        key: File of the key of that certificate.
        client_ca: File of certificates; only clients with a certificate signed by one may connect.
        token_file: File with a token that clients must send ("Authorization: Bearer ...").
        open: Whether everybody who reaches the port may read the values.
    """

    listen: str = "127.0.0.1:9823"
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    token_file: Path | None = None
    open: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        found = _LISTEN.fullmatch(self.listen)
        if found is None or int(found["port"]) > 65535:
            raise ValueError(
                f"listen = {self.listen!r} is not an address and port such as 127.0.0.1:9823"
            )
        if (self.certificate is None) != (self.key is None):
            raise ValueError("give certificate and key together")
        if self.client_ca is not None and self.certificate is None:
            raise ValueError("client_ca needs TLS: give certificate and key, too")
        is_closed = self.certificate is not None and (self.token_file or self.client_ca)
        if not (self.open or is_closed or is_loopback(self.address[0])):
            raise ValueError(
                f"listen = {self.listen!r} can be reached from the network: give certificate, key"
                f" and token_file (or client_ca), or open = true to let everybody read"
            )
        return self

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        found = _LISTEN.fullmatch(self.listen)
        assert found is not None
        return found["six"] or found["host"], int(found["port"])


# Serves the last values to Prometheus or a compatible scraper.

_LEAST_TOKEN = 16
_log = logging.getLogger("stripewise.centre.monitor.agent")
_START_PAGE = (
    b'<!DOCTYPE html>\n<html lang="en"><title>Stripewise monitor</title>'
    b'<p><a href="/metrics">Metrics of this server</a></p></html>\n'
)


class PrometheusSink(Sink):
    """Serves the values under /metrics.

    Attributes:
        port: Port on which it listens, once it has started.
    """

    name: ClassVar[str] = "prometheus"
    summary: ClassVar[str] = "serves the last values to Prometheus and compatible databases"
    settings_class: ClassVar[type[SinkSettings]] = PrometheusSettings
    settings: PrometheusSettings

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Store the settings; the port is opened by `start`."""
        super().__init__(settings, server)
        self.port = 0
        self._exposition = Exposition(server)
        self._answers = KeptAnswers(self._exposition)
        self._listener: Listener | None = None
        self._last_scrape: float | None = None

    def missing(self) -> str:
        """Return which file of a key, certificate or token cannot be used, or ""."""
        try:
            self._check()
        except SinkError as error:
            return str(error)
        return ""

    def start(self) -> None:
        """Open the port."""
        context = self._check()
        host, port = self.settings.address
        try:
            self._listener = Listener(host, port, self._answer, context)
        except OSError as error:
            raise SinkError(
                f"cannot listen on {self.settings.listen} ({error.strerror}): choose another"
                f" address or port"
            ) from error
        self.port = int(self._listener.server_address[1])
        self._listener.start()
        scheme = "http" if context is None else "https"
        shown = f"[{host}]" if ":" in host else host
        _log.info("sink prometheus answers at %s://%s:%d/metrics", scheme, shown, self.port)

    def take(self, found: Round) -> None:
        """Store a round."""
        self._exposition.take(found)

    def health(self) -> Sequence[Reading]:
        """Return the time of the last scrape, and the number of readings that were left out."""
        labels = (self.name,)
        found = [Reading(metrics.SINK_PROBLEMS, labels, self._exposition.problems)]
        if self._last_scrape is not None:
            found.append(Reading(metrics.SINK_LAST, labels, self._last_scrape))
        return found

    def stop(self) -> None:
        """Close the port."""
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def _check(self) -> ssl.SSLContext | None:
        """Check the files, and return the TLS context."""
        own = self.settings
        if own.token_file is not None:
            read_token(own.token_file, _LEAST_TOKEN)
        if own.certificate is None or own.key is None:
            return None
        return server_context(own.certificate, own.key, own.client_ca)

    def _answer(self, path: str, headers: Message) -> Response:
        if path == "/-/healthy":
            return Response(200, b"healthy\n")
        if path == "/":
            return Response(200, _START_PAGE, "text/html; charset=utf-8")
        if path != "/metrics":
            return Response(404, b"no such page: see /metrics\n")
        return self._refusal(headers) or self._metrics(headers)

    def _refusal(self, headers: Message) -> Response | None:
        """Return the answer to clients that may not read, or None if the client may."""
        if self.settings.token_file is None:
            return None
        try:
            token = read_token(self.settings.token_file, _LEAST_TOKEN)
        except SinkError:
            return Response(503, b"the token of this server cannot be read\n")
        scheme, _, given = str(headers.get("Authorization", "")).partition(" ")
        is_same = hmac.compare_digest(_digest(given.strip()), _digest(token))
        if scheme.lower() == "bearer" and is_same:
            return None
        how = (("WWW-Authenticate", "Bearer"),)
        return Response(401, b"give the token of this server\n", headers=how)

    def _metrics(self, headers: Message) -> Response:
        form = wanted_form(str(headers.get("Accept", "")))
        is_packed = "gzip" in str(headers.get("Accept-Encoding", "")).lower()
        body = self._answers.body(form, is_packed=is_packed)
        self._last_scrape = time.time()
        how = (("Content-Encoding", "gzip"),) if is_packed else ()
        return Response(200, body, form.value, how)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def wanted_form(accept: str) -> Form:
    """Return the format that an Accept header prefers, or Prometheus' own without a preference."""
    best, form = 0.0, Form.TEXT
    for part in accept.split(","):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        values = dict(word.partition("=")[::2] for word in parameters)
        if kind == "application/openmetrics-text":
            found = Form.OPENMETRICS
            is_known = values.get("version", "1.0.0").strip('"') in ("1.0.0", "0.0.1")
        else:
            found, is_known = Form.TEXT, kind in ("text/plain", "text/*", "*/*")
        if is_known and (weight := _weight(values.get("q", "1"))) > best:
            best, form = weight, found
    return form


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


# Answers to scrapes, which are made once for each round, however many clients there are.

_GZIP = 16 + zlib.MAX_WBITS


class KeptAnswers:
    """Bodies of answers, cached until the next round, or until a series expires.

    Only requested forms are cached: for Prometheus that is the compressed text, a tenth of the
    plain one.
    """

    def __init__(self, exposition: Exposition) -> None:
        """Start with an empty cache."""
        self._exposition = exposition
        self._lock = threading.Lock()
        self._changes = 0
        self._bodies: dict[tuple[Form, bool], bytes] = {}

    def body(self, form: Form, *, is_packed: bool) -> bytes:
        """Return the text of all current series; of concurrent requests, one makes it."""
        with self._lock:
            changes = self._exposition.changes  # before the text is made, which may be newer
            if changes != self._changes:
                self._bodies.clear()
                self._changes = changes
            body = self._bodies.get((form, is_packed))
            if body is None:
                parts = (part.encode() for part in self._exposition.parts(form))
                body = _packed(parts) if is_packed else b"".join(parts)
                self._bodies[form, is_packed] = body
            return body


def _packed(parts: Iterable[bytes]) -> bytes:
    """Return parts compressed by gzip; the whole text is never in memory."""
    packing = zlib.compressobj(level=1, wbits=_GZIP)
    return b"".join([*map(packing.compress, parts), packing.flush()])


# A small web server for programs, with limited resources, that no client can disturb.

MOST_CONNECTIONS = 16
"""Maximum number at a time; a further one ends the oldest, so that nobody can block others."""
_MOST_ENDING = MOST_CONNECTIONS
"""Maximum number of ended connections that their threads have not closed yet."""
CONNECTION_SECONDS = 10.0
"""Maximum life of a connection, which is Prometheus' default timeout."""
_REQUEST_BYTES = 16 << 10
_POLL_SECONDS = 0.5
_ENDS = (b"\r\n\r\n", b"\n\n")


class Response(NamedTuple):
    """Answer to a request.

    Attributes:
        status: HTTP status.
        body: Content that is sent.
        content_type: Content type of the body.
        headers: Further headers.
    """

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


Answerer = Callable[[str, Message], Response]


class Listener(ThreadingMixIn, TCPServer):
    """The server: a thread for each connection, one answer for each.

    Attributes:
        refused: Number of connections that were closed because too many were open.
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
            host: Address to listen on.
            port: Port to listen on; 0 for any.
            answerer: Function that returns the answer for a path and the headers of a request.
            context: TLS context; None for plain HTTP.

        Raises:
            OSError: The port cannot be opened.
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
        """Start answering requests."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port and all connections."""
        self.shutdown()
        self.server_close()
        self._thread.join()
        self._end(float("inf"))

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; the TLS handshake takes place in the connection's own thread."""
        try:
            found, address = super().get_request()
        except OSError:
            time.sleep(0.05)  # no descriptors are left: the loop would return at once
            raise
        if self._context is not None:
            found = self._context.wrap_socket(
                found, server_side=True, do_handshake_on_connect=False
            )
        return found, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, unless there are too many."""
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
        """End the oldest connection if the maximum number is reached; `_lock` is held."""
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
        """Report nothing, because errors of clients are not errors of the server."""


def _shut(connection: socket.socket) -> None:
    """End a connection, including one with TLS, whatever its thread waits for."""
    with suppress(OSError):  # it may have ended by itself
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Handler of one request."""

    server: Listener
    timeout = CONNECTION_SECONDS
    server_version, sys_version = "stripewise", ""
    error_message_format, error_content_type = "%(code)d %(message)s\n", "text/plain"

    def setup(self) -> None:
        """Read the whole head of the request, and nothing more."""
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
        """Answer a GET request."""
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


# TLS of a server, with clear errors for files that cannot be used.


def server_context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """Return the TLS context of a server.

    Args:
        certificate: File of the server's certificate.
        key: File of its key, which nobody else may read.
        client_ca: File of certificates that must have signed those of clients; None if clients
            need none.

    Raises:
        SinkError: One of the files cannot be used.
    """
    check_private(key)
    check_regular(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    if client_ca is not None:
        check_regular(client_ca)
        _load_clients(context, client_ca)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:  # otherwise OpenSSL would ask for the key's password at the terminal
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise SinkError(
            f"certificate {certificate} and key {key} cannot be used ({reason}): give a"
            f" certificate and its key as PEM, the key without a password"
        ) from error


def _load_clients(context: ssl.SSLContext, client_ca: Path) -> None:
    try:
        context.load_verify_locations(client_ca)
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or error
        raise SinkError(
            f"client_ca {client_ca} cannot be used ({reason}): give certificates as PEM"
        ) from error
    context.verify_mode = ssl.CERT_REQUIRED
