# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that end at once without having been made."""

from __future__ import annotations

import time

from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.model import RunStatus


class NullLauncher(Launcher):
    """Starts nothing: every run ends well, at once, and moves no bytes.

    To see a procedure without its runs, and the least that a launcher is.
    """

    name = "null"

    def submit(self, request: RunRequest) -> Handle:
        """Note the time."""
        return Handle(self.name, request.run_id, {"started_unix_seconds": time.time()})

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended: always."""
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Return what every run gives."""
        return Outcome(
            status=RunStatus.OK,
            exit_code=0,
            elapsed_seconds=1e-9,
            started_unix_seconds=float(handle.data["started_unix_seconds"]),
            io_seconds=0.0,
        )

    def cancel(self, handle: Handle) -> None:
        """Nothing runs."""
