# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The journal of a study: what its records hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise import owned
from stripewise.model import Proposal, check_json
from stripewise.owned import JournalForm, Record

VERSION = 2
"""Of the records; a study of another one is not gone on with."""
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "study": {"options": dict, "provenance": dict},
    "resumed": {"note": str},
    "run-planned": {"run_id": str, "slot": str, "role": str, "settings": dict, "case": str},
    "run-submitted": {"run_id": str, "handle": dict},
    "run-finished": {"run_id": str, "measurement": dict},
    "run-dropped": {"run_id": str},
    "value": {"name": str},
    "decision": {"name": str, "text": str},
    "warning": {"text": str},
    "extended": {"budgets": dict},
    "end": {"stopped_because": str},
}
"""Kind of a record to what it must hold."""
_VALUES: dict[str, Any] = {
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
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, AssertionError)
"""What data that was changed by hand, or by a fault, leads to."""
FORM = JournalForm("study", VERSION, _FIELDS)


class Journal(owned.Journal):
    """The journal of a study; see `owned.Journal`."""

    def __init__(self, path: Path) -> None:
        """Open or make one; see `owned.Journal`."""
        super().__init__(path, FORM)


def parse_journal(content: bytes, path: Path) -> tuple[list[Record], int, int]:
    """Read a study's journal; see `owned.parse_journal`."""
    return owned.parse_journal(content, path, FORM)


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
    check_json(_VALUES.get(name.rpartition(":")[2].partition("/")[0], Any), value, name)
