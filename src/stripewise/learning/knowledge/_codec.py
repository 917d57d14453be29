# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Encodes lessons as lines of JSON, decodes them, and checks those from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from stripewise.core import Value, to_json
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns import pattern_of
from stripewise.learning.knowledge._records import Effect, Fingerprint, Lesson, StudiedCase
from stripewise.settings.tunables import all_tunables, split_scope, tunable_of

FORMAT_VERSION = 3
READABLE = (1, 2, 3)
"""Readable versions.  Version 1 has no patterns in its fingerprint, version 2 no volume and no
classes of files; missing values are treated as unknown.
"""
LONGEST_NAME = 300
LARGEST_LINE_BYTES = 4 << 20
MOST_LINES = 100_000


@dataclass(frozen=True)
class _Cased:
    """The part of a lesson that is read when only its case matters."""

    case: StudiedCase


Kind = TypeVar("Kind", Lesson, _Cased)
_LESSON, _CASED = TypeAdapter(Lesson), TypeAdapter(_Cased)
_WRITTEN = f'{{"version":{FORMAT_VERSION},'
"""Start of every line written here; other lines are parsed to find their version."""


def lesson_to_json(lesson: Lesson) -> dict[str, Any]:
    """Return a lesson as plain JSON data."""
    return {"version": FORMAT_VERSION, **to_json(lesson)}


def encode(lesson: Lesson) -> str:
    """Return a lesson as one line.

    Raises:
        ConfigurationError: The lesson contains something that could not be read again.
    """
    text = json.dumps(lesson_to_json(lesson), ensure_ascii=True, separators=(",", ":"))
    decode(text)
    return text


def decode(text: str) -> Lesson:
    """Read a lesson; unknown keys are ignored, so that later versions can add some.

    Raises:
        ConfigurationError: The text is not a lesson, or one of another version.
    """
    lesson = _read(text, _LESSON)
    try:
        _check_classes(lesson.case.fingerprint)
    except ValueError as error:
        raise ConfigurationError(_first(error)) from error
    return lesson


def decode_case(text: str) -> StudiedCase:
    """Read only the case of a lesson, unchecked, which takes a tenth of the time.

    Raises:
        ConfigurationError: The text is not a lesson, or one of another version.
    """
    return _read(text, _CASED).case


def _read(text: str, kind: TypeAdapter[Kind]) -> Kind:
    if len(text) > LARGEST_LINE_BYTES:
        raise ConfigurationError("longer than 4 MiB, so it cannot be a study")
    if not text.startswith(_WRITTEN):
        _check_version(text)
    try:
        return kind.validate_json(text, strict=True)
    except (ValidationError, ValueError, RecursionError) as error:
        raise ConfigurationError(_first(error)) from error


def _check_version(text: str) -> None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(_not_json(error)) from error
    if not isinstance(data, dict):
        raise ConfigurationError("not a JSON object")
    if (version := data.get("version")) not in READABLE:
        raise ConfigurationError(
            f"version {version} is none of {', '.join(map(str, READABLE))}: export it again"
        )


def _check_classes(print_: Fingerprint) -> None:
    """Check patterns and classes of files, which the model's own validation does not cover.

    Raises:
        ConfigurationError: A pattern contradicts itself, or a class of files is impossible.
    """
    for pattern in print_.patterns:
        pattern_of(pattern, print_.n_ranks)
        if not (0 <= pattern.share <= 1 and 0 <= pattern.collective <= 1):
            raise ConfigurationError("pattern: a share is not between 0 and 1")
        if pattern.file_class > len(print_.file_classes):
            raise ConfigurationError(f"pattern: there is no class {pattern.file_class} of files")
    for files in print_.file_classes:
        words = (files.match, *files.layers)
        if not all(len(word) <= LONGEST_NAME and word.isprintable() for word in words):
            raise ConfigurationError("file_classes: a name is too long or cannot be printed")
        if not (0 <= files.io_share <= 1 and 0 <= files.call_bytes <= 1 << 62):
            raise ConfigurationError(f"file_classes: {files.match}: a figure is impossible")


def export_lines(lessons: Iterable[Lesson]) -> Iterator[str]:
    """Yield one line per study, without line ends and without anything that names the machine."""
    return (encode(_without_machine_name(lesson)) for lesson in lessons)


def _without_machine_name(lesson: Lesson) -> Lesson:
    machine = replace(lesson.case.machine, described="")
    return replace(lesson, case=replace(lesson.case, machine=machine))


def import_lines(lines: Iterable[str], name: str) -> list[Lesson]:
    """Read and check lines; if one of them is malformed, none is used.

    Tunables must exist and values must be possible, so that data from outside can only suggest
    points that a study might have tried anyway.

    Args:
        lines: Lines with or without line ends; empty ones are ignored.
        name: Name of the file, for messages.

    Raises:
        ConfigurationError: A line is malformed; the message names the line and the reason.
    """
    found: list[Lesson] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if number > MOST_LINES:
            raise ConfigurationError(f"{name}: more than {MOST_LINES} lines: split the file")
        try:
            found.append(checked(line))
        except ValueError as error:
            raise ConfigurationError(f"{name}: line {number}: {error}") from error
    return found


def checked(text: str) -> Lesson:
    """Read a lesson from outside, leaving out trials with unknown tunables.

    Raises:
        ValueError: The candidate has an unknown tunable, a value is impossible, or an effect has
            no pairs or an interval with reversed ends.
    """
    lesson = decode(text)
    for name in ("effect", "elapsed_effect"):
        _check_effect(name, getattr(lesson, name))
    known = {tunable.name for tunable in all_tunables()}
    tried = tuple(
        replace(trial, settings=_canonical(trial.settings))
        for trial in lesson.tried
        if {split_scope(name)[0] for name in trial.settings} <= known
    )
    return replace(lesson, candidate=_canonical(lesson.candidate), tried=tried)


def _check_effect(name: str, effect: Effect | None) -> None:
    if effect is None:
        return
    if not effect.n_pairs:
        raise ConfigurationError(f"{name}: n_pairs is 0: an effect takes at least one pair")
    if effect.low is not None and effect.high is not None and effect.low > effect.high:
        raise ConfigurationError(f"{name}: low {effect.low:g} is above high {effect.high:g}")


def _canonical(settings: Mapping[str, Value]) -> dict[str, Value]:
    return {name: tunable_of(name).check(value) for name, value in settings.items()}


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problem = error.errors(include_url=False, include_input=False)[0]
    if problem["type"] == "json_invalid":
        return _not_json(problem["ctx"]["error"])
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}"


def _not_json(problem: object) -> str:
    return f"not JSON ({problem}); `stripewise knowledge export` writes what can be read"
