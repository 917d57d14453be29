# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark programs of others: where they are, and what all of their runners share."""

from __future__ import annotations

import os
import shutil
from abc import abstractmethod
from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench.runners._base import Runner
from stripewise.errors import UsageError

ELEMENT_BYTES = 8
"""Of the patterns blocks and array3d."""
FASTEST = 1e16
"""Bytes, or operations, a second beyond which a figure is broken."""


class ForeignRunner(Runner):
    """A benchmark program of others that is used where it is installed.

    Attributes:
        variable: Environment variable with its path.
        source: Where it can be had.
    """

    variable: str
    source: str

    def missing(self) -> str:
        """Return why the program cannot be used here, with the remedy; "" if it can."""
        given = os.environ.get(self.variable, "")
        if self._found() is not None:
            return ""
        if given:
            return f"{self.variable}={given} is not a program: give the path of {self.name}"
        return (
            f"{self.name} is not on PATH: install it ({self.source}), or set "
            f"{self.variable} to its path"
        )

    def why_not(self, case: Case) -> str:
        """Return the first reason for which the program cannot make a case."""
        return next(filter(None, self.reasons(case)), "")

    @abstractmethod
    def reasons(self, case: Case) -> list[str]:
        """Return what the program cannot do of a case; empty texts do not count."""

    def program(self) -> Path:
        """Return the program.

        Raises:
            UsageError: It is not installed.
        """
        found = self._found()
        if found is None:
            raise UsageError(self.missing())
        return found

    def _found(self) -> Path | None:
        given = os.environ.get(self.variable, "")
        found = shutil.which(given or self.name)
        return Path(found).absolute() if found else None


def unless(good: bool, reason: str) -> str:
    """Return a reason, or "" where all is well."""
    return "" if good else reason


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the sizes of each dimension: "128,128,128"; none for ""."""
    return tuple(int(word) for word in text.split(",")) if text else ()
