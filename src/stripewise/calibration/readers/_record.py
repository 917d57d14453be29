# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark program printed, in one record, whatever its form.

A fit takes rates from it, a campaign takes runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.model import Value

OPERATIONS = (
    *("create", "stat", "read-file", "rename", "remove"),
    *("create-directory", "stat-directory", "rename-directory", "remove-directory"),
    *("create-tree", "remove-tree"),
)
"""Of metadata."""


@dataclass(frozen=True)
class Timed:
    """One figure of one repeat.

    Attributes:
        operation: "write", "read"; or of metadata one of `OPERATIONS`.
        amount: Bytes, or operations.
        seconds: That they took.
        repeat: From 1.
        phases: "open", "transfer", "close" -> seconds.
        percentiles: Percent -> seconds of one operation of metadata.
        worn_out: Whether a stonewall ended it and all ranks then did as much as the fastest.
    """

    operation: str
    amount: float
    seconds: float
    repeat: int = 1
    phases: Mapping[str, float] = field(default_factory=dict)
    worn_out: bool = False
    percentiles: Mapping[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Bytes, or operations, a second."""
        return self.amount / self.seconds


@dataclass(frozen=True)
class Data:
    """What a test of bandwidth moved.

    Attributes:
        backend: "posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2", or another API's name
            in small letters.
        layout: "shared", "per-process" or "per-node".
        mode: "independent", "collective" or "serial".
        pattern: "blocks", or "array3d" of which each rank has `shape`.
        block_bytes: Of each rank, in each step; 0: not told.
        size: Elements of the whole array, as the kernel's --size takes them; "": not told.
        shape: Elements of 8 bytes of each rank, slowest dimension first.
        transfer_bytes: Of one call; 0: as the program likes.
        steps: Segments of IOR.
        sync: fsync within the time; None: not told.
    """

    backend: str
    layout: str
    mode: str
    pattern: str = "blocks"
    block_bytes: int = 0
    shape: tuple[int, ...] = ()
    transfer_bytes: int = 0
    steps: int = 1
    sync: bool | None = None
    size: str = ""


@dataclass(frozen=True)
class Metadata:
    """What a test of metadata did.

    Attributes:
        files: Of each rank.
        sharing: Directories: "shared" or "own".
        depth: Of the tree; 0: no tree.
        width: Directories in each directory of the tree.
        file_bytes: Written to each file.
        sync: fsync of each file.
        spread: Operation -> least, mean and greatest rate, where the repeats are not told.
    """

    files: int
    sharing: str
    depth: int = 0
    width: int = 0
    file_bytes: int = 0
    sync: bool = False
    spread: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Test:
    """One test of a program, with all its repeats.

    Attributes:
        program: "ior", "mdtest", "benchio", "kernel" or "metadata".
        source: File and what in it, for people.
        nodes: Of the job.
        ranks: Of the job.
        work: What was done.
        timed: Figures, by repeat; empty: the program gave none.
        version: Of the program; "": not told.
        path: Of the file or directory, as the program was told.
        cache: How caches are kept from answering reads: "shift", "direct" or "none".
        stonewall_seconds: 0: off.
        striping: Of the directory, as its name or the options say: "unstriped", "striped",
            "fullstriped"; "": not told.
        settings: Full tunable name -> value.
        hints: That MPI-IO reported of the open file.
        started_unix_seconds: The clock's time taken for UTC; 0: not told.
        failed: Why there are no figures, in one line; "": there are.
        notes: What is to be known of the figures, in whole sentences.
    """

    __test__ = False  # It is no test of pytest.

    program: str
    source: str
    nodes: int
    ranks: int
    work: Data | Metadata
    timed: tuple[Timed, ...] = ()
    version: str = ""
    path: str = ""
    cache: str = "none"
    stonewall_seconds: float = 0.0
    striping: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    started_unix_seconds: float = 0.0
    failed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ranks_per_node(self) -> int:
        """Of the fullest node, if they are spread evenly."""
        return -(-self.ranks // self.nodes)

    def rates(self, operation: str) -> tuple[float, ...]:
        """Return the rates of an operation, in the order of the repeats."""
        return tuple(one.rate for one in self.timed if one.operation == operation)


@dataclass(frozen=True)
class Found:
    """What a file holds.

    Attributes:
        tests: In its order; failed ones too.
        notes: What was left out, and why, in whole sentences.
    """

    tests: tuple[Test, ...]
    notes: tuple[str, ...] = ()
