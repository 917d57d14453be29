# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in virtual time: a model says how long they take, and noise how much they vary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from random import Random

from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.model import RunStatus, Value
from stripewise.simulation import noise_factor


class SimulatedLauncher(Launcher):
    """Starts nothing: a run takes what a model says of its settings, times chance.

    The n-th run of the same settings takes the same, whatever runs in between.  The outcome
    stands in the handle, so that a restarted tuner collects it again.
    """

    name = "simulated"

    def __init__(
        self,
        seconds: Callable[[Mapping[str, Value]], float | None],
        *,
        read_bytes: int = 0,
        write_bytes: int = 0,
        cv: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Take the model.

        Args:
            seconds: Settings -> I/O time; None: the run fails; infinite: it hangs.
            read_bytes: That every run reads.
            write_bytes: That every run writes.
            cv: Coefficient of variation of the bandwidth from run to run.
            seed: Of the noise.
        """
        self._seconds, self._cv, self._seed = seconds, cv, seed
        self._read_bytes, self._write_bytes = read_bytes, write_bytes
        self._draws: dict[str, int] = {}
        self._clock_seconds = 0.0

    def submit(self, request: RunRequest) -> Handle:
        """Work the run out; its virtual time begins where that of the last one ended."""
        words = repr(sorted(request.settings.items()))
        draw = self._draws[words] = self._draws.get(words, -1) + 1
        share = noise_factor(Random(f"{self._seed}/{words}/{draw}"), self._cv)
        true, limit = self._seconds(request.settings), request.timeout_seconds
        status, seconds = RunStatus.OK, (true or 0.0) / share
        if true is None:
            status = RunStatus.FAILED
        elif not isfinite(seconds) or (limit is not None and seconds > limit):
            status, seconds = RunStatus.TIMEOUT, limit or 0.0
        data: dict[str, str | int | float] = {
            "status": str(status), "seconds": seconds, "started": self._clock_seconds,
        }  # fmt: skip
        self._clock_seconds += seconds
        return Handle(self.name, request.run_id, data)

    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended: always."""
        del handle
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Return what was worked out."""
        status, seconds = RunStatus(str(handle.data["status"])), float(handle.data["seconds"])
        messages = {
            RunStatus.FAILED: "these settings cannot be simulated",
            RunStatus.TIMEOUT: "stopped at its time limit",
        }
        return Outcome(
            status=status,
            exit_code={RunStatus.OK: 0, RunStatus.FAILED: 1}.get(status),
            elapsed_seconds=seconds,
            started_unix_seconds=float(handle.data["started"]),
            io_seconds=seconds,
            read_bytes=self._read_bytes,
            write_bytes=self._write_bytes,
            message=messages.get(status, ""),
        )

    def cancel(self, handle: Handle) -> None:
        """Nothing runs."""
