# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines samples, models and predictions, and evaluates a model at one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from stripewise.core import ProgramFacts, Value
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance._ground import Ground

BASES = ("c", "s", "a", "f")
"""Features of a regression: stripe count, stripe size, aggregators and file size."""
GOOD_RHO, GOOD_ERROR = 0.7, 0.15
REGRESSION, BOOSTED = "regression", "boosted"
_ROUNDING = 1e-9


class Way(StrEnum):
    """Way in which configurations are measured."""

    REAL = "real"
    EMULATED = "emulated"
    SIMULATED = "simulated"


@dataclass(frozen=True)
class TrainingSample:
    """Measured I/O time of one configuration of one program.

    Attributes:
        facts: Facts of the program's first run at its scale.
        settings: Tunable name to value; other tunables had their defaults.
        seconds: I/O time of each repeat in seconds; at least one.
        name: Name of the program, by which samples are left out together; empty for the name of
            its pattern.
    """

    facts: ProgramFacts
    settings: Mapping[str, Value]
    seconds: tuple[float, ...]
    name: str = ""


@dataclass(frozen=True)
class Training:
    """Input to which models are fitted.

    Attributes:
        ground: Ground on which all samples were taken.
        samples: Samples of any pattern classes.
        runs / run_seconds: Number and total time of the training's runs of whole programs.
        way: How the samples were taken.
    """

    ground: Ground
    samples: tuple[TrainingSample, ...]
    runs: int = 0
    run_seconds: float = 0.0
    way: Way = Way.REAL


@dataclass(frozen=True)
class Term:
    """Term of a regression: a product of powers of features, times a coefficient."""

    powers: Mapping[str, int]
    coefficient: float

    def of(self, row: Mapping[str, float]) -> float:
        """Return the product of the powers of features without the coefficient."""
        value = 1.0
        for name, power in self.powers.items():
            value = value * row[name] if power > 0 else value / row[name]
        return value

    def __str__(self) -> str:
        over = "".join(f" {name}" for name, power in self.powers.items() if power > 0)
        under = " ".join(name for name, power in self.powers.items() if power < 0)
        under = f"({under})" if " " in under else under
        return (over.strip() or "1") + (f"/{under}" if under else "")


@dataclass(frozen=True)
class Tree:
    """Regression tree as arrays; node 0 is the root, and a feature of -1 marks a leaf.

    Attributes:
        feature: Index into the model's `features`.
        threshold: Largest value for which the left child is taken.
        left / right: Indices of the children, which are always later nodes.
        value: Value of a leaf.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class Range:
    """Range of a feature in training.

    Attributes:
        low / high: Ends of the range.
        reach: Factor beyond the range within which predictions were accurate when the samples
            there were left out.
    """

    low: float
    high: float
    reach: float = 1.0

    def holds(self, value: float) -> bool:
        """Return whether a value is in the range or within its reach."""
        low, high = self.low / self.reach, self.high * self.reach
        return low * (1 - _ROUNDING) <= value <= high * (1 + _ROUNDING)


LEFT_OUT = ("pattern", "scale", "configuration")
"""Kinds of groups that scores leave out, the hardest question first."""


@dataclass(frozen=True)
class Score:
    """Accuracy of the predictions for a group by a model fitted to the other samples.

    Attributes:
        left_out: What the group has in common: "pattern", "scale" or "configuration".
        name: Name of the group.
        n: Number of samples in the group.
        error: Median of |predicted - measured| / measured.
        rho: Spearman's rank correlation within a program at its scale, as the median over
            those.
        top5: Share of the programs at their scale for which the five best predictions include one
            configuration within 5 % of the best.
    """

    left_out: str
    name: str
    n: int
    error: float
    rho: float
    top5: float

    @property
    def is_good(self) -> bool:
        """Whether the ranking is good, or the error so small that the ranking is noise."""
        return self.rho >= GOOD_RHO or self.error <= GOOD_ERROR


@dataclass(frozen=True)
class Model:
    """Performance model of one class of patterns on one ground.

    Attributes:
        ground: Ground to which the model applies.
        pattern_class: Class of patterns to which it applies.
        kind: "regression" if seconds are the sum of `terms`; "boosted" if they are those of a
            simulation, times e to the power of `initial` plus the sum of `trees`.
        features: Names of the trees' features.
        tunables: Names of the tunables whose effect the model knows.
        levels: Tunable name to observed values, for tunables that are features themselves.
        ranges: Feature name to its range in training.
        scores: Scores on left-out samples.
        runs / run_seconds / way: Cost and way of the training.
        points: Measured seconds and left-out predictions in seconds, for charts.
        programs: Names of the programs in training.
        trained_unix_seconds: Time of the training.
    """

    ground: Ground
    pattern_class: PatternClass
    kind: str
    terms: tuple[Term, ...] = ()
    trees: tuple[Tree, ...] = ()
    initial: float = 0.0
    features: tuple[str, ...] = ()
    tunables: tuple[str, ...] = ()
    levels: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    runs: int = 0
    run_seconds: float = 0.0
    way: Way = Way.REAL
    points: tuple[tuple[str, float, float], ...] = ()
    programs: tuple[str, ...] = ()
    trained_unix_seconds: float = 0.0

    @property
    def is_simulated(self) -> bool:
        """Whether the samples are simulated, so that the error does not refer to real storage."""
        return self.way == Way.SIMULATED

    @property
    def judged(self) -> tuple[Score, ...]:
        """Scores of the hardest question: pattern, otherwise scale, otherwise configuration."""
        for kind in LEFT_OUT:
            if found := tuple(one for one in self.scores if one.left_out == kind):
                return found
        return ()

    @property
    def error(self) -> float | None:
        """Median relative error on left-out samples; None if none could be left out."""
        return median(one.error for one in self.judged) if self.judged else None

    @property
    def rho(self) -> float | None:
        """Median rank correlation on left-out samples."""
        return median(one.rho for one in self.judged) if self.judged else None


# Prediction by any model: the record that strategies and adoption use.


@dataclass(frozen=True)
class Prediction:
    """Predicts the I/O time of a program with given settings on a storage.

    Attributes:
        source: Name for users of what the model describes: "archer2-hdd".
        tunables: Names of the tunables whose effect the model knows.
        seconds: Returns the I/O time in seconds for given settings; None if it cannot predict it.
        error: Median relative error on programs to which it was not fitted; None if unknown.
    """

    source: str
    tunables: frozenset[str]
    seconds: Callable[[Mapping[str, Value]], float | None]
    error: float | None = None


# Evaluation of a model at one point without numpy, which is faster one point at a time.


def regressed(terms: Sequence[Term], row: Mapping[str, float]) -> float:
    """Return the seconds that a regression predicts."""
    return sum(term.coefficient * term.of(row) for term in terms)


def added(trees: Sequence[Tree], row: Sequence[float]) -> float:
    """Return the sum of the values of all trees for a row."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            low = row[tree.feature[node]] <= tree.threshold[node]
            node = tree.left[node] if low else tree.right[node]
        total += tree.value[node]
    return total
