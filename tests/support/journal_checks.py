# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What holds of every journal, whatever kills the study went through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stripewise.core import encoded

_ANEW = re.compile(r"/anew/(\d+)")
_PAIR = re.compile(r"(?:^|:)pair/")
_ROUND = re.compile(r"(?:^|:)trial/")


def encode(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a journal of these records."""
    lines, checksum = [], 0
    for record in records:
        line, checksum = encoded(record, checksum)
        lines.append(line)
    return b"".join(lines)


def check_runs(records: Sequence[Mapping[str, Any]]) -> int:
    """Check that no finished run was repeated, but halves of pairs that a restart came into.

    Those are run anew, both halves, under another name: only if one half had finished in an
    earlier session and the other had not (or, in a trial, was to share the baseline of a
    session that ended), and in every pair that counts both halves are of one session.

    Returns:
        How many finished runs were repeated so.
    """
    finished, sessions = _finished(records)
    assert max(Counter(finished).values(), default=1) == 1, "a finished run was repeated"
    repeated = 0
    for name in {pair for slot in sessions if (pair := _pair(slot))}:
        halves = [session for slot, session in sessions.items() if _pair(slot) == name]
        if _PAIR.search(name):
            together = halves[0][1] == halves[-1][0] or len(halves) == 1
            assert together, f"{name} is made of runs of two sessions"
        later = [begun for slot, (begun, _) in sessions.items() if _pair(slot) == _next(name)]
        if later:
            assert len(halves) == 1, f"{name} was whole and was run anew"
            assert halves[0][0] < min(later), f"{name} was run anew in its own session"
            repeated += 1
    return repeated


def _finished(
    records: Sequence[Mapping[str, Any]],
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return the slots that finished, and when those that did well began and ended, by session.

    A run that had ended before the session that took it in ended in that of its beginning.
    """
    session, slots, begun = 0, dict[str, str](), dict[str, int]()
    finished, ended = list[str](), dict[str, int]()
    for record in records:
        session += record["kind"] == "resumed"
        if record["kind"] == "run-planned":
            slots[record["run_id"]], begun[record["run_id"]] = record["slot"], session
        elif record["kind"] == "run-finished":
            run = record["run_id"]
            finished.append(slots[run])
            if record["measurement"]["status"] == "ok":
                ended[run] = begun[run] if record["late"] else session
    return finished, {slots[run]: (begun[run], ended[run]) for run in slots if run in ended}


def _pair(slot: str) -> str:
    """Return the name of the pair that a slot is a half of; "" if of none."""
    if _PAIR.search(slot):
        return slot.rpartition("/")[0] if "/again/" not in slot else ""
    if _ROUND.search(slot) and "/again/" not in slot:
        return re.sub("/(?:candidate|baseline)/", "/", slot)
    return ""


def _next(pair: str) -> str:
    """Return the name under which a pair is run anew."""
    found = _ANEW.search(pair)
    if found is None:
        return f"{pair}/anew/1"
    return f"{pair[: found.start()]}/anew/{int(found[1]) + 1}"
