# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses values in the JSON of Slurm, which differs between its versions.

The JSON of `sacct --json` and of slurmrestd's /slurmdb/VERSION/jobs, v0.0.38 to v0.0.46.

The versions differ in the form of numbers (12, or set, infinite and number), states (a word, or a
list) and signals; names of members are the same.  Source: parsers.c of each version in
src/plugins/data_parser of Slurm, array JOB and STEP; v0.0.38 as observed in 22.05.
"""

from __future__ import annotations

import re
from typing import Any

_START = re.compile(rb'\s*\{\s*"(?:meta|jobs|errors|warnings)"\s*:')
_MARKS = (b'"openapi/', b'"data_parser"', b'"slurm"', b'"Slurm"', b'"allocation_nodes"')
_FLAGS = ("REQUEUED", "RESIZING")
"""Flags that sacct prints instead of the state next to them (job_state_string)."""


def recognises_rest(head: bytes) -> bool:
    """Return whether a file begins like such JSON.

    Args:
        head: The first few thousand bytes of the file.
    """
    return bool(_START.match(head)) and any(mark in head for mark in _MARKS)


def rest_member(value: Any, *names: str) -> Any:
    """Return a nested member; None if one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def rest_items(value: Any, name: str) -> list[Any]:
    """Return a member that is a list; an empty one if it is missing."""
    found = rest_member(value, name)
    return found if isinstance(found, list) else []


def rest_text(value: Any) -> str:
    """Return a value if it is a text, otherwise an empty text."""
    return value if isinstance(value, str) else ""


def rest_resource(value: Any, kind: str, name: str = "") -> int | None:
    """Return the count of a resource in a list of them."""
    for one in value if isinstance(value, list) else ():
        found = rest_text(rest_member(one, "type")), rest_text(rest_member(one, "name"))
        if found == (kind, name):
            return rest_number(rest_member(one, "count"), bits=64)
    return None


def rest_number(value: Any, bits: int = 32) -> int | None:
    """Return a whole number, plain or with `set` and `infinite`; None if there is none.

    Args:
        value: Value in the JSON.
        bits: Size of its type in Slurm, whose two largest values are INFINITE and NO_VAL
            (slurm.h).

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, dict):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise ValueError(f"{str(value)[:40]!r} is not a whole number")
    return None if value in (2**bits - 1, 2**bits - 2, -1, -2) else int(value)


def rest_state(job: Any) -> str:
    """Return the state of a job by the name that sacct uses."""
    state = rest_member(job, "state", "current") or rest_member(job, "state")
    words = [word for word in state if isinstance(word, str)] if isinstance(state, list) else []
    if words:
        return next((word for word in words if word in _FLAGS), words[0])
    return rest_text(state)


def rest_exit(value: Any, state: str) -> tuple[int | None, int | None]:
    """Return the exit code and the signal; both are None if unknown.

    Versions that write the status as one word report SUCCESS and 0 for failed jobs, too (observed
    in 22.05), so that the zero of a failed job counts as unknown.
    """
    code = rest_number(rest_member(value, "return_code"))
    signal = rest_member(value, "signal")
    number = rest_number(rest_member(signal, "id"), bits=16)
    if number is None:
        number = rest_number(rest_member(signal, "signal_id"), bits=16)
    is_word = isinstance(rest_member(value, "status"), str)
    if is_word and state == "FAILED" and not code and not number:
        return None, None
    if number:
        return code or 0, number
    return code, None if code is None else 0
