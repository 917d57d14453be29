# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ask other programs short questions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def ask(
    command: Sequence[str],
    *,
    text: str = "",
    timeout_seconds: float = 30.0,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a short command with `text` as its standard input; never raises.

    If it cannot be run or takes too long, its exit code is 127 and standard error says why.
    """
    try:
        return subprocess.run(
            list(command),
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))
