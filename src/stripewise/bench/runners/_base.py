# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a runner, and what runners of own and foreign programs share."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.bench._case import Case, Sample
from stripewise.core import Value
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.run.runtime import Runtime, built_program, find_runtime, kernel_of_mpiexec
from stripewise.storage.results import Test, parse_tests
from stripewise.storage.stacks import Workload

_OWN_STACKS = {"adios2": "adios2", "pnetcdf": "pnetcdf"}
"""Libraries that are not as the storage's MPI-IO is -> their software stacks."""
_OVER = {("pnetcdf", "cray"): "pnetcdf-cray"}
"""(library, stack of the storage's MPI-IO) -> software stack of both."""


_ROMIO = ("romio", "cray", "pnetcdf")
"""How stacks over ROMIO begin."""
Span = tuple[float, float]
"""Begin and end, seconds."""


@dataclass(frozen=True)
class Printed:
    """What a run left.

    Attributes:
        samples: Its figures.
        hints: That MPI-IO reported of the open file.
        versions: Name of a program or library -> its version.
        notes: What is to be known of the figures, in whole sentences.
        spans: Beside another workload: operation -> when it began and ended, seconds from the
            common start on.
    """

    samples: tuple[Sample, ...]
    hints: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spans: Mapping[str, Span] = field(default_factory=dict)


class Runner(ABC):
    """A benchmark program.

    Attributes:
        name: As suites have it: "kernel".
        is_own: Whether it comes with Stripewise.
        family: MPI whose program is run: "mpich", "openmpi"; "": the one that is found.
    """

    name: str
    is_own: bool = False
    family: str = ""

    def chosen_family(self) -> str:
        """Return the MPI whose mpiexec starts the program; "": that of `mpiexec` on PATH.

        Raises:
            RuntimeMissingError: The program is not built for it.
        """
        return self.family

    @abstractmethod
    def missing(self) -> str:
        """Return why the program cannot be used here, with the remedy; empty if it can."""

    @abstractmethod
    def why_not(self, case: Case) -> str:
        """Return why the program cannot make a case, whatever is installed; empty if it can."""

    @abstractmethod
    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return program and arguments of each rank, without a launcher in front.

        Args:
            case: To be made.
            directory: For its files; exists, is striped as the case says, and is empty.
            record: For what it tells, outside of the storage.
        """

    @abstractmethod
    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the figures of a run that ended well.

        Raises:
            UsageError: It is cut off, or says nothing that can be used.
        """

    @abstractmethod
    def workload(self, case: Case) -> Workload | None:
        """Return what the ranks move, for the model; None: it moves no data (metadata)."""

    def read_settings(self, case: Case, stack: str) -> dict[str, Value]:
        """Return what the model has to know of reads, beside the settings of the case.

        Ranks that read what others wrote begin in the middle of the file and go on from its
        begin: ROMIO sees that as interleaved, and buffers collective calls.

        Args:
            case: That is read.
            stack: Of the model.
        """
        if case.cache == "none" or case.ranks == 1 or case.mode != "collective":
            return {}
        return {"mpiio.romio_cb_read": "enable"} if stack.startswith(_ROMIO) else {}

    def stack(self, case: Case, own: str) -> str:
        """Return the software stack of a case on a storage whose users have the stack `own`."""
        if case.backend != "posix":
            return _OVER.get((case.backend, own)) or _OWN_STACKS.get(case.backend, own)
        layouts = {
            "shared": "posix-shared",
            "per-process": "posix-process",
            "per-node": "posix-node",
        }
        return "posix-serial" if case.mode == "serial" else layouts[case.layout]


# What the runners of our own programs have in common: which build of the program is run.


class OwnRunner(Runner):
    """A program that is built with the runtime library, for each MPI.

    Attributes:
        title: Of the program, for messages.
    """

    is_own = True
    title: str

    @abstractmethod
    def programs(self, runtime: Runtime) -> Mapping[str, Path]:
        """Return MPI family -> the program."""

    def missing(self) -> str:
        """Return why the program cannot be run; empty if it can."""
        try:
            self._built()
        except StripewiseError as error:
            return str(error)
        return ""

    def chosen_family(self) -> str:
        """Return the MPI that the program is built for: that of mpiexec, or the first."""
        return self._built()[0]

    def program(self) -> str:
        """Return the path of the program.

        Raises:
            RuntimeMissingError: It is not built.
        """
        return str(self._built()[1])

    def _built(self) -> tuple[str, Path]:
        runtime = find_runtime()
        family = self.family or kernel_of_mpiexec(runtime)
        return built_program(runtime, self.programs(runtime), self.title, family)


# Benchmark programs of others: where they are, and what all of their runners share.


class ForeignRunner(Runner):
    """A benchmark program of others that is used where it is installed.

    Attributes:
        variable: Environment variable with its path.
        source: Where it can be had.
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
        """Return the first reason for which the program cannot make a case."""
        return next(filter(None, self.reasons(case)), "")

    @abstractmethod
    def reasons(self, case: Case) -> list[str]:
        """Return what the program cannot do of a case; empty texts do not count."""

    def program(self) -> Path:
        """Return the program.

        Raises:
            UsageError: It is not installed.
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
    """Return the one test that a program has printed.

    Raises:
        UsageError: It is cut off, or says nothing that can be used.
    """
    test = parse_tests(text, f"{program}'s output", ranks_per_node)[0]
    if not test.timed:
        raise UsageError(f"{test.source}: {test.failed}: check that the run ended")
    return test


OPERATIONS = (
    *("create-directory", "stat-directory", "remove-directory"),
    *("create", "stat", "read-file", "remove"),
)
"""Of metadata, that a case has figures of."""


def metadata_samples(test: Test) -> tuple[Sample, ...]:
    """Return the figures of a test of metadata.

    Raises:
        UsageError: There are none.
    """
    found = tuple(one.sample for one in test.timed if one.operation in OPERATIONS)
    if not found:
        raise UsageError(f"{test.source}: no rate of files: check that the run ended")
    return found


def read_record(path: Path, program: str) -> str:
    """Return the text of the file that a program has left.

    Raises:
        UsageError: There is none.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{program} left no figures ({error.strerror})") from error


def unless(good: bool, reason: str) -> str:
    """Return a reason, or empty if all is well."""
    return "" if good else reason
