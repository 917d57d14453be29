# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Queries a host about Slurm, MPI, storage, Darshan and preloading, without side effects."""

from __future__ import annotations

import platform
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stripewise import __version__
from stripewise.core import SITE_DIRECTORY, SITE_POLICY, installed_packs, user_policy_path
from stripewise.core.inputs import parse_json
from stripewise.run._ask import CommandResult
from stripewise.run.runtime import MpiInstallation
from stripewise.run.site._base import Host, Probe, Section
from stripewise.run.slurm import BurstBuffers, parse_burst, parse_config, parse_records
from stripewise.run.tiers import StoragePool, TierRequest, find_tier
from stripewise.storage.machines import known_storages, mount_in

_PROBES: list[Probe] = []
"""All probes, in the order of this file."""


@dataclass(frozen=True)
class _Looking(Probe):
    """A probe that calls a function."""

    name: str
    summary: str
    look: Callable[[Host], Section]

    def run(self, host: Host) -> Section:
        return self.look(host)


def _probe(name: str, summary: str) -> Callable[[Callable[[Host], Section]], None]:
    """Return the decorator that registers a function as the probe of a report's section."""
    return lambda look: _PROBES.append(_Looking(name, summary, look))


def all_probes() -> tuple[Probe, ...]:
    """Return all probes, in the order of a report's sections."""
    return tuple(_PROBES)


# The host itself.

_RELEASE_KEYS = ("NAME", "VERSION_ID", "PRETTY_NAME")
_CRAY_FILES = ("/etc/opt/cray/release/cle-release", "/etc/cray-release/cle-release")


@_probe("machine", "kernel, distribution, Python, processors")
def _machine(host: Host) -> Section:
    """Query `uname`, and read the name of the distribution."""
    kernel = host.ask("uname", "-srm")
    release = _pairs(host.read("/etc/os-release"))
    cray = next(filter(None, (host.read(path).strip() for path in _CRAY_FILES)), "")
    processors = host.ask("nproc")
    return {
        "kernel": kernel.text.strip(),
        "distribution": {key: release[key] for key in _RELEASE_KEYS if key in release},
        "cray_release": cray[:500],
        "processors": int(processors.text) if processors.text.strip().isdigit() else None,
        "python": platform.python_version(),
    }


def _pairs(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value.strip('"') for key, equals, value in pairs if equals}


# Slurm's configuration, as far as it affects how jobs run; it contains no secrets.

KEYS = (
    "AccountingStorageEnforce", "AccountingStorageType", "BatchStartTimeout", "BurstBufferType",
    "CliFilterPlugins", "EnforcePartLimits", "InactiveLimit", "JobAcctGatherType", "JobCompType",
    "JobRequeue", "JobSubmitPlugins", "KillOnBadExit", "KillWait", "LaunchParameters",
    "MaxArraySize", "MaxJobCount", "MaxStepCount", "MinJobAge", "MpiDefault", "MpiParams",
    "PreemptMode", "PriorityType", "ProctrackType", "PrologFlags", "PropagateResourceLimits",
    "SchedulerParameters", "SchedulerType", "SelectType", "SelectTypeParameters",
    "SLURM_VERSION", "SrunEpilog", "SrunProlog", "SwitchType", "TaskEpilog", "TaskPlugin",
    "TaskPluginParam", "TaskProlog", "TmpFS", "UnkillableStepTimeout",
)  # fmt: skip


@_probe("slurm", "version, selected configuration, MPI plug-ins, accounting")
def _slurm(host: Host) -> Section:
    """Query scontrol, srun and sacct."""
    commands = {name: host.which(name) for name in ("sbatch", "srun", "scontrol", "sacct")}
    found: Section = {"commands": {name: bool(path) for name, path in commands.items()}}
    if not any(commands.values()):
        return found
    config = host.ask("scontrol", "show", "config")
    selected = selected_config(config.text)
    version = host.ask("sbatch", "--version").text.strip()
    found["version"] = version or selected.get("SLURM_VERSION", "")
    found["config"] = {**selected, **config.failure()}
    mpi = host.ask("srun", "--mpi=list")
    found["mpi_plugins"] = (mpi.text + mpi.error).strip()[:2000]
    # A start time in the future, so that no jobs and names are listed.
    sacct = host.ask("sacct", "-n", "-X", "-S", "now", "-o", "JobID")
    found["accounting"] = {"answers": sacct.ok, **sacct.failure()}
    return found


def selected_config(text: str) -> dict[str, str]:
    """Return the keys of `KEYS` in the output of `scontrol show config`."""
    pairs = parse_config(text)
    return {key: pairs[key] for key in KEYS if key in pairs}


# Partitions and their limits, and whether a job of this user would be accepted.

