# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines checks, probes, and the host that they query."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from stripewise.core.errors import StripewiseError
from stripewise.run._ask import CommandResult, ask
from stripewise.run.runtime import MpiInstallation, detect_mpis, find_runtime

# Results of checks of this machine or of a site.


class CheckStatus(StrEnum):
    """Outcome of a check; only FAIL makes Stripewise unusable."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """Result of one check.

    Attributes:
        name: Subject of the check.
        status: Outcome of the check.
        detail: Findings in one line.
        remedy: What to do; empty if there is nothing to do.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


def ok(name: str, detail: str) -> Check:
    """Return a check that passed."""
    return Check(name, CheckStatus.OK, detail)


def warn(name: str, detail: str, remedy: str = "") -> Check:
    """Return a check after which Stripewise is usable with a limitation."""
    return Check(name, CheckStatus.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str = "") -> Check:
    """Return a check after which Stripewise is not usable."""
    return Check(name, CheckStatus.FAIL, detail, remedy)


# Probes, and the host that they query.

Section = dict[str, Any]
"""Result of a probe: plain data for JSON."""


class Host(ABC):
    """Host that probes query, which tests replace.

    Attributes:
        directories: Directories of the user to check.
        batch_options: Options for `sbatch --test-only`, such as `--account=x`.
        environment: Environment of this process.
    """

    directories: tuple[Path, ...] = ()
    batch_options: tuple[str, ...] = ()
    environment: Mapping[str, str]

    def variables(self, names: Collection[str], prefix: str) -> dict[str, str]:
        """Return the environment variables with given names or prefixes."""
        return {
            name: value
            for name, value in sorted(self.environment.items())
            if name in names or name.startswith(prefix)
        }

    @property
    def modules(self) -> list[str]:
        """The loaded environment modules."""
        return [word for word in self.environment.get("LOADEDMODULES", "").split(":") if word]

    @abstractmethod
    def ask(
        self, *command: str, text: str = "", variables: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a short command with a time limit, without raising errors.

        Args:
            command: Words of the command, not a shell line.
            text: Standard input of the command.
            variables: Environment variables to add.
        """

    @abstractmethod
    def which(self, name: str) -> str:
        """Return the path of a program; empty if it is not on PATH."""

    @abstractmethod
    def read(self, path: str) -> str:
        """Return the content of a small system file; empty if it cannot be read."""

    @abstractmethod
    def mpis(self) -> Sequence[MpiInstallation]:
        """Return the MPIs whose compiler wrappers are on PATH."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the names to leave out of a report: those of this host and of its user."""

    @abstractmethod
    def runtime_library(self) -> str:
        """Return the path of the runtime library; empty if it is not built."""


class Probe(ABC):
    """Base class of probes, each of which examines one aspect of a site.

    Attributes:
        name: Name of its section.
        summary: Summary in one line.
    """

    name: str
    summary: str

    @abstractmethod
    def run(self, host: Host) -> Section:
        """Return the facts found, including what is absent or fails."""


# The host of this process, on which every command has a time limit.

LIMIT_SECONDS = 10.0
_BUDGET_BYTES = 1 << 20


class LocalHost(Host):
    """Host that queries this machine."""

    def __init__(
        self,
        directories: Sequence[Path] = (),
        batch_options: Sequence[str] = (),
        limit_seconds: float = LIMIT_SECONDS,
    ) -> None:
        self.directories = tuple(directories)
        self.batch_options = tuple(batch_options)
        self.environment = dict(os.environ)
        self._limit_seconds = limit_seconds

    def ask(
        self, *command: str, text: str = "", variables: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command like `ask` of this package, with English output."""
        environment = {**self.environment, "LC_ALL": "C", **(variables or {})}
        return ask(
            command, text=text, timeout_seconds=self._limit_seconds, environment=environment
        )

    def which(self, name: str) -> str:
        """Return the path of a program; empty if it is not on PATH."""
        return shutil.which(name, path=self.environment.get("PATH")) or ""

    def read(self, path: str) -> str:
        """Read a file of the kernel or of the site's configuration."""
        try:
            with open(path, "rb") as file:
                return file.read(_BUDGET_BYTES).decode("utf-8", "surrogateescape")
        except OSError:
            return ""

    def mpis(self) -> Sequence[MpiInstallation]:
        """Return the MPIs according to their compiler wrappers, as the doctor does."""
        return detect_mpis()

    def names(self) -> tuple[str, ...]:
        """Return the names of the host and of the user, except root."""
        host = socket.gethostname()
        found = [host, host.partition(".")[0], self.environment.get("USER", "")]
        try:
            found.append(getpass.getuser())
        except (KeyError, OSError):
            pass
        return tuple(dict.fromkeys(name for name in found if name and name != "root"))

    def runtime_library(self) -> str:
        """Return the path of the built library; empty if there is none."""
        try:
            return str(find_runtime().core)
        except StripewiseError:
            return ""
