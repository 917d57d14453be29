# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hints that IOR prints of an opened file.  Source: hpc/ior 4.1, aiori-MPIIO.c, utilities.c."""

from __future__ import annotations

MOST_HINTS = 1000


class HintLines:
    """Blocks of hints between other lines.

    Attributes:
        found: Hint -> value, of the last block of what MPI-IO reported.
        is_open: Whether the lines are in a block.
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.is_open = False
        self._is_reported = False

    def take(self, line: str) -> bool:
        """Take a line; return whether it belongs to a block of hints."""
        if line.startswith(("hints passed to ", "hints returned from ")):
            self.is_open, self._is_reported = True, "returned" in line
            if self._is_reported:
                self.found = {}
            return True
        if not self.is_open:
            return False
        key, is_hint, value = line.strip().partition(" = ")
        if is_hint and line.startswith("\t"):
            if self._is_reported and len(self.found) < MOST_HINTS:
                self.found[key[:200]] = value.strip()[:300]
            return True
        self.is_open = False
        return line.strip() == "}"
