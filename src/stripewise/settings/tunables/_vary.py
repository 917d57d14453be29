# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads values of tunables to try from texts such as `cb_nodes=1,2` and from TOML files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.settings.tunables._base import Tunable
from stripewise.settings.tunables._registry import get


def parse_vary(texts: Sequence[str], option: str = "--vary") -> dict[str, tuple[Value, ...]]:
    """Parse texts such as `mpiio.cb_buffer_size=1MiB,4MiB`.

    Args:
        texts: Texts that the user gave.
        option: Name of the option with the texts, for messages.

    Raises:
        UsageError: A text is malformed, or names an unknown tunable or the same tunable twice.
        ConfigurationError: A value is not valid for its tunable.
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
