# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ask everything that is kept here what to set for a program at its next run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from stripewise.adoption._answer import answer, default_answer
from stripewise.adoption._identity import Identity
from stripewise.adoption._known import Known, Prepared, Watched, full_state
from stripewise.adoption._of_study import answer_of_study, study_of
from stripewise.adoption._question import Answer, Question, adoptable_space
from stripewise.errors import StorageError, StripewiseError
from stripewise.knowledge import (
    Case,
    Lesson,
    describe_machine,
    emulated_machine,
    lessons_for,
    own_store,
    site_stores,
)
from stripewise.machines import known_storage, machine_directories
from stripewise.model import ProgramFacts
from stripewise.performance import ground_of, load_models, own_models, site_models
from stripewise.policy import (
    SITE_POLICY,
    Policy,
    load_policy,
    site_packs,
    user_packs,
    user_policy_path,
)

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedStorage
    from stripewise.machines import Storage

FACTS = TypeAdapter(ProgramFacts)
CASE = TypeAdapter(Case)


@dataclass(frozen=True)
class Consulted:
    """What came of it.

    Attributes:
        prepared: The answer, as it is kept.
        warnings: Of stores and models that cannot be used.
    """

    prepared: Prepared
    warnings: tuple[str, ...] = ()


def consult(
    known: Known,
    directory: Path,
    state: str,
    storage: EmulatedStorage | None = None,
    identity: Identity | None = None,
) -> Consulted:
    """Ask stores, models and policy what to set for a program.

    Args:
        known: What is kept of the program.
        directory: It runs in.
        state: Of the user's own store.
        storage: That is emulated; None: what is there.
        identity: Of the program, to find a study of it where no run of it is known.

    Raises:
        ConfigurationError: A policy cannot be read.
        StorageError: What is kept is damaged.
    """
    policy = load_policy()
    warnings: list[str] = []
    facts, case = _read(known)
    if facts is None or case is None:
        found = _tuned(known, directory, policy, storage, identity, warnings)
    else:
        found = _asked(known, facts, case, directory, policy, storage, warnings)
    return Consulted(_prepared(found, state, _watched(policy)), tuple(warnings))


def _asked(
    known: Known,
    facts: ProgramFacts,
    case: Case,
    directory: Path,
    policy: Policy,
    storage: EmulatedStorage | None,
    warnings: list[str],
) -> Answer:
    described = _described(directory, storage, warnings)
    models = load_models((own_models(), *site_models(policy.models)))
    warnings += models.warnings
    question = Question(
        case,
        facts,
        adoptable_space(facts, policy, _taken(os.environ)),
        ground_of(facts, storage=described),
        described,
        storage.options.ranks_per_node if storage else 0,
        storage.options.transport if storage else "",
        os.environ,
        known.judged,
    )
    return answer(question, _lessons(case, policy, warnings), models.models)


def _tuned(
    known: Known,
    directory: Path,
    policy: Policy,
    storage: EmulatedStorage | None,
    identity: Identity | None,
    warnings: list[str],
) -> Answer:
    """Return what a study of the program says though no run of it is known; else nothing."""
    nothing = default_answer("no run of this program is known; this one is remembered")
    if identity is None or known.judged:
        return nothing
    machine = describe_machine(directory)
    machine = emulated_machine(machine, storage) if storage is not None else machine
    try:
        lesson = study_of(identity, machine, (own_store(), *site_stores(policy.knowledge)))
    except (StripewiseError, OSError) as error:
        warnings.append(str(error))
        return nothing
    found = answer_of_study(lesson, policy, _taken(os.environ)) if lesson else None
    return found or nothing


def _read(known: Known) -> tuple[ProgramFacts | None, Case | None]:
    if not known.facts:
        return None, None
    try:
        return FACTS.validate_python(known.facts), CASE.validate_python(known.case)
    except (ValidationError, StripewiseError) as error:
        raise StorageError(
            "what was kept of this program's runs is damaged; "
            "`stripewise knowledge forget --runs` removes it"
        ) from error


def _described(
    directory: Path, storage: EmulatedStorage | None, warnings: list[str]
) -> Storage | None:
    """Return the description of the storage that a program runs on; None: there is none."""
    if storage is not None:
        return storage.storage
    known, problems = known_storage(directory)
    warnings += problems
    return known.storage if known else None


def _lessons(case: Case, policy: Policy, warnings: list[str]) -> list[Lesson]:
    stores = (own_store(), *site_stores(policy.knowledge))
    found: dict[str, Lesson] = {}
    for synced in (True, False):
        lessons, _, said = lessons_for(replace(case, synced=synced), stores)
        found |= {lesson.study_id: lesson for lesson in lessons}
        warnings += [text for text in said if text not in warnings]
    return list(found.values())


def _taken(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the tunables that the user's environment sets: nothing is set in their place."""
    prefix = "OMPI_MCA_"
    return frozenset(
        f"mca.{name.removeprefix(prefix)}" for name in environment if name.startswith(prefix)
    )


def _prepared(found: Answer, state: str, watched: tuple[Watched, ...]) -> Prepared:
    return Prepared(
        found.level.value,
        found.settings,
        found.configuration,
        found.sentence,
        found.source,
        found.distance,
        found.expected_ratio,
        found.refused,
        full_state(state),
        watched,
    )


def _watched(policy: Policy) -> tuple[Watched, ...]:
    """Look at all that an answer is made from besides the user's own store."""
    directories = [*machine_directories(), own_models(), *site_models(policy.models)]
    directories += [user_packs(), site_packs()]
    inside = [entry for home in directories for entry in _entries(home)]
    stores = [store.path for store in site_stores(policy.knowledge)]
    return tuple(
        map(Watched.of, (SITE_POLICY, user_policy_path(), *directories, *inside, *stores))
    )


def _entries(home: Path) -> list[Path]:
    try:
        return sorted(home.iterdir())[:200]
    except OSError:
        return []
