# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user sees while a study runs: a live bar on a terminal, plain lines otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from stripewise.core import (
    Measurement,
    ProgramFacts,
    RunRole,
    Speedup,
    Trial,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.present import fit_encoding, line, plural, printable, ratio_text
from stripewise.settings.tunables import format_settings
from stripewise.study.plan import Observer, RunSlot
from stripewise.study.report._digest import describe_verification, digest
from stripewise.study.report._summary import figures_phrase
from stripewise.study.report._verdict import (
    facts_phrase,
    faster,
    role_name,
    run_line,
    trial_phrase,
)

_ALONE = (RunRole.WARM_UP, RunRole.UNSYNCED_BASELINE, RunRole.UNSYNCED_WINNER)
"""Runs that are no part of a trial, a baseline or a pair; those are said together."""


class ProgressObserver(Observer):
    """Says what happens, a line each; on a terminal a bar below them fills with the trials."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, soft_wrap=True)
        self._bar = Progress(
            TextColumn(" trial          "),
            MofNCompleteColumn(),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[best]}", style="bold"),
            TextColumn("{task.fields[waits]}", style="yellow"),
            TextColumn("{task.fields[doing]}", style="dim"),
            console=self._console,
            transient=True,
            disable=not self._console.is_interactive,
        )
        self._task = self._bar.add_task("", total=None, best="", doing="", waits="")

    def began(self, directory: str, runs_done: int) -> None:
        self._bar.start()
        if runs_done:
            self._say("resumed", f"{plural(runs_done, 'finished run')} kept")

    def run_started(self, slot: RunSlot) -> None:
        doing = f"{role_name(slot)}  {format_settings(slot.settings)}".rstrip()
        self._update(doing=escape(self._fit(doing)))

    def run_waits(self, text: str) -> None:
        self._update(waits=escape(self._fit(printable(text))))
        if text and not self._console.is_interactive:
            self._say("", f"- {text}", "dim")

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        self._update(doing="", waits="")
        if slot.role in _ALONE or not measurement.ok:
            self._say("run", f"{role_name(slot)}   {run_line(measurement)}")

    def facts_known(self, facts: ProgramFacts, case: str = "") -> None:
        self._say("program", _of(case) + facts_phrase(facts))

    def remembered(self, text: str) -> None:
        self._say("memory", text)

    def baseline_known(
        self, measurements: Sequence[Measurement], resolution: str, case: str = ""
    ) -> None:
        self._say("baseline", _of(case) + figures_phrase(digest(measurements), with_runs=True))
        if resolution:
            self._say("", resolution, "dim")

    def trial_started(self, number: int, most: int) -> None:
        self._update(total=most, completed=number - 1)

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        best = f"best so far {ratio_text(1 / best_ratio)}x"
        if not 0 < best_ratio < 1:
            best = "no better yet"
        number = f"trial {f'{trial.number}/{most}':>5}"
        self._say(number, f"{trial_phrase(trial)}   ({best})", _style(trial))
        self._update(total=most, completed=trial.number, best=best)

    def trial_repeated(self, trial: Trial) -> None:
        text = f"{trial_phrase(trial)}   (run again: medians of its runs)"
        self._say(f"trial {trial.number:>5}", text, _style(trial))

    def verified(self, trial: Trial, verification: Verification, case: str = "") -> None:
        bad = verification.status is VerificationStatus.DIFFERENT
        text = f"trial {trial.number}: {_of(case)}{describe_verification(verification)}"
        self._say("verified", text, "bold red" if bad else "")

    def pair_finished(
        self,
        done: int,
        most: int,
        speedup: Speedup,
        cases: Mapping[str, Speedup] | None = None,
    ) -> None:
        text = ", ".join(f"{_of(n)}{ratio_text(s.median)}x" for n, s in (cases or {}).items())
        text = f"{faster(speedup)}   ({text})" if cases else faster(speedup)
        self._say(f"pair {f'{done}/{most}':>6}", text)

    def decided(self, text: str) -> None:
        self._say("", f"- {text}", "dim")

    def warned(self, text: str) -> None:
        self._say("warning", text, "yellow")

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        self._bar.stop()

    def _update(self, **fields: Any) -> None:
        self._bar.update(self._task, **fields)

    def _say(self, label: str, text: str, style: str = "") -> None:
        self._console.print(Text(self._fit(line(label, printable(text))), style))

    def _fit(self, text: str) -> str:
        return fit_encoding(text, self._console.encoding)


def _style(trial: Trial) -> str:
    bad = trial.state in (TrialState.FAILED, TrialState.LOST, TrialState.REJECTED)
    return "red" if bad else ""


def _of(case: str) -> str:
    return f"{printable(case)}: " if case else ""


def progress_observer(stream: TextIO) -> ProgressObserver:
    """Watch a study for people: lines, and a bar below them if `stream` is a terminal."""
    return ProgressObserver(stream)