_PARTITION_KEYS = (
    "PartitionName", "Default", "State", "DefaultTime", "MaxTime", "MinNodes", "MaxNodes",
    "TotalNodes", "TotalCPUs", "OverSubscribe", "ExclusiveUser", "QoS", "DefMemPerCPU",
    "DefMemPerNode", "MaxMemPerNode", "PreemptMode",
)  # fmt: skip
_TO_START = re.compile(r"Job \S+ to start at (\S+) using (\d+) processors.* in partition (\S+)")
TRIVIAL = "#!/bin/sh\n{directives}true\n"


@_probe("queue", "partitions, nodes by state, a job tried with sbatch --test-only")
def _queue(host: Host) -> Section:
    """Query sinfo, scontrol, and sbatch with a script of one line."""
    if not host.which("sbatch"):
        return {}
    nodes = host.ask("sinfo", "-h", "-o", "%P|%a|%l|%D|%T|%c|%m|%G")
    partitions = host.ask("scontrol", "-o", "show", "partition")
    return {
        "nodes": {"states": node_states(nodes.text), **nodes.failure()},
        "partitions": {"list": partition_limits(partitions.text), **partitions.failure()},
        "test_job": try_job(host),
    }


def node_states(text: str) -> list[dict[str, str]]:
    """Return the lines of sinfo, which contain no names of nodes."""
    keys = ("partition", "available", "time_limit", "nodes", "state", "cpus", "memory", "gres")
    rows = (line.split("|") for line in text.splitlines())
    return [dict(zip(keys, row, strict=True)) for row in rows if len(row) == len(keys)]


def partition_limits(text: str) -> list[dict[str, str]]:
    """Return each partition's limits, without the nodes and accounts that it lists."""
    return [
        {key: pairs[key] for key in _PARTITION_KEYS if key in pairs}
        for pairs in parse_records(text)
        if "PartitionName" in pairs
    ]


def try_job(host: Host, directives: str = "") -> Section:
    """Check whether a job of one task would be accepted, without submitting it."""
    answer = host.ask(
        *("sbatch", "--test-only", "--ntasks=1", "--time=1", "--output=/dev/null"),
        *host.batch_options,
        text=TRIVIAL.format(directives=directives),
    )
    return test_outcome(answer)


def test_outcome(answer: CommandResult) -> Section:
    """Return the answer of `sbatch --test-only`, without the nodes that it names."""
    found = _TO_START.search(answer.error + answer.text)
    if answer.ok:
        start, processors, partition = found.groups() if found else ("", "", "")
        said = {"starts": start, "processors": processors, "partition": partition}
        return {"accepted": True, **said}
    return {"accepted": False, **answer.failure()}


# Burst buffers: pools and their usage, without users.

_SETTINGS = ("StageInTimeout", "StageOutTimeout", "ValidateTimeout", "OtherTimeout")


@_probe("burst_buffers", "pools of burst buffers, and a job tried with one node of DataWarp")
def _burst_buffers(host: Host) -> Section:
    """Query scontrol and dwstat."""
    found: Section = {"plugins": []}
    if host.which("scontrol"):
        answer = host.ask("scontrol", "show", "burst")
        plugins = parse_burst(answer.text)
        found["plugins"] = [_plugin(one) for one in plugins]
        found |= answer.failure()
        if pool := _datawarp_pool(plugins):
            found["test_job"] = _try_datawarp(host, pool)
    if host.which("dwstat"):
        status = host.ask("dwstat", "pools")
        found["dwstat"] = {"text": status.text[:4000], **status.failure()}
    return found


def _plugin(one: BurstBuffers) -> Section:
    states = Counter(buffer.state for buffer in one.buffers)
    return {
        "name": one.plugin,
        "default_pool": one.default_pool,
        "flags": list(one.flags),
        "settings": {key: one.settings[key] for key in _SETTINGS if key in one.settings},
        "pools": [_pool(pool) for pool in one.pools],
        "buffers": dict(states),
        "persistent": sum(1 for buffer in one.buffers if buffer.name),
    }


def _pool(pool: StoragePool) -> Section:
    return {
        "name": pool.name,
        "granularity_bytes": pool.granularity_bytes,
        "nodes": pool.nodes,
        "free_nodes": pool.free_nodes,
        "drained_nodes": pool.drained_nodes,
        "total_bytes": pool.total_bytes,
        "free_bytes": pool.free_bytes,
    }


def _datawarp_pool(plugins: tuple[BurstBuffers, ...]) -> StoragePool | None:
    found = (one.pools[0] for one in plugins if one.plugin in ("datawarp", "cray") and one.pools)
    return next((pool for pool in found if pool.nodes), None)


def _try_datawarp(host: Host, pool: StoragePool) -> Section:
    """Check whether a job with one node would be accepted, without allocating it."""
    lines = find_tier("datawarp").directives(TierRequest(nodes=1), pool)
    return {"lines": list(lines), **try_job(host, "".join(f"{line}\n" for line in lines))}


