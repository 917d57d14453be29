# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The log of the portal: a fault that comes a thousand times is told a few times, and counted."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stripewise.logs import OneLine

PERIOD_SECONDS = 60.0
MOST = 5
"""Times that one fault is told in a period."""
_MOST_KINDS = 500


@dataclass
class _Kind:
    """One kind of message: since when it is counted, and how often it came."""

    began: float
    count: int = 0


class FewRepeats(logging.Filter):
    """Lets the first messages of a kind through in each minute, and says how many it kept back.

    Messages are of a kind if they come from one line of the code, or tell of one exception that
    one line raised: whatever values they name.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._kinds: OrderedDict[tuple[Any, ...], _Kind] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Decide about one message."""
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
    """Return how the portal logs, as `logging.config.dictConfig` reads it: to standard error."""
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
