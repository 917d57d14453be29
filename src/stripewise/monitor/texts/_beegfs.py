# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Targets of BeeGFS: the table of `beegfs-ctl --listtargets` (7.x), the JSON of `beegfs` (8.x).

A server that does not answer has no space: 7.x prints 0.0GiB then, 8.x "-".  In 7.x sizes are
rounded to 0.1 GiB.  Free space is called "sfree" by the first versions of 8.x, "space_free" later.

Source: ctl/source/modes/ModeListTargets.cpp of BeeGFS 7; ctl/internal/cmd/target/list.go and
cmdfmt of beegfs-go (8.x).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from stripewise.monitor.texts._numbers import fraction, once, shown, whole, whole_lines

_GIB = 1 << 30
_MOST_TARGETS = (1 << 16) - 1
_ROW = re.compile(
    r" *(\d{1,5}) +(?:(<invalid_value>)|(\S+) +(\S+)) +"
    r"((?:0|[1-9]\d{0,17})\.\d)GiB +((?:0|[1-9]\d{0,17})\.\d)GiB +\d{1,3}% +"
    r"[\d.]{3,20}M +[\d.]{3,20}M +\d{1,3}%(?: .*)?",
    re.ASCII,
)
_HEAD = ["TargetID", "Reachability", "Consistency", "Total", "Free"]
_ID = re.compile(r"(?:[a-z]{1,16}:)?(\d{1,5})", re.ASCII)
_STATES = {"online": True, "probably-offline": False, "offline": False}
_UNKNOWN = ("", "-", "unknown", "<invalid_value>")
_FREE = ("sfree", "space_free")
_SPACE = " \t\r\n"


class BeeGfsTarget(NamedTuple):
    """One target.

    Attributes:
        number: Of it, among those of its kind.
        is_online: As the management service sees it; None: not told.
        total_bytes / free_bytes: Of its disk; None: not told.
    """

    number: int
    is_online: bool | None
    total_bytes: int | None
    free_bytes: int | None


def read_beegfs_table(text: str) -> tuple[list[BeeGfsTarget], list[str]]:
    """Read what `beegfs-ctl --listtargets --state --spaceinfo` prints.

    Returns:
        Targets, and what was left out, a sentence each.
    """
    found = []
    lines, problems = whole_lines(text)
    has_head = False
    for number, line in enumerate(lines, 1):
        if line.split()[:5] == _HEAD:
            has_head = True
        elif line.strip() and not set(line) <= {"=", " "}:
            try:
                found.append(_row(line))
            except ValueError as error:
                problems.append(f"line {number}: {error}")
    if not has_head:
        return [], ["the output is no table of targets that is known"]
    kept, doubled = once(found, lambda one: str(one.number))
    return kept, problems + doubled


def _row(line: str) -> BeeGfsTarget:
    found = _ROW.fullmatch(line)
    if found is None:
        raise ValueError(f"{shown(line.strip())} is no target")
    total, free = (round(fraction(found[place]) * _GIB) for place in (5, 6))
    return _target(whole(found[1]), found[2] or found[3], total or None, free)


def read_beegfs_json(text: str) -> tuple[list[BeeGfsTarget], list[str]]:
    """Read what `beegfs target list --raw --output=json` prints: pages, each an array.

    Returns:
        Targets, and what was left out, a sentence each.
    """
    found, problems = [], []
    try:
        for number, entry in enumerate(_entries(text), 1):
            try:
                found.append(_entry(entry))
            except ValueError as error:
                problems.append(f"target {number}: {error}")
    except (ValueError, RecursionError):
        problems.append("the output is not JSON throughout")
    kept, doubled = once(found, lambda one: str(one.number))
    return kept, problems + doubled


def _entries(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    place = 0
    while place < len(text):
        if text[place] in _SPACE:
            place += 1
            continue
        page, place = decoder.raw_decode(text, place)
        yield from page if isinstance(page, list) else [page]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _entry(entry: Any) -> BeeGfsTarget:
    if not isinstance(entry, dict):
        raise ValueError("is no object")
    number = entry.get("id")
    if isinstance(number, dict):
        number = number.get("num_id")
    free_keys = [key for key in _FREE if key in entry]
    if len(free_keys) > 1:
        raise ValueError("tells its free space twice")
    total, free = (_size(entry.get(key)) for key in ("space", *(free_keys or _FREE[:1])))
    state = str(entry.get("reachability", ""))
    is_number = _ID.fullmatch(str(number))
    if is_number is None:
        raise ValueError(f"{shown(str(number))} is no number of a target")
    return _target(whole(is_number[1]), state, total, free)


def _size(value: Any) -> int | None:
    text = str("" if value is None else value)
    return None if text in _UNKNOWN else whole(text)


def _target(number: int, state: str, total: int | None, free: int | None) -> BeeGfsTarget:
    if not 0 < number <= _MOST_TARGETS:
        raise ValueError(f"{number} is no number of a target")
    is_online = None if state in _UNKNOWN else _STATES.get(state.lower())
    if is_online is None and state not in _UNKNOWN:
        raise ValueError(f"{shown(state)} is no state of a target")
    if total is None or free is None:
        return BeeGfsTarget(number, is_online, None, None)
    if free > total:
        raise ValueError(f"free space {free} is more than the total of {total} bytes")
    return BeeGfsTarget(number, is_online, total, free)
