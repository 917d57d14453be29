# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Forms of the names that Lustre gives to jobs, as `jobid_name` has them.  Pure.

Source: jobid_interpret_string in Lustre's obdclass/jobid.c, and its manual, "jobid_name".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stripewise.errors import UsageError

_CODE = re.compile(r"%(?:\.(\d{1,3}))?(.)|([^%]+|%$)", re.DOTALL)
_NUMBER = "(?:0|[1-9][0-9]*)"
_PATTERNS = {
    "e": r".+",
    "u": _NUMBER,
    "g": _NUMBER,
    "p": _NUMBER,
    "j": rf"(?:{_NUMBER})?",
    "h": r"[0-9.-]*[A-Za-z_][A-Za-z0-9._-]*",
    "H": r"[0-9-]*[A-Za-z_][A-Za-z0-9_-]*",
}
"""Code -> its values: executable, uid, gid, pid, job id ("" outside of jobs, and a number as
Slurm's), host name and the short one (which is no number)."""
KEPT = {"e": "program", "u": "uid", "j": "raw_id", "h": "host", "H": "host"}
"""Codes that tell something of the job."""
LONGEST_BYTES = 31
"""A name that Lustre gives is cut there.  Source: LUSTRE_JOBID_SIZE."""
_MOST_STEPS = 20_000
_PART_MOST = 16


@dataclass(frozen=True)
class _Part:
    """A code with the characters that it may have at most (0: any), or text as it stands."""

    code: str
    most: int
    text: str
    whole: re.Pattern[str]


class Template:
    """One `jobid_name`, such as "%e.%u"; alternatives are separated by "?": "%j?%H"."""

    def __init__(self, text: str) -> None:
        """Read it.

        Raises:
            UsageError: It has no code, or one that Lustre does not know.
        """
        self.text = text
        self._forms = [_parts("".join(form.split())) for form in text.split("?")]
        if not any(part.code for form in self._forms for part in form):
            raise UsageError(
                f"the jobid_name {text!r} has no code: give it as Lustre has it: %e.%u"
            )

    def readings(self, tag: str) -> set[tuple[tuple[str, str], ...]] | None:
        """Return what a name may tell, each way as pairs (field, value), sorted by field.

        Values that may have been cut short are left out.  None: there are too many ways.
        """
        found: set[tuple[tuple[str, str], ...]] = set()
        is_cut = len(tag.encode("utf-8", "replace")) >= LONGEST_BYTES
        steps = [0]
        for form in self._forms:
            for values in _ways(tag, form, 0, 0, steps):
                found.add(_told(form, values, is_cut))
                if len(found) > 1:
                    return found
        return None if steps[0] > _MOST_STEPS else found


def _parts(text: str) -> list[_Part]:
    found = []
    for most, code, plain in _CODE.findall(text):
        if plain and plain != "%":
            found.append(_Part("", 0, plain, re.compile(re.escape(plain))))
        elif code in _PATTERNS:
            found.append(_Part(code, int(most or 0), "", re.compile(_PATTERNS[code], re.DOTALL)))
        else:
            raise UsageError(
                f"{'%' + code!r} is no code of a jobid_name: use %e, %g, %h, %H, %j, %p and %u"
            )
    if sum(1 for part in found if part.code) > _PART_MOST:
        raise UsageError(f"the jobid_name {text[:40]!r} has over {_PART_MOST} codes: shorten it")
    return found


def _ways(
    tag: str, form: list[_Part], index: int, place: int, steps: list[int]
) -> Iterator[list[str]]:
    """Give the values of all parts, in every way in which they make up a name."""
    steps[0] += 1
    if steps[0] > _MOST_STEPS:
        return
    if index == len(form):
        if place == len(tag):
            yield []
        return
    part = form[index]
    if not part.code:
        if tag.startswith(part.text, place):
            for rest in _ways(tag, form, index + 1, place + len(part.text), steps):
                yield [part.text, *rest]
        return
    last = len(tag) if not part.most else min(len(tag), place + part.most)
    for end in range(place, last + 1):
        if part.whole.fullmatch(tag, place, end):
            for rest in _ways(tag, form, index + 1, end, steps):
                yield [tag[place:end], *rest]


def _told(form: list[_Part], values: list[str], is_cut: bool) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for number, (part, value) in enumerate(zip(form, values, strict=True)):
        whole = not (part.most and len(value) >= part.most)
        if is_cut and number == len(form) - 1:
            whole = False
        if part.code in KEPT and value and whole:
            found.setdefault(KEPT[part.code], value)
    return tuple(sorted(found.items()))
