# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user sees while a study runs: a live bar on a terminal, plain lines otherwise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from stripewise.model import (
    Measurement,
    ProgramFacts,
    RunRole,
    Speedup,
    Trial,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.report._digest import describe_verification, digest
from stripewise.report._phrases import (
    best_phrase,
    facts_phrase,
    role_name,
    run_line,
    trial_line,
)
from stripewise.report._summary import figures_phrase, line
from stripewise.report._text import fit_encoding, format_ratio, format_settings, plural
from stripewise.report._verdict import faster
from stripewise.study import Observer, RunSlot
from stripewise.text import printable


class LineObserver(Observer):
    """Turns what happens in a study into lines; where they go is left open."""

    def began(self, directory: str, runs_done: int) -> None:
        """Say where the study goes on."""
        if runs_done:
            self._say(line("resumed", f"{plural(runs_done, 'finished run')} kept"))

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        """Say a run that is not part of a trial, a baseline or a pair; those come together."""
        alone = slot.role in (
            RunRole.WARM_UP,
            RunRole.UNSYNCED_BASELINE,
            RunRole.UNSYNCED_WINNER,
        )
        if alone or not measurement.ok:
            self._say(line("run", f"{role_name(slot)}   {run_line(measurement)}"))

    def facts_known(self, facts: ProgramFacts, case: str = "") -> None:
        """Say what the program does."""
        self._say(line("program", _of(case) + facts_phrase(facts)))

    def remembered(self, text: str) -> None:
        """Say what earlier studies found."""
        self._say(line("memory", printable(text)))

    def baseline_known(
        self, measurements: Sequence[Measurement], resolution: str, case: str = ""
    ) -> None:
        """Say the baseline."""
        figures = figures_phrase(digest(measurements), with_runs=True)
        self._say(line("baseline", _of(case) + figures))
        if resolution:
            self._say(line("", printable(resolution)), "dim")

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        """Say how a trial ended."""
        bad = trial.state in (TrialState.FAILED, TrialState.LOST, TrialState.REJECTED)
        text = f"{trial_line(trial, most)}   ({best_phrase(best_ratio)})"
        self._say(text, "red" if bad else "")

    def verified(self, trial: Trial, verification: Verification, case: str = "") -> None:
        """Say how a trial's output compares."""
        bad = verification.status is VerificationStatus.DIFFERENT
        text = f"trial {trial.number}: {_of(case)}{describe_verification(verification)}"
        self._say(line("verified", text), "bold red" if bad else "")

    def pair_finished(
        self,
        done: int,
        most: int,
        speedup: Speedup,
        cases: Mapping[str, Speedup] | None = None,
    ) -> None:
        """Say what the fresh pairs give so far."""
        text = ", ".join(f"{_of(n)}{format_ratio(s.median)}x" for n, s in (cases or {}).items())
        text = f"{faster(speedup)}   ({text})" if cases else faster(speedup)
        self._say(line(f"pair {f'{done}/{most}':>6}", text))

    def decided(self, text: str) -> None:
        """Say why the study goes on as it does."""
        self._say(line("", f"- {printable(text)}"), "dim")

    def warned(self, text: str) -> None:
        """Warn."""
        self._say(line("warning", printable(text)), "yellow", always=True)

    def close(self) -> None:
        """Leave the terminal tidy; safe to call twice."""

    @abstractmethod
    def _say(self, text: str, style: str = "", *, always: bool = False) -> None: ...


def _of(case: str) -> str:
    return f"{printable(case)}: " if case else ""


class PlainObserver(LineObserver):
    """One line an event, for logs and pipes."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        """Write to `stream`; `quiet` keeps warnings only."""
        self._stream = stream
        self._quiet = quiet

    def _say(self, text: str, style: str = "", *, always: bool = False) -> None:
        del style
        if self._quiet and not always:
            return
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        print(fit_encoding(text, encoding), file=self._stream, flush=True)


class ProgressObserver(LineObserver):
    """A bar that fills with the trials; ended trials scroll above it."""

    def __init__(self, console: Console) -> None:
        """Draw on a terminal; nothing appears before the study starts."""
        self._console = console
        self._progress = Progress(
            TextColumn(" trial          "),
            MofNCompleteColumn(),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[best]}", style="bold"),
            TextColumn("{task.fields[doing]}", style="dim"),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None

    def began(self, directory: str, runs_done: int) -> None:
        """Show the bar."""
        self._task = self._progress.add_task("", total=None, best="", doing="")
        self._progress.start()
        super().began(directory, runs_done)

    def run_started(self, slot: RunSlot) -> None:
        """Show what runs now."""
        doing = f"{role_name(slot)}  {format_settings(slot.settings)}".rstrip()
        self._update(doing=escape(self._fit(doing)))

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        """Print a run that stands alone."""
        self._update(doing="")
        super().run_finished(slot, measurement)

    def trial_started(self, number: int, most: int, settings: str, reason: str) -> None:
        """Set the bar's length."""
        del settings, reason
        self._update(total=most, completed=number - 1)

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        """Print a trial and advance the bar."""
        super().trial_finished(trial, most, best_ratio)
        self._update(total=most, completed=trial.number, best=best_phrase(best_ratio))

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()

    def _update(self, **fields: object) -> None:
        if self._task is not None:
            self._progress.update(self._task, **fields)  # type: ignore[arg-type]

    def _say(self, text: str, style: str = "", *, always: bool = False) -> None:
        del always
        self._console.print(self._fit(text), style=style or None, markup=False, highlight=False)

    def _fit(self, text: str) -> str:
        return fit_encoding(text, self._console.encoding)


def progress_observer(stream: TextIO, *, quiet: bool = False) -> LineObserver:
    """Choose: the bar if `stream` is a terminal, plain lines otherwise."""
    console = Console(file=stream, soft_wrap=True)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        return PlainObserver(stream, quiet=quiet)
    return ProgressObserver(console)
