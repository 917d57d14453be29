# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a single run of the plan, and reports the study's progress to an observer."""

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
    """Run that the procedure needs, however many attempts it takes.

    Attributes:
        name: Unique name in the study that is the same after a restart, such as
            "trial/3/candidate/1"; with several cases prefixed by the case: "small:trial/3/...".
        role: Purpose of the run.
        settings: Tunable name to value; empty for the baseline.
        trial_number / pair_number: Trial and pair to which the run belongs.
        timeout_seconds: Time limit of the run.
        sync: Whether files are fsync'ed at close.
        keep_output: Whether the working directory is still needed after the run.
        case: Name of the case; empty in a study of one command.
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
    """Return the name of an attempt at a run; attempt 0 has the slot's own name."""
    return f"{slot}/again/{number}" if number else slot


def is_contract(settings: Mapping[str, Value]) -> bool:
    """Return whether settings are valid only if the program keeps a contract."""
    return any(tunable_of(name).safety is SafetyClass.CONTRACT for name in settings)


def failure_text(run: Measurement, settings: Mapping[str, Value]) -> str:
    """Return why a run does not count, and what a hang with such settings means."""
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
"""Generator that yields runs, is sent their measurements, and returns the overall result."""


# Observer of a study; the command line shows its progress with one.


class Observer:
    """Receives the events of a study; every method does nothing here and must not raise."""

    def began(self, directory: str, runs_done: int) -> None:
        """A study begins, or resumes after a number of finished runs."""

    def run_started(self, slot: RunSlot) -> None:
        """A run was submitted."""

    def run_waits(self, text: str) -> None:
        """The reason why runs wait has changed; empty if they run."""

    def run_finished(self, slot: RunSlot, measurement: Measurement) -> None:
        """A run ended."""

    def facts_known(self, facts: ProgramFacts, case: str = "") -> None:
        """The first run of a case showed what the program does."""

    def remembered(self, text: str) -> None:
        """Earlier studies suggest where to begin."""

    def baseline_known(
        self, measurements: Sequence[Measurement], resolution: str, case: str = ""
    ) -> None:
        """The baseline runs of a case are done."""

    def trial_started(self, number: int, most: int) -> None:
        """A trial begins."""

    def trial_finished(self, trial: Trial, most: int, best_ratio: float) -> None:
        """A trial ended; `best_ratio` is the best I/O time relative to the baseline."""

    def trial_repeated(self, trial: Trial) -> None:
        """A trial was repeated before the pairs; its result is that of all its runs."""

    def verified(self, trial: Trial, verification: Verification, case: str = "") -> None:
        """A trial's output in a case was compared with the baseline's."""

    def pair_finished(
        self,
        done: int,
        most: int,
        speedup: Speedup,
        cases: Mapping[str, Speedup] | None = None,
    ) -> None:
        """A confirmation pair of the winner ended in every case; `cases` has those with a name."""

    def decided(self, text: str) -> None:
        """A decision was made."""

    def warned(self, text: str) -> None:
        """A warning was issued."""
