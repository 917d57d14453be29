# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Imports and exports pairs of a pattern and H5Tuner's XML with its best settings."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import log2, sqrt
from pathlib import Path
from typing import Any

from stripewise.core import Configuration, ProgramFacts, Value, to_json, write_file
from stripewise.core.errors import ConfigurationError, StorageError, StripewiseError
from stripewise.core.inputs import PAIRS, parse_json, read_input
from stripewise.evidence.patterns import pattern_of, summaries
from stripewise.learning.knowledge._codec import FORMAT_VERSION, checked
from stripewise.learning.knowledge._records import (
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    StudiedCase,
    lesson_of_part,
    parts_of,
)
from stripewise.settings.formats import get, load_configuration
from stripewise.settings.tunables import build_configuration, scoped
from stripewise.storage.simulation import workload_from_notation

MOST_PATTERNS = 64
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,120}\.xml")
"""Valid name of an XML file: in the directory itself and without special characters."""
_BY_HAND = (
    "file", "pattern", "ranks", "nodes", "collective", "writing", "element_bytes", "mpi",
    "mpiio", "speedup", "source",
)  # fmt: skip
_KEYS = {*_BY_HAND, "storage", "date", "lost", "case", "study", "effect", "part"}


def import_pairs(
    directory: Path, machine: Callable[[], Machine]
) -> tuple[list[Lesson], list[str]]:
    """Import pairs; if one of them is malformed, none is used.

    A pair that Stripewise exported contains its case.  One from elsewhere gives its pattern,
    ranks, MPI and speed-up, and is treated as if it was found on this machine.

    Returns:
        The lessons, and warnings about the XML files.

    Args:
        directory: Directory with the index and the XML files.
        machine: Describes this machine.

    Raises:
        ConfigurationError: The index or an XML file cannot be read; the message says where.
    """
    path = directory / INDEX
    found: list[Lesson] = []
    warnings: list[str] = []
    for number, entry in enumerate(_pairs(path), start=1):
        try:
            lesson, lesson_warnings = _lesson(entry, directory, machine, path.stat().st_mtime)
        except (StripewiseError, ValueError, TypeError, OverflowError) as error:
            raise ConfigurationError(f"{path}: pair {number}: {error}") from error
        found.append(lesson)
        warnings += lesson_warnings
    return found, warnings


def _pairs(path: Path) -> list[Any]:
    try:
        data = parse_json(read_input(path, PAIRS))
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read: {error.strerror or error}: the directory of pairs has an "
            "index of this name"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{path}: not JSON ({error})") from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ConfigurationError(
            f"{path}: no index of pairs of version {VERSION}: export it again"
        )
    pairs = data.get("pairs")
    if not isinstance(pairs, list):
        raise ConfigurationError(f"{path}: has no list of pairs")
    PAIRS.check_entries(len(pairs), path)
    return pairs


def _lesson(
    entry: Any, directory: Path, machine: Callable[[], Machine], moment: float
) -> tuple[Lesson, list[str]]:
    if not isinstance(entry, dict):
        raise ConfigurationError("is not an object")
    if unknown := entry.keys() - _KEYS:
        raise ConfigurationError(f"{min(unknown)[:80]!r} is not known: use {', '.join(_BY_HAND)}")
    name = entry.get("file")
    if not isinstance(name, str) or not _PLAIN.fullmatch(name):
        raise ConfigurationError(
            f"file {str(name)[:80]!r} is not the name of an XML file in this directory"
        )
    path = directory / name
    if path.is_symlink():
        raise ConfigurationError(f"file {name} is a link: copy the file itself")
    loaded = load_configuration(path, "h5tuner")
    settings = settings_of(loaded.configuration)
    if not settings:
        raise ConfigurationError(f"{name} sets nothing")
    effect = _effect(entry)
    case = entry["case"] if "case" in entry else to_json(_case(entry, machine()))
    text = json.dumps([case, sorted(map(str, settings.items()))], sort_keys=True)
    own = entry.get("study") if not entry.get("part") else None
    median = effect.get("median")
    ratio = 1 / median if isinstance(median, int | float) and median > 0 else None
    lesson = {
        "version": FORMAT_VERSION,
        "study_id": own or hashlib.sha256(text.encode()).hexdigest()[:32],
        "recorded_unix_seconds": moment,
        "case": case,
        "improved": (effect.get("low") or 0) > 1,
        "candidate": to_json(settings),
        "effect": effect,
        "tried": [{"settings": to_json(settings), "state": "complete", "io_ratio": ratio}],
        "strategy": "h5tuner",
    }
    return checked(json.dumps(lesson)), [f"{name}: {line}" for line in loaded.warnings]


