# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the configuration of the test cluster's daemons."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SETTINGS = "cluster.json"

MPI = "PMIxCollFence=ring\n"
"""Setting of the PMIx fence.  Slurm's own choice for small messages, a tree, lets ranks leave the
fence in MPI_Init before others have: their first message ends Open MPI 4.1.4 with SIGSEGV in 4 to
8 of 100 runs of 4 ranks on 2 nodes of a busy host (seen: Slurm 22.05.8; none in 100 with the
ring).
"""


@dataclass(frozen=True)
class Settings:
    """Settings of a cluster.

    Attributes:
        directory: Directory of the cluster.
        python: Python that runs its storage.
        library: Stripewise's runtime library.
        user: Name of the account.
        nodes / cpus: Number of virtual nodes, and of processors on each.
        slowdown: Slowdown of the emulated storages.
        bb_nodes / granularity_bytes: Number and size of the pool's burst-buffer nodes.
        accounting: Whether slurmdbd and MariaDB run.
        sampled_seconds: Interval at which slurmd samples the I/O of jobs; 0 for never.
        ports: Ports of slurmctld, slurmdbd, MariaDB and the slurmd of each node.
        password: Password of the database.
    """

    directory: str
    python: str
    library: str
    user: str
    nodes: int = 4
    cpus: int = 4
    slowdown: int = 16
    bb_nodes: int = 8
    granularity_bytes: int = 1 << 30
    accounting: bool = True
    sampled_seconds: int = 0
    ports: tuple[int, ...] = ()
    password: str = ""

    @property
    def path(self) -> Path:
        """Path of the directory."""
        return Path(self.directory)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the virtual nodes."""
        return tuple(f"n{number}" for number in range(1, self.nodes + 1))

    def save(self) -> None:
        """Write the settings where the storage's programs find them."""
        (self.path / SETTINGS).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> Settings:
        """Read saved settings."""
        data = json.loads((directory / SETTINGS).read_text(encoding="utf-8"))
        return cls(**{**data, "ports": tuple(data["ports"])})


@contextmanager
def reserved_ports(number: int) -> Iterator[tuple[int, ...]]:
    """Yield free ports that nobody else gets until they are used.

    Daemons set SO_REUSEADDR and can listen on them; Linux gives other ports to other programs.
    """
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
        yield tuple(one.getsockname()[1] for one in sockets)
    finally:
        for one in sockets:
            one.close()


def new_password() -> str:
    """Return a password for the database."""
    return secrets.token_hex(16)


def write_configuration(settings: Settings) -> None:
    """Write the configuration files of all daemons."""
    path = settings.path
    (path / "slurm.conf").write_text(_slurm(settings), encoding="utf-8")
    (path / "burst_buffer.conf").write_text(_burst_buffer(settings), encoding="utf-8")
    (path / "mpi.conf").write_text(MPI, encoding="utf-8")
    if settings.accounting:
        _private(path / "slurmdbd.conf", _slurmdbd(settings))
    write_task_prolog(settings, settings.library)
    program = path / "dw"
    words = f'"{settings.python}" "{HERE / "_datawarp.py"}" "{path}" "$@"'
    _program(program, f"#!/bin/sh\nexec {words}\n")


def write_task_prolog(settings: Settings, library: str) -> None:
    """Write Slurm's TaskProlog, which users run with the system's Python, without this copy."""
    path = settings.path
    module = path / "task_prolog.py"
    module.write_bytes((HERE / "_task_prolog.py").read_bytes())
    python = shutil.which("python3", path="/usr/bin:/bin") or settings.python
    words = f'"{python}" "{module}" "{path}" "{library}"'
    _program(path / "task-prolog", f"#!/bin/sh\nexec {words}\n")


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text, encoding="utf-8")


def _slurm(settings: Settings) -> str:
    path, host = settings.directory, socket.gethostname()
    control, dbd, _, *nodes = settings.ports
    accounting = (
        f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
        f"AccountingStoragePort={dbd}\nAccountingStoragePass={path}/munge.socket"
        if settings.accounting
        else "AccountingStorageType=accounting_storage/none"
    )
    sockets = f"Sockets=2 CoresPerSocket={settings.cpus // 2}" if settings.cpus % 2 == 0 else ""
    lines = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
        f"CPUs={settings.cpus} {sockets} RealMemory=4000"
        for name, port in zip(settings.node_names, nodes, strict=True)
    )
    every = ",".join(settings.node_names)
    gatherer = "linux" if settings.sampled_seconds else "none"
    return f"""\
ClusterName=stripewise
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser={settings.user}
SlurmdUser={settings.user}
AuthType=auth/munge
AuthInfo=socket={path}/munge.socket
CredType=cred/munge
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool/%n
TmpFS={path}/tmp/%n
SlurmctldPidFile={path}/slurmctld.pid
SlurmdPidFile={path}/slurmd-%n.pid
SlurmctldLogFile={path}/slurmctld.log
SlurmdLogFile={path}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={path}/task-prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=pmix
ReturnToService=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
JobAcctGatherType=jobacct_gather/{gatherer}
JobAcctGatherFrequency={settings.sampled_seconds}
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=100000,bf_interval=2
KillWait=5
MinJobAge=120
SlurmctldTimeout=20
SlurmdTimeout=20
MessageTimeout=20
BurstBufferType=burst_buffer/datawarp
{accounting}
{lines}
PartitionName=workq Nodes={every} Default=YES MaxTime=120 State=UP PriorityTier=10 PreemptMode=OFF
PartitionName=idle Nodes={every} MaxTime=120 State=UP PriorityTier=1 PreemptMode=REQUEUE
"""


def _burst_buffer(settings: Settings) -> str:
    path = settings.directory
    return f"""\
GetSysState={path}/dw
GetSysStatus={path}/dw
DefaultPool=wlm_pool
Flags=EmulateCray
StageInTimeout=120
StageOutTimeout=120
OtherTimeout=30
ValidateTimeout=10
"""


def _slurmdbd(settings: Settings) -> str:
    path = settings.directory
    _, dbd, database, *_ = settings.ports
    return f"""\
AuthType=auth/munge
AuthInfo=socket={path}/munge.socket
DbdHost={socket.gethostname()}
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser={settings.user}
PidFile={path}/slurmdbd.pid
LogFile={path}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass={settings.password}
StorageLoc=slurm_acct_db
"""
