# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the manifest of foreign inputs, tries them, and counts the verdicts.

A kind of input is a file in `kinds/` and one in `manifest/` of the same name. The file in `kinds/`
has one class `TheKind` derived from `Kind`; the manifest lists its cases with their right answers.
"""

from __future__ import annotations

import abc
import importlib
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


class Verdict(StrEnum):
    """What became of one foreign input."""

    RIGHT = "right"
    REFUSED = "refused rightly"
    WRONG = "wrong"
    HARMFUL = "harmful"
    SKIPPED = "not tried"


@dataclass(frozen=True)
class Case:
    """One foreign input.

    Attributes:
        kind: Name of its kind.
        name: Name within the kind.
        source: Where the input comes from: package and version, paper, manual, repository.
        remade: How it was made again here; nothing is copied.
        found_by: How the right answer was found, without this product's code.
        answer: The right answer, as the kind defines it.
        input: Further data that the kind needs to make the input.
        suite: Whether `make test` tries it.
        mpi: Whether it starts an MPI program, so that it has the processors to itself there.
        needs: Debian packages or files without which it is not tried.
    """

    kind: str
    name: str
    source: str
    remade: str
    found_by: str
    answer: Mapping[str, Any] = field(default_factory=dict)
    input: Mapping[str, Any] = field(default_factory=dict)
    suite: bool = False
    mpi: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Verdict on one case, and the sentence that explains it."""

    verdict: Verdict
    text: str = ""

    @classmethod
    def of(cls, wrong: Sequence[str]) -> Outcome:
        """Return `right` without objections, otherwise `wrong` with them."""
        return cls(Verdict.WRONG, "; ".join(wrong)) if wrong else cls(Verdict.RIGHT)


class Kind(abc.ABC):
    """A kind of foreign input: how one is made, handed to the product, and judged.

    Attributes:
        title: The kind as users call it: "Darshan logs".
    """

    title: str

    @abc.abstractmethod
    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Make the input in an empty directory, give it to the product, and judge its answer.

        `HARMFUL` is what loses or changes data, submits, or tells a user to do what makes the
        program slower or wrong; a traceback or a wrong or missing fact is `WRONG`; a refusal is
        `REFUSED` only if its reason is right and the answer asks for one.
        """


def kind_names() -> list[str]:
    """Return the names of all kinds."""
    return sorted(path.stem for path in (HERE / "manifest").glob("*.toml"))


def kind_of(name: str) -> Kind:
    """Return the kind of a name."""
    found: Kind = importlib.import_module(f"foreign.kinds.{name}").TheKind()
    return found


def cases_of(name: str) -> list[Case]:
    """Read the cases of a kind; `MANIFEST` may hold any number of `[[case]]` tables."""
    tables = tomllib.loads((HERE / "manifest" / f"{name}.toml").read_text())["case"]
    cases = [Case(kind=name, **{**one, "needs": tuple(one.get("needs", ()))}) for one in tables]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"{name}.toml: two cases have the same name"
    return cases


def tried(cases: Sequence[Case], directory: Path) -> Iterator[tuple[Case, Outcome]]:
    """Try cases one after the other, each in a directory of its own that is removed afterwards."""
    kinds = {name: kind_of(name) for name in dict.fromkeys(case.kind for case in cases)}
    for case in cases:
        missing = [need for need in case.needs if not _is_here(need)]
        if missing:
            yield case, Outcome(Verdict.SKIPPED, f"missing: {', '.join(missing)}")
            continue
        room = directory / case.kind / case.name
        room.mkdir(parents=True)
        try:
            outcome = kinds[case.kind].try_case(case, room)
        except Exception as error:
            outcome = Outcome(Verdict.WRONG, f"{type(error).__name__}: {error}")
        yield case, outcome
        shutil.rmtree(room, ignore_errors=True)


def _is_here(need: str) -> bool:
    """Return whether a path (with a slash) exists, or a command is on PATH."""
    return Path(need).exists() if "/" in need else shutil.which(need) is not None
