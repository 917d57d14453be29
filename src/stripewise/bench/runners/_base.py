# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a runner, and what runners of own and foreign programs share."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.bench._case import Case, RunFigure
from stripewise.core import Value
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.run.runtime import Runtime, built_program, find_runtime, kernel_of_mpiexec
from stripewise.storage.results import Test, parse_tests
from stripewise.storage.stacks import Workload

_OWN_STACKS = {"adios2": "adios2", "pnetcdf": "pnetcdf"}
"""Libraries that differ from the storage's MPI-IO, to their software stacks."""
_OVER = {("pnetcdf", "cray"): "pnetcdf-cray"}
"""(Library, stack of the storage's MPI-IO) to the software stack of both."""


_ROMIO = ("romio", "cray", "pnetcdf")
"""Prefixes of the names of stacks over ROMIO."""
Span = tuple[float, float]
"""Start and end in seconds."""


@dataclass(frozen=True)
class Printed:
    """Output of a run.

    Attributes:
        samples: Figures of the run.
        hints: Hints that MPI-IO reported for the open file.
        versions: Name of a program or library to its version.
        notes: Remarks on the figures, in whole sentences.
        spans: Beside another workload: operation to its start and end, in seconds from the common
            start.
    """

    samples: tuple[RunFigure, ...]
    hints: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spans: Mapping[str, Span] = field(default_factory=dict)


class Runner(ABC):
    """A benchmark program.

    Attributes:
        name: Name in suites: "kernel".
        is_own: Whether it comes with Stripewise.
        family: MPI whose program is run: "mpich", "openmpi"; empty for the one that is found.
    """

    name: str
    is_own: bool = False
    family: str = ""

    def chosen_family(self) -> str:
        """Return the MPI whose mpiexec starts the program; empty for that of `mpiexec` on PATH.

        Raises:
            RuntimeMissingError: The program is not built for it.
        """
        return self.family

    @abstractmethod
    def missing(self) -> str:
        """Return why the program cannot be used here, with the remedy; empty if it can."""

    @abstractmethod
    def why_not(self, case: Case) -> str:
        """Return why the program cannot run a case, whatever is installed; empty if it can."""

    @abstractmethod
    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return program and arguments of each rank, without a launcher.

        Args:
            case: Case to run.
            directory: Directory for its files, which exists, is striped as the case requires, and
                is empty.
            record: Directory for its output, outside of the storage.
        """

    @abstractmethod
    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the figures of a successful run.

        Raises:
            UsageError: The output is cut off, or contains nothing usable.
        """

    @abstractmethod
    def workload(self, case: Case) -> Workload | None:
        """Return the data that the ranks move, for the model; None if there is none (metadata)."""

    def read_settings(self, case: Case, stack: str) -> dict[str, Value]:
        """Return what the model needs to know of reads, in addition to the settings of the case.

        Ranks that read what others wrote begin in the middle of the file and continue from its
        start: ROMIO treats that as interleaved, and buffers collective calls.

        Args:
            case: Case that reads.
            stack: Software stack of the model.
        """
        if case.cache == "none" or case.ranks == 1 or case.mode != "collective":
            return {}
        return {"mpiio.romio_cb_read": "enable"} if stack.startswith(_ROMIO) else {}

    def stack(self, case: Case, own: str) -> str:
        """Return the software stack of a case on a storage with the usual stack `own`."""
        if case.backend != "posix":
            return _OVER.get((case.backend, own)) or _OWN_STACKS.get(case.backend, own)
        layouts = {
            "shared": "posix-shared",
            "per-process": "posix-process",
            "per-node": "posix-node",
        }
        return "posix-serial" if case.mode == "serial" else layouts[case.layout]


# Common part of the runners of our own programs: which build of the program is run.


class OwnRunner(Runner):
    """Program that is built with the runtime library, for each MPI.

    Attributes:
        title: Name of the program, for messages.
    """

    is_own = True
    title: str

    @abstractmethod
    def programs(self, runtime: Runtime) -> Mapping[str, Path]:
        """Return the programs by MPI family."""

    def missing(self) -> str:
        """Return why the program cannot be run; empty if it can."""
        try:
            self._built()
        except StripewiseError as error:
            return str(error)
        return ""

    def chosen_family(self) -> str:
        """Return the MPI for which the program is built: that of mpiexec, or the first."""
        return self._built()[0]

    def program(self) -> str:
        """Return the path of the program.

        Raises:
            RuntimeMissingError: The program is not built.
        """
        return str(self._built()[1])

    def _built(self) -> tuple[str, Path]:
        runtime = find_runtime()
        family = self.family or kernel_of_mpiexec(runtime)
        return built_program(runtime, self.programs(runtime), self.title, family)


# Benchmark programs of others: how they are found, and what all of their runners share.


class ForeignRunner(Runner):
    """Benchmark program of others that is used if it is installed.

    Attributes:
        variable: Environment variable with its path.
        source: Where to get it.
    """

    variable: str
    source: str

    def missing(self) -> str:
        """Return why the program cannot be used here, with the remedy; empty if it can."""
        given = os.environ.get(self.variable, "")
        if self._found() is not None:
            return ""
        if given:
            return f"{self.variable}={given} is not a program: give the path of {self.name}"
        return (
            f"{self.name} is not on PATH: install it ({self.source}), or set "
            f"{self.variable} to its path"
        )

    def why_not(self, case: Case) -> str:
        """Return the first reason why the program cannot run a case; empty if there is none."""
        return next(filter(None, self.reasons(case)), "")

    @abstractmethod
    def reasons(self, case: Case) -> list[str]:
        """Return what the program does not support in a case; empty texts do not count."""

    def program(self) -> Path:
        """Return the path of the program.

        Raises:
            UsageError: The program is not installed.
        """
        found = self._found()
        if found is None:
            raise UsageError(self.missing())
        return found

    def _found(self) -> Path | None:
        given = os.environ.get(self.variable, "")
        found = shutil.which(given or self.name)
        return Path(found).absolute() if found else None


def printed_test(text: str, program: str, ranks_per_node: int = 0) -> Test:
    """Return the single test in a program's output.

    Raises:
        UsageError: The output is cut off, or contains nothing usable.
    """
    test = parse_tests(text, f"{program}'s output", ranks_per_node)[0]
    if not test.timed:
        raise UsageError(f"{test.source}: {test.failed}: check that the run ended")
    return test


OPERATIONS = (
    *("create-directory", "stat-directory", "remove-directory"),
    *("create", "stat", "read-file", "remove"),
)
"""Metadata operations for which a case has figures."""


def metadata_samples(test: Test) -> tuple[RunFigure, ...]:
    """Return the figures of a metadata test.

    Raises:
        UsageError: There are no figures.
    """
    found = tuple(one.sample for one in test.timed if one.operation in OPERATIONS)
    if not found:
        raise UsageError(f"{test.source}: no rate of files: check that the run ended")
    return found


def read_record(path: Path, program: str) -> str:
    """Return the text of the output file of a program.

    Raises:
        UsageError: The file does not exist.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{program} left no figures ({error.strerror})") from error


def unless(good: bool, reason: str) -> str:
    """Return a reason, or an empty text if the condition is met."""
    return "" if good else reason
