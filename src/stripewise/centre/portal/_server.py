# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the web server, uvicorn, with limits on what clients keep open and for how long."""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from stripewise.centre.portal._settings import ServerSettings
from stripewise.centre.portal._workers import log_settings
from stripewise.core.errors import ConfigurationError

HEAD_SECONDS = 10.0
"""Time from the connection, or the previous answer, until the head of a request is there."""
BODY_SECONDS = 20.0
ANSWER_SECONDS = 60.0
"""Time for a client to read an answer; more for a large one, at `SLOWEST_BYTES_PER_SECOND`."""
SLOWEST_BYTES_PER_SECOND = 16_384
HANDSHAKE_SECONDS = 10.0
_OPEN_SECONDS = 5
_BACKLOG = 512
"""Connections that wait in the kernel until they are accepted."""
_AT_ONCE = 64
"""Connections that are accepted in one round of the event loop."""
_ROUNDS = 4
"""Rounds from accepting a connection until one that makes room for it is closed."""
_BODY_PATIENCE = 1.0
"""Seconds after which a client with an incomplete request makes room for others, if necessary."""
_SPARE = 64
"""Descriptors for everything else: the listener, the log, files of the portal."""
_OF_DATABASE = 4
"""Descriptors of one connection to SQLite: the file, its log, the log's index, and a journal."""
_FEWEST = 8


def _plain(status: str, text: str, *more: str) -> bytes:
    """Return a complete answer after which the connection is closed."""
    lines = [f"HTTP/1.1 {status}", "connection: close", "content-type: text/plain", *more]
    return "\r\n".join([*lines, f"content-length: {len(text)}", "", text]).encode()


_LATE = _plain("408 Request Timeout", "The request came too slowly.\n")
_FULL = _plain("503 Service Unavailable", "Too many connections: try again in a moment.\n",
               "retry-after: 10")  # fmt: skip


@dataclass(frozen=True)
class ConnectionLimits:
    """Number of connections that fit below the limit on descriptors.

    Attributes:
        connections: Maximum number of open client connections.
        descriptors: Maximum number of descriptors in use.
        limit: Limit on descriptors of this process.
        at_once: Number of connections that are accepted in one round.
    """

    connections: int
    descriptors: int
    limit: int
    at_once: int


