# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a reader of benchmark results, and the records that it yields."""

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

# Output of a benchmark program in one record, whatever its form. A fit takes rates from it, a
# campaign takes runs.

OPERATIONS = (
    *("create", "stat", "read-file", "rename", "remove"),
    *("create-directory", "stat-directory", "rename-directory", "remove-directory"),
    *("create-tree", "remove-tree"),
)
"""Metadata operations."""


# Limits for files of the exchange format; records made in the program are not checked.

Name = Annotated[str, Field(min_length=1, max_length=200)]
Amount = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


@dataclass(frozen=True)
class RunFigure:
    """One figure of one run.

    Attributes:
        operation: "write", "read"; or for metadata one of `OPERATIONS`.
        amount: Number of bytes, or of operations.
        seconds: Time from the start of the first rank to the end of the last, with sync and close
            if the case includes them.
        phases: Seconds by name of a phase ("open", "transfer", "sync", "close"), maximum over
            ranks.
        percentiles: Seconds of one metadata operation by percent ("50", "90", "99", "100").
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
        """Rate in bytes, or operations, per second."""
        return self.amount / self.seconds


@dataclass(frozen=True)
class Timed(RunFigure):
    """One figure of one repeat of a test; `repeat` counts from 1."""

    repeat: int = 1

    @property
    def sample(self) -> RunFigure:
        """Figure without the repeat."""
        return RunFigure(*(getattr(self, one.name) for one in fields(RunFigure)))


@dataclass(frozen=True)
class Data:
    """Data that a bandwidth test moved.

    Attributes:
        backend: "posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2", or another API's name in
            lower case.
        layout: "shared", "per-process" or "per-node".
        mode: "independent", "collective" or "serial".
        pattern: "blocks", or "array3d" in which each rank has `shape`.
        block_bytes: Bytes of each rank in each step; 0 if unknown.
        size: Elements of the whole array, as in the kernel's --size; empty if unknown.
        shape: Elements of 8 bytes of each rank, slowest dimension first.
        transfer_bytes: Bytes of one call; 0 if the program chooses.
        steps: Number of steps (segments in IOR).
        sync: Whether the time includes fsync; None if unknown.
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
class MetadataTest:
    """Operations of a metadata test.

    Attributes:
        files: Number of files of each rank.
        sharing: Directories: "shared" or "own".
        depth: Depth of the tree; 0 without a tree.
        width: Number of directories in each directory of the tree.
        file_bytes: Bytes written to each file.
        sync: Whether each file is synced by fsync.
        spread: Minimum, mean and maximum rate by operation, if the repeats are unknown.
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
        program: "ior", "mdtest", "benchio", "h5bench", "kernel" or "metadata".
        source: File and the part of it, for people.
        nodes: Number of nodes of the job.
        ranks: Number of ranks of the job.
        work: Work of the test.
        timed: Figures, by repeat; empty if the program printed none.
        version: Version of the program; empty if unknown.
        path: Path of the file or directory, as given to the program.
        cache: How reads avoid caches: "shift", "direct" or "none".
        stonewall_seconds: Stonewall time; 0 if off.
        striping: Striping of the directory, by its name or the options: "unstriped", "striped",
            "fullstriped"; empty if unknown.
        settings: Values by full tunable name.
        hints: Hints that MPI-IO reported for the open file.
        started_unix_seconds: Start time, taken as UTC; 0 if unknown.
        failed: Reason why there are no figures, in one line; empty if there are.
        notes: Remarks on the figures, in whole sentences.
    """

    __test__ = False  # pytest must not collect it.

    program: str
    source: str
    nodes: int
    ranks: int
    work: Data | MetadataTest
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
        """Number of ranks on the fullest node, if they are spread evenly."""
        return -(-self.ranks // self.nodes)

    def rates(self, operation: str) -> tuple[float, ...]:
        """Return the rates of an operation, in the order of the repeats."""
        return tuple(one.rate for one in self.timed if one.operation == operation)


@dataclass(frozen=True)
class Found:
    """Contents of a file.

    Attributes:
        tests: Tests in the order of the file, including failed ones.
        notes: Parts that were left out, and why, in whole sentences.
    """

    tests: tuple[Test, ...]
    notes: tuple[str, ...] = ()


# Measurements of a benchmark, in whatever form they were written.

MOST_STEPS = 1_000_000
FASTEST = 1e16
"""Bytes per second beyond which the unit is wrong."""


@dataclass(frozen=True)
class Measured:
    """One configuration of a benchmark, with all its repeats.

    Attributes:
        source: File and the part of it, for people.
        workload: Workload that was timed.
        stack: Name of the software stack; if empty, that of the storage's users.
        settings: Values by tunable name.
        rates: Bytes per second of each repeat.
    """

    source: str
    workload: Workload
    stack: str
    settings: Mapping[str, Value]
    rates: tuple[float, ...]

    @property
    def writing(self) -> bool:
        """Whether data was written; otherwise it was read."""
        return self.workload.patterns[0].writing


@dataclass(frozen=True)
class Results:
    """Contents of a file of results.

    Attributes:
        measured: Measurements of bandwidth.
        operations: Operations per second of each repeat, by metadata figure ("metadata.create").
        notes: Parts that were left out, in whole sentences.
    """

    measured: tuple[Measured, ...] = ()
    operations: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Launch:
    """How a program was started, for forms that do not contain it; 0: not known.

    Attributes:
        ranks: Number of ranks.
        ranks_per_node: Number of ranks on each node.
    """

    ranks: int = 0
    ranks_per_node: int = 0


class Reader(ABC):
    """Reader of one form of results.

    Attributes:
        name: "ior-json", "ior-csv", "ior", "benchio", "benchio-csv", "mdtest", "io500",
            "h5bench", "kernel", "table" or "csv".
    """

    name: str

    @abstractmethod
    def recognises(self, text: str, name: str) -> bool:
        """Return whether a text, in a file of this name, has this form."""

    def with_launch(self, launch: Launch) -> Reader:
        """Return a reader that takes these ranks where its form does not contain them.

        Most forms contain the number of ranks: their readers return themselves.
        """
        del launch
        return self

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the tests of a text.

        Args:
            text: Text of the file, cleaned.
            name: Name of the file, for messages.
            ranks_per_node: Value if the form does not contain it; 0 if unknown.

        Raises:
            UsageError: It is cut off, contains nothing usable, or its form has no tests.
        """
        del text, ranks_per_node
        raise UsageError(
            f"{name}: a table of results has no single runs: give what IOR, mdtest or benchio "
            "printed, or the kernel's JSON"
        )

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return what a fit uses of the text; arguments and errors are those of `tests`."""
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
    """Return a workload of ranks that each move blocks, transfer by transfer.

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
    """Raise an error for an impossible bandwidth in bytes per second.

    Raises:
        UsageError: It is 0, negative, not a number, or too large.
    """
    if not 1 <= rate <= FASTEST:
        raise UsageError(
            f"{name}: a bandwidth of {rate:g} B/s is impossible: check the number and its unit"
        )


def nodes_of(name: str, ranks: int, ranks_per_node: int) -> int:
    """Return the number of nodes of a job.

    Raises:
        UsageError: The number cannot be determined.
    """
    if ranks_per_node < 1:
        raise UsageError(f"{name} does not say how many nodes there were: give --ranks-per-node")
    return max(1, -(-ranks // ranks_per_node))


# Common parts of readers of programs' output: one record, and what a fit takes from it.

MOST_OPERATIONS = 1e12
"""Metadata operations per second beyond which the number is wrong."""
LONGEST = 1e9
"""Seconds that no test takes."""
_FILES = {"shared": "posix-shared", "per-process": "posix-process", "per-node": "posix-node"}
FIGURES = {"create": "metadata.create", "stat": "metadata.stat", "read-file": "metadata.open",
           "remove": "metadata.remove"}  # fmt: skip
"""Figure of a description by operation on files."""
_STRIPES: dict[str, dict[str, Value]] = {
    "unstriped": {"mpiio.striping_factor": 1},
    "striped": {"mpiio.striping_factor": 4},
    "fullstriped": {"mpiio.striping_factor": -1},
}
"""Striping by directory of benchio. Source: documented, benchio's README (4 is its example)."""


def possible(operation: str, rate: float, amount: float = 0.0) -> bool:
    """Return whether a rate is possible, in bytes or in metadata operations per second.

    With an amount, also whether the time is.
    """
    if rate <= 0 or amount / rate > LONGEST:
        return False
    if operation in ("write", "read"):
        return 1 <= rate <= FASTEST
    return 1e-6 <= rate <= MOST_OPERATIONS


def results_of(found: Found, name: str) -> Results:
    """Return bandwidths and metadata rates of tests.

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
        elif isinstance(test.work, MetadataTest):
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


def _operations(test: Test, work: MetadataTest) -> Iterator[tuple[str, tuple[float, ...]]]:
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
