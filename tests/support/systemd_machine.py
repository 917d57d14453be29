# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A machine that systemd boots, over a copy of this host's root that is gone afterwards."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

_BOOT = Path(__file__).with_name("systemd_machine.sh")
_SOURCE = Path(__file__).parents[2]
_APART = ("unshare", "--fork", "--pid", "--kill-child", "--mount", "--mount-proc", "--cgroup",
          "--uts", "--ipc")  # fmt: skip


@functools.cache
def why_not() -> str:
    """Return why no machine can be booted here; "": it can."""
    if os.geteuid():
        return "only root can boot a machine"
    if not Path("/usr/lib/systemd/systemd").exists():
        return "systemd is not installed"
    tried = subprocess.run([*_APART, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


def boot(directory: Path, install: str, script: str) -> str:
    """Boot, run a script and return what it printed; this project's files are in /srv/source.

    Args:
        directory: An empty one.
        install: A shell script that runs before the boot, with this host's network.
        script: Runs when the machine is up; with its end the machine ends.
    """
    (directory / "install").write_text(install)
    (directory / "try").write_text(script)
    with (directory / "log").open("wb") as log:
        done = subprocess.run(
            [*_APART, str(_BOOT), str(_SOURCE), str(directory)],
            stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            timeout=900, check=False,
        )  # fmt: skip
    said = directory / "said"
    log_end = (directory / "log").read_text(errors="replace")[-4000:]
    assert said.exists(), f"exit code {done.returncode}: {log_end}"
    return said.read_text(errors="replace")