# MPIs, compilers, loaded modules.

_VARIABLES = (
    "CRAY_MPICH_VERSION", "CRAY_MPICH_DIR", "CRAYPE_VERSION", "CRAYPE_LINK_TYPE",
    "CRAY_CPU_TARGET", "CRAYPE_NETWORK_TARGET", "PE_ENV", "HDF5_DIR", "NETCDF_DIR",
    "CRAY_HDF5_PARALLEL_VERSION", "I_MPI_ROOT", "OMPI_MCA_io", "ROMIO_HINTS",
)  # fmt: skip
_PREFIX = "MPICH_MPIIO_"
_LAUNCHERS = ("srun", "aprun", "mpiexec", "mpirun", "jsrun", "flux")


@_probe("mpi", "MPI installations, Cray's wrappers, launchers, loaded modules")
def _mpi(host: Host) -> Section:
    """Query the compiler wrappers, and read the environment."""
    wrapper = host.ask("cc", "--version")
    return {
        "installations": [_installation(mpi) for mpi in host.mpis()],
        "variables": host.variables(_VARIABLES, _PREFIX),
        "cc": {"version": wrapper.text.partition("\n")[0], **wrapper.failure()},
        "cmake": host.ask("cmake", "--version").text.partition("\n")[0],
        "launchers": [name for name in _LAUNCHERS if host.which(name)],
        "modules": host.modules,
    }


def _installation(mpi: MpiInstallation) -> Section:
    return {
        "family": mpi.family,
        "version": mpi.version,
        "mpicc": str(mpi.mpicc),
        "mpiexec": str(mpi.mpiexec or ""),
        "hdf5": mpi.hdf5.version if mpi.hdf5 else "",
        "mpiio": list(mpi.mpiio),
        "problem": mpi.problem,
    }


# Tools that show and set the striping of files, and those of storage tiers.

TOOLS = {
    "lfs": ("--version",),
    "beegfs-ctl": (),
    "mmlsattr": (),
    "dwstat": (),
    "dwcli": (),
    "flux": ("--version",),
    "strace": ("-V",),
}
"""Program to the words that only print its version; empty if it is only looked up on PATH."""


@_probe("tools", "striping tools and those of storage tiers")
def _tools(host: Host) -> Section:
    """Look for the tools on PATH."""
    found: Section = {}
    for name, words in TOOLS.items():
        path = host.which(name)
        if not path:
            found[name] = {"found": False}
            continue
        answer = host.ask(name, *words) if words else None
        version = answer.text.partition("\n")[0] if answer else ""
        problem = answer.failure() if answer else {}
        found[name] = {"found": True, "path": path, "version": version, **problem}
    return found


# Directories: file system, striping, free space and clock.

LOOK = """
import json, os, sys, tempfile, time
place = os.path.realpath(sys.argv[1])
found = {"real": place}
try:
    room = os.statvfs(place)
    found["free_bytes"] = room.f_bavail * room.f_frsize
    found["total_bytes"] = room.f_blocks * room.f_frsize
    handle, name = tempfile.mkstemp(prefix=".stripewise-clock-", dir=place)
    try:
        before = time.time()
        os.write(handle, b"x")
        os.fsync(handle)
        changed = os.fstat(handle).st_mtime
        found["clock"] = [before, changed, time.time()]
    finally:
        os.close(handle)
        os.unlink(name)
except OSError as error:
    found["problem"] = error.strerror
print(json.dumps(found))
"""
"""Code that runs as a separate process, so that a hanging file system blocks only that one."""
_STRIPE = re.compile(r"(\w+):\s*(\S+)")
_DF = re.compile(r"(?:\S*[-_])?(OST|MDT)[0-9a-f]{4}\S*\s+(\d+)?")
_GRAIN_SECONDS = 0.011
"""Resolution of time stamps on file systems, from the kernel's tick (assumed: 100 Hz)."""


@_probe("directories", "file system, default striping, free space and clock of each directory")
def _directories(host: Host) -> Section:
    """Examine each directory; a file is created in it and removed again."""
    return {"list": [_directory(host, path) for path in host.directories]}


def _directory(host: Host, path: Path) -> Section:
    answer = host.ask(sys.executable, "-I", "-c", LOOK, str(path))
    found = {"path": str(path), **looked(answer)}
    mount = mount_in(host.read("/proc/self/mountinfo"), found.pop("real", "") or str(path))
    found["file_system"] = mount.kind
    found["source"] = mount.source.rpartition(":")[2]
    found["parallel"] = mount.is_parallel
    if "problem" in found:
        return found
    if mount.kind == "lustre":
        layout = host.ask("lfs", "getstripe", "-d", str(path))
        found["striping"] = {**stripe_facts(layout.text), **layout.failure()}
        room = host.ask("lfs", "df", str(path))
        found["targets"] = {**target_facts(room.text), **room.failure()}
    elif mount.kind.startswith("beegfs"):
        found["striping"] = _answer_text(host.ask("beegfs-ctl", "--getentryinfo", str(path)))
    elif mount.kind == "gpfs":
        found["striping"] = _answer_text(host.ask("mmlsattr", "-L", str(path)))
    return found


