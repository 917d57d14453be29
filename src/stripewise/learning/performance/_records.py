# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines samples, models and predictions, and computes a model's value at one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from stripewise.core import ProgramFacts, Value
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance._ground import Ground

BASES = ("c", "s", "a", "f")
"""Features of a regression: stripe count, stripe size, aggregators, size of the file."""
GOOD_RHO, GOOD_ERROR = 0.7, 0.15
REGRESSION, BOOSTED = "regression", "boosted"
_ROUNDING = 1e-9


class Way(StrEnum):
    """How configurations are measured."""

    REAL = "real"
    EMULATED = "emulated"
    SIMULATED = "simulated"


@dataclass(frozen=True)
class Sample:
    """One configuration of one program.

    Attributes:
        facts: Facts of the program's first run, at its scale.
        settings: Tunable name -> value; others were at their default.
        seconds: I/O seconds of each repeat; at least one.
        name: Name of the program: samples of one name are left out together. "": its pattern.
    """

    facts: ProgramFacts
    settings: Mapping[str, Value]
    seconds: tuple[float, ...]
    name: str = ""


@dataclass(frozen=True)
class Training:
    """What models are fitted to.

    Attributes:
        ground: Where all samples were taken.
        samples: Samples of any classes of patterns.
        runs / run_seconds: What the training cost, whole runs of programs.
        way: How the samples were taken.
    """

    ground: Ground
    samples: tuple[Sample, ...]
    runs: int = 0
    run_seconds: float = 0.0
    way: Way = Way.REAL


@dataclass(frozen=True)
class Term:
    """A term of a regression: a product of powers of features, times a coefficient."""

    powers: Mapping[str, int]
    coefficient: float

    def of(self, row: Mapping[str, float]) -> float:
        """Return the product of the powers of features, without the coefficient."""
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
    """A regression tree as arrays, node 0 the root; a feature of -1 marks a leaf.

    Attributes:
        feature: Index into the model's `features`.
        threshold: Up to it the left child is next.
        left / right: Children; always later nodes.
        value: Value of a leaf.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class Range:
    """Where a feature lay in training.

    Attributes:
        low / high: Ends.
        reach: How far beyond, as a factor, predictions were found to hold by leaving out the
            samples there.
    """

    low: float
    high: float
    reach: float = 1.0

    def holds(self, value: float) -> bool:
        """Return whether a value lies there, or within reach."""
        low, high = self.low / self.reach, self.high * self.reach
        return low * (1 - _ROUNDING) <= value <= high * (1 + _ROUNDING)


LEFT_OUT = ("pattern", "scale", "configuration")
"""What scores leave out, the hardest question first."""


@dataclass(frozen=True)
class Score:
    """How well a group of samples was predicted by a model fitted to the others.

    Attributes:
        left_out: "pattern", "scale" or "configuration": what the group has in common.
        name: Name of the group.
        n: Samples in it.
        error: Median of |predicted - measured| / measured.
        rho: Spearman's rank correlation within a program at its scale, the median of those.
        top5: Of the programs at their scale, the share in which the five that the model holds
            for best contain one within 5 % of the best.
    """

    left_out: str
    name: str
    n: int
    error: float
    rho: float
    top5: float

    @property
    def is_good(self) -> bool:
        """Whether the group is ranked well, or so exactly predicted that its ranks are noise."""
        return self.rho >= GOOD_RHO or self.error <= GOOD_ERROR


@dataclass(frozen=True)
class Model:
    """A model of one class of patterns on one ground.

    Attributes:
        ground: Where it holds.
        pattern_class: What it holds for.
        kind: "regression": seconds are the sum of `terms`; "boosted": they are those of a
            simulation, times e to the power of `initial` plus the sum of `trees`.
        features: Names of the trees' features.
        tunables: Names of those whose effect it knows.
        levels: Tunable -> values seen, of those that are features by themselves.
        ranges: Feature -> where it lay.
        scores: Scores on what was left out.
        runs / run_seconds / way: Cost and way of the training.
        points: Measured and left-out predicted seconds, for pictures.
        programs: Names of those it was trained with.
        trained_unix_seconds: When.
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
        """Whether its error says how well it knows a simulation, not how well the storage."""
        return self.way == Way.SIMULATED

    @property
    def judged(self) -> tuple[Score, ...]:
        """The scores of the hardest question that was asked: patterns, scales, configurations."""
        for kind in LEFT_OUT:
            if found := tuple(one for one in self.scores if one.left_out == kind):
                return found
        return ()

    @property
    def error(self) -> float | None:
        """Median relative error of what was left out; None: nothing could be."""
        return median(one.error for one in self.judged) if self.judged else None

    @property
    def rho(self) -> float | None:
        """Median rank correlation of what was left out."""
        return median(one.rho for one in self.judged) if self.judged else None


# What any model says of settings: the record that strategies and adoption take.


@dataclass(frozen=True)
class Prediction:
    """A model of what settings cost on a storage.

    Attributes:
        source: What the model describes, for people: "archer2-hdd".
        tunables: Names of the tunables that it knows the effect of.
        seconds: Settings -> I/O time of the program in seconds; None: it cannot tell.
        error: Median relative error on programs that it was not fitted to; None: not known.
    """

    source: str
    tunables: frozenset[str]
    seconds: Callable[[Mapping[str, Value]], float | None]
    error: float | None = None


# What a model says of one point, without numpy: one point at a time this is faster.


def regressed(terms: Sequence[Term], row: Mapping[str, float]) -> float:
    """Return the seconds that a regression predicts."""
    return sum(term.coefficient * term.of(row) for term in terms)


def added(trees: Sequence[Tree], row: Sequence[float]) -> float:
    """Return the sum of what trees say of a row."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            low = row[tree.feature[node]] <= tree.threshold[node]
            node = tree.left[node] if low else tree.right[node]
        total += tree.value[node]
    return total
