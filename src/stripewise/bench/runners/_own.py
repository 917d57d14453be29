# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the runners of our own programs have in common: which build of the program is run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from stripewise.bench.runners._base import Runner
from stripewise.errors import StripewiseError
from stripewise.runtime import Runtime, built_program, find_runtime, kernel_of_mpiexec


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
        """Return why the program cannot be run; "" if it can."""
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
