# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is asked before a run whose settings are to come from what is known, and the answer."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stripewise.adoption._known import Judged
from stripewise.adoption._unasked import why_not_unasked
from stripewise.knowledge import Case
from stripewise.machines import Storage
from stripewise.model import Configuration, ProgramFacts, Value
from stripewise.performance import Ground
from stripewise.policy import Policy
from stripewise.tunables import SafetyClass, Space, Tunable, find_space


class Level(StrEnum):
    """Where settings come from, the surest first."""

    PROGRAM = "program"
    """A study of the same program, on as many ranks, with the same I/O."""
    PATTERN = "pattern"
    """A study of another program, or of another number of ranks, whose I/O is alike."""
    MODEL = "model"
    """A model of the storage, for the pattern of this program."""
    DEFAULT = "default"
    """Nowhere: nothing is set."""


@dataclass(frozen=True)
class Question:
    """A program that is about to run.

    Attributes:
        case: Machine, stack and program, as the program's last run showed them.
        facts: Of that run; None: no run of it is known.
        space: What may be set; see `adoptable_space`.
        ground: Where models have to hold; None: no model is asked.
        storage: Description of the storage; None: there is none.
        ranks_per_node: On a node of that storage; 0: as many as it had on each host.
        transport: Variant of its network; "": what the environment chooses.
        environment: That the program runs in.
        judged: Settings that are not set again.
        only_rungs: Only values on the ladders of the space: none that were tried between them.
    """

    case: Case
    facts: ProgramFacts | None
    space: Space
    ground: Ground | None = None
    storage: Storage | None = None
    ranks_per_node: int = 0
    transport: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    judged: tuple[Judged, ...] = ()
    only_rungs: bool = False


@dataclass(frozen=True)
class Answer:
    """What is to be set.

    Attributes:
        level: Where it comes from.
        settings: Tunable name to value; behind `@` the files that a setting is for.
        configuration: The same, as it is applied.
        sentence: One line for people: level, distance, source, what to expect.
        source: Name of the study's program, or of the model; "" for none.
        distance: From the case that it comes from; None where there is none.
        expected_ratio: How many times as fast the I/O is expected to be; None: not known.
        refused: Settings of the source that are not set, with the reason, a line each.
    """

    level: Level
    settings: Mapping[str, Value]
    configuration: Configuration
    sentence: str
    source: str = ""
    distance: float | None = None
    expected_ratio: float | None = None
    refused: tuple[str, ...] = ()


def adoptable_space(
    facts: ProgramFacts, policy: Policy, taken: Container[str] = frozenset()
) -> Space:
    """Return what may be set for a program without being asked.

    Args:
        facts: Of its last run.
        policy: What the site and the user allow, above all else.
        taken: Names of tunables that the user has set by other means.
    """

    def why_not(tunable: Tunable) -> str:
        own = "it is set in the environment" if tunable.name in taken else ""
        return policy.why_not(tunable) or why_not_unasked(tunable) or own

    return find_space(facts, why_not, classes=(SafetyClass.SAFE, SafetyClass.LAYOUT))
