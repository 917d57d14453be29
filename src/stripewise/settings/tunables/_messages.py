# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One clear line out of what pydantic says."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from pydantic import ValidationError

from stripewise.settings.tunables._registry import suggest

_TYPES = {
    "model_type": "write a table",
    "dataclass_type": "write a table",
    "dict_type": "write a table",
    "list_type": "write a list",
    "tuple_type": "write a list",
    "bool_type": "write true or false",
    "float_type": "write a number",
    "string_type": "write text in quotes",
    "int_type": "write a whole number",
}


def first_problem(error: ValidationError, known: Collection[str]) -> str:
    """Return the first problem: where, the value, what to give instead.

    Args:
        error: Of the validation.
        known: Keys that may have been meant by an unknown one.
    """
    first: Any = error.errors(include_url=False)[0]
    where = _where(first["loc"])
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        key = str(first["loc"][-1])
        place = _where(first["loc"][:-1])
        here = f"{place}: " if place else ""
        if key in known:
            return f"{here}{key!r} does not stand here, but in another table"
        return f"{here}no key is called {key!r}{suggest(key, known) or ': remove it'}"
    if first["type"] == "missing":
        return f"{where} is missing: add it"
    message = str(first["msg"]).removeprefix("Value error, ")
    if not where and first["type"] == "value_error":
        return message
    shown = repr(first["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    return f"{where} = {shown}: {_TYPES.get(first['type'], message[:1].lower() + message[1:])}"


def _where(location: Iterable[str | int]) -> str:
    """Write ("file", 0, "mpiio") as `file[1].mpiio`: people count from one."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
