# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a rule of advice, and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stripewise.model import Value
from stripewise.simulation import Workload

if TYPE_CHECKING:
    from stripewise.advice._basis import Basis

GAINS = 1.15
"""Gain below which nobody is asked to change anything."""


@dataclass(frozen=True)
class How:
    """One way to follow advice.

    Attributes:
        kind: "command" (before the job), "variable" (of the job's environment), "hint" (of
            MPI-IO), "code" (in the program) or "directive" (of the job script).
        text: One line to copy.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Trial:
    """One way to do the I/O of a job, as the model is asked about it.

    Attributes:
        words: What it is, for people: "4 stripes".
        workload: Of the job.
        stack: Name of the software stack; "": that of the storage's users.
        settings: Full tunable name and value.
        transport: Name of the variant of the network; "": the default.
        capacity_bytes: That the job asks a burst buffer for; 0: the least.
    """

    words: str
    workload: Workload
    stack: str = ""
    settings: tuple[tuple[str, Value], ...] = ()
    transport: str = ""
    capacity_bytes: int = 0


@dataclass(frozen=True)
class Claim:
    """What advice says of the model, so that it can be tried.

    Attributes:
        advised: What users are to do.
        others: What else they could do: none of them is much better.
        loses: What they are told not to do: it is slower.
    """

    advised: Trial
    others: tuple[Trial, ...] = ()
    loses: tuple[Trial, ...] = ()


@dataclass(frozen=True)
class Advice:
    """One piece of advice to users.

    Attributes:
        rule: Name of the rule.
        topic: Heading under which users find it.
        sentence: In their words, with its figures.
        value: The figure behind it, in base units.
        low / high: Its range, as far as the limits are known; equal to `value`: not known.
        unit: "bytes per second", "operations per second", "nodes" or "seconds".
        evidence: What the figure follows from, in words or as keys of cases.
        how: Ways to follow it; empty for what not to do.
        is_warning: It says what not to do.
        defaults: Environment variable -> value with which a site can make it everybody's
            default; only what a user can undo and what changes no result.
        claim: What can be tried; None: the figure was measured.
    """

    rule: str
    topic: str
    sentence: str
    value: float
    low: float
    high: float
    unit: str
    evidence: tuple[str, ...] = ()
    how: tuple[How, ...] = ()
    is_warning: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    claim: Claim | None = None


class Rule(ABC):
    """Advice on one thing, computed from the limits of a storage, never from its name.

    Attributes:
        name: "striping".
        topic: Heading for users: "Striping".
    """

    name: str
    topic: str

    @abstractmethod
    def missing(self, basis: Basis) -> str:
        """Return what would be needed to say anything; "" if the basis suffices."""

    @abstractmethod
    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield advice; nothing where no choice makes a difference.

        Called only where nothing is missing.
        """

    def concerns(self, basis: Basis) -> bool:
        """Whether it concerns the program that the basis has; without one, it does."""
        del basis
        return True
