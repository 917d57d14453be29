# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Points that a model of the storage promises most of, corrected by every run; then the rest."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log

from stripewise.model import Configuration, Proposal, Trial, TrialState, Value
from stripewise.performance import (
    Corrected,
    Prediction,
    Residuals,
    distinct,
    predict,
    prior_of,
)
from stripewise.strategies._base import Strategy
from stripewise.strategies._rules import RulesStrategy
from stripewise.strategies._seeded import SeededStrategy
from stripewise.tunables import PointKey, key_of

PATIENCE = 3
"""So many runs in a row that the model chose and that were no better end its part (assumed)."""
LEAST_GAIN = 0.005
"""A run that is not expected to cut the best time by so much is not made for it (assumed)."""
LEAST_CHANCE = 0.02
"""Steps of ladders that are less likely to be an improvement are not run (assumed)."""


class PredictedStrategy(SeededStrategy):
    """Asks what the model promises most of, learns where it errs, then lets another go on.

    The model's error is itself a smooth function of the settings: after each run, what it
    predicts is corrected by the errors seen nearby (Kriging of log ratios), so a model that is
    wrong by a factor still ranks, and one that ranks wrongly is noticed after a few runs.  What
    is asked is the point with the greatest expected improvement: one that the model takes for
    nearly as good as the best is tried where the model may be wrong by as much.

    Of another strategy that climbs ladders, steps that the corrected model rules out are not
    run; it is told what the model says of them.
    """

    def __init__(self, inner: Strategy, prediction: Prediction) -> None:
        """Predict the points that differ in what the model knows.

        Args:
            inner: Goes on with the tunables that the model does not know, from the best point
                found; nothing was asked of it yet.
            prediction: The model.
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
        """So much as the other strategy needs, and the model's part."""
        return self._inner.least_patience + (0 if self._is_over else PATIENCE)

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        return self._inner.finished_because if self._is_over and self._is_primed else ""

    def ask(self, n: int) -> list[Proposal]:
        """Propose what the corrected model promises most of; the other strategy afterwards."""
        asked: list[Proposal] = []
        while len(asked) < n and not self._is_over:
            proposal = self._most_promising()
            if proposal is None:
                if self._open:
                    return asked
                self._is_over = True
            else:
                self._open[key_of(proposal.settings)] = proposal
                asked.append(proposal)
        if self._open or len(asked) == n:
            return asked
        return asked + super().ask(n - len(asked))

    def tell(self, trial: Trial) -> None:
        """Correct the model, or pass the outcome on."""
        key = key_of(trial.settings)
        places = self.space.places(trial.settings)
        if places in self._predicted and 0 < trial.io_ratio < inf:
            self._errors.add(places, log(trial.io_ratio / self._predicted[places]))
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
        """Whether so many runs that the model chose were no better that its part ends."""
        return self._since_gain >= PATIENCE

    def _next(self) -> Proposal | None:
        if not self._is_primed:
            self._is_primed = True
            self._inner.noise = self.noise
            self._inner.prime(tuple(self._known.values()))
        return super()._next()

    def _most_promising(self) -> Proposal | None:
        """Return the point that is expected to gain most over the best run; None: too little."""
        if self._since_gain + len(self._open) >= PATIENCE:
            return None
        best = max(self._worth_a_run(), key=lambda one: one.gain(self._best), default=None)
        return None if best is None else self._proposal(best)

    def _worth_a_run(self) -> list[Corrected]:
        """Return the points not asked yet that are expected to gain enough over the best run."""
        taken = {*self._known, *self._open}
        promised = self._errors.corrected(self._ratios, self.noise)
        if not taken and all(one.ratio > 1 - self.noise / 2 for one in promised):
            return []
        return [
            one
            for one in promised
            if one.gain(self._best) >= LEAST_GAIN
            and key_of(self.space.at(one.places)) not in taken
        ]

    def _proposal(self, point: Corrected) -> Proposal:
        return Proposal(self.space.at(point.places), self._reason(point))

    def _reason(self, point: Corrected) -> str:
        if point.ratio > self._best * (1 - self.noise / 2):
            return f"{self._source} is not sure that it is slower than the best"
        gain = f"{1 / point.ratio:.2g}x" if point.ratio < 0.995 else "little"
        return f"{self._source} promises {gain}"

    def _ask_inner(self) -> Proposal | None:
        """Return the next point of the other strategy that the model does not rule out."""
        while (proposal := super()._ask_inner()) is not None:
            ratio = self._ruled_out(proposal.settings)
            if ratio is None:
                return proposal
            self._inner.tell(_told(proposal, ratio))
        return None

    def _ruled_out(self, settings: Mapping[str, Value]) -> float | None:
        """Return what the model says of a step that is no improvement; None: it may be one."""
        step = self.space.places(settings)
        has_ladders = isinstance(self._inner, RulesStrategy)
        if step is None or not has_ladders or not self._was_asked:
            return None
        places = tuple(0 if axis in self._inert else place for axis, place in enumerate(step))
        same = self._known.get(key_of(self.space.at(places)))
        if places != step and same is not None:
            return same.io_ratio
        if places not in self._predicted:
            return None
        (point,) = self._errors.corrected({places: self._predicted[places]}, self.noise)
        limit = self._best * (1 - self.noise / 2)
        return point.ratio if point.chance_below(limit) < LEAST_CHANCE else None


def _told(proposal: Proposal, ratio: float) -> Trial:
    state = TrialState.COMPLETE
    return Trial(0, proposal.settings, Configuration(), state, io_ratio=ratio, elapsed_ratio=1.0)
