# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tries first the points that a model, or an earlier study, predicts to be best."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, log

from stripewise.core import Configuration, Proposal, Trial, TrialState, Value
from stripewise.learning.performance import (
    Corrected,
    Prediction,
    Residuals,
    distinct,
    predict,
    prior_of,
)
from stripewise.settings.tunables import PointKey, key_of
from stripewise.study.strategies._auto import AutoStrategy
from stripewise.study.strategies._base import Strategy, StrategyOption
from stripewise.study.strategies._rules import RulesStrategy

# A strategy with given first points, and points to try last.


class SeededStrategy(Strategy):
    """Proposes given points first, then those of another strategy, which learns their results.

    A point that the other strategy proposes again is not run again: it gets the known result.  A
    point to avoid counts as failed for it, and is proposed when it has finished.
    """

    def __init__(
        self,
        inner: Strategy,
        seeds: Sequence[Proposal],
        avoided: Sequence[Mapping[str, Value]] = (),
    ) -> None:
        """Store the points.

        Args:
            inner: Strategy to continue with after the seeds; it must not have been started.
            seeds: Points of its space; duplicates count once.
            avoided: Points to propose last.
        """
        self.name = inner.name
        self.summary = inner.summary
        super().__init__(inner.space, inner.facts, inner.seed)
        self.options = inner.options
        self._inner = inner
        self._seeds = deque({key_of(seed.settings): seed for seed in seeds}.values())
        self._n_seeds = len(self._seeds)
        self._avoided = {key_of(point) for point in avoided}
        self._last: deque[Proposal] = deque()
        self._known: dict[PointKey, Trial] = {}
        self._is_primed = not self._seeds
        self._of_inner: set[PointKey] = set()

    def ask(self, n: int) -> list[Proposal]:
        """Propose the next points; the other strategy begins when all seeds have results."""
        proposals: list[Proposal] = []
        while len(proposals) < n and (proposal := self._next()) is not None:
            proposals.append(proposal)
        return proposals

    def tell(self, trial: Trial) -> None:
        """Pass the result to the strategy that proposed the point."""
        key = key_of(trial.settings)
        self._known[key] = trial
        if key in self._of_inner:
            self._inner.noise = self.noise
            self._inner.tell(trial)

    @property
    def least_patience(self) -> float:
        """Patience of the other strategy plus the number of seeds."""
        return self._inner.least_patience + self._n_seeds

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
        if self._seeds or self._last or not self._is_primed:
            return ""
        return self._inner.finished_because

    def _next(self) -> Proposal | None:
        if self._seeds:
            return self._seeds.popleft()
        if len(self._known) < self._n_seeds:
            return None
        if not self._is_primed:
            self._is_primed = True
            self._inner.noise = self.noise
            self._inner.prime(tuple(self._known.values()))
        proposal = self._ask_inner()
        if proposal is not None:
            self._of_inner.add(key_of(proposal.settings))
            return proposal
        return self._last.popleft() if self._last and self._inner.finished_because else None

    def _ask_inner(self) -> Proposal | None:
        """Return a new point of the other strategy; None if it has none."""
        while proposals := self._inner.ask(1):
            proposal = proposals[0]
            key = key_of(proposal.settings)
            if key in self._known:
                self._inner.tell(replace(self._known[key], settings=proposal.settings))
            elif key in self._avoided:
                self._last.append(proposal)
                self._known[key] = _failed(proposal)
                self._inner.tell(self._known[key])
            else:
                return proposal
        return None


def _failed(proposal: Proposal) -> Trial:
    return Trial(0, proposal.settings, Configuration(), TrialState.FAILED, io_ratio=inf)


# Best points according to a model of the storage, corrected by every run; then the rest.

PATIENCE = 3
"""Number of successive runs without a gain after which the model's part ends (assumed)."""
LEAST_GAIN = 0.005
"""Least expected relative gain over the best time for which a run is made (assumed)."""
LEAST_CHANCE = 0.02
"""Least probability of an improvement for which a step of a ladder is run (assumed)."""


