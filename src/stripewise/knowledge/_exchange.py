# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lessons as JSON lines, for colleagues and other machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stripewise.errors import ConfigurationError
from stripewise.knowledge._codec import check_settings, decode, encode
from stripewise.knowledge._records import Lesson

MOST_LINES = 100_000


def export_lines(lessons: Iterable[Lesson]) -> Iterator[str]:
    """Yield one line a study, without line ends."""
    for lesson in lessons:
        yield encode(lesson)


def import_lines(lines: Iterable[str], name: str) -> list[Lesson]:
    """Read and check lines; nothing of a file with a bad one is taken.

    Tunables have to exist and values have to be possible, so that what comes from outside can
    only be a point that a study might have tried anyway.

    Args:
        lines: With or without line ends; empty ones are passed over.
        name: Of the file, for messages.

    Raises:
        ConfigurationError: A line is malformed; the message says which and why.
    """
    found: list[Lesson] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if number > MOST_LINES:
            raise ConfigurationError(f"{name}: more than {MOST_LINES} lines: split the file")
        try:
            found.append(check_settings(decode(line)))
        except ValueError as error:
            raise ConfigurationError(f"{name}: line {number}: {error}") from error
    return found
