# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark measured, whatever wrote it down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from stripewise.errors import UsageError
from stripewise.model import Value
from stripewise.simulation import Workload, workload_from_notation

MOST_STEPS = 1_000_000
FASTEST = 1e16
"""Bytes a second beyond which the unit is wrong."""


@dataclass(frozen=True)
class Measured:
    """One configuration of a benchmark, with all its repeats.

    Attributes:
        source: File and what in it, for people.
        workload: That was timed.
        stack: Name of the software stack; "": that of the storage's users.
        settings: Tunable name -> value.
        rates: Bytes a second, of each repeat.
    """

    source: str
    workload: Workload
    stack: str
    settings: Mapping[str, Value]
    rates: tuple[float, ...]

    @property
    def writing(self) -> bool:
        """Whether data was written, otherwise read."""
        return self.workload.patterns[0].writing


@dataclass(frozen=True)
class Results:
    """What a file of results holds.

    Attributes:
        measured: Bandwidths.
        operations: Figure of metadata ("metadata.create") -> operations a second, each repeat.
        notes: What was left out, in whole sentences.
    """

    measured: tuple[Measured, ...] = ()
    operations: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Reader(ABC):
    """One form of results.

    Attributes:
        name: "ior-json", "ior-csv", "ior", "benchio", "benchio-csv", "mdtest", "kernel", "table",
            "csv".
    """

    name: str

    @abstractmethod
    def recognises(self, text: str, name: str) -> bool:
        """Whether a text, of a file of this name, has this form."""

    @abstractmethod
    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return what the text says.

        Args:
            text: Of the file.
            name: Of the file, for messages.
            ranks_per_node: Where the form does not tell; 0: not known.

        Raises:
            UsageError: It is cut off or says nothing that can be used.
        """


def blocks(
    name: str,
    nodes: int,
    ranks_per_node: int,
    block_bytes: float,
    transfer_bytes: float,
    *,
    steps: int = 1,
    collective: bool = False,
    writing: bool = True,
) -> Workload:
    """Return ranks that each move blocks, transfer by transfer.

    Raises:
        UsageError: The sizes are impossible.
    """
    if not (isfinite(block_bytes) and 1 <= transfer_bytes <= block_bytes):
        raise UsageError(
            f"{name}: blocks of {block_bytes:g} B in transfers of {transfer_bytes:g} B: "
            "check that the file is whole"
        )
    number = steps * max(round(block_bytes / transfer_bytes), 1)
    if min(nodes, ranks_per_node) < 1 or number > MOST_STEPS:
        raise UsageError(
            f"{name}: {nodes} nodes of {ranks_per_node} ranks, {number:.6g} transfers of each: "
            "check that the file is whole"
        )
    return workload_from_notation(
        f"<1D,(BLOCK),({round(transfer_bytes)})>", nodes, ranks_per_node,
        element_bytes=1, steps=number, collective=collective, writing=writing,
    )  # fmt: skip


def check_rate(name: str, rate: float) -> None:
    """Refuse a bandwidth that none can be, in bytes a second.

    Raises:
        UsageError: It is 0, negative, no number, or too large.
    """
    if not 1 <= rate <= FASTEST:
        raise UsageError(
            f"{name}: a bandwidth of {rate:g} B/s is impossible: check the number and its unit"
        )


def nodes_of(name: str, ranks: int, ranks_per_node: int) -> int:
    """Return the nodes of a job.

    Raises:
        UsageError: They cannot be told.
    """
    if ranks_per_node < 1:
        raise UsageError(f"{name} does not say how many nodes there were: give --ranks-per-node")
    return max(1, -(-ranks // ranks_per_node))