class PredictedStrategy(SeededStrategy):
    """Proposes the best predictions of a model while learning its errors, then lets another go on.

    The model's error is modelled as a smooth function of the settings: after each run, predictions
    are corrected by the errors observed nearby (Kriging of log ratios), so a model that is wrong
    by a factor still ranks well, and one that ranks wrongly is detected after a few runs.  The
    proposal is the point with the greatest expected improvement: a point predicted nearly as good
    as the best is tried if the model may be wrong by that much.

    Steps of a ladder-climbing strategy that the corrected model rules out are not run; the
    strategy gets the model's prediction for them.
    """

    def __init__(self, inner: Strategy, prediction: Prediction) -> None:
        """Predict the points that differ in tunables that the model knows.

        Args:
            inner: Strategy for the tunables that the model does not know, starting from the best
                point found; it must not have been started.
            prediction: Model of the program.
        """
        super().__init__(inner, ())
        self._is_primed = False
        self._source = f"the model of {prediction.source}"
        self._predicted, self._inert = predict(
            self.space, inner.facts, prediction, seed=inner.seed
        )
        self._ratios = distinct(self._predicted)
        lengths = [len(d.values) for d in self.space.dimensions]
        self._errors = Residuals(lengths, prior_of(prediction.error))
        self._open: dict[PointKey, Proposal] = {}
        self._since_gain = 0
        self._best = 1.0
        self._was_asked = False
        self._is_over = not self._ratios

    @property
    def least_patience(self) -> float:
        """Patience of the other strategy plus that of the model's part."""
        return self._inner.least_patience + (0 if self._is_over else PATIENCE)

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
        return self._inner.finished_because if self._is_over and self._is_primed else ""

    def ask(self, n: int) -> list[Proposal]:
        """Propose the best points of the corrected model; then those of the other strategy."""
        proposals: list[Proposal] = []
        while len(proposals) < n and not self._is_over:
            proposal = self._most_promising()
            if proposal is None:
                if self._open:
                    return proposals
                self._is_over = True
            else:
                self._open[key_of(proposal.settings)] = proposal
                proposals.append(proposal)
        if self._open or len(proposals) == n:
            return proposals
        return proposals + super().ask(n - len(proposals))

    def tell(self, trial: Trial) -> None:
        """Correct the model, or pass the result on."""
        key = key_of(trial.settings)
        positions = self.space.positions(trial.settings)
        if positions in self._predicted and 0 < trial.io_ratio < inf:
            self._errors.add(positions, log(trial.io_ratio / self._predicted[positions]))
        gained = trial.io_ratio < self._best * (1 - self.noise)
        self._best = min(self._best, trial.io_ratio)
        if self._open.pop(key, None) is None:
            super().tell(trial)
            return
        self._was_asked = True
        self._known[key] = trial
        self._since_gain = 0 if gained else self._since_gain + 1
        self._is_over = self._is_over or (self._is_fruitless() and not self._open)

    def _is_fruitless(self) -> bool:
        """Return whether the model's part ends because too many of its runs were no better."""
        return self._since_gain >= PATIENCE

    def _next(self) -> Proposal | None:
        if not self._is_primed:
            self._is_primed = True
            self._inner.noise = self.noise
            self._inner.prime(tuple(self._known.values()))
        return super()._next()

    def _most_promising(self) -> Proposal | None:
        """Return the point with the largest expected gain over the best run; None if too small."""
        if self._since_gain + len(self._open) >= PATIENCE:
            return None
        best = max(self._worth_a_run(), key=lambda one: one.gain(self._best), default=None)
        return None if best is None else self._proposal(best)

    def _worth_a_run(self) -> list[Corrected]:
        """Return the untried points whose expected gain over the best run is large enough."""
        taken = {*self._known, *self._open}
        promised = self._errors.corrected(self._ratios, self.noise)
        if not taken and all(one.ratio > 1 - self.noise / 2 for one in promised):
            return []
        return [
            one
            for one in promised
            if one.gain(self._best) >= LEAST_GAIN
            and key_of(self.space.at(one.positions)) not in taken
        ]

    def _proposal(self, point: Corrected) -> Proposal:
        return Proposal(self.space.at(point.positions), self._reason(point))

    def _reason(self, point: Corrected) -> str:
        if point.ratio > self._best * (1 - self.noise / 2):
            return f"{self._source} cannot rule out that it is faster than the best"
        gain = f"{1 / point.ratio:.2g}x" if point.ratio < 0.995 else "little"
        return f"{self._source} predicts {gain}"

    def _ask_inner(self) -> Proposal | None:
        """Return the next point of the other strategy that the model does not rule out."""
        while (proposal := super()._ask_inner()) is not None:
            ratio = self._ruled_out(proposal.settings)
            if ratio is None:
                return proposal
            self._inner.tell(_predicted_trial(proposal, ratio))
        return None

    def _ruled_out(self, settings: Mapping[str, Value]) -> float | None:
        """Return the model's ratio for a step that is no improvement; None if it may be one."""
        step = self.space.positions(settings)
        has_ladders = isinstance(self._inner, RulesStrategy)
        if step is None or not has_ladders or not self._was_asked:
            return None
        positions = tuple(0 if axis in self._inert else place for axis, place in enumerate(step))
        same = self._known.get(key_of(self.space.at(positions)))
        if positions != step and same is not None:
            return same.io_ratio
        if positions not in self._predicted:
            return None
        (point,) = self._errors.corrected({positions: self._predicted[positions]}, self.noise)
        limit = self._best * (1 - self.noise / 2)
        return point.ratio if point.chance_below(limit) < LEAST_CHANCE else None


