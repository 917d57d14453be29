# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C, SIGTERM and a lost terminal, taken where a run can be cancelled in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Notes a signal; the study raises it at its next checkpoint."""

    def __init__(self) -> None:
        self._signal: int | None = None

    def checkpoint(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""
        if self._signal is not None:
            raise KeyboardInterrupt(signal.Signals(self._signal).name)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Catch SIGINT, SIGTERM and SIGHUP meanwhile (in the main thread; elsewhere do nothing).

        A SIGHUP that is ignored, as under nohup, stays so.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        caught = [one for one in _SIGNALS if not (one == signal.SIGHUP and ignored)]
        before = {number: signal.signal(number, self._note) for number in caught}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._signal = number


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
