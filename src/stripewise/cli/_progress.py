# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows the progress of a campaign or training: a bar on a terminal, otherwise lines."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from stripewise.bench import CaseRun
from stripewise.bench.running import CampaignObserver, PlannedRun
from stripewise.cli._common import note
from stripewise.core import RunStatus
from stripewise.present import duration_text, plural, printable, seconds_text
from stripewise.study.training import (
    Surface,
    SurfaceRun,
    TrainingCell,
    TrainingObserver,
    TrainingPlan,
    cost_text,
)

_LINE_SECONDS = 60.0


class _Bar:
    """A progress bar on a terminal; otherwise one line per minute.

    Args:
        stream: Stream on which the bar is drawn.
        verb: Name of the activity, in a word.
    """

    def __init__(self, stream: TextIO, verb: str) -> None:
        self._live = stream.isatty()
        self._bar = Progress(
            TextColumn(verb),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs  {task.fields[now]}  left"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, now="")
        self._total = self._done = self._before = 0
        self._begun = self._last_line = time.monotonic()

    def close(self) -> None:
        """Remove the bar; it is safe to call this twice."""
        self._bar.stop()

    def begin(self, total: int, done: int) -> None:
        """Show the bar."""
        self._total, self._done, self._before = total, done, done
        self._begun = self._last_line = time.monotonic()
        self._bar.update(self._task, total=total, completed=done)
        self._bar.start()

    def show(self, now: str) -> None:
        """Show the current or last activity."""
        self._bar.update(self._task, now=now)

    def count(self) -> None:
        """Count a run that has ended."""
        self._done += 1
        self._bar.update(self._task, completed=self._done)
        now = time.monotonic()
        if not self._live and (now - self._last_line > _LINE_SECONDS or self._done == self._total):
            self._last_line = now
            each = (now - self._begun) / max(1, self._done - self._before)
            left = duration_text(each * (self._total - self._done))
            self.say(f"{self._done} of {self._total} runs, {left} left")

    def say(self, text: str) -> None:
        """Write a line, above the bar if there is one."""
        if self._live:
            self._bar.console.print(printable(text), markup=False, highlight=False)
        else:
            note(text)


class CampaignProgress(CampaignObserver):
    """Display of the progress of a campaign."""

    def __init__(self, stream: TextIO) -> None:
        self._bar = _Bar(stream, "measuring")
        self._said_of: set[tuple[str, str]] = set()
        self.close, self.noted = self._bar.close, self._bar.say  # type: ignore[method-assign]

    def planned(self, total: int, done: int) -> None:
        self.noted(plural(total, "run") + (f", {done} of them made" if done else ""))
        self._bar.begin(total, done)

    def started(self, run: PlannedRun) -> None:
        self._bar.show(printable(run.case.key)[:60])

    def waits(self, text: str) -> None:
        if text:
            self.noted(text)

    def recorded(self, run: CaseRun) -> None:
        if run.status != "ok" and (run.key, run.message) not in self._said_of:
            self._said_of.add((run.key, run.message))
            self.noted(f"{run.key}: {run.status}: {run.message}")
        self._bar.count()


class TrainingProgress(TrainingObserver):
    """Display of the cost of a training, then of the progress of each recording."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: _Bar | None = None

    def close(self) -> None:
        """Remove the bar; it is safe to call this twice."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    def looking(self, cell: TrainingCell) -> None:
        note(f"first run: {cell.title}")

    def settled(self, plan: TrainingPlan) -> None:
        note(cost_text(plan))

    def measuring(self, cell: TrainingCell, number: int, of: int) -> None:
        self.close()
        count = plural(cell.configurations, "configuration")
        note(f"surface {number} of {of}: {cell.title}, {count} of {cell.possible}")

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        self._bar = _Bar(self._stream, "recording")
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
        self._bar.begin(total_runs, done)

    def recorded(self, run: SurfaceRun) -> None:
        if run.status is not RunStatus.OK:
            self.noted(f"run {run.sequence} {run.status}: {dict(run.settings)}")
        if self._bar is not None:
            self._bar.show(seconds_text(run.elapsed_seconds))
            self._bar.count()

    def noted(self, text: str) -> None:
        if self._bar is not None:
            self._bar.say(text)
        else:
            note(text)
