# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the records of a campaign: a case, one run of it, and the figures of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any

from pydantic import Field

from stripewise.core import Value
from stripewise.storage.results import Name as Name
from stripewise.storage.results import RunFigure as RunFigure
from stripewise.storage.results import Seconds as Seconds

# Limits of what files of the exchange format may contain; records made here are not checked.

Text = Annotated[str, Field(max_length=4000)]
Short = Annotated[str, Field(max_length=300)]
Key = Annotated[str, Field(min_length=1, max_length=2000)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Number = Annotated[int, Field(ge=0, le=1 << 62)]

ELEMENT_BYTES = 8
"""Size of an element in the patterns blocks and array3d."""

Settings = tuple[tuple[str, Value], ...]
"""Full tunable names and values, sorted by name."""


@dataclass(frozen=True)
class Case:
    """One cell of a campaign, without the number of its repeat.

    Attributes:
        series: Name of the line to which the case belongs: "file per process", "MPI-IO".
        runner: Program that runs it: "kernel", "metadata", "ior", "mdtest", "benchio".
        operation: "write", "write-read" (the data written is read back) or "metadata".
        directory: Name of a directory of the suite, such as "striped".
        nodes: Number of nodes of the job.
        ranks_per_node: Number of ranks on each node.
        pattern: Pattern of the kernel: "blocks", "array3d", ...
        local: Part of each rank, as in the kernel's --local; empty for its default.
        size: Whole array, as in --size; empty if `local` is used.
        backend: Library: "posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2".
        layout: "shared", "per-process" or "per-node".
        mode: "independent", "collective" or "serial".
        transfer_bytes: Bytes of one call; 0 for as many as the pattern allows.
        steps: Number of steps of the pattern, or of segments of IOR.
        settings: Settings that are applied.
        sync: Whether fsync is within the measured time.
        cache: How the system's cache is kept from answering reads: "shift" (other ranks, on other
            nodes, read), "drop" (its pages are dropped first), "direct" (requests bypass it),
            "none".
        stonewall_seconds: Time after which ranks stop, and then all do as much as the fastest; 0
            for no limit.
        files: Number of files of each rank, for metadata.
        sharing: Directories of metadata: "shared" or "own".
        depth: Depth of the tree of directories, for metadata; 0 for no tree.
        width: Number of directories in each directory of the tree.
        file_bytes: Bytes written to each file, for metadata.
        beside: Series that runs at the same time; empty if there is none.
        repeats: Number of runs of this case.
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
        """Number of ranks of the job."""
        return self.nodes * self.ranks_per_node

    @property
    def key(self) -> str:
        """Key that identifies the case in its suite and is the same in every campaign."""
        usual = Case(self.series)
        words = [
            f"{field.name}={_text(getattr(self, field.name))}"
            for field in fields(self)
            if field.name not in ("series", "repeats")
            and getattr(self, field.name) != getattr(usual, field.name)
        ]
        return " ".join([self.series, *words])

    def as_json(self) -> dict[str, Any]:
        """Return plain data, which `case_of` reads."""
        return {**asdict(self), "settings": dict(self.settings)}


def case_of(data: dict[str, Any]) -> Case:
    """Return a case from plain data.

    Raises:
        TypeError: There is an unknown key.
    """
    given = data.get("settings", {})
    settings = tuple(sorted((name, hashable(value)) for name, value in given.items()))
    return Case(**{**data, "settings": settings})


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the sizes of all dimensions: "128,128,128"; empty for an empty text."""
    return tuple(int(word) for word in text.split(",")) if text else ()


def hashable(value: Any) -> Value:
    """Return a setting as a case stores it: a list of numbers becomes a hashable tuple."""
    return tuple(value) if isinstance(value, list) else value


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{name}:{one}" for name, one in value)
    return str(value)


# Result of one run of a case: a figure for each operation, with the circumstances.


@dataclass(frozen=True)
class CaseRun:
    """Result of one run of a case.

    Attributes:
        key: Key of the case.
        repeat: Number of the run among those of its case, from 1.
        status: "ok", "failed", "timeout", "no-space", "no-nodes", "skipped".
        samples: Figures of the run; empty if it failed.
        message: One line on why it failed.
        started_unix_seconds: Start of the run.
        elapsed_seconds: Elapsed time of the whole command.
        node_seconds: Number of nodes times the time for which they were allocated.
        written_bytes: Bytes that it wrote to the storage.
        hints: Hints that MPI-IO reported for the open file.
        layout: Actual layout of the file: "stripe_count", "stripe_size_bytes", "targets".
        circumstances: "load" (of this host at the start), "other_jobs" (of the batch system),
            "node_list", ...
    """

    key: Annotated[Key, Field(description="of the case")]
    repeat: Count
    status: Name
    samples: tuple[RunFigure, ...] = ()
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
