# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs short commands of other programs with a time limit, and leaves no processes behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_AFTER_KILL_SECONDS = 1.0
_BUDGET_BYTES = 16 << 20


@dataclass(frozen=True)
class CommandResult:
    """Result of a short command.

    Attributes:
        exit_code: Exit code; None if the program could not be run or did not end in time.
        text / error: Standard output and standard error, truncated to a budget.
        problem: Why there is no exit code; empty if there is one.
        is_late: Whether the program did not end in time.
    """

    exit_code: int | None = None
    text: str = ""
    error: str = ""
    problem: str = ""
    is_late: bool = False

    @property
    def ok(self) -> bool:
        """Whether the program ended successfully."""
        return self.exit_code == 0

    def failure(self) -> dict[str, Any]:
        """Return how the program failed, as plain data; empty if it succeeded."""
        if self.ok:
            return {}
        if self.exit_code is None:
            return {"problem": self.problem}
        lines = [line.strip() for line in (self.error or self.text).splitlines()]
        return {
            "exit_code": self.exit_code,
            "problem": next((line[:500] for line in reversed(lines) if line), "failed"),
        }


def ask(
    command: Sequence[str],
    *,
    text: str = "",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    umask: int = -1,
    output: IO[bytes] | None = None,
) -> CommandResult:
    """Run a program in its own session, which is killed as a whole at the time limit.

    Its output goes to files, so that a process that cannot be killed (on a dead file system) or
    that leaves children behind does not block the caller.  No failure of the program raises an
    error.

    Args:
        command: Words of the command, not a shell line.
        text: Standard input of the program.
        timeout_seconds: Time after which the program is killed.
        environment: Environment of the program, including PATH; that of this process if not given.
        directory: Working directory of the program.
        umask: Umask of the program; -1 for that of this process.
        output: File for its standard output of any length, in which case `Answer.text` is empty.
    """
    path = (os.environ if environment is None else environment).get("PATH")
    located = shutil.which(command[0], path=path)
    if not located:
        return CommandResult(problem="not on PATH")
    with ExitStack() as stack:
        try:
            given, out, error = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            given.write(os.fsencode(text))
            given.seek(0)
            process = subprocess.Popen(
                [located, *command[1:]],
                stdin=given,
                stdout=out if output is None else output,
                stderr=error,
                env=environment,
                cwd=directory,
                umask=umask,
                start_new_session=True,
            )
        except (OSError, ValueError) as reason:
            return CommandResult(
                problem=f"cannot be run: {getattr(reason, 'strerror', None) or reason}"
            )
        is_late = _wait(process, timeout_seconds)
        problem = f"no answer within {timeout_seconds:g} s" if is_late else ""
        code = None if is_late else process.returncode
        return CommandResult(code, _text_of(out), _text_of(error), problem, is_late)


def _wait(process: subprocess.Popen[bytes], timeout_seconds: float) -> bool:
    """Wait for the end of a program; return whether it was killed at the time limit."""
    try:
        process.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return True
    except BaseException:  # Ctrl-C does not reach its session
        _end(process)
        raise
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a session, without waiting for processes that do not end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_AFTER_KILL_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_BUDGET_BYTES).decode("utf-8", "replace")
