# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks other programs short questions, within a limited time and with nothing left behind."""

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
class Answer:
    """What a program said.

    Attributes:
        exit_code: None: it could not be run, or did not end in time.
        text / error: Its standard output and standard error, cut to a budget.
        problem: Why there is no exit code; "" if there is one.
        is_late: It did not end in time.
    """

    exit_code: int | None = None
    text: str = ""
    error: str = ""
    problem: str = ""
    is_late: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.exit_code == 0

    def failure(self) -> dict[str, Any]:
        """Return how it failed, as plain data; empty if it ended well."""
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
) -> Answer:
    """Run a program in a session of its own; all of it is killed at the time limit.

    Its output goes to files: a process that cannot be killed (a dead file system) or that left
    children behind then holds nobody up.  Never raises for what the program does.

    Args:
        command: Words, not a shell line.
        text: Its standard input.
        timeout_seconds: After which it is killed.
        environment: Of the program, PATH included; this process's own if not given.
        directory: Where it runs.
        umask: Of the program; -1: this process's own.
        output: File that gets its standard output, of any length; then `Answer.text` is "".
    """
    path = (os.environ if environment is None else environment).get("PATH")
    located = shutil.which(command[0], path=path)
    if not located:
        return Answer(problem="not on PATH")
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
            return Answer(problem=f"cannot be run: {getattr(reason, 'strerror', None) or reason}")
        is_late = _wait(process, timeout_seconds)
        problem = f"no answer within {timeout_seconds:g} s" if is_late else ""
        code = None if is_late else process.returncode
        return Answer(code, _text_of(out), _text_of(error), problem, is_late)


def _wait(process: subprocess.Popen[bytes], timeout_seconds: float) -> bool:
    """Wait for the end of a program; return whether it was killed since it took too long."""
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
    """Kill a session; one that even that does not end is left to the kernel."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_AFTER_KILL_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_BUDGET_BYTES).decode("utf-8", "replace")
