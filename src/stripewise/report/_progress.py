# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user sees while a study runs: a live bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from stripewise.model import Measurement, RunEntry, RunRole, Trial, TrialState, Value
from stripewise.report._digest import digest
from stripewise.report._summary import line
from stripewise.report._text import (
    fit_encoding,
    format_bandwidth,
    format_ratio,
    format_seconds,
    format_settings,
    plural,
    printable,
)

_ROLE = {
    RunRole.WARM_UP: "warm-up run (not counted)",
    RunRole.BASELINE: "baseline run",
    RunRole.TRIAL: "trial",
    RunRole.PAIR_BASELINE: "fresh pair: baseline",
    RunRole.PAIR_WINNER: "fresh pair: best",
    RunRole.UNSYNCED_BASELINE: "baseline without sync",
    RunRole.UNSYNCED_WINNER: "best without sync",
}


def trial_line(trial: Trial, total: int | None = None) -> str:
    """Say one ended trial: its number, its outcome against the baseline, its settings."""
    number = f"{trial.number}/{total}" if total else str(trial.number)
    settings = format_settings(trial.settings) or "defaults"
    return line(f"trial {number:>5}", f"{_outcome(trial):<34} {settings}")


def best_phrase(best: Trial | None) -> str:
    """Say the best so far: "best so far 5.1x"."""
    if best is None or not 0 < best.io_ratio < 1:
        return "no better yet"
    return f"best so far {format_ratio(1 / best.io_ratio)}x"


def run_line(measurement: Measurement) -> str:
    """Say the figures of one run, or how it ended."""
    if not measurement.ok:
        return f"{measurement.status.value}: {printable(measurement.message)}".rstrip(": ")
    bandwidth = format_bandwidth(measurement.bandwidth_bytes_per_second)
    return f"I/O {format_seconds(measurement.io_seconds)}   {bandwidth}"


def _outcome(trial: Trial) -> str:
    if trial.state in (TrialState.FAILED, TrialState.REJECTED):
        message = printable(trial.message)
        return f"{trial.state.value.upper()}: {message}" if message else trial.state.value.upper()
    figures = digest(trial.measurements)
    text = f"I/O {format_seconds(figures.io_seconds)}"
    if math.isfinite(trial.io_ratio) and trial.io_ratio > 0:
        text += f"   {format_ratio(1 / trial.io_ratio)}x"
    runs = plural(figures.n_runs, "run")
    return f"{text}   {runs}{', stopped early' if trial.state is TrialState.HOPELESS else ''}"


class PlainObserver:
    """One line an event, for logs and pipes."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        """Write to `stream`; `quiet` keeps warnings only."""
        self._stream = stream
        self._quiet = quiet
        self._total: int | None = None

    def study_started(self, options: object) -> None:
        """Remember how many trials there will be at most."""
        self._total = planned_trials(options)

    def run_started(
        self, role: RunRole, trial_number: int | None, settings: Mapping[str, Value]
    ) -> None:
        """Say nothing: the end of the run says it."""

    def run_finished(self, entry: RunEntry) -> None:
        """Say a run that is not part of a trial; those are said together."""
        if entry.role is not RunRole.TRIAL:
            self._say(line("run", f"{_ROLE[entry.role]:<26} {run_line(entry.measurement)}"))

    def trial_finished(self, trial: Trial, best: Trial | None) -> None:
        """Say how a trial ended."""
        self._say(f"{trial_line(trial, self._total)}   ({best_phrase(best)})")

    def decision(self, text: str) -> None:
        """Say why the study goes on as it does."""
        self._say(line("", f"- {printable(text)}"))

    def warning(self, text: str) -> None:
        """Warn."""
        self._say(line("warning", printable(text)), always=True)

    def close(self) -> None:
        """Do nothing; every line is out already."""

    def _say(self, text: str, *, always: bool = False) -> None:
        if self._quiet and not always:
            return
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        print(fit_encoding(text, encoding), file=self._stream, flush=True)


class ProgressObserver:
    """A bar that fills with the trials; ended trials scroll above it."""

    def __init__(self, console: Console) -> None:
        """Draw on a terminal; nothing appears before the study starts."""
        self._console = console
        self._progress = Progress(
            TextColumn(" trial"),
            MofNCompleteColumn(),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[best]}", style="bold"),
            TextColumn("{task.fields[doing]}", style="dim"),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._total: int | None = None

    def study_started(self, options: object) -> None:
        """Show the bar."""
        self._total = planned_trials(options)
        self._task = self._progress.add_task("", total=self._total, best="", doing="")
        self._progress.start()

    def run_started(
        self, role: RunRole, trial_number: int | None, settings: Mapping[str, Value]
    ) -> None:
        """Show what runs now."""
        what = f"trial {trial_number}" if role is RunRole.TRIAL else _ROLE[role]
        doing = f"{what}  {format_settings(settings)}".rstrip()
        self._update(doing=escape(self._fit(doing)))

    def run_finished(self, entry: RunEntry) -> None:
        """Print a run that is not part of a trial."""
        if entry.role is not RunRole.TRIAL:
            self._print(line("run", f"{_ROLE[entry.role]:<26} {run_line(entry.measurement)}"))
        self._update(doing="")

    def trial_finished(self, trial: Trial, best: Trial | None) -> None:
        """Print a trial and advance the bar."""
        style = "red" if trial.state in (TrialState.FAILED, TrialState.REJECTED) else None
        self._print(trial_line(trial, self._total), style)
        self._update(completed=trial.number, best=best_phrase(best))

    def decision(self, text: str) -> None:
        """Print the reason why the study goes on as it does."""
        self._print(line("", f"- {printable(text)}"), "dim")

    def warning(self, text: str) -> None:
        """Print a warning."""
        self._print(line("warning", printable(text)), "yellow")

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        self._progress.stop()

    def _update(self, **fields: object) -> None:
        if self._task is not None:
            self._progress.update(self._task, **fields)  # type: ignore[arg-type]

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(self._fit(text), style=style, markup=False, highlight=False)

    def _fit(self, text: str) -> str:
        return fit_encoding(text, self._console.encoding)


def progress_observer(stream: TextIO, *, quiet: bool = False) -> PlainObserver | ProgressObserver:
    """Choose: the bar if `stream` is a terminal, plain lines otherwise."""
    console = Console(file=stream, soft_wrap=True)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        return PlainObserver(stream, quiet=quiet)
    return ProgressObserver(console)


def planned_trials(options: object) -> int | None:
    """Return the most trials that a study may make, if it is limited."""
    for name in ("max_trials", "trials"):
        value = getattr(options, name, None)
        if isinstance(value, int):
            return value
    return None
