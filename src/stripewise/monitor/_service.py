# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent as a service: signals, and who it runs as."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from stripewise.monitor._agent import Agent, Request
from stripewise.monitor._build import make_agent
from stripewise.monitor._privileges import give_up_root
from stripewise.monitor._settings import MonitorSettings
from stripewise.monitor.collectors import collector_problems
from stripewise.text import printable

_REQUESTS = {
    signal.SIGTERM: Request.STOP,
    signal.SIGINT: Request.STOP,
    signal.SIGHUP: Request.RELOAD,
}
_GARBAGE_THRESHOLDS = 20_000, 20, 20
_log = logging.getLogger("stripewise.monitor")


def run_agent(settings: MonitorSettings, path: Path | None = None) -> None:
    """Run the agent until SIGTERM or SIGINT comes; only for a main thread.

    As root it begins this process's command line anew as another user.

    Args:
        settings: The configuration.
        path: Of its file, to be named in errors.

    Raises:
        StripewiseError: The configuration is not right, or no sink can begin.
    """
    who = give_up_root(settings.agent.user)
    agent = make_agent(settings, path)
    _log.info("%s", who)
    for problem in collector_problems():
        _log.warning("%s", printable(problem))
    with _signals(agent), _rare_garbage():
        agent.run()


@contextmanager
def _rare_garbage() -> Iterator[None]:
    """Look for cycles of objects less often: a round makes tens of thousands, and no cycles.

    Python's own thresholds cost a sixth of the agent's time on a large server.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def _signals(agent: Agent) -> Iterator[None]:
    def take(number: int, _frame: FrameType | None) -> None:
        agent.ask(_REQUESTS[signal.Signals(number)])

    before = {number: signal.signal(number, take) for number in _REQUESTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
