# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the input of an adoption, phrases its answer and checks what may be set unasked."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from stripewise.core import SITE_DIRECTORY, Configuration, ProgramFacts, Value, user_directory
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns import pattern_of
from stripewise.learning.adoption._known import Judged, Level
from stripewise.learning.knowledge import Lesson, Likeness, StudiedCase
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
    """Program that is about to run, and the conditions of its run.

    Attributes:
        case: Machine, stack and program as observed in the program's last run.
        facts: Facts of that run; None if no run is known.
        space: Space of permitted settings; see `adoptable_space`.
        ground: Ground on which models have to apply; None if no model is to be used.
        storage: Description of the storage; None if there is none.
        ranks_per_node: Ranks per node of that storage; 0 for as many as each host had.
        transport: Variant of the network; empty for the one that the environment selects.
        environment: Environment of the program.
        judged: Settings that must not be set again.
        only_rungs: Whether only values on the ladders are allowed, none tried between them.
    """

    case: StudiedCase
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
    """Return the space of settings that may be applied to a program without being requested.

    Args:
        facts: Facts of the program's last run.
        policy: Policy of the site and the user, which takes precedence.
        taken: Names of tunables that the user has set by other means.
    """

    def why_not(tunable: Tunable) -> str:
        own = "it is set in the environment" if tunable.name in taken else ""
        return policy.why_not(tunable) or why_not_adoptable(tunable) or own

    return find_space(facts, why_not, classes=(SafetyClass.SAFE, SafetyClass.LAYOUT))


# The one line of an answer: level, distance, source and expected speed-up.


def study_sentence(
    level: Level,
    lesson: Lesson,
    likeness: Likeness,
    settings: Mapping[str, Value],
    ratio: float | None,
    facts: ProgramFacts,
    by: str = "",
) -> str:
    """Return the sentence for settings that come from a study.

    Args:
        level: PROGRAM or PATTERN.
        lesson: Lesson of the study.
        likeness: Likeness of the study's case and the present one.
        settings: Settings that are applied.
        ratio: Expected speed-up of the I/O; None if unknown.
        facts: Facts of the program.
        by: What adjusted the settings to this program: "the simulation of hopper"; empty if
            nothing did.
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
    """Return the sentence for settings that come from a model, not from a study.

    Args:
        model: "the simulation of hopper@1/16".
        settings: Settings that are applied.
        ratio: Expected speed-up of the I/O.
        facts: Facts of the program.
        why: Reason why no study is used.
    """
    origin = f"{pattern_words(facts)}: {why}, so {model}"
    return f"{origin}: sets {settings_text(settings)}; {expected_words(ratio)}"


def expected_words(ratio: float | None) -> str:
    """Return the words for an expected speed-up."""
    if ratio is None:
        return "what to expect is not known"
    return f"expect I/O {ratio_text(ratio)}x as fast"


def pattern_words(facts: ProgramFacts) -> str:
    """Return a name for what a program does: "3 datasets <3D, (BLOCK, *, *), (64, 8, 8)>"."""
    if not facts.patterns:
        return "no pattern recognised"
    first = facts.patterns[0]
    notation = facts.pattern or pattern_of(first, facts.n_ranks).notation
    return f"{plural(first.datasets, 'dataset')} {notation}"


# What may be set without being requested, and the final check before it is applied.

LAYOUT = frozenset({"mpiio.striping_factor", "mpiio.striping_unit"})
"""Layout settings that keep every byte of a file in place: they select the storage targets of the
file.
"""
OF_MCA = frozenset({"mca.io", "mca.fcoll"})
"""Parameters of Open MPI that are set automatically: each selects a component, and all components
write the same file.
"""


def why_not_adoptable(tunable: Tunable) -> str:
    """Return why a tunable is never set without being requested; empty if it may be."""
    if tunable.safety is not SafetyClass.SAFE and tunable.name not in LAYOUT:
        return f"class {tunable.safety}: applied only from a configuration (--config)"
    if tunable.layer in (Layer.ENVIRONMENT, Layer.JOB):
        return f"{tunable.layer.settings.lower()} are never set automatically"
    if tunable.layer is Layer.MCA and tunable.name not in OF_MCA:
        return "this parameter of Open MPI is never set automatically"
    return ""


def check_adoptable(configuration: Configuration) -> None:
    """Refuse settings that must not be applied without being requested.

    Raises:
        ConfigurationError: A setting is unknown, impossible or must be requested.
        PolicyError: The policy forbids a setting.
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
