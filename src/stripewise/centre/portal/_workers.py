# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes pages in separate processes, and limits how often the log repeats the same fault.

The process that clients connect to keeps what must be common to all: limits on requests and failed
logins, and everything that changes something. Requests that only read are processed elsewhere.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import logging.config
import os
import signal
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from sqlalchemy import Engine
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.centre.portal._serve_page import prepare
from stripewise.present import OneLine

_LOG = logging.getLogger("stripewise.centre.portal")
_KEPT = (
    *("type", "asgi", "http_version", "server", "client", "scheme", "method", "root_path"),
    *("path", "raw_path", "query_string", "headers"),
)
"""Parts of a request that are sent to a process."""
_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG. Source: documented, prctl(2)."""
_app: ASGIApp | None = None
"""The portal, in a process that makes pages."""
_loop: asyncio.AbstractEventLoop | None = None


class Workers:
    """Processes that make pages, each with a connection to the database.

    They are forked from this one before it serves anybody. If one dies, for instance for lack of
    memory, pages are made in this process.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def begin(self, app: ASGIApp, engine: Engine, number: int) -> None:
        """Start the processes.

        Args:
            app: The portal.
            engine: Engine of its database. Open connections are closed, since none can be shared
                with another process.
            number: Number of processes.
        """
        engine.dispose()
        prepare()
        gc.collect()
        gc.freeze()  # shared objects are excluded from garbage collection, and stay shared
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
    def are_available(self) -> bool:
        """Return whether pages can be made in other processes."""
        return self._pool is not None and _app is None

    async def answer(self, scope: Scope) -> list[Message] | None:
        """Return the answer to a request without a body, or None if a process has died."""
        kept_scope = {name: scope[name] for name in _KEPT if name in scope}
        pool = self._pool
        if pool is None:
            return None
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(pool, _answer, kept_scope)
        except BrokenExecutor:
            _LOG.error("a process that makes pages has died: the portal continues in one process, "
                       "more slowly, until it is restarted")  # fmt: skip
            self.end()
            return None


class Elsewhere:
    """Passes requests that only read to another process, if there is one."""

    def __init__(self, app: ASGIApp, workers: Workers) -> None:
        self.app = app
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = None
        if self._workers.are_available and _only_reads(scope):
            answer = await self._workers.answer(scope)
        if answer is None:
            await self.app(scope, receive, send)
            return
        for message in answer:
            await send(message)


def _only_reads(scope: Scope) -> bool:
    """Return whether a request changes nothing; a login that returns from a provider does."""
    is_page = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    return is_page and not scope["path"].startswith(("/static/", "/login/"))


def _begin(app: ASGIApp, engine: Engine, parent: int) -> None:
    """Run a process that makes pages, which ends with its parent, and not before it."""
    global _app, _loop
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    engine.dispose(close=False)
    logging.config.dictConfig(log_settings())
    _app, _loop = app, asyncio.new_event_loop()


def _answer(kept_scope: dict[str, Any]) -> list[Message]:
    """Answer a request, in a process that makes pages."""
    assert _app is not None
    assert _loop is not None
    answer: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        answer.append(message)

    try:
        _loop.run_until_complete(_app({**kept_scope, "state": {}}, receive, send))
    except Exception as error:  # the page that reports the error is made already
        _LOG.error("%s: exception in the portal", kept_scope["path"], exc_info=error)
        if not answer:
            raise
    return answer


# Log filter of the portal: a fault that occurs a thousand times is logged a few times, and
# counted.

PERIOD_SECONDS = 60.0
MOST = 5
"""Maximum number of messages about one fault in a period."""
_MOST_KINDS = 500


@dataclass
class _Kind:
    """One kind of message: start of the counting period, and number of messages in it."""

    began: float
    count: int = 0


class FewRepeats(logging.Filter):
    """Passes the first messages of a kind in each minute, and reports how many it suppressed.

    Messages are of one kind if they come from one line of the code, or report an exception that
    one line raised, whatever values they contain.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._kinds: OrderedDict[tuple[Any, ...], _Kind] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a message."""
        key, now = _kind(record), self._now()
        known = self._kinds.pop(key, None)
        kept = 0
        if known is None or now - known.began >= PERIOD_SECONDS:
            kept = max(0, known.count - MOST) if known is not None else 0
            known = _Kind(now)
        known.count += 1
        self._kinds[key] = known
        while len(self._kinds) > _MOST_KINDS:
            self._kinds.popitem(last=False)
        if known.count > MOST:
            return False
        if kept:
            _add(record, f"({kept} more like this before, not shown)")
        if known.count == MOST:
            _add(record, f"(shown {MOST} times; further ones within a minute are counted alone)")
        return True


def _kind(record: logging.LogRecord) -> tuple[Any, ...]:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return (record.name, record.pathname, record.lineno)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = None if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return (record.name, type(error), place)


def _add(record: logging.LogRecord, note: str) -> None:
    record.msg = f"{record.getMessage().rstrip()} {note}"
    record.args = ()


def log_settings() -> dict[str, Any]:
    """Return the portal's log settings for `logging.config.dictConfig`: to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"few": {"()": FewRepeats}},
        "formatters": {"plain": {"()": OneLine, "fmt": "%(levelname)s: %(message)s"}},
        "handlers": {
            "error": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["few"]}
        },
        "root": {"handlers": ["error"], "level": "WARNING"},
    }
