# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who watches a study; the command line draws its progress from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stripewise.model import Measurement, ProgramFacts, Speedup, Trial, Verification
from stripewise.study._slot import RunSlot


class Observer:
    """Told what happens; all of it does nothing here.  It must not raise."""

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
