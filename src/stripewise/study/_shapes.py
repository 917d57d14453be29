# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the journal's data must look like, before anything is concluded from it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cache
from math import isfinite
from types import UnionType
from typing import Any, TypedDict, cast, get_args, get_origin, get_type_hints

DAMAGE = (LookupError, TypeError, ValueError, AttributeError, AssertionError)
"""What data that was changed by hand, or by a fault, leads to."""


class _Proposal(TypedDict):
    settings: dict[str, Any]
    reason: str


VALUES: dict[str, Any] = {
    "case-noise": float,
    "final-noise": float,
    "first-look": dict[str, Any],
    "noise": float,
    "pair-noise": tuple[tuple[float, ...], ...],
    "proposal": _Proposal,
    "proven": int,
    "search-stopped": str,
    "told": int,
    "verification": dict[str, Any],
}
"""First part of a recorded value's name to its type; the others may be anything."""


def described(error: BaseException) -> str:
    """Return an error in a few words."""
    text = str(error) if isinstance(error, ValueError) else repr(error)
    return " ".join(text.split())[:200]


def need(condition: bool, what: str) -> None:
    """Refuse data that is not as it must be.

    Raises:
        ValueError: With what is wrong.
    """
    if not condition:
        raise ValueError(what)


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a recorded value of another type than its name says.

    Raises:
        ValueError: It is.
    """
    if record["kind"] != "value":
        return
    name, value = record["name"], record["value"]
    hint = VALUES.get(name.rpartition(":")[2].partition("/")[0], Any)
    need(fits(value, hint), f"{name} is {str(value)[:60]}")


def check_fields(record: Any) -> None:
    """Refuse a data class with a field of another type than declared.

    Raises:
        ValueError: One is.
    """
    hints = _hints(cast(Hashable, type(record)))
    for field in fields(record):
        value = getattr(record, field.name)
        need(fits(value, hints[field.name]), f"{field.name} is {str(value)[:60]}")


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; whole numbers are floats, lists are tuples, none is NaN."""
    if hint is Any:
        return True
    if hint is float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(hint) is UnionType:
        return any(fits(value, one) for one in get_args(hint))
    if isinstance(hint, type) and get_origin(hint) is None:
        if hasattr(hint, "__total__"):
            wanted = _hints(hint)
            return isinstance(value, dict) and all(fits(value.get(n), wanted[n]) for n in wanted)
        return isinstance(value, hint)
    return _parts_fit(value, hint)


def _parts_fit(value: Any, hint: Any) -> bool:
    parts = get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, (list, tuple)) and all(fits(one, parts[0]) for one in value)
    if get_origin(hint) in (dict, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, parts[0]) and fits(one, parts[1]) for key, one in value.items()
        )
    return True
