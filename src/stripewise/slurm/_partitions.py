# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Partitions: what a job may ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stripewise.slurm._states import parse_count

_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$")


@dataclass(frozen=True)
class Partition:
    """A partition.

    Attributes:
        name: Of the partition.
        is_default: Whether jobs that name none come here.
        is_up: Whether jobs are started.
        nodes: How many it has.
        most_nodes: Of a job; None: no bound.
        most_seconds / default_seconds: Time limit of a job; None: no bound, none by default.
    """

    name: str
    is_default: bool
    is_up: bool
    nodes: int
    most_nodes: int | None
    most_seconds: float | None
    default_seconds: float | None


def partition(record: Mapping[str, str]) -> Partition:
    """Return the partition that a record of `scontrol show partition` describes."""
    most = parse_count(record.get("MaxNodes", ""))
    return Partition(
        name=record.get("PartitionName", ""),
        is_default=record.get("Default") == "YES",
        is_up=record.get("State", "UP") == "UP",
        nodes=parse_count(record.get("TotalNodes", "")),
        most_nodes=most or None,
        most_seconds=parse_seconds(record.get("MaxTime", "")),
        default_seconds=parse_seconds(record.get("DefaultTime", "")),
    )


def parse_seconds(text: str) -> float | None:
    """Return a time as Slurm writes it; None: without bound, or none is said.

    It writes D-HH:MM:SS and HH:MM:SS, and reads D-HH[:MM], MM and MM:SS as well.
    """
    match = _TIME.match(text.strip())
    if match is None:
        return None
    days, *fields = (None if field is None else int(field) for field in match.groups())
    first, second, third = fields
    if days is not None or third is not None:
        hours, minutes, seconds = first or 0, second or 0, third or 0
    else:
        hours, minutes, seconds = 0, first or 0, second or 0
    return float(((days or 0) * 24 + hours) * 3600 + minutes * 60 + seconds)
