# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a study: asked once at its beginning, told once at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stripewise.errors import StripewiseError
from stripewise.knowledge._learn import learn
from stripewise.knowledge._parts import parts_of
from stripewise.knowledge._recall import Recollection, recall
from stripewise.knowledge._records import Case, Lesson, Machine
from stripewise.knowledge._store import Store
from stripewise.model import ProgramFacts, StudyResult
from stripewise.tunables import Space

MOST_SAME = 20
"""Of the studies of the program of the same name, the newest so many are asked what failed."""


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
        lessons, known, warnings = lessons_for(case, (self._own, *self._sites))
        found = recall(case, lessons, space, facts, known)
        return replace(found, warnings=(*warnings, *found.warnings))

    def lessons(self, case: Case) -> list[Lesson]:
        """Return what may say something to a case; see `lessons_for`."""
        return lessons_for(case, (self._own, *self._sites))[0]

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


def lessons_for(case: Case, stores: Iterable[Store]) -> tuple[list[Lesson], int, list[str]]:
    """Return what may say something to a case: of like programs, of like files, of this program.

    Args:
        case: That is looked up.
        stores: The first one counts where a study is in several.

    Returns:
        The lessons, how many studies under this MPI there are in all, and warnings.
    """
    found: dict[str, Lesson] = {}
    known, warnings = 0, []
    for store in stores:
        try:
            for part in parts_of(case):
                matches, kept = store.nearest(part.case)
                found = {one.study.study_id: one.study for one in matches} | found
                warnings.append(store.damage)
            known += kept
            same = store.lessons(
                mpi_family=case.stack.mpi_family, program=case.fingerprint.program, most=MOST_SAME
            )
            found = {one.study_id: one for one in same} | found
        except (StripewiseError, OSError) as error:
            warnings.append(str(error))
        warnings.append(store.damage)
    return list(found.values()), known, [text for text in dict.fromkeys(warnings) if text]
