# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What systemd hears."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

from stripewise.centre.monitor.agent._agent import Agent, Notifier, Request
from stripewise.centre.monitor.agent._collecting import Clock
from stripewise.centre.monitor.agent._delivering import Delivering
from support.monitor_parts import FakeSink


def test_a_service_says_that_it_is_ready_lives_and_ends(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(address)
        heard.settimeout(60)
        given = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "150000",
                 "WATCHDOG_PID": str(os.getpid())}  # fmt: skip
        agent = Agent(
            lambda _: [], [Delivering(FakeSink(), Clock())], 3600.0, notifier=Notifier(given)
        )
        thread = threading.Thread(target=agent.run)
        thread.start()
        said = [heard.recv(100) for _ in range(6)]
        agent.ask(Request.STOP)
        while said[-1] != b"STOPPING=1":
            said.append(heard.recv(100))
        thread.join()
    assert said[0] == b"READY=1"
    assert set(said[1:-1]) == {b"WATCHDOG=1"}


def test_an_abstract_address_is_understood() -> None:
    name = f"stripewise-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{name}")
        heard.settimeout(60)
        Notifier({"NOTIFY_SOCKET": f"@{name}"}).tell("READY=1")
        assert heard.recv(100) == b"READY=1"


def test_without_systemd_nothing_is_sent_and_nothing_fails(tmp_path: Path) -> None:
    Notifier({}).tell("READY=1")
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).tell("READY=1")


def test_a_watchdog_of_another_process_is_none() -> None:
    given = {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "30000000"}
    assert Notifier(given).watchdog_seconds == 30
    assert Notifier({**given, "WATCHDOG_PID": "1"}).watchdog_seconds == 0
    assert Notifier({**given, "WATCHDOG_USEC": "many"}).watchdog_seconds == 0
    assert Notifier({"WATCHDOG_USEC": "30000000"}).watchdog_seconds == 0
