# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Edits of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Bytes that take the place of those from `start` to `end`."""

    start: int
    end: int
    new: bytes


def apply_edits(data: bytes, edits: Sequence[Edit], start: int, end: int) -> bytes:
    """Return a part of the data with the edits that are in it."""
    pieces, place = [], start
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if start <= edit.start and edit.end <= end:
            pieces += [data[place : edit.start], edit.new]
            place = edit.end
    return b"".join([*pieces, data[place:end]])
