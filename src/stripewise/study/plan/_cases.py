# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the cases of a study: several inputs or commands that share one configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from stripewise.core.errors import UsageError
from stripewise.core.inputs import CASES, parse_toml, read_input

CASE_WORD = "{case}"
_KEYS = ("name", "command", "weight", "inputs")


@dataclass(frozen=True)
class StudyCase:
    """One input or one command of a study.

    Attributes:
        name: Unique name in the study; empty in a study of one command.
        command: Arguments of the program, not a shell command line.
        weight: Weight of its ratio in the score of a configuration.
        inputs: Files that the case reads, if they differ from those of the study.
    """

    name: str
    command: tuple[str, ...]
    weight: float = 1.0
    inputs: tuple[Path, ...] = ()


def expand_cases(command: Sequence[str], values: Sequence[str]) -> tuple[StudyCase, ...]:
    """Return a case for each value of `{case}` in a command; empty without values.

    A value is plain data: it replaces `{case}` in each argument and is never split.

    Raises:
        UsageError: There are values but no `{case}`, or vice versa, or a value is repeated.
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
        StudyCase(value, tuple(word.replace(CASE_WORD, value) for word in command))
        for value in values
    )
    check_cases(cases)
    return cases


def check_cases(cases: Sequence[StudyCase]) -> None:
    """Refuse duplicate names, and cases without a name, a command or a valid weight.

    Raises:
        UsageError: A case is invalid; the message names it and the remedy.
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


def read_cases(path: Path) -> tuple[StudyCase, ...]:
    """Read a file of cases.

    [[case]]
    name = "checkpoint"
    command = ["mpiexec", "-n", "4", "./app", "checkpoint.nml"]
    weight = 3                      # optional, 1
    inputs = ["checkpoint.nml"]     # optional: all of the directory

    Raises:
        UsageError: The file cannot be read or is malformed; the message says what and where.
    """
    try:
        document = parse_toml(read_input(path, CASES).decode("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read --cases {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start})") from error
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    for key in document:
        if key != "case":
            raise UsageError(f"{path}: unknown key {key!r}; it holds [[case]] tables alone")
    tables = document.get("case", [])
    if not isinstance(tables, list) or not tables:
        raise UsageError(f"{path} names no case; write a [[case]] with a name and a command each")
    cases = tuple(_case(f"{path}: case {n}", table) for n, table in enumerate(tables, start=1))
    try:
        check_cases(cases)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return cases


def _case(where: str, table: Any) -> StudyCase:
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} is not a table; write [[case]]")
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}; there are: {', '.join(_KEYS)}")
    name = table.get("name")
    if not isinstance(name, str):
        raise UsageError(f'{where} needs a name, as in: name = "small"')
    where = f"{where} ({name})"
    command = _texts(where, "command", table.get("command"))
    weight = table.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise UsageError(f"{where}: weight must be a number, not {weight!r}")
    inputs = _texts(where, "inputs", table.get("inputs", []))
    return StudyCase(name, command, float(weight), tuple(map(Path, inputs)))


def _texts(where: str, key: str, value: Any) -> tuple[str, ...]:
    """Check a list of words."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise UsageError(
            f"{where}: {key} must be a list of texts, one for each argument, as in "
            f'{key} = ["./app", "small.nml"]'
        )
    if any("\0" in word for word in value):
        raise UsageError(f"{where}: {key} holds a zero byte")
    return tuple(value)


def case_directory(number: int, name: str) -> Path:
    """Return the directory of a case's runs, relative to the directory of the study.

    Args:
        number: Number of the case, from 1.
        name: Name of the case; characters unsuitable for a file name become underscores.
    """
    if not name:
        return Path()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("_.")[-40:]
    return Path("cases", f"{number}-{plain}" if plain else f"{number}")
