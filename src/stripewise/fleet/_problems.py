# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of an input cannot be used: the first of it in words, the rest as a number."""

from __future__ import annotations

MOST_PROBLEMS = 100


class Problems:
    """Problems of one input, however many lines it has."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        """Note one more."""
        if len(self._first) < MOST_PROBLEMS:
            self._first.append(text)
        else:
            self._more += 1

    def told(self) -> tuple[str, ...]:
        """Return a sentence each."""
        more = [f"{self._more} more could not be used"] if self._more else []
        return (*self._first, *more)
