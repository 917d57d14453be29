# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many requests are worked on at a time; the others wait for their turn."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.web._forms import MOST_BYTES
from stripewise.web._settings import LOGINS_AT_ONCE, ServerSettings

WAIT_SECONDS = 30.0
"""How long a request waits for its turn; it is refused then: browsers and proxies give up too."""
_FILES_AT_ONCE = 16


class Turns:
    """Lets a few requests at a time into the portal, in the order in which they came.

    As many as have a connection to the database; a request that waited for a connection within
    would hold a thread meanwhile.  The turn begins when the request is there as a whole and ends
    when its answer is made, so that no client takes one by being slow.  A client that has gone
    meanwhile gives its turn to the next.  Files of the portal's own have turns for themselves:
    each is a descriptor.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._pages = asyncio.Semaphore(settings.requests_at_once)
        self._logins = asyncio.Semaphore(LOGINS_AT_ONCE)
        self._files = asyncio.Semaphore(_FILES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = _Client(receive)
        await client.read()
        turns = self._turns_for(scope)
        answer: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        has_turn = False
        try:
            has_turn = await _turn(turns, client)
            if client.is_gone:
                return
            await (self.app if has_turn else _overfull)(scope, client.say, keep)
        finally:
            if has_turn:
                turns.release()
            client.forget()
        for message in answer:
            await send(message)

    def _turns_for(self, scope: Scope) -> asyncio.Semaphore:
        if scope["path"].startswith("/static/"):
            return self._files
        return self._logins if _is_login(scope) else self._pages


async def _turn(turns: asyncio.Semaphore, client: _Client) -> bool:
    """Wait for a turn; False: it takes too long, or the client has gone."""
    if not turns.locked():
        return await turns.acquire()
    turn = asyncio.ensure_future(turns.acquire())
    try:
        awaited: set[asyncio.Future[Any]] = {turn, *client.leaving()}
        await asyncio.wait(awaited, timeout=WAIT_SECONDS,
                           return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        return turn.done()
    finally:
        if not turn.done():
            turn.cancel()


class _Client:
    """What a client sends: read before its turn, and given to the portal then.

    Attributes:
        is_gone: It has closed the connection, or was cut off.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._sent: list[Message] = []
        self._is_whole = False
        self._leaving: asyncio.Future[Message] | None = None
        self.is_gone = False

    async def read(self) -> None:
        """Read the body, unless it is larger than any that the portal takes."""
        length = 0
        while not self._is_whole and length <= MOST_BYTES:
            message = await self._receive()
            self._sent.append(message)
            length += len(message.get("body", b""))
            self.is_gone = message["type"] == "http.disconnect"
            self._is_whole = not message.get("more_body", False)

    def leaving(self) -> set[asyncio.Future[Message]]:
        """Return what is done when the client leaves."""
        if not self._is_whole:
            return set()
        self._leaving = asyncio.ensure_future(self._leave())
        return {self._leaving}

    async def _leave(self) -> Message:
        message = await self._receive()
        self.is_gone = message["type"] == "http.disconnect"
        return message

    def forget(self) -> None:
        """Wait no longer for the client to leave."""
        if self._leaving is not None:
            self._leaving.cancel()

    async def say(self) -> Message:
        """Stand for `receive` in the portal."""
        if self._sent:
            return self._sent.pop(0)
        return await (self._leaving or self._receive())


def _is_login(scope: Scope) -> bool:
    """Whether a request may wait for a directory or an identity provider, or costs a hash."""
    path: str = scope["path"]
    return path.startswith("/login/") or (path == "/login" and scope["method"] == "POST")


async def _overfull(scope: Scope, receive: Receive, send: Send) -> None:
    message = "The portal has too much to do: try again in a moment."
    answer = JSONResponse({"error": {"code": 503, "message": message}}, 503)
    answer.headers["retry-after"] = "10"
    await answer(scope, receive, send)
