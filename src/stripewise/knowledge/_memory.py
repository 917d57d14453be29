# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a study: asked once at its beginning, told once at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stripewise.errors import StripewiseError
from stripewise.knowledge._learn import learn
from stripewise.knowledge._recall import Recollection, recall
from stripewise.knowledge._records import Case, Lesson, Machine
from stripewise.knowledge._store import Store
from stripewise.model import ProgramFacts, StudyResult
from stripewise.tunables import Space


class Memory:
    """Own store and site's stores; trouble with any of them is a warning, never an error.

    Attributes:
        machine: Where the study takes place.
    """

    def __init__(self, own: Store, sites: Sequence[Store], machine: Machine) -> None:
        """Take the stores; nothing is opened yet."""
        self._own = own
        self._sites = tuple(sites)
        self.machine = machine

    def recall(self, case: Case, space: Space, facts: ProgramFacts) -> Recollection:
        """Return what earlier studies say to the one at hand; see `recall`."""
        lessons, warnings = self._lessons(case)
        found = recall(case, lessons, space, facts)
        return replace(found, warnings=(*warnings, *found.warnings))

    def keep(self, result: StudyResult, case: Case, study_id: str) -> str:
        """Keep what a study learned; return a warning, "" if all went well.

        A study that is kept already stays as it is.
        """
        try:
            lesson = learn(result, case, study_id)
            if lesson is not None:
                self._own.add([lesson])
        except (StripewiseError, OSError) as error:
            return f"this study is not remembered: {error}"
        return ""

    def _lessons(self, case: Case) -> tuple[list[Lesson], list[str]]:
        found: dict[str, Lesson] = {}
        warnings: list[str] = []
        for store in (self._own, *self._sites):
            try:
                for lesson in store.lessons(mpi_family=case.stack.mpi_family):
                    found.setdefault(lesson.study_id, lesson)
            except (StripewiseError, OSError) as error:
                warnings.append(str(error))
            if store.damage:
                warnings.append(store.damage)
        return list(found.values()), warnings
