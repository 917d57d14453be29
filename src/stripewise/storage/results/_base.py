# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a reader of benchmark results, and the records that it yields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Annotated

from pydantic import Field

from stripewise.core import Value
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.storage.simulation import workload_from_notation
from stripewise.storage.stacks import Workload

# What a benchmark program printed, in one record, whatever its form.
#
# A fit takes rates from it, a campaign takes runs.

OPERATIONS = (
    *("create", "stat", "read-file", "rename", "remove"),
    *("create-directory", "stat-directory", "rename-directory", "remove-directory"),
    *("create-tree", "remove-tree"),
)
"""Of metadata."""


# What files of the exchange format may hold; records made in the program are not checked.

Name = Annotated[str, Field(min_length=1, max_length=200)]
Amount = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


@dataclass(frozen=True)
class Sample:
    """One figure of one run.

    Attributes:
        operation: "write", "read"; or of metadata one of `OPERATIONS`.
        amount: Bytes, or operations.
        seconds: From the first rank's begin to the last one's end, sync and close included where
            the case says so.
        phases: Name of a phase ("open", "transfer", "sync", "close") -> seconds, the maximum over
            ranks.
        percentiles: Of one operation of metadata: percent ("50", "90", "99", "100") -> seconds.
        worn_out: Whether a stonewall ended it and all ranks then did as much as the fastest.
    """

    operation: Name
    amount: Annotated[Amount, Field(description="bytes, or operations of metadata")]
    seconds: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
    phases: Annotated[Mapping[Name, Seconds], Field(description="seconds of each phase")] = field(
        default_factory=dict
    )
    percentiles: Annotated[
        Mapping[Name, Seconds], Field(description="percent -> seconds of one operation")
    ] = field(default_factory=dict)
    worn_out: bool = False

    @property
    def rate(self) -> float:
        """Bytes, or operations, a second."""
        return self.amount / self.seconds


@dataclass(frozen=True)
class Timed(Sample):
    """One figure of one repeat of a test; `repeat` counts from 1."""

    repeat: int = 1

    @property
    def sample(self) -> Sample:
        """The figure alone."""
        return Sample(*(getattr(self, one.name) for one in fields(Sample)))


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


# What a benchmark measured, whatever wrote it down.

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

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the tests of a text.

        Args:
            text: Of the file, cleaned.
            name: Of the file, for messages.
            ranks_per_node: Where the form does not tell; 0: not known.

        Raises:
            UsageError: It is cut off, says nothing that can be used, or its form has no tests.
        """
        del text, ranks_per_node
        raise UsageError(
            f"{name}: a table of results has no single runs: give what IOR, mdtest or benchio "
            "printed, or the kernel's JSON"
        )

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return what a fit takes from the text; arguments and errors are those of `tests`."""
        return results_of(self.tests(text, name, ranks_per_node), name)


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
            "check that the file is complete"
        )
    number = steps * max(round(block_bytes / transfer_bytes), 1)
    if min(nodes, ranks_per_node) < 1 or number > MOST_STEPS:
        raise UsageError(
            f"{name}: {nodes} nodes of {ranks_per_node} ranks, {number:.6g} transfers of each: "
            "check that the file is complete"
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


# Readers of what benchmark programs print: one record of it, and what a fit takes from that.

MOST_OPERATIONS = 1e12
"""Operations of metadata a second beyond which the number is wrong."""
LONGEST = 1e9
"""Seconds that no test takes."""
_FILES = {"shared": "posix-shared", "per-process": "posix-process", "per-node": "posix-node"}
FIGURES = {"create": "metadata.create", "stat": "metadata.stat", "read-file": "metadata.open",
           "remove": "metadata.remove"}  # fmt: skip
"""Operation on files -> figure of a description."""
_STRIPES: dict[str, dict[str, Value]] = {
    "unstriped": {"mpiio.striping_factor": 1},
    "striped": {"mpiio.striping_factor": 4},
    "fullstriped": {"mpiio.striping_factor": -1},
}
"""Source: documented, benchio's README: 4 is its example of an intermediate number."""


def possible(operation: str, rate: float, amount: float = 0.0) -> bool:
    """Whether a rate can be true: of data in bytes a second, of metadata in operations.

    With an amount, also whether the time is.
    """
    if rate <= 0 or amount / rate > LONGEST:
        return False
    if operation in ("write", "read"):
        return 1 <= rate <= FASTEST
    return 1e-6 <= rate <= MOST_OPERATIONS


def results_of(found: Found, name: str) -> Results:
    """Return bandwidths and rates of metadata of tests.

    Raises:
        UsageError: There are none.
    """
    measured: list[Measured] = []
    operations: dict[str, tuple[float, ...]] = {}
    notes = list(found.notes)
    for test in found.tests:
        notes += [f"{test.source}: {one}" for one in test.notes]
        if test.failed:
            notes.append(f"{test.source} is left out: {test.failed}.")
        elif isinstance(test.work, Metadata):
            for figure, rates in _operations(test, test.work):
                operations[figure] = (*operations.get(figure, ()), *rates)
        else:
            try:
                measured += _measured(test, test.work)
            except StripewiseError as error:
                notes.append(f"{test.source} is left out: {error}.")
    if not measured and not operations:
        why = next((f" ({one.rstrip('.')})" for one in notes if "left out" in one), "")
        raise UsageError(
            f"{name}: no bandwidth and no rate of files{why}: check that the run ended well"
        )
    return Results(tuple(measured), operations, tuple(notes))


def _operations(test: Test, work: Metadata) -> Iterator[tuple[str, tuple[float, ...]]]:
    for operation, figure in FIGURES.items():
        rates = work.spread.get(operation) or test.rates(operation)
        if rates and min(rates) > 0:
            yield figure, rates


def _measured(test: Test, work: Data) -> Iterator[Measured]:
    stack = _stack(work)
    settings = {**_STRIPES.get(test.striping, {}), **test.settings}
    for operation in ("write", "read"):
        if rates := test.rates(operation):
            load = _workload(test, work, operation == "write")
            yield Measured(f"{test.source} {operation}", load, stack, settings, rates)


def _stack(work: Data) -> str:
    if work.backend in ("mpiio", "hdf5", "netcdf4", "pnetcdf"):
        return "posix-process" if work.layout == "per-process" else ""
    if work.backend != "posix":
        raise UsageError(f"a fit has no model of {shown_backend(work.backend)}")
    return "posix-serial" if work.mode == "serial" else _FILES[work.layout]


def shown_backend(backend: str) -> str:
    """Return the name of an API as people write it."""
    return backend.upper() if backend.isalnum() else "this API"


def _workload(test: Test, work: Data, writing: bool) -> Workload:
    if not work.block_bytes and not work.shape:
        raise UsageError("it does not say how much was moved")
    if work.pattern == "array3d":
        sizes = ",".join(map(str, work.shape))
        return workload_from_notation(
            f"<3D,(BLOCK,BLOCK,BLOCK),({sizes})>", test.nodes, test.ranks_per_node,
            writing=writing,
        )  # fmt: skip
    return blocks(
        test.source, test.nodes, test.ranks_per_node, work.block_bytes, work.transfer_bytes,
        steps=work.steps, collective=work.mode == "collective", writing=writing,
    )  # fmt: skip
