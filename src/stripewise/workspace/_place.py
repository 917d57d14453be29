# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The place of a run, and the contract of what makes and removes places."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Where a run takes place.

    Attributes:
        directory: Its working directory.
        record_directory: Where its evidence goes.
        writable: Directories in which existing files may be opened for writing.
        command: The command with its paths as they are in this place.
    """

    directory: Path
    record_directory: Path
    writable: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()


class Workspace(ABC):
    """Makes and removes the places of runs; touches nothing that runs did not make."""

    @abstractmethod
    def prepare(self, run_id: str) -> Place:
        """Make a fresh place with the inputs as they were at the start.

        Raises:
            StorageError: There is no space.
            StudyError: An input is gone or has changed.
        """

    @abstractmethod
    def find(self, run_id: str) -> Place:
        """Return where a run is or was, without making anything."""

    @abstractmethod
    def release(self, run_id: str, *, outputs: bool = True, evidence: bool = True) -> None:
        """Remove what a run made; no error if it is gone already."""

    def forget(self, run_id: str) -> None:
        """Remove all that a run left, what it said too."""
        self.release(run_id)

    def check_after_failure(self, run_id: str) -> None:
        """Tell a full disk from a bad run: is there room for another, its outputs removed?

        Raises:
            StorageError: There is not, so the failure says nothing about the run.
        """
        del run_id

    def first_run_known(
        self, written_inputs: Sequence[str], output_bytes: int, old_outputs: Sequence[str] = ()
    ) -> None:
        """Learn from the first run which inputs are written to, and how much is made.

        Args:
            written_inputs: Relative to the run.
            output_bytes: In all.
            old_outputs: To be left out of the runs that follow, so that they are made anew.
        """
        del written_inputs, output_bytes, old_outputs

    def sweep(self, kept: Sequence[str]) -> None:
        """Remove the places of all runs but these; after a restart."""
        del kept
