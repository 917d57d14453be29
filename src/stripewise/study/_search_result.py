# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass, field

from stripewise.model import RungAhead, Trial, TrialState, Verification, VerificationStatus
from stripewise.study._ensemble import merge_verifications

_AS_FAST = 0.25
"""Even on a noisy machine, a loss beyond this counts."""


@dataclass
class SearchResult:
    """Trials in order, what their outputs showed (by trial and case), why the search ended.

    `rungs_left` are the numbers of burst-buffer nodes that it has not come to.  It `is_cut` where
    a budget ended it in a trial, or before the first one.
    """

    trials: list[Trial] = field(default_factory=list)
    verifications: dict[int, dict[str, Verification]] = field(default_factory=dict)
    stopped_because: str = ""
    rungs_left: tuple[RungAhead, ...] = ()
    is_cut: bool = False

    def candidates(self) -> list[Trial]:
        """Return trials that were faster than the baseline, the fastest first."""
        faster = [t for t in self.trials if t.state is TrialState.COMPLETE and t.io_ratio < 1]
        return sorted(faster, key=lambda trial: trial.io_ratio)

    def as_fast(self, noise: float) -> list[int]:
        """Return the numbers of the candidates as fast as the best within the noise, in order."""
        found = self.candidates()
        limit = (1 + min(noise, _AS_FAST)) * (found[0].io_ratio if found else 1.0)
        return [trial.number for trial in found if trial.io_ratio <= limit]

    def verification(self, trial: Trial | None) -> Verification:
        """Return what the outputs of a trial showed, over all cases."""
        return merge_verifications(self.verifications.get(trial.number, {}) if trial else {})

    def rejected(self, case: str | None = None) -> dict[int, Verification]:
        """Return the trials whose outputs differ, in all cases or in one."""
        return {
            number: merge_verifications(found if case is None else {case: found[case]})
            for number, found in self.verifications.items()
            for name, verification in found.items()
            if verification.status is VerificationStatus.DIFFERENT and case in (None, name)
        }

    def finalists(self, noise: float) -> list[Trial]:
        """Return the candidates, the one that should come to the fresh pairs first.

        That is the fastest, or one that sets a part of the same and is as fast within the
        noise: a setting that shows nothing is not handed to the user.

        Args:
            noise: Relative difference of two single runs that means nothing.
        """
        found = self.candidates()
        if not found:
            return []
        best, close = found[0], set(self.as_fast(noise))
        simpler = [
            trial
            for trial in found
            if trial.number in close and trial.settings.items() <= best.settings.items()
        ]
        first = min(simpler, key=lambda trial: (len(trial.settings), trial.io_ratio))
        return [first, *(trial for trial in found if trial is not first)]
