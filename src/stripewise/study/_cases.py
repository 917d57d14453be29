# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cases of a study: several inputs or commands that get one configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from stripewise.errors import UsageError

CASE_WORD = "{case}"


@dataclass(frozen=True)
class Case:
    """One input, or one command.

    Attributes:
        name: Unique in the study; "" in a study of one command.
        command: Arguments of the program, not a shell line.
        weight: Of its ratio in the score of a configuration.
        inputs: What it reads, if not what all cases read.
    """

    name: str
    command: tuple[str, ...]
    weight: float = 1.0
    inputs: tuple[Path, ...] = ()


def expand_cases(command: Sequence[str], values: Sequence[str]) -> tuple[Case, ...]:
    """Return a case for each value of `{case}` in a command; none without values.

    A value is data: it takes the place of `{case}` in each argument, and is never split.

    Raises:
        UsageError: There are values and no `{case}`, or the other way round, or one twice.
    """
    held = any(CASE_WORD in word for word in command)
    if held and not values:
        raise UsageError(f"the command holds {CASE_WORD}, but there is no --case to put there")
    if values and not command:
        raise UsageError(
            f"no command for --case {values[0]}; give it after --, as in: -- ./app {CASE_WORD}"
        )
    if values and not held:
        raise UsageError(
            f"--case {values[0]} has no place in the command; write {CASE_WORD} where it belongs"
        )
    cases = tuple(
        Case(value, tuple(word.replace(CASE_WORD, value) for word in command)) for value in values
    )
    check_cases(cases)
    return cases


def check_cases(cases: Sequence[Case]) -> None:
    """Refuse cases without a name, a command or a sound weight, and two of one name.

    Raises:
        UsageError: With the case and the remedy.
    """
    seen: set[str] = set()
    for number, case in enumerate(cases, start=1):
        if not case.name.strip() or "\n" in case.name or "\0" in case.name:
            raise UsageError(f"case {number} needs a name of one line, not {case.name!r}")
        if case.name in seen:
            raise UsageError(f"two cases are called {case.name}; give each a name of its own")
        if not case.command or not case.command[0]:
            raise UsageError(f"the case {case.name} has no command")
        if not isfinite(case.weight) or case.weight <= 0:
            raise UsageError(f"the case {case.name} needs a weight above 0, not {case.weight:g}")
        seen.add(case.name)


def case_directory(number: int, name: str) -> Path:
    """Return where the runs of a case go, relative to the study's directory.

    Args:
        number: Of the case, from 1.
        name: Of the case; what a file name should not hold becomes an underscore.
    """
    if not name:
        return Path()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("_.")[-40:]
    return Path("cases", f"{number}-{plain}" if plain else f"{number}")
