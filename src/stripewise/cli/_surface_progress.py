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
    TextColumn,
    TimeRemainingColumn,
)

from stripewise.cli._common import note
from stripewise.model import RunStatus
from stripewise.surfaces import RecordingObserver, Surface, SurfaceRun
from stripewise.text import plural, printable

_LINE_SECONDS = 60.0


class SurfaceProgress(RecordingObserver):
    """Says how far a recording is until it is closed."""

    def __init__(self, stream: TextIO) -> None:
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
        self._task = self._bar.add_task("", total=None, last="")
        self._done = self._before = self._total = 0
        self._begun = self._said = time.monotonic()

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        self._bar.stop()

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        plan = surface.plan
        controls = total_runs - plan["configurations"] * plan["repeats"]
        impossible = plan["impossible"]
        left_out = "is left out" if impossible == 1 else "are left out"
        self.noted(
            f"{plural(plan['configurations'], 'configuration')}, each "
            f"{plural(plan['repeats'], 'time')}, and {plural(controls, 'run')} of the default in "
            f"between: {plural(total_runs, 'run')}"
            + (f", {done} of them done" if done else "")
            + f"; {plural(impossible, 'combination')} cannot act and {left_out}"
        )
        self._total, self._done, self._before = total_runs, done, done
        self._begun = self._said = time.monotonic()
        self._bar.update(self._task, total=total_runs, completed=done)
        self._bar.start()

    def recorded(self, run: SurfaceRun) -> None:
        self._done += 1
        if run.status is not RunStatus.OK:
            self.noted(f"run {run.sequence} {run.status}: {dict(run.settings)}")
        last = f"{run.elapsed_seconds:.2f} s"
        self._bar.update(self._task, completed=self._done, last=last)
        now = time.monotonic()
        if not self._live and (now - self._said > _LINE_SECONDS or self._done == self._total):
            self._said = now
            each = (now - self._begun) / max(1, self._done - self._before)
            left = each * (self._total - self._done)
            self.noted(f"{self._done} of {self._total} runs, {left / 60:.1f} min left")

    def noted(self, text: str) -> None:
        if self._live:
            self._bar.console.print(printable(text), markup=False, highlight=False)
        else:
            note(text)
