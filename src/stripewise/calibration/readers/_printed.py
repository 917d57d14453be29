# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Readers of what benchmark programs print: one record of it, and what a fit takes from that."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from stripewise.calibration.readers._base import FASTEST, Measured, Reader, Results, blocks
from stripewise.calibration.readers._record import Data, Found, Metadata, Test
from stripewise.errors import StripewiseError, UsageError
from stripewise.model import Value
from stripewise.simulation import Workload, workload_from_notation

MOST_OPERATIONS = 1e12
"""Operations of metadata a second beyond which the number is wrong."""
LONGEST = 1e9
"""Seconds that no test takes."""
_FILES = {"shared": "posix-shared", "per-process": "posix-process", "per-node": "posix-node"}
_FIGURES = {"create": "metadata.create", "stat": "metadata.stat", "read-file": "metadata.open",
            "remove": "metadata.remove"}  # fmt: skip
_STRIPES: dict[str, dict[str, Value]] = {
    "unstriped": {"mpiio.striping_factor": 1},
    "striped": {"mpiio.striping_factor": 4},
    "fullstriped": {"mpiio.striping_factor": -1},
}
"""Source: documented, benchio's README: 4 is its example of an intermediate number."""


class PrintedReader(Reader):
    """One form of what a benchmark program prints."""

    @abstractmethod
    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the tests of a text.

        Args:
            text: Of the file, cleaned.
            name: Of the file, for messages.
            ranks_per_node: Where the form does not tell; 0: not known.

        Raises:
            UsageError: It is cut off or says nothing that can be used.
        """

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return what a fit takes from the tests."""
        return results_of(self.tests(text, name, ranks_per_node), name)


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
    for operation, figure in _FIGURES.items():
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
