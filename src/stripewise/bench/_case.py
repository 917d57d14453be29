# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One cell of a campaign: what is run, on how many nodes, into which directory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from stripewise.model import Value

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

    series: str
    runner: str = "kernel"
    operation: str = "write"
    directory: str = "default"
    nodes: int = 1
    ranks_per_node: int = 1
    pattern: str = "blocks"
    local: str = ""
    size: str = ""
    backend: str = "posix"
    layout: str = "shared"
    mode: str = "independent"
    transfer_bytes: int = 0
    steps: int = 1
    settings: Settings = ()
    sync: bool = True
    cache: str = "shift"
    stonewall_seconds: float = 0.0
    files: int = 0
    sharing: str = "own"
    depth: int = 0
    width: int = 0
    file_bytes: int = 0
    beside: str = ""
    repeats: int = 3

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
    return Case(**{**data, "settings": tuple(sorted(data.get("settings", {}).items()))})


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{name}:{one}" for name, one in value)
    return str(value)
