# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass, field

from stripewise.model import Trial, TrialState, Verification


@dataclass
class SearchResult:
    """Trials in order, what their outputs showed, and why the search ended."""

    trials: list[Trial] = field(default_factory=list)
    verifications: dict[int, Verification] = field(default_factory=dict)
    stopped_because: str = ""

    def candidates(self) -> list[Trial]:
        """Return trials that were faster than the baseline, the fastest first."""
        faster = [t for t in self.trials if t.state is TrialState.COMPLETE and t.io_ratio < 1]
        return sorted(faster, key=lambda trial: trial.io_ratio)
