# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines checks, probes, and the host that these ask, this one included."""

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
from stripewise.run._ask import Answer, ask
from stripewise.run.runtime import MpiInstallation, detect_mpis, find_runtime

# What a check of this machine or of a site found.


class CheckStatus(StrEnum):
    """Outcome; only FAIL makes Stripewise unusable."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: Outcome.
        detail: What was found, one line.
        remedy: What to do; "" where nothing is to be done.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


def ok(name: str, detail: str) -> Check:
    """Return a check that went well."""
    return Check(name, CheckStatus.OK, detail)


def warn(name: str, detail: str, remedy: str = "") -> Check:
    """Return a check after which Stripewise is usable, with a caveat."""
    return Check(name, CheckStatus.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str = "") -> Check:
    """Return a check after which Stripewise is not usable."""
    return Check(name, CheckStatus.FAIL, detail, remedy)


# Probes, and the host that they ask.

Section = dict[str, Any]
"""What a probe found: plain data for JSON."""


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

    def variables(self, names: Collection[str], prefix: str) -> dict[str, str]:
        """Return the environment variables of these names, and those that begin so."""
        return {
            name: value
            for name, value in sorted(self.environment.items())
            if name in names or name.startswith(prefix)
        }

    @property
    def modules(self) -> list[str]:
        """The environment modules that are loaded."""
        return [word for word in self.environment.get("LOADEDMODULES", "").split(":") if word]

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


# The host that this process is on: commands with a time limit, whatever they do.

LIMIT_SECONDS = 10.0
_BUDGET_BYTES = 1 << 20


class LocalHost(Host):
    """Asks this machine."""

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
    ) -> Answer:
        """Run a command as `ask` of this package does, in English."""
        environment = {**self.environment, "LC_ALL": "C", **(variables or {})}
        return ask(
            command, text=text, timeout_seconds=self._limit_seconds, environment=environment
        )

    def which(self, name: str) -> str:
        """Look on PATH."""
        return shutil.which(name, path=self.environment.get("PATH")) or ""

    def read(self, path: str) -> str:
        """Read a file of the kernel or of the site's configuration."""
        try:
            with open(path, "rb") as file:
                return file.read(_BUDGET_BYTES).decode("utf-8", "surrogateescape")
        except OSError:
            return ""

    def mpis(self) -> Sequence[MpiInstallation]:
        """Ask the compiler wrappers, as the doctor does."""
        return detect_mpis()

    def names(self) -> tuple[str, ...]:
        """Return the host's names and the user's; root is nobody's name."""
        host = socket.gethostname()
        found = [host, host.partition(".")[0], self.environment.get("USER", "")]
        try:
            found.append(getpass.getuser())
        except (KeyError, OSError):
            pass
        return tuple(dict.fromkeys(name for name in found if name and name != "root"))

    def runtime_library(self) -> str:
        """Find the library that is built."""
        try:
            return str(find_runtime().core)
        except StripewiseError:
            return ""
