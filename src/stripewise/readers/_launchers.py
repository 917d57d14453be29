# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of programs that are not the user's: MPI launchers, their daemons, wrappers."""

from __future__ import annotations

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
