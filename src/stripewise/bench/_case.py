# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the records of a campaign: a case, one run of it, and the figures that the run gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any

from pydantic import Field

from stripewise.core import Value
from stripewise.storage.results import Name as Name
from stripewise.storage.results import Sample as Sample
from stripewise.storage.results import Seconds as Seconds

# What files of the exchange format may hold; records made in the program are not checked.

Text = Annotated[str, Field(max_length=4000)]
Short = Annotated[str, Field(max_length=300)]
Key = Annotated[str, Field(min_length=1, max_length=2000)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Number = Annotated[int, Field(ge=0, le=1 << 62)]

ELEMENT_BYTES = 8
"""Of the patterns blocks and array3d."""

Settings = tuple[tuple[str, Value], ...]
"""Full tunable name and value, sorted by name."""


@dataclass(frozen=True)
class Case:
    """One cell of a campaign, without the number of its repeat.

    Attributes:
        series: Name of the line that the case belongs to: "file per process", "MPI-IO".
        runner: Program that makes it: "kernel", "metadata", "ior", "mdtest", "benchio".
        operation: "write", "write-read" (what the run has written is read back) or "metadata".
        directory: Name of a directory of the suite, such as "striped".
        nodes: Of the job.
        ranks_per_node: Of each node.
        pattern: Of the kernel: "blocks", "array3d", ...
        local: What a rank has, as the kernel's --local takes it; "": its default.
        size: The whole array, as --size takes it; "": `local` counts.
        backend: Library: "posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2".
        layout: "shared", "per-process" or "per-node".
        mode: "independent", "collective" or "serial".
        transfer_bytes: Of one call; 0: as large as the pattern lets it be.
        steps: Of the pattern; segments of IOR.
        settings: That are applied.
        sync: fsync within the time.
        cache: How the system's cache is kept from answering reads: "shift" (other ranks, on other
            nodes, read), "drop" (its pages are dropped first), "direct" (requests go past it),
            "none".
        stonewall_seconds: After which ranks stop, and then all do as much as the fastest; 0: off.
        files: Of each rank, for metadata.
        sharing: Directories of metadata: "shared" or "own".
        depth: Of the tree of directories, for metadata; 0: no tree.
        width: Directories in each directory of the tree.
        file_bytes: Written to each file, for metadata.
        beside: Series that runs at the same time; "": none.
        repeats: Runs of this case.
    """

    series: Name
    runner: Name = "kernel"
    operation: Name = "write"
    directory: Name = "default"
    nodes: Count = 1
    ranks_per_node: Count = 1
    pattern: Name = "blocks"
    local: Annotated[Short, Field(description="elements of a rank, by dimension")] = ""
    size: Annotated[Short, Field(description="elements of the array, by dimension")] = ""
    backend: Name = "posix"
    layout: Name = "shared"
    mode: Name = "independent"
    transfer_bytes: Number = 0
    steps: Count = 1
    settings: Settings = ()
    sync: bool = True
    cache: Name = "shift"
    stonewall_seconds: Seconds = 0.0
    files: Number = 0
    sharing: Name = "own"
    depth: Number = 0
    width: Number = 0
    file_bytes: Number = 0
    beside: Short = ""
    repeats: Count = 3

    @property
    def ranks(self) -> int:
        """Of the job."""
        return self.nodes * self.ranks_per_node

    @property
    def key(self) -> str:
        """What tells the case from all others of its suite, the same in every campaign."""
        usual = Case(self.series)
        words = [
            f"{field.name}={_text(getattr(self, field.name))}"
            for field in fields(self)
            if field.name not in ("series", "repeats")
            and getattr(self, field.name) != getattr(usual, field.name)
        ]
        return " ".join([self.series, *words])

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `case_of` reads it."""
        return {**asdict(self), "settings": dict(self.settings)}


def case_of(data: dict[str, Any]) -> Case:
    """Return a case from plain data.

    Raises:
        TypeError: It has another key.
    """
    given = data.get("settings", {})
    settings = tuple(sorted((name, hashable(value)) for name, value in given.items()))
    return Case(**{**data, "settings": settings})


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the sizes of each dimension: "128,128,128"; none for ""."""
    return tuple(int(word) for word in text.split(",")) if text else ()


def hashable(value: Any) -> Value:
    """Return a setting as a case holds it: a list of numbers as a tuple, so that it has a hash."""
    return tuple(value) if isinstance(value, list) else value


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{name}:{one}" for name, one in value)
    return str(value)


# What one run of a case gave: a figure for each operation, with what is known beside it.


@dataclass(frozen=True)
class CaseRun:
    """One run of a case.

    Attributes:
        key: Of the case.
        repeat: Number of the run among those of its case, from 1.
        status: "ok", "failed", "timeout", "no-space", "no-nodes", "skipped".
        samples: Its figures; empty where it did not end well.
        message: Why not, in one line.
        started_unix_seconds: When it began.
        elapsed_seconds: Of the whole command.
        node_seconds: Nodes times the time that they were held.
        written_bytes: That it put on the storage.
        hints: That MPI-IO reported of the open file.
        layout: Of the file as found: "stripe_count", "stripe_size_bytes", "targets".
        circumstances: "load" (of this host at the start), "other_jobs" (of the batch system),
            "node_list", ...
    """

    key: Annotated[Key, Field(description="of the case")]
    repeat: Count
    status: Name
    samples: tuple[Sample, ...] = ()
    message: Text = ""
    started_unix_seconds: Seconds = 0.0
    elapsed_seconds: Seconds = 0.0
    node_seconds: Seconds = 0.0
    written_bytes: Number = 0
    hints: Mapping[Name, Text] = field(default_factory=dict)
    layout: Annotated[
        Mapping[Name, Any],
        Field(description="stripe_count, stripe_size_bytes, targets as found"),
    ] = field(default_factory=dict)
    circumstances: Mapping[Name, Any] = field(default_factory=dict)
