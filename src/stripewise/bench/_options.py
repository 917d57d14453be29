# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a user asks of a campaign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench._suite import Suite
from stripewise.emulation import EmulatedStorage, EmulationOptions

LAUNCHERS = ("local", "slurm", "simulated")
TIMEOUT_SECONDS = 1800.0
SUFFIX = ".campaign"


@dataclass(frozen=True)
class CampaignOptions:
    """What is run, where, and how much it may take.

    Attributes:
        suite: With the cases that are wanted.
        directory: Of the campaign: journal, records, pages.
        inside: Directory on the storage, in which the campaign makes its own.
        launcher: "local" (this host, or the allocation that this process is in), "slurm"
            (jobs are submitted), "simulated" (nothing is run, a model says what it takes).
        storage: That is emulated or simulated; None: the one that is there.
        family: MPI: "mpich", "openmpi", "openmpi-5"; "": that of mpiexec, or the first built.
        mpiexec: That starts the ranks; "": that of the family, and on emulated Lustre that of the
            MPICH with ROMIO's Lustre driver, where it is built.
        launcher_options: Words for mpiexec or srun, before the program.
        job_options: Words for sbatch.
        wall_seconds: Time limit of an allocation; None: the partition's default.
        seed: Of the order of the runs, and of noise.
        timeout_seconds: Of one run.
        budget_seconds / budget_bytes / budget_node_seconds: Of the whole campaign; None: no limit.
        rank_bytes: That each rank of a case has; 0: as the suite says, less in slow motion.
        nodes_named: The user named numbers of nodes: too many are refused, not left out.
        resume: Go on with the campaign that is there.
        force: Set aside the one that is there.
    """

    suite: Suite
    directory: Path
    inside: Path
    launcher: str = "local"
    storage: EmulationOptions | None = None
    family: str = ""
    mpiexec: str = ""
    launcher_options: tuple[str, ...] = ()
    job_options: tuple[str, ...] = ()
    wall_seconds: float | None = None
    seed: int = 0
    timeout_seconds: float = TIMEOUT_SECONDS
    budget_seconds: float | None = None
    budget_bytes: float | None = None
    budget_node_seconds: float | None = None
    rank_bytes: int = 0
    nodes_named: bool = False
    resume: bool = False
    force: bool = False

    def storage_of(self, case: Case) -> EmulatedStorage | None:
        """Return the storage that a case finds: its nodes have as many ranks as the case says.

        Raises:
            UsageError: A node has not so many.
        """
        if self.storage is None:
            return None
        return EmulatedStorage.find(replace(self.storage, ranks_per_node=case.ranks_per_node))