def _predicted_trial(proposal: Proposal, ratio: float) -> Trial:
    state = TrialState.COMPLETE
    return Trial(0, proposal.settings, Configuration(), state, io_ratio=ratio, elapsed_ratio=1.0)


# All points, pruned by a trained model: the best few are run, and the model is refitted.

YES, NO = "yes", "no"


class ModelStrategy(AutoStrategy):
    """Strategy `auto`, which a study starts with the points of a trained model if one applies.

    Source of the options: Behzad et al., "Dynamic Model-driven Parallel I/O Performance Tuning",
    IEEE Cluster 2015: the model prunes all possible values to the top 20 (also 5), these are run,
    and the user controls whether the model is refitted with them.
    """

    name = "model"
    summary = (
        "configurations that a trained model of this storage predicts to be best; auto "
        "where no model fits"
    )
    declared = (
        StrategyOption(
            "top", 20, "number of configurations that the model proposes at a time", minimum=1,
            maximum=1000,
        ),
        StrategyOption(
            "refit", YES, "fit the model again with their runs, and propose again", (YES, NO)
        ),
    )  # fmt: skip


class PrunedStrategy(PredictedStrategy):
    """Proposes the points of least predicted time in batches, and refits after each batch.

    Refitting corrects the model by the errors at its batch: their logarithm is assumed to be a
    smooth function of the settings.  The other strategy continues when no point is expected to
    gain anything, or when a whole batch of the corrected model was no better.
    """

    def __init__(self, inner: ModelStrategy, prediction: Prediction) -> None:
        """Predict all points; see `PredictedStrategy`."""
        super().__init__(inner, prediction)
        self._top, self._refits = int(self.number("top")), self.options["refit"] == YES
        self._batch: deque[Proposal] = deque()

    @property
    def least_patience(self) -> float:
        """Number of trials of two batches: the second may correct the first."""
        choices = 2 if self._refits else 1
        return self._inner.least_patience + (0 if self._is_over else choices * self._top)

    def _most_promising(self) -> Proposal | None:
        """Return the next point of the batch; a new batch is made when all results are known."""
        if not self._batch and not self._open and (self._refits or not self._was_asked):
            best = sorted(self._worth_a_run(), key=lambda one: one.ratio)[: self._top]
            self._batch.extend(map(self._proposal, best))
        return self._batch.popleft() if self._batch else None

    def _is_fruitless(self) -> bool:
        return not self._batch and self._since_gain >= self._top
