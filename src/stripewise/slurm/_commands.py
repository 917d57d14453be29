# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Slurm's commands: argument lists, a time limit, an environment without surprises."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from stripewise.slurm._errors import (
    SlurmAwayError,
    SlurmError,
    SlurmMissingError,
    is_away,
    one_line,
)
from stripewise.slurm._limiter import RateLimiter
from stripewise.slurm._variables import for_command

_ACTIONS = ("sbatch", "scancel")
_NO_CLUSTER = ("establish a configuration source", "unable to status file")
"""What Slurm's commands say without a slurm.conf.  Source: the first seen, the second assumed."""


class Commands:
    """Runs the commands, each counted by the limiter.

    Attributes:
        limiter: Of all requests.
        timeout_seconds: After which a command is stopped.
    """

    def __init__(
        self, limiter: RateLimiter, environment: Mapping[str, str] | None, timeout_seconds: float
    ) -> None:
        self.limiter = limiter
        self.timeout_seconds = timeout_seconds
        self._environment = environment

    def environment(self, command: str) -> dict[str, str]:
        """Return what a command gets: not what changes its output, or is of an outer job."""
        return for_command(command, os.environ if self._environment is None else self._environment)

    def find(self, command: str) -> str:
        """Return the path of a command.

        Raises:
            SlurmMissingError: It is not on PATH.
        """
        found = shutil.which(command, path=self.environment(command).get("PATH"))
        if found is None:
            raise SlurmMissingError(
                f"there is no {command} on PATH: this host has no Slurm; start Stripewise on a "
                "login node (module load slurm may be needed), or use --launcher local"
            )
        return found

    def run(self, command: str, arguments: Sequence[str], directory: Path | None = None) -> str:
        """Run a command and return its output.

        Raises:
            SlurmMissingError: It is not there, or knows of no cluster.
            SlurmAwayError: The controller did not answer; the request may have reached it.
            SlurmError: It failed otherwise.
        """
        words = [self.find(command), *arguments]
        self.limiter.take(command, action=command in _ACTIONS)
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout_seconds,
                env=self.environment(command),
                cwd=directory,
                umask=0o077,  # a job gets it from sbatch
                start_new_session=True,  # Ctrl-C or a lost terminal must not cut a submission
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SlurmAwayError(
                f"{command} did not end within {self.timeout_seconds:g} s; the controller is "
                "busy or away: wait, then go on with --resume"
            ) from None
        except OSError as error:
            raise SlurmError(f"cannot run {words[0]}: {error.strerror or error}") from error
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        said = said if said.strip() else done.stdout.decode("utf-8", "replace")
        if any(words in said for words in _NO_CLUSTER):
            raise SlurmMissingError(
                f"{command} finds no configuration of a cluster on this host: start Stripewise on "
                "a login node, set SLURM_CONF, or use --launcher local"
            )
        if is_away(said):
            raise SlurmAwayError(
                f"{command}: {one_line(said)}; wait for the controller, then go on with --resume"
            )
        raise CommandFailed(command, said, done.returncode)


class CommandFailed(SlurmError):
    """A command ended with an exit code other than zero.

    Attributes:
        said: All that it said.
    """

    def __init__(self, command: str, said: str, code: int) -> None:
        super().__init__(f"{command} failed: {one_line(said) or f'exit code {code}'}")
        self.said = said
