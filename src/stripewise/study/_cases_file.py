# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The file that names the cases of a study.

[[case]]
name = "checkpoint"
command = ["mpiexec", "-n", "4", "./app", "checkpoint.nml"]
weight = 3                      # optional, 1
inputs = ["checkpoint.nml"]     # optional: all of the directory
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise.errors import UsageError
from stripewise.inputs import CASES, parse_toml, read_input
from stripewise.study._cases import Case, check_cases

_KEYS = ("name", "command", "weight", "inputs")


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read a file of cases.

    Raises:
        UsageError: It cannot be read, or one line says what is wrong in it, and where.
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


def _case(where: str, table: Any) -> Case:
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
    return Case(name, command, float(weight), tuple(map(Path, inputs)))


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
