# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs drawn from a recorded surface, in virtual time."""

from __future__ import annotations

import random

from stripewise.core import RunStatus
from stripewise.core.errors import ProgramError
from stripewise.run.launch import Handle, Launcher, Outcome, RunRequest
from stripewise.study.training import SettingsKey, Surface


class ReplayedLauncher(Launcher):
    """Answers each request with a recorded run of the same settings, drawn at random.

    Runs end at once; `started_unix_seconds` advances on a virtual clock.  The n-th draw of
    the same settings depends on the seed alone, whatever else is drawn in between.  What was
    drawn stands in the handle, so that a restarted tuner collects the same.
    """

    name = "replayed"

    def __init__(self, surface: Surface, seed: int = 0) -> None:
        self.surface = surface
        self.seed = seed
        self.clock_unix_seconds = 0.0
        self._known = surface.by_settings()
        self._draws: dict[SettingsKey, int] = {}

    def submit(self, request: RunRequest) -> Handle:
        """Draw a run.

        Raises:
            ProgramError: The settings were not recorded.
        """
        key = self.surface.key(request.settings)
        if key not in self._known:
            wanted = set(key)
            nearest = min(
                (dict(run.settings) for run in self.surface.runs),
                key=lambda known: len(wanted ^ set(self.surface.key(known))),
                default={},
            )
            raise ProgramError(
                f"the surface holds no run with {dict(request.settings)}; the nearest recorded "
                f"settings are {nearest}; restrict the search to recorded values"
            )
        draw = self._draws.get(key, 0)
        self._draws[key] = draw + 1
        index = random.Random(f"{self.seed}/{key}/{draw}").choice(self._known[key])
        run = self.surface.runs[index]
        limit = request.timeout_seconds
        elapsed = run.elapsed_seconds
        timed_out = run.status is RunStatus.TIMEOUT or (limit is not None and elapsed > limit)
        if timed_out and limit is not None:
            elapsed = min(elapsed, limit)
        data: dict[str, str | int | float] = {
            "run": index,
            "status": str(RunStatus.TIMEOUT if timed_out else run.status),
            "elapsed_seconds": elapsed,
            "started_unix_seconds": self.clock_unix_seconds,
        }
        self.clock_unix_seconds += elapsed
        return Handle(self.name, request.run_id, data)

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended: always."""
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Outcome of the drawn run."""
        run = self.surface.runs[int(handle.data["run"])]
        status = RunStatus(str(handle.data["status"]))
        ended = status in (RunStatus.OK, RunStatus.FAILED)
        return Outcome(
            status=status,
            exit_code=int(status is not RunStatus.OK) if ended else None,
            elapsed_seconds=float(handle.data["elapsed_seconds"]),
            started_unix_seconds=float(handle.data["started_unix_seconds"]),
            io_seconds=run.io_seconds,
            read_bytes=run.read_bytes,
            write_bytes=run.write_bytes,
            message="" if status is RunStatus.OK else f"recorded as {status}",
        )

    def cancel(self, handle: Handle) -> None:
        """Nothing runs."""
