# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a recording is: a bar on a terminal, a line a round otherwise."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from stripewise.cli._common import note
from stripewise.model import RunStatus
from stripewise.surfaces import RecordingObserver, Surface, SurfaceRun
from stripewise.text import printable

_LINE_SECONDS = 60.0


class SurfaceProgress(RecordingObserver):
    """A context manager around the bar."""

    def __init__(self, stream: TextIO) -> None:
        """Draw nothing yet."""
        self._live = stream.isatty()
        self._bar = Progress(
            TextColumn("recording"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs  {task.fields[last]}  left"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            disable=not self._live,
            transient=True,
        )
        self._task: TaskID | None = None
        self._done = self._before = self._total = self._failed = 0
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> SurfaceProgress:
        """Return itself."""
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self.close()

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """Say what there is to do."""
        plan = surface.plan
        controls = total_runs - plan["configurations"] * plan["repeats"]
        self.noted(
            f"{plan['configurations']} configurations, each {plan['repeats']} times, and "
            f"{controls} run{'s' if controls != 1 else ''} of the default in between: "
            f"{total_runs} runs"
            + (f", {done} of them done" if done else "")
            + f"; {plan['impossible']} combinations cannot act and are left out"
        )
        self._total, self._done, self._before = total_runs, done, done
        self._begun = self._said = time.monotonic()
        self._task = self._bar.add_task("", total=total_runs, completed=done, last="")

    def recorded(self, run: SurfaceRun) -> None:
        """Go on by one."""
        self._done += 1
        if run.status is not RunStatus.OK:
            self._failed += 1
            self.noted(f"run {run.sequence} {run.status}: {dict(run.settings)}")
        if self._task is not None:
            last = f"{run.elapsed_seconds:.2f} s"
            self._bar.update(self._task, completed=self._done, last=last)
        now = time.monotonic()
        if not self._live and (now - self._said > _LINE_SECONDS or self._done == self._total):
            self._said = now
            each = (now - self._begun) / max(1, self._done - self._before)
            left = each * (self._total - self._done)
            self.noted(f"{self._done} of {self._total} runs, {left / 60:.1f} min left")

    def noted(self, text: str) -> None:
        """Say it above the bar."""
        if self._live:
            self._bar.console.print(printable(text), markup=False, highlight=False)
        else:
            note(text)