def connection_limits(settings: ServerSettings) -> ConnectionLimits:
    """Raise the soft limit on descriptors as needed, or reduce the connections to fit.

    Raises:
        ConfigurationError: The hard limit is too low to serve anybody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fixed = _SPARE + _OF_DATABASE * settings.database_connections
    connections, at_once = settings.connections, min(_AT_ONCE, settings.connections)
    wanted = connections + _ROUNDS * at_once + fixed
    infinite = resource.RLIM_INFINITY
    if soft != infinite and soft < wanted:
        soft = wanted if hard == infinite else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft != infinite and soft < wanted:
        at_once = max(1, min(at_once, (soft - fixed) // (4 * _ROUNDS)))
        connections = soft - fixed - _ROUNDS * at_once
    if connections < min(_FEWEST, settings.connections):
        raise ConfigurationError(
            f"{soft} open files are too few for the portal: let this user open "
            f"{wanted} (ulimit -n, LimitNOFILE), or lower requests_at_once in [server]"
        )
    return ConnectionLimits(connections, connections + _ROUNDS * at_once + fixed, soft, at_once)


class BoundedProtocol(H11Protocol):
    """A client connection with a time limit for everything that the client does.

    uvicorn limits only how long a connection is idle between two requests. Here, a client that
    sends its request byte by byte, or never reads the answer, is cut off as well. If the maximum
    number of connections is reached, the one whose request has been awaited longest makes room for
    a new one.
    """

    room: ConnectionLimits
    loop: asyncio.AbstractEventLoop

    def __init__(self, coming: WeakSet[asyncio.Protocol], **words: Any) -> None:
        super().__init__(**words)
        self.coming = coming
        self.awaited = ""
        self.waits_since = 0.0
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, if there is room or can be made."""
        super().connection_made(transport)
        self.coming.discard(self)
        if len(self.connections) > self.room.connections and not self._make_room():
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove a connection that was closed."""
        self._stop(self._read_timer)
        self._stop(self._write_timer)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def handle_events(self) -> None:
        """Process what has been received."""
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request, once the answer has been read."""
        super().on_response_complete()
        self._watch()
        self._watch_answer()

    def pause_writing(self) -> None:
        """Wait for the client to read what was written."""
        super().pause_writing()
        self._watch_answer()

    def _should_upgrade(self) -> bool:
        """Treat a request for a web socket as any other, without a log line for each."""
        return False

    def _make_room(self) -> bool:
        others: Any = self.connections - {self}
        now = time.monotonic()
        slow = [
            (one.awaited == "body", one.waits_since, id(one), one)
            for one in others
            if one.awaited and not one.transport.get_write_buffer_size()
            if one.awaited == "head" or now - one.waits_since > _BODY_PATIENCE
        ]
        if not slow:
            return False
        oldest = min(slow)[-1]
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    def _watch(self) -> None:
        """Set the time limit for what is expected from the client."""
        awaited = "" if self.transport.is_closing() else self._expected_event()
        if awaited == self.awaited:
            return
        self.awaited, self.waits_since = awaited, time.monotonic()
        self._stop(self._read_timer)
        self._read_timer = None
        if awaited:
            seconds = HEAD_SECONDS if awaited == "head" else BODY_SECONDS
            self._read_timer = self.loop.call_later(seconds, self._cut_off)

    def _expected_event(self) -> str:
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        is_answering = self.cycle is not None and not self.cycle.response_complete
        return "head" if self.conn.their_state is h11.IDLE and not is_answering else ""

    def _cut_off(self) -> None:
        """Cut off a client that has not sent its request in time."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        is_answering = cycle is not None and not cycle.response_complete
        if is_answering:  # the client learns that the rest of the answer is missing
            cycle.disconnected = True
            cycle.message_event.set()
        if self.awaited == "head" or (is_answering and not cycle.response_started):
            self.transport.write(_LATE)
        self.transport.close()
        self._watch_answer()

    def _watch_answer(self) -> None:
        """Set the time limit for the client to read what was written."""
        waiting = self.transport.get_write_buffer_size()
        if waiting and self._write_timer is None:
            seconds = ANSWER_SECONDS + waiting / SLOWEST_BYTES_PER_SECOND
            self._write_timer = self.loop.call_later(seconds, self._drop_answer)

    def _drop_answer(self) -> None:
        """Cut off a client that does not read its answer."""
        self._write_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


class _Server(uvicorn.Server):
    """A server that also limits TLS handshakes in time and in number."""

    def __init__(self, config: uvicorn.Config, room: ConnectionLimits) -> None:
        super().__init__(config)
        self._room = room
        self._coming: WeakSet[asyncio.Protocol] = WeakSet()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        await self.lifespan.startup()
        loop = asyncio.get_running_loop()
        is_secure = self.config.ssl is not None
        self.servers = [
            await loop.create_server(
                self._protocol,
                sock=listener,
                ssl=self.config.ssl,
                backlog=self._room.at_once,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if is_secure else None,
                ssl_shutdown_timeout=HANDSHAKE_SECONDS if is_secure else None,
            )
            for listener in sockets or ()
        ]
        for listener in sockets or ():
            listener.listen(_BACKLOG)
        self.started = True

    def _protocol(self) -> asyncio.Protocol:
        held = len(self.server_state.connections) + len(self._coming)
        if held >= self._room.connections + 2 * self._room.at_once:
            raise ConnectionAbortedError("there is no room")  # closes the socket
        kind: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        made = kind(self._coming, config=self.config, server_state=self.server_state, app_state={})
        self._coming.add(made)
        return made


def make_server(app: Any, settings: ServerSettings, room: ConnectionLimits) -> uvicorn.Server:
    """Return the server of an application; its `run` takes the listening sockets.

    Args:
        app: The portal.
        settings: Settings of the server.
        room: Result of `connection_limits`.
    """
    protocol = type("Protocol", (BoundedProtocol,), {"room": room})
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=log_settings(),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_OPEN_SECONDS,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )
    return _Server(config, room)
