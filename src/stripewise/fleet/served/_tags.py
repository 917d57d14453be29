# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the name that Lustre gives to a job tells of it.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from stripewise.fleet.served._template import LONGEST_BYTES, Template

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_MOST_ID = 1 << 63
_MOST_UID = 1 << 32


class TagParts(NamedTuple):
    """What a name tells; None: it does not.

    Attributes:
        raw_id: Of Slurm; tasks of arrays and components of heterogeneous jobs have their own.
        user / uid / program / host: Whose processes of which executable they were, and where.
    """

    raw_id: int | None = None
    user: str | None = None
    uid: int | None = None
    program: str | None = None
    host: str | None = None


UNKNOWN = TagParts()


def parse_tag(text: str, templates: Sequence[Template]) -> TagParts:
    """Return what a name tells.

    A name that is a number is a job id, as `jobid_var=SLURM_JOB_ID` gives it; others have a form
    of `jobid_name`.  What fits no form, or several that tell different things, tells nothing: it
    is not guessed.  Nor is a value at the end of a name that Lustre has cut.

    Args:
        text: As Lustre has it.
        templates: All that the clients use, or have used.
    """
    ways: set[tuple[tuple[str, str], ...]] = set()
    if _NUMBER.fullmatch(text) and int(text) > 0 and len(text) < LONGEST_BYTES:
        ways.add((("raw_id", text),))
    for template in templates:
        found = template.readings(text)
        if found is None:
            return UNKNOWN
        ways |= found
    return _parts(dict(ways.pop())) if len(ways) == 1 else UNKNOWN


def _parts(told: dict[str, str]) -> TagParts:
    return TagParts(
        raw_id=_number(told.get("raw_id"), _MOST_ID) or None,  # 0 is no job
        uid=_number(told.get("uid"), _MOST_UID),
        program=told.get("program"),
        host=told.get("host"),
    )


def _number(text: str | None, bound: int) -> int | None:
    if text is None or not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if number < bound else None
