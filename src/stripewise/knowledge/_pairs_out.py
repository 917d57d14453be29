# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of a pattern and H5Tuner's XML, written: an XML for each answer, and an index.

Source: Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015): tuned parameter sets in
XML files, looked up by pattern.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stripewise.errors import StorageError
from stripewise.formats import get
from stripewise.knowledge._parts import as_part, parts_of
from stripewise.knowledge._records import Case, Lesson
from stripewise.model import ProgramFacts, to_json
from stripewise.outputs import write_file
from stripewise.patterns import pattern_of
from stripewise.tunables import build_configuration

INDEX = "index.json"
VERSION = 1
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_+-]+")


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        pairs: How many.
        notes: What was left out or lost, a line each.
    """

    pairs: int
    notes: tuple[str, ...] = ()


def export_pairs(lessons: Iterable[Lesson], directory: Path) -> Exported:
    """Write an XML for each improvement and each class of its files, and the index of patterns.

    Files of the same names are replaced, others stay.

    Raises:
        StorageError: The directory cannot be written.
    """
    h5tuner, entries, notes = get("h5tuner"), [], []
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror or error}: name a directory") from error
    for study in lessons:
        for number, part in enumerate(parts_of(study.case)):
            lesson = as_part(study, part.match)
            if not lesson.improved or not lesson.candidate:
                continue
            written = h5tuner.write(build_configuration(lesson.candidate, _facts(study.case)))
            name = _file_name(study, number)
            notes += [f"{name}: {line}" for line in written.lost]
            if not written.text:
                continue
            write_file(directory / name, written.text)
            entries.append(_entry(lesson, part.match, part.case, name, written.lost))
    index = {"version": VERSION, "pairs": entries}
    write_file(directory / INDEX, json.dumps(index, indent=1) + "\n")
    return Exported(len(entries), tuple(notes))


def _facts(case: Case) -> ProgramFacts:
    """Return what settings that go with others depend on."""
    print_, stack = case.fingerprint, case.stack
    return ProgramFacts(
        n_ranks=print_.n_ranks,
        n_hosts=print_.n_hosts,
        mpi_family=stack.mpi_family,
        mpiio_implementation=stack.mpiio,
    )


def _file_name(study: Lesson, number: int) -> str:
    program = _NOT_PLAIN.sub("-", study.case.fingerprint.program)[:60].strip("-+_") or "program"
    return f"{program}-{study.study_id[:12]}{f'-{number}' if number else ''}.xml"


def _entry(
    lesson: Lesson, match: str, case: Case, name: str, lost: tuple[str, ...]
) -> dict[str, Any]:
    """Return what people read of a pair first, then what the look-up needs."""
    print_, machine, stack = case.fingerprint, case.machine, case.stack
    case = replace(case, machine=replace(machine, described=""))
    found = {
        "file": name,
        "pattern": [pattern_of(one, print_.n_ranks).notation for one in print_.patterns],
        "ranks": print_.n_ranks,
        "nodes": print_.n_hosts,
        "storage": machine.emulated or machine.filesystem,
        "mpi": f"{stack.mpi_family} {stack.mpi_version}".strip(),
        "source": print_.program,
        "date": lesson.date,
        "speedup": lesson.effect.median if lesson.effect else None,
        "study": lesson.study_id,
        "part": match,
        "effect": to_json(lesson.effect),
        "case": to_json(case),
    }
    return found | ({"lost": list(lost)} if lost else {})
