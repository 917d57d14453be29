# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the jobs of a script go, and for how long: by its options, and by variables of sbatch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from math import ceil

from stripewise.errors import UsageError
from stripewise.jobs import JobScript
from stripewise.slurm import (
    Partition,
    Slurm,
    options_of_variables,
    parse_seconds,
    variable_of_option,
)
from stripewise.text import printable

_OURS = ("job-name", "output", "error", "open-mode", "signal", "requeue", "no-requeue")
"""Options that allocations have anyway, whatever script and variables say."""


def check_input(script: JobScript) -> None:
    """Refuse an input of the batch script, which its runs would not have.

    Raises:
        UsageError: With the remedy.
    """
    said = {option.name: option.value or "" for option in script.options}
    if (name := said.get("input")) and name != os.devnull:
        raise UsageError(
            f"{script.name}: --input={printable(name)} does not reach the runs of a study: write "
            "< FILE behind the program in its place"
        )


def cluster_of(script: JobScript, given: Mapping[str, str]) -> str:
    """Return the cluster that the jobs go to; "": this host's own.

    Raises:
        UsageError: There are several, on which runs cannot be compared.
    """
    said = [option.value or "" for option in script.options if option.name == "clusters"]
    name = given.get("clusters", (said or [""])[-1])
    if "," in name or name == "all":
        raise UsageError(
            f"{script.name}: --clusters={printable(name)} names several clusters, on which runs "
            "cannot be compared: name one"
        )
    return name


def find_partition(
    script: JobScript, slurm: Slurm, given: Mapping[str, str], nodes: int
) -> Partition | None:
    """Return the partition that a variable or the script names, or the default one.

    Raises:
        UsageError: There is none of that name, it starts no jobs, or has too few nodes.
    """
    names = given.get("partition", script.resources.partition or "")
    wanted = [name for name in names.split(",") if name]
    known = slurm.partitions()
    there = ", ".join(one.name for one in known)
    for name in wanted:
        if name not in [one.name for one in known]:
            raise UsageError(
                f"{script.name}: there is no partition {printable(name)!r}; there are {there}"
            )
    found = [one for one in known if (one.name in wanted if wanted else one.is_default)]
    if found and not any(one.is_up for one in found):
        names = ", ".join(one.name for one in found)
        raise UsageError(
            f"{script.name}: partition {names} starts no jobs now: choose another of {there}, or "
            "wait"
        )
    most = max((one.nodes for one in found), default=0)
    if 0 < most < nodes:
        raise UsageError(
            f"{script.name} asks for {nodes} nodes, and partition {found[0].name} has {most}: ask "
            "for fewer, or name another partition"
        )
    return next((one for one in found if one.is_up), None)


def wall_seconds_of(
    script: JobScript, partition: Partition | None, given: Mapping[str, str]
) -> float | None:
    """Return the time limit of a run: as said, or the partition's for jobs without one.

    Slurm takes seconds for the next whole minute, and 0 for no limit but the partition's.
    """
    said: float | None = script.resources.wall_seconds
    if "time" in given:
        said = parse_seconds(given["time"])
    if said:
        return ceil(said / 60) * 60.0
    if partition is None:
        return None
    is_said = "time" in given or any(option.name == "time" for option in script.options)
    return partition.most_seconds if is_said else partition.default_seconds


def overridden(script: JobScript) -> Iterator[str]:
    """Say which options of the script sbatch does not heed."""
    given = options_of_variables(os.environ)
    of_script = dict.fromkeys(option.name for option in script.options)
    for name in of_script:
        if name in given and name not in _OURS:
            yield (
                f"sbatch takes --{name} from {variable_of_option(name)} in your environment, not "
                f"from {script.name}"
            )
