# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A launcher that behaves as a batch system on this machine.

Jobs pend, start late, wait for a node, end in another order than they were submitted in, and go
on while the tuner is dead.  Each is a process of its own, whose commands run under the local
supervisor; nodes are locks on files.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from stripewise.run.launch import LocalLauncher
from stripewise.run.launch.agent import _supervise as supervise
from stripewise.run.runtime import Runtime

_WORKER = Path(__file__).with_name("fake_queue_worker.py")


class FakeQueue(LocalLauncher):
    """Submits jobs to workers."""

    name = "fake-queue"
    poll_seconds = 0.05
    outlives_tuner = True
    script = str(_WORKER)

    def __init__(
        self,
        runtime: Runtime | None,
        directory: Path,
        *,
        max_in_flight: int = 4,
        nodes: int = 4,
        most_pending_seconds: float = 0.1,
        seed: int = 0,
    ) -> None:
        """Keep what the workers need.

        Args:
            runtime: To preload.
            directory: Of the locks.
            max_in_flight: Jobs of one study at a time, pending ones included.
            nodes: Jobs that run at a time, of all studies.
            most_pending_seconds: Before a job may start.
            seed: Of the delays.
        """
        super().__init__(runtime)
        directory.mkdir(parents=True, exist_ok=True)
        self.max_in_flight = max_in_flight
        self.looks = 0
        self._queue = {
            "directory": str(directory),
            "nodes": nodes,
            "most_pending_seconds": most_pending_seconds,
            "seed": seed,
            "supervisor": str(supervise.__file__),
        }

    def start(self, job: dict[str, Any], records: Path) -> subprocess.Popen[bytes]:
        """Start a worker."""
        return super().start({**job, "queue": self._queue}, records)

    def pause(self, handles, seconds):
        """Sleep: a queue tells nobody that a job has ended."""
        return super(LocalLauncher, self).pause(handles, seconds)

    def poll(self, handle):
        """Count the looks."""
        self.looks += 1
        return super().poll(handle)
