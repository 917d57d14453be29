# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the journal's data must look like, before anything is concluded from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.model import Proposal, check_json

DAMAGE = (LookupError, TypeError, ValueError, AttributeError, AssertionError)
"""What data that was changed by hand, or by a fault, leads to."""


VALUES: dict[str, Any] = {
    "case-noise": float,
    "final-noise": float,
    "first-look": dict[str, Any],
    "noise": float,
    "pair-noise": tuple[tuple[float, ...], ...],
    "proposal": Proposal,
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
    check_json(VALUES.get(name.rpartition(":")[2].partition("/")[0], Any), value, name)
