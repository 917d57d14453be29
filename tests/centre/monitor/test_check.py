# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from stripewise.centre.monitor import Reading
from stripewise.centre.monitor.agent import _check, check_collectors
from stripewise.centre.monitor.agent._agent import Chosen
from support.monitor_parts import EmptyHost, FakeCollector, thing


def test_a_collector_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_check, "SLOW_SECONDS", 0.05)
    is_told = threading.Event()
    told: list[str] = []

    def act(_number: int) -> Iterator[Reading]:
        assert is_told.wait(60)
        yield thing("one")

    def tell(text: str) -> None:
        told.append(text)
        is_told.set()

    slow = Chosen(FakeCollector(act=act, name="slow"), False)
    (found,) = check_collectors([slow], EmptyHost(), tell)
    assert told == ["slow has been reading for 0.05 s and has not finished"]
    assert found.state == "works"


def test_one_that_ends_in_time_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_check, "SLOW_SECONDS", 5.0)
    timers: list[threading.Thread] = []

    def act(_number: int) -> Iterator[Reading]:
        timers.extend(one for one in threading.enumerate() if isinstance(one, threading.Timer))
        yield thing("one")

    told: list[str] = []
    check_collectors([Chosen(FakeCollector(act=act), False)], EmptyHost(), told.append)
    assert timers
    for timer in timers:
        timer.join(60)
    assert told == []
