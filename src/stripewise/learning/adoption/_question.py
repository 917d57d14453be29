# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what an adoption asks, words its answer, and says what may be set of itself."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from stripewise.core import SITE_DIRECTORY, Configuration, ProgramFacts, Value, user_directory
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns import pattern_of
from stripewise.learning.adoption._known import Judged, Level
from stripewise.learning.knowledge import Case, Lesson, Likeness
from stripewise.learning.performance import Ground
from stripewise.present import plural, ratio_text
from stripewise.settings import Policy
from stripewise.settings.tunables import (
    Layer,
    SafetyClass,
    Space,
    Tunable,
    all_settings,
    check_configuration,
    find,
    find_space,
    settings_text,
)
from stripewise.storage.machines import Storage


@dataclass(frozen=True)
class Question:
    """A program that is about to run.

    Attributes:
        case: Machine, stack and program, as the program's last run showed them.
        facts: Facts of that run; None: no run of it is known.
        space: What may be set; see `adoptable_space`.
        ground: Where models have to hold; None: no model is asked.
        storage: Description of the storage; None: there is none.
        ranks_per_node: On a node of that storage; 0: as many as it had on each host.
        transport: Variant of its network; "": what the environment chooses.
        environment: Environment that the program runs in.
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


def adoptable_space(
    facts: ProgramFacts, policy: Policy, taken: Container[str] = frozenset()
) -> Space:
    """Return what may be set for a program without being asked.

    Args:
        facts: Facts of its last run.
        policy: What the site and the user allow, above all else.
        taken: Names of tunables that the user has set by other means.
    """

    def why_not(tunable: Tunable) -> str:
        own = "it is set in the environment" if tunable.name in taken else ""
        return policy.why_not(tunable) or why_not_adoptable(tunable) or own

    return find_space(facts, why_not, classes=(SafetyClass.SAFE, SafetyClass.LAYOUT))


# The one line of an answer: level, distance, source, and what to expect.


def study_sentence(
    level: Level,
    lesson: Lesson,
    likeness: Likeness,
    settings: Mapping[str, Value],
    ratio: float | None,
    facts: ProgramFacts,
    by: str = "",
) -> str:
    """Say that settings come from a study.

    Args:
        level: PROGRAM or PATTERN.
        lesson: Lesson of the study.
        likeness: Likeness of its case and the one at hand.
        settings: What is set.
        ratio: How many times as fast the I/O is expected to be; None: not known.
        facts: Facts of the program.
        by: Who changed the settings for this program: "the simulation of hopper"; "": nobody.
    """
    program = lesson.case.fingerprint.program
    study = f"study of {lesson.date}"
    if level is Level.PROGRAM:
        origin = f"known program ({study})"
    else:
        near = f"nearest tuned pattern {program}, distance {likeness.distance:.2f} ({study})"
        origin = f"{pattern_words(facts)}: {near}"
    moved = f" (adapted by {by})" if by else ""
    return f"{origin}: sets {settings_text(settings)}{moved}; {expected_words(ratio)}"


def model_sentence(
    model: str, settings: Mapping[str, Value], ratio: float | None, facts: ProgramFacts, why: str
) -> str:
    """Say that settings come from a model alone, and why no study is followed.

    Args:
        model: "the simulation of hopper@1/16".
        settings: What is set.
        ratio: How many times as fast the I/O is expected to be.
        facts: Facts of the program.
        why: No study is followed.
    """
    origin = f"{pattern_words(facts)}: {why}, so {model}"
    return f"{origin}: sets {settings_text(settings)}; {expected_words(ratio)}"


def expected_words(ratio: float | None) -> str:
    """Say what to expect."""
    if ratio is None:
        return "what to expect is not known"
    return f"expect I/O {ratio_text(ratio)}x as fast"


def pattern_words(facts: ProgramFacts) -> str:
    """Name what a program does: "3 datasets <3D, (BLOCK, *, *), (64, 8, 8)>"."""
    if not facts.patterns:
        return "no pattern recognised"
    first = facts.patterns[0]
    notation = facts.pattern or pattern_of(first, facts.n_ranks).notation
    return f"{plural(first.datasets, 'dataset')} {notation}"


# What may be set for a program without being asked, and the last look before it is.

LAYOUT = frozenset({"mpiio.striping_factor", "mpiio.striping_unit"})
"""Settings of the layout that leave every byte of a file where it is: they say on which targets of
the storage the file lies."""
OF_MCA = frozenset({"mca.io", "mca.fcoll"})
"""Parameters of Open MPI that are set automatically: each chooses a component that writes the
same."""


def why_not_adoptable(tunable: Tunable) -> str:
    """Return why a tunable is never set without being asked; "" if it may be."""
    if tunable.safety is not SafetyClass.SAFE and tunable.name not in LAYOUT:
        return f"class {tunable.safety}: applied only from a configuration (--config)"
    if tunable.layer in (Layer.ENVIRONMENT, Layer.JOB):
        return f"{tunable.layer.settings.lower()} are never set automatically"
    if tunable.layer is Layer.MCA and tunable.name not in OF_MCA:
        return "this parameter of Open MPI is never set automatically"
    return ""


def check_adoptable(configuration: Configuration) -> None:
    """Refuse settings that may not be set without being asked for.

    Raises:
        ConfigurationError: One is unknown, impossible, or not to be set without being asked.
        PolicyError: The policy forbids one.
    """
    if configuration.is_empty:
        return
    problems = list(check_configuration(configuration))
    for _, layer, key, _ in all_settings(configuration):
        tunable = find(layer, key)
        why = why_not_adoptable(tunable) if tunable else "it is not known"
        problems += [f"{layer.value}.{key}: {why}"] if why else []
    if configuration.job.environment:
        problems.append("variables are never set automatically")
    if problems:
        raise ConfigurationError(f"what was kept for this program is not set: {problems[0]}")
    if any(os.path.lexists(home / "policy.toml") for home in (SITE_DIRECTORY, user_directory())):
        from stripewise.settings import load_policy

        load_policy().check(configuration)
