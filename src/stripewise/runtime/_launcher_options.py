# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a launcher's options up to the program that it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.errors import UsageError
from stripewise.runtime._dialects import SRUN, Dialect


@dataclass(frozen=True)
class LauncherOption:
    """An option of the launcher: its name, the place of its word and of its values.

    Attributes:
        name: Without dashes.
        word: Index of the word that names it.
        values: Indices of the words that are its values; the word itself if it holds one.
        prefix: What stands before the value inside the word, as `--ntasks=` or `-n`.
    """

    name: str
    word: int
    values: tuple[int, ...]
    prefix: str = ""


class LauncherOptionError(UsageError):
    """An option of a launcher cannot be understood, so its program cannot be told.

    Attributes:
        cause: The message without its remedy.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause}: put the ranks and threads into the command instead")
        self.cause = cause


def launcher_options(
    command: Sequence[str], start: int, dialect: Dialect
) -> tuple[list[LauncherOption], int]:
    """Return the options of the launcher at `start`, and the index of the program.

    Raises:
        UsageError: One is not known, what they leave is no program, or there are several.
    """
    options: list[LauncherOption] = []
    place = start + 1
    while place < len(command) and command[place].startswith("-") and command[place] != "--":
        option = _option(command, place, dialect)
        _check_values(command, option, dialect)
        options.append(option)
        place = max((option.word, *option.values)) + 1
    if place < len(command) and command[place] == "--":
        place += 1
    if place < len(command) and command[place][:1].isdigit():
        raise LauncherOptionError(
            f"{command[place]!r} stands where the program of {dialect.title} should; the options "
            "before it are not understood"
        )
    if ":" in command[place:] and dialect is not SRUN:
        raise UsageError(
            "the command starts several programs (':'), whose ranks are set apart; resources "
            "can be set for one program only"
        )
    return options, place


def _check_values(command: Sequence[str], option: LauncherOption, dialect: Dialect) -> None:
    """Refuse an option whose value is missing, or is the next option."""
    named = command[option.word]
    for value in option.values:
        if value >= len(command):
            raise LauncherOptionError(f"{named} of {dialect.title} lacks its value")
        if value != option.word and command[value].startswith("-"):
            raise LauncherOptionError(
                f"{named} of {dialect.title} should have a value, and {command[value]} follows"
            )


def _option(command: Sequence[str], place: int, dialect: Dialect) -> LauncherOption:
    text = command[place]
    bare = text.lstrip("-")
    written, equals, value = bare.partition("=")
    is_long = text.startswith("--") and dialect.abbreviates
    name = dialect.full_name(written) if is_long else written
    if is_long and equals and dialect.is_foreign(name):
        return LauncherOption(name, place, (place,), f"--{written}=")
    if equals and (dialect.values.get(name, 1) == 1 or _assigns(name, value, dialect)):
        if name in dialect.values or name in dialect.flags:
            prefix = text[: len(text) - len(bare)] + written + "="
            return LauncherOption(name, place, (place,), prefix)
    elif not equals and name in dialect.values:
        following = command[place + 1] if place + 1 < len(command) else ""
        number = 1 if _assigns(name, following, dialect) else dialect.values[name]
        return LauncherOption(name, place, tuple(range(place + 1, place + 1 + number)))
    elif not equals and name in dialect.flags:
        return LauncherOption(name, place, ())
    found = _letters(command, place, dialect)
    if found is None:
        raise LauncherOptionError(
            f"{text} is no option of {dialect.title} that is known, so where the program begins "
            "cannot be told"
        )
    return found


def _letters(command: Sequence[str], place: int, dialect: Dialect) -> LauncherOption | None:
    """Read a word of one-letter options: `-n4`, `-lu`, `-ln4`, `-K1`; None if it is none."""
    text = command[place]
    if not dialect.inline or text.startswith("--"):
        return None
    for i in range(1, len(text)):
        letter = text[i]
        if letter in dialect.values:
            value = place if i + 1 < len(text) else place + 1
            prefix = text[: i + 1] if value == place else ""
            return LauncherOption(letter, place, (value,), prefix)
        if letter in dialect.optional:
            return LauncherOption(letter, place, ())
        if letter not in dialect.flags:
            return None
    return LauncherOption(text[1:], place, ())


def _assigns(name: str, value: str, dialect: Dialect) -> bool:
    """Whether this value of an option that sets a variable is `NAME=VALUE`, in one word."""
    return name in dialect.environment and "=" in value
