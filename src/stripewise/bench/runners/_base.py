# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a runner: a program that makes a case, and what it prints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench._sample import Sample
from stripewise.model import Value
from stripewise.simulation import Workload

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
        """Return why the program cannot be used here, with the remedy; "" if it can."""

    @abstractmethod
    def why_not(self, case: Case) -> str:
        """Return why the program cannot make a case, whatever is installed; "" if it can."""

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
