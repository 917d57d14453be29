# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How often the controller may be asked: it serves everybody on the machine."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 10.0
"""Between two looks at the queue.  Assumed; sites ask for no more than one each 10 to 60 s."""
STATUS_PER_MINUTE = 6
ACTIONS_PER_MINUTE = 30
_MINUTE = 60.0


@dataclass(frozen=True)
class Request:
    """One request to the controller.

    Attributes:
        unix_seconds: When it was made.
        command: Name of Slurm's command.
    """

    unix_seconds: float
    command: str


class RateLimiter:
    """Counts all requests and keeps them below the bounds.

    In any minute there are at most `status_per_minute` questions (squeue, sacct, scontrol) and
    at most `actions_per_minute` submissions and cancellations.
    """

    def __init__(
        self,
        *,
        poll_seconds: float = POLL_SECONDS,
        status_per_minute: int = STATUS_PER_MINUTE,
        actions_per_minute: int = ACTIONS_PER_MINUTE,
        log: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the bounds.

        Args:
            poll_seconds: At least so long after a question the queue is looked at.
            status_per_minute: Most questions in any minute.
            actions_per_minute: Most submissions and cancellations in any minute.
            log: File to which each request is appended: time stamp and command.
            clock: Seconds that only grow.
            sleep: Waits.
        """
        self.poll_seconds = poll_seconds
        self.log = log
        self._most = {False: status_per_minute, True: actions_per_minute}
        self._times: dict[bool, deque[float]] = {False: deque(), True: deque()}
        self._clock, self._sleep = clock, sleep
        self._requests: list[Request] = []

    @property
    def requests(self) -> tuple[Request, ...]:
        """All requests so far."""
        return tuple(self._requests)

    def ready(self, *, action: bool = False) -> bool:
        """Whether the queue may be looked at now (or, an action be taken), without a wait."""
        times = self._times[action]
        if not action and times and self._clock() - times[-1] < self.poll_seconds:
            return False
        return self._wait_seconds(action) <= 0

    def take(self, command: str, *, action: bool = False) -> None:
        """Note a request that is about to be made; wait first as long as the bound says."""
        while (wait := self._wait_seconds(action)) > 0:
            self._sleep(wait)
        self._times[action].append(self._clock())
        request = Request(time.time(), command)
        self._requests.append(request)
        if self.log is not None:
            _append(self.log, f"{request.unix_seconds:.3f} {command}\n")

    def _wait_seconds(self, action: bool) -> float:
        times, now = self._times[action], self._clock()
        while times and now - times[0] >= _MINUTE:
            times.popleft()
        return 0.0 if len(times) < self._most[action] else times[0] + _MINUTE - now


def _append(path: Path, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)


SHARED = RateLimiter()
"""Of this process: several studies and cases together ask no more often than one."""
