# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that answer what was recorded or documented: a Cray XC40, a Lustre cluster, a laptop."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.run import CommandResult
from stripewise.run.runtime import MpiInstallation
from stripewise.run.site import Host

SECRET_NAMES = ("login7.example.org", "login7", "mustermann")
"""Of the hosts and of their user; they are in many answers."""


def said(text: str = "", error: str = "", code: int = 0) -> CommandResult:
    return CommandResult(code, text, error)


@dataclass
class FakeHost(Host):
    """Answers from a table: the longest beginning of the command that is in it."""

    answers: Mapping[str, CommandResult]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    directories: tuple[Path, ...] = ()
    batch_options: tuple[str, ...] = ()
    found_mpis: Sequence[MpiInstallation] = ()
    library: str = ""
    asked: list[tuple[str, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def ask(
        self, *command: str, text: str = "", variables: Mapping[str, str] | None = None
    ) -> CommandResult:
        self.asked.append(command)
        self.texts.append(text)
        if command[0] == "cat":
            return said(f"7f00-7f01 r-xp 0 {(variables or {}).get('LD_PRELOAD', '')}\n")
        words = ["look" if word == sys.executable else word for word in command]
        if words[0] == "look":
            words = ["look", words[-1]]
        for length in range(len(words), 0, -1):
            if found := self.answers.get(" ".join(words[:length])):
                return found
        return CommandResult(problem="not on PATH")

    def which(self, name: str) -> str:
        there = any(key.split()[0] == name for key in self.answers)
        return f"/usr/bin/{name}" if there else ""

    def read(self, path: str) -> str:
        return self.files.get(path, "")

    def mpis(self) -> Sequence[MpiInstallation]:
        return self.found_mpis

    def names(self) -> tuple[str, ...]:
        return SECRET_NAMES

    def runtime_library(self) -> str:
        return self.library


def looked(real: str, clock: tuple[float, float, float] = (100.0, 100.0, 100.1)) -> CommandResult:
    found = {"real": real, "free_bytes": 1 << 40, "total_bytes": 1 << 50, "clock": list(clock)}
    return said(json.dumps(found))


CRAY_CONFIG = """\
Configuration data as of 2018-05-02T10:11:12
AccountingStorageHost   = login7
AccountingStoragePass   = (null)
AccountingStorageType   = accounting_storage/slurmdbd
AuthInfo                = socket=/var/run/secret
BurstBufferType         = burst_buffer/datawarp
JobSubmitPlugins        = lua
MaxArraySize            = 1001
MinJobAge               = 300 sec
MpiDefault              = none
ProctrackType           = proctrack/cray
SLURM_VERSION           = 17.02.10
SlurmctldHost           = login7(10.1.2.3)
SlurmUser               = mustermann(1000)
TaskPlugin              = task/cray,task/affinity
"""
BURST = """\
Name=datawarp DefaultPool=wlm_pool Granularity=368GiB TotalSpace=98624GiB FreeSpace=89792GiB UsedSpace=7360GiB
  Flags=
  StageInTimeout=86400 StageOutTimeout=86400 ValidateTimeout=5 OtherTimeout=300
  AllowUsers=mustermann
  GetSysState=/opt/cray/dw_wlm/default/bin/dw_wlm_cli
  Allocated Buffers:
    JobID=169509 CreateTime=2018-05-01T00:00:00 Pool=wlm_pool Size=7360GiB State=running UserID=mustermann(1000)
    Name=alpha CreateTime=2018-04-01T00:00:00 Pool=wlm_pool Size=0GiB State=allocated UserID=mustermann(1000)
"""  # noqa: E501
GETSTRIPE = "stripe_count:   1 stripe_size:    1048576 stripe_offset:  -1\n"
LFS_DF = """\
UUID                   1K-blocks        Used   Available Use% Mounted on
snx11205-MDT0000_UUID 1000000 2000 998000   1% /lustre[MDT:0]
snx11205-OST0000_UUID 1000000 2000 998000   1% /lustre[OST:0]
snx11205-OST0001_UUID 1000000 2000 998000   1% /lustre[OST:1]
OST0002             : inactive device
snx11205-OST0003_UUID : inactive device

filesystem_summary:  2000000 4000 1996000   1% /lustre
"""
MOUNTS = """\
20 1 0:20 / / rw - ext4 /dev/sda1 rw
30 20 0:30 / /lustre rw - lustre 10.9.8.7@gni1:10.9.8.6@gni1:/snx11205 rw,flock
31 20 0:31 / /beegfs rw - beegfs beegfs_nodev rw
"""
STARTS = "sbatch: Job 77 to start at 2018-05-02T10:20:00 using 32 processors on nodes nid00012 in partition workq\n"  # noqa: E501


def cray() -> FakeHost:
    return FakeHost(
        answers={
            "uname": said("Linux 4.4.103-6.38_4.0.153-cray_ari_c x86_64\n"),
            "nproc": said("32\n"),
            "sbatch --version": said("slurm 17.02.10\n"),
            "sbatch --test-only": said(error=STARTS),
            "srun --mpi=list": said(error="srun: MPI types are...\nsrun: pmi2\nsrun: none\n"),
            "scontrol show config": said(CRAY_CONFIG),
            "scontrol -o show partition": said(
                "PartitionName=workq AllowGroups=ALL AllowAccounts=mustermann Default=YES "
                "MaxTime=1-00:00:00 MaxNodes=UNLIMITED State=UP Nodes=nid000[12-99] "
                "TotalNodes=88 TotalCPUs=5632\n"
            ),
            "scontrol show burst": said(BURST),
            "sinfo": said("workq*|up|1-00:00:00|80|allocated|64|128000|craynetwork:4\n"),
            "sacct": said(),
            "dwstat pools": said(
                "    pool units quantity free gran\nwlm_pool bytes 96 87 368GiB\n"
            ),
            "cc --version": said("icc (ICC) 17.0.4\n"),
            "lfs --version": said("lfs 2.7.1.8\n"),
            "lfs getstripe": said("/lustre/mustermann\n" + GETSTRIPE),
            "lfs df": said(LFS_DF),
            "darshan-config": said("/project/logs/darshan\n"),
            "ls": said("/project/logs/darshan\n"),
            "look /lustre/mustermann": looked("/lustre/mustermann"),
        },
        environment={
            "LOADEDMODULES": "modules/3.2:craype/2.5:darshan/3.1.4",
            "CRAY_MPICH_VERSION": "7.7.0",
            "MPICH_MPIIO_STATS": "1",
            "USER": "mustermann",
            "TOKEN": "hush",
        },
        files={"/proc/self/mountinfo": MOUNTS, "/proc/self/maps": "r-xp 0 /lib64/libm.so.6\n"},
        directories=(Path("/lustre/mustermann"),),
        found_mpis=(MpiInstallation("mpich", "3.2", Path("/opt/cray/pe/craype/bin/cc")),),
        library="/home/mustermann/stripewise/libstripewise.so",
    )


def cluster() -> FakeHost:
    """Slurm that refuses the test job, without accounting; BeeGFS whose clock is ahead."""
    refused = "allocation failure: Invalid account or account/partition combination specified"
    return FakeHost(
        answers={
            "uname": said("Linux 5.14.0 x86_64\n"),
            "sbatch --version": said("slurm 23.02.6\n"),
            "sbatch --test-only": said(
                error=f"sbatch: error: job of mustermann\n{refused}\n", code=1
            ),
            "scontrol show config": said(
                "MinJobAge = 20 sec\nBurstBufferType = (null)\nSLURM_VERSION = 23.02.6\n"
            ),
            "scontrol show burst": said("No burst buffers found\n"),
            "sacct": said(error="Slurm accounting storage is disabled\n", code=1),
            "sinfo": CommandResult(problem="no answer within 10 s"),
            "beegfs-ctl": said("EntryID: 0\nStripe pattern details:\n+ Type: RAID0\n"),
            "look /beegfs": looked("/beegfs", (100.0, 107.5, 100.1)),
            "look /lustre": looked("/lustre"),
        },
        files={"/proc/self/mountinfo": MOUNTS},
        directories=(Path("/beegfs"), Path("/lustre"), Path("/gone")),
    )


def laptop() -> FakeHost:
    return FakeHost(answers={}, files={"/proc/self/mountinfo": MOUNTS})


HOSTS = {"cray": cray, "cluster": cluster, "laptop": laptop}
