# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's configuration, as far as it decides how jobs can be run; no secrets are in it."""

from __future__ import annotations

import re

from stripewise.site._base import Host, Probe, Section

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
_LINE = re.compile(r"(\w+)\s*=\s?(.*)")


class SlurmProbe(Probe):
    """Version, configuration, MPI plug-ins, accounting."""

    name = "slurm"
    summary = "version, selected configuration, MPI plug-ins, accounting"

    def run(self, host: Host) -> Section:
        """Ask scontrol, srun, sacct."""
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
        # From the future on: no job is listed, and nobody's name.
        sacct = host.ask("sacct", "-n", "-X", "-S", "now", "-o", "JobID")
        found["accounting"] = {"answers": sacct.ok, **sacct.failure()}
        return found


def selected_config(text: str) -> dict[str, str]:
    """Return the keys of `KEYS` in the output of `scontrol show config`."""
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    pairs = {match.group(1): match.group(2).strip() for match in found if match}
    return {key: pairs[key] for key in KEYS if key in pairs}
