# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of what jobs did to file systems.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class Sums:
    """What was done from one moment to another; None: not told."""

    at: float
    until: float
    operations: int | None
    moved_bytes: int | None
    busy_seconds: float | None
    parts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_row(cls, row: Any) -> Sums:
        """Return those of a row of `tables.JobLoad`."""
        return cls(
            row.at, row.at + row.seconds, row.operations, row.moved_bytes, row.busy_seconds,
            parts_of(row.parts),
        )  # fmt: skip

    def __add__(self, other: Sums) -> Sums:
        """Return both together; what one of them does not tell, the other does."""
        parts = dict(self.parts)
        for name, number in other.parts.items():
            parts[name] = min(parts.get(name, 0) + number, LARGEST)
        return Sums(
            min(self.at, other.at),
            max(self.until, other.until),
            _whole(self.operations, other.operations),
            _whole(self.moved_bytes, other.moved_bytes),
            _sum(self.busy_seconds, other.busy_seconds),
            parts,
        )


def parts_of(text: str | None) -> dict[str, int]:
    """Return parts as a row has them; {} if they are not told or cannot be read."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: number for name, number in found.items() if isinstance(number, int)}


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def _whole(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one + other, LARGEST)
