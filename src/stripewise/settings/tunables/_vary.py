# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the values to try of tunables, from texts such as `cb_nodes=1,2` and from TOML files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.core.inputs import SPACE, parse_toml, read_input
from stripewise.settings.tunables._base import Tunable
from stripewise.settings.tunables._registry import get


def parse_vary(texts: Sequence[str], option: str = "--vary") -> dict[str, tuple[Value, ...]]:
    """Read `mpiio.cb_buffer_size=1MiB,4MiB` and its like.

    Args:
        texts: What the user wrote.
        option: Name of the option that held the texts, for messages.

    Raises:
        UsageError: It is no such text, or names a tunable that does not exist, or twice.
        ConfigurationError: A value is none of the tunable's.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip() or not name.strip():
            values = "VALUE" if option == "--set" else "VALUE,VALUE"
            raise UsageError(f"{option} {text!r}: write TUNABLE={values}")
        tunable = get(name.strip())
        if tunable.name in found:
            raise UsageError(f"{option} names {tunable.name} twice; give all its values at once")
        separator = ";" if ";" in values else ","
        found[tunable.name] = tuple(_value(tunable, word) for word in values.split(separator))
    return found


def parse_spec(path: Path) -> dict[str, tuple[Value, ...]]:
    """Read the table [vary] of a TOML file.

    Raises:
        UsageError: It cannot be read, holds no such table, or a tunable or value that does not
            exist.
    """
    try:
        document = parse_toml(read_input(path, SPACE).decode("utf-8"))
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    table = document.get("vary")
    if not isinstance(table, dict) or not table:
        raise UsageError(f'{path} has no table [vary]; write: "mpiio.cb_nodes" = [1, 2]')
    found: dict[str, tuple[Value, ...]] = {}
    for name, values in _flat(table):
        if not isinstance(values, list):
            raise UsageError(f"{path}: {name} = {values!r}: give a list of values")
        tunable = get(name)
        found[tunable.name] = tuple(_from_toml(tunable, value) for value in values)
    return found


def _flat(table: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return `layer.key` and its values, also where TOML made a table of the layer."""
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += [(f"{name}.{key}", inner) for key, inner in value.items()]
        else:
            found.append((name, value))
    return found


def _from_toml(tunable: Tunable, value: object) -> Value:
    if isinstance(value, list):
        return tunable.check(tuple(value))
    if isinstance(value, str):
        return _value(tunable, value)
    if isinstance(value, bool | int | float):
        return tunable.check(value)
    raise UsageError(f"{tunable.name} = {value!r}: no value of a tunable")


def _value(tunable: Tunable, text: str) -> Value:
    word = text.strip()
    if tunable.domain.kind not in ("int", "ints"):
        return tunable.parse(word)
    parts = tuple(_number(part.strip()) for part in re.split("[:,]", word))
    if tunable.domain.kind == "int" and len(parts) == 1:
        return tunable.check(parts[0])
    return tunable.check(parts)


def _number(word: str) -> Any:
    return int(word) if word.isascii() and word.removeprefix("-").isdigit() else word
