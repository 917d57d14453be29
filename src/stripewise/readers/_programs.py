# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that a command names: the user's own, and launchers, daemons, shells and wrappers."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun", "prun", "srun", "aprun", "jsrun", "ibrun")
"""Names that start MPI ranks; a suffix such as `.mpich` or `.hydra` may follow."""

_DAEMONS = frozenset(
    "hydra_pmi_proxy hydra_bstrap_proxy orted prted ompirun_wrapper slurmstepd".split()
)
_WRAPPERS = frozenset(
    "sh bash dash zsh ksh csh tcsh busybox env nice nohup time timeout numactl taskset stdbuf "
    "setsid".split()
)


def is_launcher(name: str) -> bool:
    """Whether a command's file name is that of an MPI launcher."""
    return name.split(".")[0] in LAUNCHERS


def starts_ranks(name: str) -> bool:
    """Whether a file name is that of an MPI launcher or of one of its daemons."""
    return is_launcher(name) or name in _DAEMONS


def is_helper(name: str) -> bool:
    """Whether a file name is that of a launcher, a daemon, a shell or a wrapper."""
    return starts_ranks(name) or name in _WRAPPERS


def drops_preload(path: Path) -> str:
    """Why the loader ignores LD_PRELOAD for this executable; "" if it does not."""
    try:
        status = path.stat()
    except OSError:
        return ""
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return "is setuid"
    if status.st_mode & stat.S_ISGID and status.st_gid not in (os.getgid(), *os.getgroups()):
        return "is setgid"
    try:
        if "security.capability" in os.listxattr(path) and os.getuid() != 0:
            return "has file capabilities"
    except OSError:
        return ""
    return ""


def executables_in(command: Sequence[str], directory: Path | None = None) -> list[Path]:
    """Executable files that the words of a command name, in order, symbolic links resolved.

    Args:
        command: The command; options and data files in it are passed over.
        directory: Where relative names start from; the current directory if not given.
    """
    base = directory or Path.cwd()
    found: list[Path] = []
    for word in command:
        option = word.startswith("-")
        named = None if option else shutil.which(str(base / word) if "/" in word else word)
        if named:
            found.append(Path(os.path.realpath(named)))
    return list(dict.fromkeys(found))
