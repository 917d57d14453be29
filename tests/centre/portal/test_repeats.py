# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One fault does not fill the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from stripewise.centre.portal import _workers as _repeats
from stripewise.centre.portal._workers import MOST, PERIOD_SECONDS, FewRepeats, log_settings


class Log:
    """A logger that keeps its lines, and a clock that stands."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.lines: list[str] = []
        self.logger = logging.getLogger("tests.repeats")
        self.handler = logging.Handler()
        self.handler.addFilter(FewRepeats(lambda: self.now))
        self.handler.emit = lambda record: self.lines.append(record.getMessage())  # type: ignore[method-assign]
        self.logger.addHandler(self.handler)

    def warn(self, text: str = "bad request from %s", value: object = 1) -> None:
        self.logger.warning(text, value)

    def fail(self, value: object, other: bool = False) -> None:
        try:
            if other:
                raise ValueError(f"other {value}")
            raise ValueError(f"broken {value}")
        except ValueError:
            self.logger.exception("Exception in ASGI application\n")


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.logger.removeHandler(made.handler)


def test_a_fault_that_repeats_is_told_a_few_times_whatever_its_values(log: Log) -> None:
    for number in range(10_000):
        log.warn(value=number)
    assert len(log.lines) == MOST
    assert log.lines[0] == "bad request from 0"
    assert log.lines[-1].startswith(f"bad request from {MOST - 1} (shown {MOST} times;")


def test_after_a_minute_it_says_how_often_it_came(log: Log) -> None:
    for number in range(100):
        log.warn(value=number)
    log.now += PERIOD_SECONDS
    log.warn(value="later")
    assert log.lines[MOST:] == [
        f"bad request from later ({100 - MOST} more like this before, not shown)"
    ]
    log.now += 10 * PERIOD_SECONDS
    log.warn(value="much later")
    assert log.lines[-1] == "bad request from much later"


def test_exceptions_are_told_apart_by_where_they_come_from(log: Log) -> None:
    for number in range(50):
        log.fail(number)
        log.fail(number, other=True)
    assert len(log.lines) == 2 * MOST


def test_kinds_without_end_take_no_memory_without_end(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_repeats, "_MOST_KINDS", 10)
    (few,) = log.handler.filters
    assert isinstance(few, FewRepeats)
    for number in range(100):
        few.filter(logging.LogRecord("x", 30, "file.py", number, "text", (), None))
    assert len(few._kinds) == 10


def test_the_portal_logs_so(capsys: pytest.CaptureFixture[str]) -> None:
    settings = log_settings()
    assert settings["handlers"]["error"]["filters"] == ["few"]
    assert settings["root"] == {"handlers": ["error"], "level": "WARNING"}
    assert not settings["disable_existing_loggers"]
