# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Partitions and their limits, and whether a job of this user would be taken."""

from __future__ import annotations

import re

from stripewise.site._base import Answer, Host, Probe, Section

_PARTITION_KEYS = (
    "PartitionName", "Default", "State", "DefaultTime", "MaxTime", "MinNodes", "MaxNodes",
    "TotalNodes", "TotalCPUs", "OverSubscribe", "ExclusiveUser", "QoS", "DefMemPerCPU",
    "DefMemPerNode", "MaxMemPerNode", "PreemptMode",
)  # fmt: skip
_PAIR = re.compile(r"(\w+)=(\S*)")
_TO_START = re.compile(r"Job \S+ to start at (\S+) using (\d+) processors.* in partition (\S+)")
TRIVIAL = "#!/bin/sh\n{directives}true\n"


class QueueProbe(Probe):
    """sinfo, partitions, `sbatch --test-only`, which submits nothing."""

    name = "queue"
    summary = "partitions, nodes by state, a job tried with sbatch --test-only"

    def run(self, host: Host) -> Section:
        """Ask sinfo, scontrol, and sbatch with a script of one line."""
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
    """Return the lines of sinfo, which have no node's name."""
    keys = ("partition", "available", "time_limit", "nodes", "state", "cpus", "memory", "gres")
    rows = (line.split("|") for line in text.splitlines())
    return [dict(zip(keys, row, strict=True)) for row in rows if len(row) == len(keys)]


def partition_limits(text: str) -> list[dict[str, str]]:
    """Return each partition's limits, without the nodes and accounts that it lists."""
    lines = (dict(_PAIR.findall(line)) for line in text.splitlines())
    return [
        {key: pairs[key] for key in _PARTITION_KEYS if key in pairs}
        for pairs in lines
        if "PartitionName" in pairs
    ]


def try_job(host: Host, directives: str = "") -> Section:
    """Ask whether a job of one task would be accepted; nothing is submitted."""
    answer = host.ask(
        *("sbatch", "--test-only", "--ntasks=1", "--time=1", "--output=/dev/null"),
        *host.batch_options,
        text=TRIVIAL.format(directives=directives),
    )
    return test_outcome(answer)


def test_outcome(answer: Answer) -> Section:
    """Return what `sbatch --test-only` said, without the nodes that it names."""
    found = _TO_START.search(answer.error + answer.text)
    if answer.ok:
        start, processors, partition = found.groups() if found else ("", "", "")
        said = {"starts": start, "processors": processors, "partition": partition}
        return {"accepted": True, **said}
    return {"accepted": False, **answer.failure()}
