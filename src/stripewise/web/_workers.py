# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages are made in processes of their own: one Python works on one page at a time.

The process that clients talk to keeps what has to be one for all: limits of requests and of
failed logins, and all that changes something.  What only reads is made elsewhere.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import logging.config
import os
import signal
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

from sqlalchemy import Engine
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.web._render import prepare
from stripewise.web._repeats import log_settings

_LOG = logging.getLogger("stripewise.web")
_KEPT = (
    *("type", "asgi", "http_version", "server", "client", "scheme", "method", "root_path"),
    *("path", "raw_path", "query_string", "headers"),
)
"""What a process is told of a request."""
_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG. Source: documented, prctl(2)."""
_app: ASGIApp | None = None
"""In a process that makes pages: the portal."""
_loop: asyncio.AbstractEventLoop | None = None


class Workers:
    """Processes that make pages, each with a connection to the database.

    They are copies of this one, made before it serves anybody.  If one dies (for want of memory,
    say), pages are made in this process.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def begin(self, app: ASGIApp, engine: Engine, number: int) -> None:
        """Start the processes.

        Args:
            app: The portal.
            engine: Of its database: connections that are open are closed, since none can be
                shared with another process.
            number: Of processes.
        """
        engine.dispose()
        prepare()
        gc.collect()
        gc.freeze()  # what is shared is not searched for garbage, and stays shared
        self._pool = ProcessPoolExecutor(
            number, get_context("fork"), initializer=_begin, initargs=(app, engine, os.getpid())
        )
        wait([self._pool.submit(os.getpid)])
        gc.unfreeze()

    def end(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    @property
    def are_there(self) -> bool:
        """Whether pages can be made elsewhere."""
        return self._pool is not None and _app is None

    async def answer(self, scope: Scope) -> list[Message] | None:
        """Return the answer to a request without a body; None: a process has died."""
        told = {name: scope[name] for name in _KEPT if name in scope}
        pool = self._pool
        if pool is None:
            return None
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(pool, _answer, told)
        except BrokenExecutor:
            _LOG.error("a process that makes pages has died: the portal goes on in one process, "
                       "more slowly, until it is started anew")  # fmt: skip
            self.end()
            return None


class Elsewhere:
    """Has requests that only read answered by another process, where there is one."""

    def __init__(self, app: ASGIApp, workers: Workers) -> None:
        self.app = app
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = None
        if self._workers.are_there and _only_reads(scope):
            answer = await self._workers.answer(scope)
        if answer is None:
            await self.app(scope, receive, send)
            return
        for message in answer:
            await send(message)


def _only_reads(scope: Scope) -> bool:
    """Whether a request changes nothing; logins that come back from a provider do."""
    is_page = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    return is_page and not scope["path"].startswith(("/static/", "/login/"))


def _begin(app: ASGIApp, engine: Engine, parent: int) -> None:
    """Be a process that makes pages: end with the one that clients talk to, and not before it."""
    global _app, _loop
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    engine.dispose(close=False)
    logging.config.dictConfig(log_settings())
    _app, _loop = app, asyncio.new_event_loop()


def _answer(told: dict[str, Any]) -> list[Message]:
    """Answer a request, in a process that makes pages."""
    assert _app is not None
    assert _loop is not None
    answer: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        answer.append(message)

    try:
        _loop.run_until_complete(_app({**told, "state": {}}, receive, send))
    except Exception as error:  # a page that says so is made already
        _LOG.error("%s: exception in the portal", told["path"], exc_info=error)
        if not answer:
            raise
    return answer
