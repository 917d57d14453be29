# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a script's options ask the batch system for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.jobs._options import JobOption

_NUMBER = re.compile(r"(\d{1,12})([kKmM]?)")
_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}
_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,6}))?(?::(\d{1,6}))?")


@dataclass(frozen=True)
class JobResources:
    """Resources of a job; None where the script does not say, or not as a number.

    In a heterogeneous job, those of its first part.

    Attributes:
        nodes: The least number of nodes.
        ranks / ranks_per_node / cpus_per_task: As of --ntasks, --ntasks-per-node,
            --cpus-per-task.
        wall_seconds: Limit of the job's time.
        account / partition / qos / constraint / job_name / array: As written.
        is_heterogeneous: Whether the job has several parts.
        requeue: Whether the script asks for, or forbids, a second start.
    """

    nodes: int | None = None
    ranks: int | None = None
    ranks_per_node: int | None = None
    cpus_per_task: int | None = None
    wall_seconds: int | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    constraint: str | None = None
    job_name: str | None = None
    array: str | None = None
    is_heterogeneous: bool = False
    requeue: bool | None = None


def read_resources(options: Sequence[JobOption], is_heterogeneous: bool) -> JobResources:
    """Return what the options ask for; of an option that stands twice, the last one counts."""
    said = {option.name: option.value for option in options if option.component == 0}
    flags = [option.name for option in options if option.name in ("requeue", "no-requeue")]
    return JobResources(
        nodes=_number((said.get("nodes") or "").partition("-")[0]),
        ranks=_number(said.get("ntasks")),
        ranks_per_node=_number(said.get("ntasks-per-node")),
        cpus_per_task=_number(said.get("cpus-per-task")),
        wall_seconds=wall_seconds(said.get("time") or ""),
        account=said.get("account"),
        partition=said.get("partition"),
        qos=said.get("qos"),
        constraint=said.get("constraint"),
        job_name=said.get("job-name"),
        array=said.get("array"),
        is_heterogeneous=is_heterogeneous,
        requeue=flags[-1] == "requeue" if flags else None,
    )


def wall_seconds(text: str) -> int | None:
    """Return the seconds of a time as sbatch takes it; None for UNLIMITED and what is no time.

    Source: the manual page of sbatch, --time: minutes, minutes:seconds, hours:minutes:seconds,
    days-hours, days-hours:minutes, days-hours:minutes:seconds.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is not None:
        numbers += [0] * (3 - len(numbers))
    elif len(numbers) < 3:
        numbers = [0, *numbers, *[0] * (2 - len(numbers))]
    hours, minutes, seconds = numbers
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds


def _number(text: str | None) -> int | None:
    match = _NUMBER.fullmatch((text or "").strip())
    return int(match[1]) * _FACTORS[match[2].lower()] if match else None
