# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All values, pruned by a trained model: the best few are run, and the model is fitted again."""

from __future__ import annotations

from collections import deque

from stripewise.model import Proposal
from stripewise.performance import Prediction
from stripewise.strategies._auto import AutoStrategy
from stripewise.strategies._options import StrategyOption
from stripewise.strategies._predicted import PredictedStrategy

YES, NO = "yes", "no"


class ModelStrategy(AutoStrategy):
    """The strategy `auto`, which a study begins with the choice of a trained model if one fits.

    Source of the options: Behzad et al., "Dynamic Model-driven Parallel I/O Performance Tuning",
    IEEE Cluster 2015: the model prunes all possible values to the top 20 (also 5), these are run,
    and the user controls whether the model is fitted again with them.
    """

    name = "model"
    summary = "what a trained model of this storage holds for best; auto where no model fits"
    declared = (
        StrategyOption(
            "top", 20, "how many configurations the model chooses at a time", minimum=1,
            maximum=1000,
        ),
        StrategyOption(
            "refit", YES, "fit the model again with their runs, and choose anew", (YES, NO)
        ),
    )  # fmt: skip


class PrunedStrategy(PredictedStrategy):
    """Asks the points of least predicted time, a number at a time, and refits in between.

    To fit again is to correct the model by the errors that its choice showed: their logarithm is
    taken for a smooth function of the settings.  The other strategy goes on when no point is
    expected to gain anything, or when a whole choice of the corrected model was no better.
    """

    def __init__(self, inner: ModelStrategy, prediction: Prediction) -> None:
        """Predict all points; see `PredictedStrategy`."""
        super().__init__(inner, prediction)
        self._top, self._refits = int(self.number("top")), self.options["refit"] == YES
        self._batch: deque[Proposal] = deque()

    @property
    def least_patience(self) -> float:
        """So much as two choices of the model need: the second may correct the first."""
        choices = 2 if self._refits else 1
        return self._inner.least_patience + (0 if self._is_over else choices * self._top)

    def _most_promising(self) -> Proposal | None:
        """Return the next point of the choice; a new choice is made when all runs are known."""
        if not self._batch and not self._open and (self._refits or not self._was_asked):
            best = sorted(self._worth_a_run(), key=lambda one: one.ratio)[: self._top]
            self._batch.extend(map(self._proposal, best))
        return self._batch.popleft() if self._batch else None

    def _is_fruitless(self) -> bool:
        return not self._batch and self._since_gain >= self._top
