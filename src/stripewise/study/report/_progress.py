# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows a study while it runs: a live bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from stripewise.core import (
    NOTHING,
    Measurement,
    ProgramFacts,
    RunRole,
    Speedup,
    Trial,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.present import (
    amount_words,
    fit_encoding,
    line,
    plural,
    printable,
    rate_text,
    ratio_text,
)
from stripewise.settings.tunables import format_settings
from stripewise.study.plan import Observer, RunSlot
from stripewise.study.report._digest import describe_verification, digest
from stripewise.study.report._summary import figures_phrase
from stripewise.study.report._verdict import (
    facts_phrase,
    faster,
    part_ratios,
    speedup_text,
)

_ALONE = (RunRole.WARM_UP, RunRole.UNSYNCED_BASELINE, RunRole.UNSYNCED_WINNER)
"""Roles of runs that are not part of a trial, a baseline or a pair and are shown as one."""


class ProgressObserver(Observer):
    """Shows each event as a line; on a terminal a progress bar of the trials is below them."""

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
            self._print_line("resumed", f"{plural(runs_done, 'finished run')} kept")

    def run_started(self, slot: RunSlot) -> None:
        doing = f"{_role_name(slot)}  {format_settings(slot.settings)}".rstrip()
        self._update(doing=escape(self._fit(doing)))

    def run_waits(self, text: str) -> None:
        self._update(waits=escape(self._fit(printable(text))))
        if text and not self._console.is_interactive:
            self._print_line("", f"- {text}", "dim")

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        self._update(doing="", waits="")
        if slot.role in _ALONE or not measurement.ok:
            self._print_line("run", f"{_role_name(slot)}   {run_line(measurement)}")

    def facts_known(self, facts: ProgramFacts, case: str = "") -> None:
        self._print_line("program", _before(case) + facts_phrase(facts))

    def remembered(self, text: str) -> None:
        self._print_line("memory", text)

    def baseline_known(
        self, measurements: Sequence[Measurement], resolution: str, case: str = ""
    ) -> None:
        self._print_line(
            "baseline", _before(case) + figures_phrase(digest(measurements), with_runs=True)
        )
        if resolution:
            self._print_line("", resolution, "dim")

    def trial_started(self, number: int, most: int) -> None:
        self._update(total=most, completed=number - 1)

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        best = f"best so far {ratio_text(1 / best_ratio)}x"
        if not 0 < best_ratio < 1:
            best = "none better so far"
        number = f"trial {f'{trial.number}/{most}':>5}"
        self._print_line(number, f"{_trial_phrase(trial)}   ({best})", _style(trial))
        self._update(total=most, completed=trial.number, best=best)

    def trial_repeated(self, trial: Trial) -> None:
        text = f"{_trial_phrase(trial)}   (run again: medians of its runs)"
        self._print_line(f"trial {trial.number:>5}", text, _style(trial))

    def verified(self, trial: Trial, verification: Verification, case: str = "") -> None:
        bad = verification.status is VerificationStatus.DIFFERENT
        text = f"trial {trial.number}: {_before(case)}{describe_verification(verification)}"
        self._print_line("verified", text, "bold red" if bad else "")

    def pair_finished(
        self,
        done: int,
        most: int,
        speedup: Speedup,
        cases: Mapping[str, Speedup] | None = None,
    ) -> None:
        text = ", ".join(f"{_before(n)}{ratio_text(s.median)}x" for n, s in (cases or {}).items())
        text = f"{faster(speedup)}   ({text})" if cases else faster(speedup)
        self._print_line(f"pair {f'{done}/{most}':>6}", text)

    def decided(self, text: str) -> None:
        self._print_line("", f"- {text}", "dim")

    def warned(self, text: str) -> None:
        self._print_line("warning", text, "yellow")

    def close(self) -> None:
        """Remove the progress bar; may be called twice."""
        self._bar.stop()

    def _update(self, **fields: Any) -> None:
        self._bar.update(self._task, **fields)

    def _print_line(self, label: str, text: str, style: str = "") -> None:
        self._console.print(Text(self._fit(line(label, printable(text))), style))

    def _fit(self, text: str) -> str:
        return fit_encoding(text, self._console.encoding)


def _style(trial: Trial) -> str:
    bad = trial.state in (TrialState.FAILED, TrialState.LOST, TrialState.REJECTED)
    return "red" if bad else ""


def _before(case: str) -> str:
    """Return the prefix for texts about a case; empty in a study of one command."""
    return f"{printable(case)}: " if case else ""


# Events in words that fit on one line.

ROLE_WORDS = {
    RunRole.WARM_UP: "warm-up run (not counted)",
    RunRole.BASELINE: "baseline run",
    RunRole.TRIAL: "trial {trial}",
    RunRole.PAIR_BASELINE: "fresh pair {pair}: baseline",
    RunRole.PAIR_WINNER: "fresh pair {pair}: best",
    RunRole.REFERENCE: "fresh pair {pair}: other default",
    RunRole.REFERENCE_WINNER: "fresh pair {pair}: best, against the other default",
    RunRole.UNSYNCED_BASELINE: "baseline without sync",
    RunRole.UNSYNCED_WINNER: "best without sync",
}


def _trial_phrase(trial: Trial) -> str:
    """Return a line on a finished trial: its result relative to the baseline, its settings."""
    return f"{_outcome(trial):<42} {format_settings(trial.settings) or 'defaults'}"


def run_line(measurement: Measurement) -> str:
    """Return the figures of one run, or how it ended."""
    if not measurement.ok:
        return f"{measurement.status.value}: {printable(measurement.message)}".rstrip(": ")
    if measurement.total_amount == NOTHING:
        return "no I/O seen"
    seconds = amount_words(measurement, "io_seconds")
    rate = measurement.bandwidth
    bandwidth = rate_text(rate.least) if rate.is_exact else "bandwidth unknown"
    return f"I/O {seconds}   {bandwidth}"


def _outcome(trial: Trial) -> str:
    if trial.state in (TrialState.FAILED, TrialState.LOST, TrialState.REJECTED):
        message = printable(trial.message)
        return f"{trial.state.value.upper()}: {message}" if message else trial.state.value.upper()
    figures = digest(trial.measurements)
    text = f"I/O {amount_words(figures, 'io_seconds')}" if not trial.case_ratios else "I/O"
    if 0 < trial.io_ratio < math.inf:
        text += f"   {speedup_text(trial.io_ratio)}"
    if ratios := part_ratios(trial):
        text += f" ({ratios})"
    runs = plural(figures.n_runs, "run")
    return f"{text}   {runs}{', stopped early' if trial.state is TrialState.HOPELESS else ''}"


def _role_name(slot: RunSlot) -> str:
    """Return the name of a run: "trial 4", "fresh pair 2: best", "small: baseline run"."""
    where = f"{printable(slot.case)}: " if slot.case else ""
    if slot.role is RunRole.BASELINE and slot.trial_number is not None:
        return f"{where}baseline beside trial {slot.trial_number}"
    return where + ROLE_WORDS[slot.role].format(
        trial=slot.trial_number, pair=slot.pair_number or ""
    )
