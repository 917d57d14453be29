# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a probe, and what it may ask of the host it is on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.runtime import MpiInstallation

Section = dict[str, Any]
"""What a probe found: plain data for JSON."""


@dataclass(frozen=True)
class Answer:
    """What a command said.

    Attributes:
        exit_code: None: it could not be run, or did not end in time.
        text / error: Its standard output and standard error, cut to a budget.
        problem: Why there is no exit code; "" if there is one.
    """

    exit_code: int | None = None
    text: str = ""
    error: str = ""
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.exit_code == 0

    def failure(self) -> Section:
        """Return how it failed, as facts for a section; empty if it ended well."""
        if self.ok:
            return {}
        if self.exit_code is None:
            return {"problem": self.problem}
        lines = [line.strip() for line in (self.error or self.text).splitlines() if line.strip()]
        return {"exit_code": self.exit_code, "problem": lines[-1][:500] if lines else "failed"}


class Host(ABC):
    """What probes ask; tests give them another one.

    Attributes:
        directories: Of the user, to be looked at.
        batch_options: For `sbatch --test-only`, such as `--account=x`.
        environment: Of this process.
    """

    directories: tuple[Path, ...] = ()
    batch_options: tuple[str, ...] = ()
    environment: Mapping[str, str]

    @abstractmethod
    def ask(
        self, *command: str, text: str = "", variables: Mapping[str, str] | None = None
    ) -> Answer:
        """Run a short command; never raises, never waits long.

        Args:
            command: Words, not a shell line.
            text: Its standard input.
            variables: Environment variables to add.
        """

    @abstractmethod
    def which(self, name: str) -> str:
        """Return the path of a program; "" if it is not on PATH."""

    @abstractmethod
    def read(self, path: str) -> str:
        """Return what a small file of the system holds; "" if it cannot be read."""

    @abstractmethod
    def mpis(self) -> Sequence[MpiInstallation]:
        """Return the MPIs whose compiler wrappers are on PATH."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the names that are left out of a report: of this host and of its user."""

    @abstractmethod
    def runtime_library(self) -> str:
        """Return the path of the runtime library; "" if it is not built."""


class Probe(ABC):
    """Looks at one side of a site.

    Attributes:
        name: Of its section.
        summary: One line.
    """

    name: str
    summary: str

    @abstractmethod
    def run(self, host: Host) -> Section:
        """Return what there is; what is absent or fails is a fact too."""
