# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The host that this process is on: commands with a time limit, whatever they do."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from stripewise.errors import StripewiseError
from stripewise.runtime import MpiInstallation, detect_mpis, find_runtime
from stripewise.site._base import Answer, Host

LIMIT_SECONDS = 10.0
_AFTER_KILL_SECONDS = 1.0
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
        """Run a command in a session of its own; all of it is killed at the time limit.

        Its output goes to files: a process that cannot be killed (a dead file system) or that
        left children behind then holds nobody up.
        """
        located = self.which(command[0])
        if not located:
            return Answer(problem="not on PATH")
        environment = {**self.environment, "LC_ALL": "C", **(variables or {})}
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as error,
        ):
            given.write(os.fsencode(text))
            given.seek(0)
            try:
                process = subprocess.Popen(
                    [located, *command[1:]],
                    stdin=given,
                    stdout=out,
                    stderr=error,
                    env=environment,
                    start_new_session=True,
                )
            except (OSError, ValueError) as reason:
                return Answer(problem=f"cannot be run: {reason}")
            problem = self._wait(process)
            code = None if problem else process.returncode
            return Answer(code, _said(out), _said(error), problem)

    def _wait(self, process: subprocess.Popen[bytes]) -> str:
        try:
            process.wait(self._limit_seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"no answer within {self._limit_seconds:g} s"
        return ""

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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a session; one that even that does not end is left to the kernel."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_AFTER_KILL_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_BUDGET_BYTES).decode("utf-8", "replace")
