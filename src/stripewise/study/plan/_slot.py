# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names one run of the plan, and reports the study's progress to an observer."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from stripewise.core import (
    FailureCause,
    Measurement,
    ProgramFacts,
    RunRole,
    RunStatus,
    Speedup,
    Trial,
    Value,
    Verification,
)
from stripewise.settings.tunables import SafetyClass, tunable_of

T = TypeVar("T")


@dataclass(frozen=True)
class RunSlot:
    """A run that the procedure wants, whatever tries it takes to get it.

    Attributes:
        name: Unique in the study and the same after a restart, e.g. "trial/3/candidate/1";
            behind the name of the case where there are several: "small:trial/3/candidate/1".
        role: Why it is made.
        settings: Tunable name to value; empty for the baseline.
        trial_number / pair_number: Trial and pair that it belongs to.
        timeout_seconds: Its time limit.
        sync: Whether files are fsync'ed at close.
        keep_output: Whether its working directory is still needed after it ended.
        case: Name of its case; "" in a study of one command.
    """

    name: str
    role: RunRole
    settings: Mapping[str, Value] = field(default_factory=dict)
    trial_number: int | None = None
    pair_number: int | None = None
    timeout_seconds: float | None = None
    sync: bool = True
    keep_output: bool = False
    case: str = ""


def attempt_name(slot: str, number: int) -> str:
    """Return the name of a further attempt at a run; that of the first, 0, is the slot's own."""
    return f"{slot}/again/{number}" if number else slot


def is_contract(settings: Mapping[str, Value]) -> bool:
    """Return whether settings are right only if the program keeps a contract."""
    return any(tunable_of(name).safety is SafetyClass.CONTRACT for name in settings)


def failure_text(run: Measurement, settings: Mapping[str, Value]) -> str:
    """Say why a run does not count, and what a hang under such settings means."""
    text = run.message or run.status.value
    if run.cause is FailureCause.HOST:
        return text
    if run.cause.is_outside:
        return f"runs were ended from outside ({run.cause.value}), so they are no result: {text}"
    if run.status is not RunStatus.TIMEOUT or not is_contract(settings):
        return text
    names = ", ".join(name for name in settings if is_contract({name: settings[name]}))
    return f"{text}: with {names}, the ranks wait for one another, or the run is hopelessly slow"


Steps: TypeAlias = Generator[RunSlot, Measurement, T]
"""Yields the runs that it wants, is sent what they gave, returns what it made of them."""


# Who watches a study; the command line draws its progress from it.


class Observer:
    """Hears how a study proceeds; every method does nothing here.  It must not raise."""

    def began(self, directory: str, runs_done: int) -> None:
        """A study begins, or goes on after so many finished runs."""

    def run_started(self, slot: RunSlot) -> None:
        """A run was submitted."""

    def run_waits(self, text: str) -> None:
        """What runs wait for has changed; "": they run."""

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        """A run ended."""

    def facts_known(self, facts: ProgramFacts, case: str = "") -> None:
        """The first run of a case showed what the program does."""

    def remembered(self, text: str) -> None:
        """Earlier studies say where to begin."""

    def baseline_known(
        self, measurements: Sequence[Measurement], resolution: str, case: str = ""
    ) -> None:
        """The baseline runs of a case are done."""

    def trial_started(self, number: int, most: int) -> None:
        """A trial begins."""

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        """A trial ended; `best_ratio` is the best I/O time relative to the baseline."""

    def trial_repeated(self, trial: Trial) -> None:
        """A trial was run once more before the pairs: what it gave is that of all its runs."""

    def verified(self, trial: Trial, verification: Verification, case: str = "") -> None:
        """A trial's output in a case was compared with the baseline's."""

    def pair_finished(
        self,
        done: int,
        most: int,
        speedup: Speedup,
        cases: Mapping[str, Speedup] | None = None,
    ) -> None:
        """A fresh pair of the winner is done, in every case; `cases` has those with a name."""

    def decided(self, text: str) -> None:
        """A decision was made."""

    def warned(self, text: str) -> None:
        """There is something that the user should know."""
