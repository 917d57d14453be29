# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cases of another size, so that a slow storage takes no longer than the one it stands for."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from stripewise.bench._case import Case

LEAST_BYTES = 1 << 20
"""No rank's part becomes smaller."""
LEAST_FILES = 10
"""Nor does a rank make fewer files."""
_GRAIN = 4096 // 8
"""Elements of a page: what a rank has stays a multiple of it, so that O_DIRECT can be had."""


def in_slow_motion(case: Case, slowdown: float) -> Case:
    """Return a case that takes about as long on a storage in slow motion.

    Args:
        case: Of a suite.
        slowdown: How many times as long everything takes there, at least 1.
    """
    if slowdown <= 1:
        return case
    if case.operation == "metadata":
        fewer = max(round(case.files / slowdown), LEAST_FILES)
        return replace(case, files=min(case.files, fewer))
    return _of_share(case, 1 / slowdown)


def of_rank_bytes(case: Case, rank_bytes: float) -> Case:
    """Return a case in which each rank has about so many bytes, in its steps together.

    Cases of metadata, and those whose size is the pattern's own, stay as they are.
    """
    numbers = _numbers(case.local)
    if case.operation == "metadata" or not numbers:
        return case
    return _of_share(case, rank_bytes / (8 * prod(numbers) * case.steps))


def _of_share(case: Case, share: float) -> Case:
    """Return a case of a share of the bytes: the slowest dimensions become shorter."""
    numbers = _numbers(case.local) or _numbers(case.size)
    if not numbers:
        return case
    least = max(LEAST_BYTES, case.transfer_bytes) / (8 * prod(numbers))
    share = share if case.size else max(share, min(least, 1.0))
    if len(numbers) == 1:
        made = [_rounded(numbers[0] * share, case.transfer_bytes // 8 or _GRAIN)]
    else:
        made = _shortened(numbers, share)
    text = ",".join(map(str, made))
    return replace(case, local=text) if case.local else replace(case, size=text)


def _rounded(number: float, grain: int) -> int:
    return max(round(number / grain), 1) * grain


def _shortened(numbers: list[int], share: float) -> list[int]:
    made = list(numbers)
    for place, number in enumerate(numbers):
        wanted = max(round(number * share), 1)
        made[place] = wanted
        share *= number / wanted
        if abs(share - 1) < 0.1:
            break
    return made


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")] if text else []