def _effect(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effect of a pair; a speed-up without interval may be half as large (assumed)."""
    if isinstance(entry.get("effect"), dict):
        effect: dict[str, Any] = entry["effect"]
        return effect
    speedup = entry.get("speedup")
    if isinstance(speedup, bool) or not isinstance(speedup, int | float) or not 0 < speedup < 1e6:
        raise ConfigurationError(
            "speedup: give how many times faster these settings made the program, as 2.5"
        )
    bounds = sorted((sqrt(speedup), speedup**1.5))
    return {"median": speedup, "low": bounds[0], "high": bounds[1], "n_pairs": 1}


def _case(entry: Mapping[str, Any], machine: Machine) -> StudiedCase:
    """Return the case of a pair that was written by hand."""
    ranks, nodes = _number(entry, "ranks"), _number(entry, "nodes", 1)
    if ranks % nodes:
        raise ConfigurationError(f"ranks: {ranks} are not equally many on {nodes} nodes")
    collective, writing = (_truth(entry, name) for name in ("collective", "writing"))
    texts = entry.get("pattern")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise ConfigurationError("pattern: write it as <3D,(BLOCK,BLOCK,BLOCK),(60,100,300)>")
    patterns = [
        pattern
        for text in texts[:MOST_PATTERNS]
        for pattern in workload_from_notation(
            text,
            nodes,
            ranks // nodes,
            element_bytes=_number(entry, "element_bytes", 8),
            collective=collective,
            writing=writing,
        ).patterns
    ]
    found = summaries(patterns)
    family, _, version = str(entry.get("mpi", "")).partition(" ")
    volume = sum(one.bytes for one in found)
    print_ = Fingerprint(
        program=str(entry.get("source", "h5tuner")),
        n_ranks=ranks,
        n_hosts=nodes,
        collective_share=float(collective),
        independent_share=float(not collective),
        read_share=float(not writing),
        bytes_per_call_log2=round(log2(max(1, volume // ranks // max(1, len(patterns)))), 3),
        calls_per_rank_log2=round(log2(len(patterns)), 3),
        shared_files=1,
        uses_hdf5=True,
        uses_parallel_hdf5=True,
        patterns=found,
        volume_log2=round(log2(max(1, volume)), 3),
    )
    mpiio = str(entry.get("mpiio", "romio" if family == "mpich" else ""))
    if not family:
        raise ConfigurationError('mpi: write the MPI as "mpich 4.1" or "openmpi 5.0"')
    return StudiedCase(machine, LibraryVersions(family, version, mpiio), print_)


def settings_of(configuration: Configuration) -> dict[str, Value]:
    """Return the settings of a configuration; those for some files have their globs."""
    return {
        scoped(f"{layer}.{key}", "" if rule.match == "*" else rule.match): value
        for rule in configuration.files
        for layer, values in rule.layers.items()
        for key, value in values.items()
    }


def _number(entry: Mapping[str, Any], name: str, default: int = 0) -> int:
    value: Any = entry.get(name, default)
    if type(value) is not int or not 1 <= value <= 1 << 24:
        raise ConfigurationError(f"{name}: {str(value)[:80]} is not a number of 1 or more")
    return int(value)


def _truth(entry: Mapping[str, Any], name: str) -> bool:
    value = entry.get(name, True)
    if not isinstance(value, bool):
        raise ConfigurationError(f"{name}: {str(value)[:80]} is neither true nor false")
    return value


# Export of pairs: an XML file for each pattern's answer, and an index.
#
# Source: Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015): tuned parameter sets in
# XML files, looked up by pattern.

INDEX = "index.json"
VERSION = 1
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_+-]+")


@dataclass(frozen=True)
class Exported:
    """Result of an export.

    Attributes:
        pairs: Number of exported pairs.
        notes: What was left out or lost, one line each.
    """

    pairs: int
    notes: tuple[str, ...] = ()


def export_pairs(lessons: Iterable[Lesson], directory: Path) -> Exported:
    """Write an XML for each improvement and each class of its files, and the index of patterns.

    Existing files of the same names are replaced; others are kept.

    Raises:
        StorageError: The directory cannot be written.
    """
    h5tuner, entries, notes = get("h5tuner"), [], []
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror or error}: name a directory") from error
    for study in lessons:
        for number, (match, case) in enumerate(parts_of(study.case).items()):
            lesson = lesson_of_part(study, match)
            if not lesson.improved or not lesson.candidate:
                continue
            written = h5tuner.write(build_configuration(lesson.candidate, _facts(study.case)))
            name = _file_name(study, number)
            notes += [f"{name}: {line}" for line in written.lost]
            if not written.text:
                continue
            write_file(directory / name, written.text)
            entries.append(_entry(lesson, match, case, name, written.lost))
    index = {"version": VERSION, "pairs": entries}
    write_file(directory / INDEX, json.dumps(index, indent=1) + "\n")
    return Exported(len(entries), tuple(notes))


def _facts(case: StudiedCase) -> ProgramFacts:
    """Return the facts on which dependent settings are based."""
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
    lesson: Lesson, match: str, case: StudiedCase, name: str, lost: tuple[str, ...]
) -> dict[str, Any]:
    """Return an index entry: first the part for human readers, then the part for look-ups."""
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
