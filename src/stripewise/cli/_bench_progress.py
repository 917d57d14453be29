# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a campaign is: a bar on a terminal, a line now and then otherwise."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from stripewise.bench import CampaignObserver, CaseRun, PlannedRun
from stripewise.cli._common import note
from stripewise.text import duration_text, plural, printable

_LINE_SECONDS = 60.0


class CampaignProgress(CampaignObserver):
    """Says how far a campaign is until it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._live = stream.isatty()
        self._bar = Progress(
            TextColumn("measuring"),
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
        self._begun = self._said = time.monotonic()
        self._said_of: set[tuple[str, str]] = set()

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        self._bar.stop()

    def planned(self, total: int, done: int) -> None:
        self._total, self._done, self._before = total, done, done
        self._begun = self._said = time.monotonic()
        self.noted(plural(total, "run") + (f", {done} of them made" if done else ""))
        self._bar.update(self._task, total=total, completed=done)
        self._bar.start()

    def started(self, run: PlannedRun) -> None:
        self._bar.update(self._task, now=printable(run.case.key)[:60])

    def waits(self, text: str) -> None:
        if text:
            self.noted(text)

    def recorded(self, run: CaseRun) -> None:
        self._done += 1
        if run.status != "ok" and (run.key, run.message) not in self._said_of:
            self._said_of.add((run.key, run.message))
            self.noted(f"{run.key}: {run.status}: {run.message}")
        self._bar.update(self._task, completed=self._done)
        now = time.monotonic()
        if not self._live and (now - self._said > _LINE_SECONDS or self._done == self._total):
            self._said = now
            each = (now - self._begun) / max(1, self._done - self._before)
            left = duration_text(each * (self._total - self._done))
            self.noted(f"{self._done} of {self._total} runs, {left} left")

    def noted(self, text: str) -> None:
        if self._live:
            self._bar.console.print(printable(text), markup=False, highlight=False)
        else:
            note(text)