def looked(answer: CommandResult) -> Section:
    """Return the facts printed about a directory, with the offset of its clock in seconds."""
    if not answer.ok:
        return answer.failure()
    try:
        found = parse_json(answer.text)
    except ValueError:
        return {"problem": "unreadable answer"}
    if not isinstance(found, dict):
        return {"problem": "unreadable answer"}
    if clock := found.pop("clock", None):
        found["clock_offset_seconds"] = clock_offset(*clock)
    return dict(found)


def clock_offset(before: float, changed: float, after: float) -> float:
    """Return how many seconds a file server's clock is ahead of ours; 0 if not measurable.

    A write between `before` and `after` had the time stamp `changed`.
    """
    if changed > after:
        return round(changed - after, 3)
    late = before - _GRAIN_SECONDS - changed
    return round(-late, 3) if late > 0 else 0.0


def stripe_facts(text: str) -> Section:
    """Return the figures of `lfs getstripe -d`, and its text for layouts of several parts."""
    pairs = dict(_STRIPE.findall(text.replace("lmm_", "")))
    keys = ("stripe_count", "stripe_size", "stripe_offset", "pool")
    found: Section = {key: pairs[key] for key in keys if key in pairs}
    found["text"] = text[:4000]
    return found


def target_facts(text: str) -> Section:
    """Return the number of targets that `lfs df` lists, and those that do not respond."""
    kinds = {"OST": 0, "MDT": 0}
    silent = 0
    for line in text.splitlines():
        if found := _DF.match(line):
            kinds[found.group(1)] += 1
            silent += found.group(2) is None
    return {"osts": kinds["OST"], "mdts": kinds["MDT"], "inactive": silent}


def _answer_text(answer: CommandResult) -> Section:
    return {"text": answer.text[:4000], **answer.failure()}


# Darshan: whether it is loaded, its tools, and the directory of its logs.

_TOOLS = ("darshan-config", "darshan-parser", "darshan-dxt-parser")
_VARIABLES_DARSHAN = ("DXT_ENABLE_IO_TRACE", "DXT_TRIGGER_CONF_PATH", "LD_PRELOAD")


@_probe("darshan", "Darshan's module, tools and place of logs")
def _darshan(host: Host) -> Section:
    """Read the environment, and query darshan-config."""
    found: Section = {
        "modules": [word for word in host.modules if "darshan" in word.lower()],
        "variables": host.variables(_VARIABLES_DARSHAN, "DARSHAN"),
        "tools": [name for name in _TOOLS if host.which(name)],
    }
    if host.which("darshan-config"):
        answer = host.ask("darshan-config", "--log-path")
        path = answer.text.strip()
        found["log_path"] = {"path": path, **answer.failure()}
        if path.startswith("/"):
            found["log_path"]["there"] = host.ask("ls", "-d", path).ok
    return found


# Preloading of a library, tried with a program that prints its mapped files.

_LIBRARY = re.compile(r"/\S*/lib(?:m|dl|z|util)[-.]\S*so\S*")


@_probe("preload", "a library preloaded into cat")
def _preload(host: Host) -> Section:
    """Preload the runtime library or, if it is not built, a library of the system."""
    own = host.runtime_library()
    library = own or _system_library(host.read("/proc/self/maps"))
    found: Section = {"set_before": host.environment.get("LD_PRELOAD", "")}
    if not library:
        return {**found, "works": None, "problem": "no library to try it with"}
    answer = host.ask("cat", "/proc/self/maps", variables={"LD_PRELOAD": library})
    works = answer.ok and library in answer.text
    return {**found, "own_library": bool(own), "works": works, **answer.failure()}


def _system_library(maps: str) -> str:
    found = _LIBRARY.search(maps)
    return found.group() if found else ""


# Stripewise itself: version, runtime library, policy and descriptions of storage systems.


@_probe("stripewise", "version, runtime library, policy, descriptions of storage")
def _stripewise(host: Host) -> Section:
    """Check the directories of the site and of the user."""
    policy = host.read(str(SITE_POLICY))
    known = known_storages()
    return {
        "version": __version__,
        "runtime_library": host.runtime_library(),
        "site_directory": str(SITE_DIRECTORY),
        "site_policy": policy[:16000],
        "user_policy": bool(host.read(str(user_policy_path()))),
        "descriptions": [one.storage.name for one in known.found],
        "description_problems": list(known.problems),
        "packs": len(installed_packs()),
    }
