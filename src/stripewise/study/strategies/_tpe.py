# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Searches with tree-structured Parzen estimators from Optuna."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from random import Random
from typing import Any

from stripewise.core import Proposal, Trial, Value
from stripewise.core.extras import missing, require
from stripewise.settings.tunables import PointKey, is_valid, key_of
from stripewise.study.strategies._base import Strategy, StrategyOption

_SAMPLES = 6
"""Number of successive known or invalid samples after which a random point is taken."""
_FRUITLESS_DRAWS = 5000
_SMALL_SPACE = 20_000
"""Size up to which a space is enumerated if random draws find no new point."""
_FAILED_RATIO = 100.0
"""Ratio assumed for a failure; the estimators only use the order."""


class TpeStrategy(Strategy):
    """Models the distributions of good and bad configurations, and samples where good ones are.

    All tunables are modelled together, as categories that include the default.  The result of the
    default is known at the start.

    Source: Bergstra et al., NIPS 2011; Watanabe, arXiv 2304.11127 (multivariate).
    """

    name = "tpe"
    summary = "tree-structured Parzen estimators (Optuna)"
    declared = (
        StrategyOption("startup", 10, "random points tried before the model is used", minimum=1),
        StrategyOption(
            "candidates", 24, "samples drawn, of which the best is proposed", minimum=1
        ),
    )

    def begin(self) -> None:
        """Create the model with the known default.

        Raises:
            RuntimeMissingError: Optuna is not installed.
        """
        require("tpe", "the strategy tpe")
        import optuna  # slow to import, and few studies use it

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna: Any = optuna
        self._random = Random(f"tpe:{self.seed}")
        self._tried: set[PointKey] = {key_of({})}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # multivariate is marked experimental
            sampler = optuna.samplers.TPESampler(
                n_startup_trials=int(self.number("startup")),
                n_ei_candidates=int(self.number("candidates")),
                multivariate=True,
                constant_liar=False,
                seed=self.seed,
            )
        self._study: Any = optuna.create_study(direction="minimize", sampler=sampler)
        self._distributions = {
            d.tunable.name: optuna.distributions.CategoricalDistribution(
                tuple(range(len(d.values) + 1))
            )
            for d in self.space.dimensions
        }
        self._n_learned = 0
        self._finished = False
        if self.space.dimensions:
            self._learn({}, 1.0)

    @classmethod
    def problem(cls) -> str:
        """Return how to install Optuna if it is missing; empty if it is there."""
        return missing("tpe")

    @property
    def least_patience(self) -> float:
        """Number of trials that the model needs to have an influence."""
        return 2 * self.number("startup")

    def prime(self, trials: Sequence[Trial]) -> None:
        """Learn trials of the space."""
        for trial in trials:
            if self.space.positions(trial.settings) is not None:
                self._tried.add(key_of(trial.settings))
                self._learn(trial.settings, trial.io_ratio)

    def ask(self, n: int) -> list[Proposal]:
        """Sample points; of those in flight the model only knows that they were proposed."""
        proposals: list[Proposal] = []
        while len(proposals) < n and (proposal := self._next()) is not None:
            self._tried.add(key_of(proposal.settings))
            proposals.append(proposal)
        self._finished = self._finished or len(proposals) < n
        return proposals

    def tell(self, trial: Trial) -> None:
        """Learn the result of a trial."""
        self._learn(trial.settings, trial.io_ratio)

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
        if not self._finished and self.space.size - 1 >= len(self._tried):
            return ""
        if self.space.size <= max(_SMALL_SPACE, len(self._tried)):
            return "every valid configuration has been tried"
        return (
            f"no valid configuration was found in {_FRUITLESS_DRAWS} draws; narrow the space with "
            "--only"
        )

    def _next(self) -> Proposal | None:
        if self.space.size - 1 < len(self._tried):
            return None
        if self._n_learned >= self.number("startup"):
            for settings in self._samples():
                if key_of(settings) not in self._tried and is_valid(settings, self.facts):
                    return Proposal(settings, "where good ones are likely")
        return self._drawn()

    def _samples(self) -> Iterator[dict[str, Value]]:
        """Sample a few points from the model without storing them in its study."""
        self._study.ask()  # a trial for the samples, which never runs
        pending = self._study.get_trials(deepcopy=False)[-1]
        self._study.tell(pending.number, state=self._optuna.trial.TrialState.FAIL)
        for _ in range(_SAMPLES):
            genes = self._study.sampler.sample_relative(self._study, pending, self._distributions)
            yield self.space.at(genes[name] for name in self._distributions)

    def _drawn(self) -> Proposal | None:
        for number in self._numbers():
            settings = self.space.point(number)
            if key_of(settings) not in self._tried and is_valid(settings, self.facts):
                return Proposal(settings, "drawn at random")
        return None

    def _numbers(self) -> Iterator[int]:
        """Draw random points; in a small space, then enumerate every point once."""
        for _ in range(_FRUITLESS_DRAWS):
            yield self._random.randrange(1, self.space.size)
        if self.space.size <= _SMALL_SPACE:
            yield from range(1, self.space.size)

    def _learn(self, settings: Mapping[str, Value], ratio: float) -> None:
        positions = self.space.positions(settings)
        if positions is None:
            return
        genes = dict(zip(self._distributions, positions, strict=True))
        trial = self._optuna.trial.create_trial(
            params=genes,
            distributions=self._distributions,
            value=ratio if isfinite(ratio) else _FAILED_RATIO,
        )
        self._study.add_trial(trial)
        self._n_learned += 1
