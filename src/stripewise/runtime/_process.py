# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ask other programs short questions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """Outcome of a short command; `code` is None if it could not be run or took too long."""

    code: int | None
    out: str = ""
    err: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ran and succeeded."""
        return self.code == 0


def ask(
    command: Sequence[str],
    *,
    text: str = "",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Run a short command with `text` as its standard input; never raises."""
    try:
        done = subprocess.run(
            list(command),
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
            env=None if environment is None else dict(environment),
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Answer(None, err=str(error))
    return Answer(done.returncode, done.stdout, done.stderr)
