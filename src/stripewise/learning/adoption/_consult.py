# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Consults the stored studies, packs and models about what to set at the next run."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from stripewise.core import SITE_POLICY, ProgramFacts, site_packs, user_packs, user_policy_path
from stripewise.core.errors import StorageError, StripewiseError
from stripewise.learning.adoption._answer import answer
from stripewise.learning.adoption._known import (
    Identity,
    Known,
    KnownSettings,
    Level,
    Prepared,
    Watched,
    default_answer,
    full_state,
)
from stripewise.learning.adoption._question import (
    Question,
    adoptable_space,
    expected_words,
    why_not_adoptable,
)
from stripewise.learning.knowledge import (
    Lesson,
    Machine,
    Store,
    StudiedCase,
    compare,
    describe_machine,
    emulated_machine,
    lessons_for,
    own_store,
    site_stores,
)
from stripewise.learning.performance import ground_of, load_models, own_models, site_models
from stripewise.settings import Policy, load_policy
from stripewise.settings.tunables import (
    build_configuration,
    settings_text,
    split_scope,
    tunable_of,
)
from stripewise.storage.machines import known_storage, machine_directories

if TYPE_CHECKING:
    from stripewise.storage.emulation import EmulatedStorage
    from stripewise.storage.machines import Storage


FACTS = TypeAdapter(ProgramFacts)
CASE = TypeAdapter(StudiedCase)


def consult(
    known: Known,
    directory: Path,
    state: str,
    storage: EmulatedStorage | None = None,
    identity: Identity | None = None,
) -> tuple[Prepared, tuple[str, ...]]:
    """Determine the settings for a program from stores, models and policy.

    Returns:
        The answer as it is stored, and warnings about unusable stores and models.

    Args:
        known: Stored record of the program.
        directory: Working directory of the program.
        state: State of the user's own store.
        storage: Emulated storage; None if the real storage is used.
        identity: Identity of the program, to find a study of it when no run of it is known.

    Raises:
        ConfigurationError: A policy cannot be read.
        StorageError: A stored document is damaged.
    """
    policy = load_policy()
    warnings: list[str] = []
    facts, case = _read(known)
    if facts is None or case is None:
        found = _answer_of_tuned(known, directory, policy, storage, identity, warnings)
    else:
        found = _answer_of_run(known, facts, case, directory, policy, storage, warnings)
    prepared = Prepared(**vars(found), state=full_state(state), watched=_watched(policy))
    return prepared, tuple(warnings)


def _answer_of_run(
    known: Known,
    facts: ProgramFacts,
    case: StudiedCase,
    directory: Path,
    policy: Policy,
    storage: EmulatedStorage | None,
    warnings: list[str],
) -> KnownSettings:
    described = _described(directory, storage, warnings)
    models = load_models((own_models(), *site_models(policy.models)))
    warnings += models.warnings
    question = Question(
        case,
        facts,
        adoptable_space(facts, policy, _set_in_environment(os.environ)),
        ground_of(facts, storage=described),
        described,
        storage.options.ranks_per_node if storage else 0,
        storage.options.transport if storage else "",
        os.environ,
        known.judged,
    )
    return answer(question, _lessons(case, policy, warnings), models.models)


def _answer_of_tuned(
    known: Known,
    directory: Path,
    policy: Policy,
    storage: EmulatedStorage | None,
    identity: Identity | None,
    warnings: list[str],
) -> KnownSettings:
    """Return the answer of a study of the program, of which no run is known, or the default."""
    nothing = default_answer("no earlier run of this program is known; this one is recorded")
    if identity is None or known.judged:
        return nothing
    machine = describe_machine(directory)
    machine = emulated_machine(machine, storage) if storage is not None else machine
    try:
        lesson = study_of(identity, machine, (own_store(), *site_stores(policy.knowledge)))
    except (StripewiseError, OSError) as error:
        warnings.append(str(error))
        return nothing
    found = answer_of_study(lesson, policy, _set_in_environment(os.environ)) if lesson else None
    return found or nothing


def _read(known: Known) -> tuple[ProgramFacts | None, StudiedCase | None]:
    if not known.facts:
        return None, None
    try:
        return FACTS.validate_python(known.facts), CASE.validate_python(known.case)
    except (ValidationError, StripewiseError) as error:
        raise StorageError(
            "the record of this program's earlier runs is damaged; "
            "`stripewise knowledge forget --runs` removes it"
        ) from error


def _described(
    directory: Path, storage: EmulatedStorage | None, warnings: list[str]
) -> Storage | None:
    """Return the description of the storage that a program runs on; None if there is none."""
    if storage is not None:
        return storage.storage
    known, problems = known_storage(directory)
    warnings += problems
    return known.storage if known else None


def _lessons(case: StudiedCase, policy: Policy, warnings: list[str]) -> list[Lesson]:
    stores = (own_store(), *site_stores(policy.knowledge))
    found: dict[str, Lesson] = {}
    for synced in (True, False):
        lessons, _, store_warnings = lessons_for(replace(case, synced=synced), stores)
        found |= {lesson.study_id: lesson for lesson in lessons}
        warnings += [text for text in store_warnings if text not in warnings]
    return list(found.values())


def _set_in_environment(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the tunables set by the user's environment, which must not be overridden."""
    prefix = "OMPI_MCA_"
    return frozenset(
        f"mca.{name.removeprefix(prefix)}" for name in environment if name.startswith(prefix)
    )


def _watched(policy: Policy) -> tuple[Watched, ...]:
    """Record the state of every file that an answer depends on, except the user's own store."""
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


# A program that `run --auto` has not seen yet but that was tuned here.

SAME_MACHINE = 0.05
"""Largest distance at which machines count as the same: kernels get updated (assumed)."""


def study_of(identity: Identity, machine: Machine, stores: Iterable[Store]) -> Lesson | None:
    """Return the newest study of this executable with the same ranks on the same machine."""
    found = [
        lesson
        for store in stores
        for lesson in store.lessons(program=identity.program, most=100)
        if lesson.case.fingerprint.executable_sha256 == identity.executable_sha256
        and lesson.case.fingerprint.n_ranks == identity.n_ranks
        and compare(StudiedCase(machine), lesson.case).machine <= SAME_MACHINE
    ]
    return max(found, key=lambda lesson: lesson.recorded_unix_seconds, default=None)


def answer_of_study(lesson: Lesson, policy: Policy, taken: Container[str]) -> KnownSettings | None:
    """Return the settings that a study of this program found, if they may be set automatically.

    Args:
        lesson: Lesson of the study.
        policy: Policy of the site and the user.
        taken: Names of tunables that the user has set by other means.

    Returns:
        None if the study found no improvement or none of its settings may be set.
    """
    if not lesson.improved:
        return None
    refused, settings = [], {}
    for name, value in lesson.candidate.items():
        tunable = tunable_of(name)
        own = "it is set in the environment" if split_scope(name)[0] in taken else ""
        if why := policy.why_not(tunable) or why_not_adoptable(tunable) or own:
            refused.append(f"{settings_text({name: value})}: {why}")
        else:
            settings[name] = value
    if not settings:
        return None
    ratio = lesson.effect.median if lesson.effect and not refused else None
    sentence = f"known program (study of {lesson.date}): sets {settings_text(settings)}"
    answer = KnownSettings(
        Level.PROGRAM,
        settings,
        build_configuration(settings),
        f"{sentence}; {expected_words(ratio)}",
        lesson.case.fingerprint.program,
        0.0,
        ratio,
    )
    return replace(answer, refused=tuple(refused))
