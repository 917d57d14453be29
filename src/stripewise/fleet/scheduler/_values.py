# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Values as sacct writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "INVALID", "(null)"})
"""What sacct writes where it knows nothing.  Source: print.c of sacct, and seen in 22.05."""
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)")
_POWERS: dict[str, int] = {
    unit: power for power, unit in enumerate(("", "K", "M", "G", "T", "P", "E"))
}
_NONE = 2**64 - 2
"""NO_VAL64 and more: Slurm does not know.  Source: slurm.h."""
_JOB = re.compile(r"(\d+)(?:_(?:(\d+)|\[.*)|\+(\d+))?")


class JobId(NamedTuple):
    """A job id as users see it.

    Attributes:
        number: Of the job, of its array, or of the first component.
        task: Of an array; None: no task, or tasks that have not started.
        offset: Of a component of a heterogeneous job.
        is_rest: It stands for the tasks of an array that have not started.
    """

    number: int
    task: int | None
    offset: int | None
    is_rest: bool


def job_id(text: str) -> JobId:
    """Read "12", "12_3", "12_[4-9%2]" or "12+1".

    Raises:
        ValueError: It is none of them.
    """
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no job id")
    number, task, offset = (None if part is None else int(part) for part in match.groups())
    assert number is not None
    return JobId(number, task, offset, "[" in text)


@lru_cache(maxsize=65536)
def moment(text: str) -> int | None:
    """Return seconds since 1970; a time without its zone is UTC; None: not known.

    Raises:
        ValueError: It is no time.
    """
    if text in UNKNOWN:
        return None
    if text.isascii() and text.isdigit():
        return int(text) or None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no time") from None
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    return int(read.timestamp())


def count(text: str) -> int | None:
    """Return a number of bytes or things, "12" or rounded as "1.5K"; None: not known.

    Raises:
        ValueError: It is no number.
    """
    if text in UNKNOWN:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no number")
    return round(float(match[1]) * float(1024 ** _POWERS[match[2]]))


def resource(text: str, name: str) -> int | None:
    """Return one resource of a list as "cpu=4,fs/disk=512,node=1"; None: it is not told.

    Args:
        text: The list.
        name: As in "fs/disk".

    Raises:
        ValueError: It is no number.
    """
    start = f",{text}".find(f",{name}=")
    if start < 0:
        return None
    amount = count(text[start + len(name) + 1 :].partition(",")[0])
    return None if amount is None or amount >= _NONE else amount


def exit_codes(text: str) -> tuple[int | None, int | None]:
    """Return exit code and signal of "E:S".

    Raises:
        ValueError: It is no such pair.
    """
    if text in UNKNOWN:
        return None, None
    code, _, number = text.partition(":")
    return count(code), count(number or "0")
