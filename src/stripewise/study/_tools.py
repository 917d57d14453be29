# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the procedure of a study needs from outside; tests put in their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.knowledge import Memory
from stripewise.launch import Handle, Launcher, Outcome
from stripewise.model import Configuration, Measurement, ProgramFacts, Value, Verification
from stripewise.policy import Policy
from stripewise.tunables import Space


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


@dataclass(frozen=True)
class FirstLook:
    """What the first run showed.

    Attributes:
        facts: What the program does.
        problem: Why it cannot be tuned, with the remedy; "" if it can.
        no_plugin: The problem is that the plug-in for the program's MPI is not built.
        written_inputs: Inputs that it opened for writing (relative to the run).
        replaced_inputs: Those of them whose content did not matter: outputs of an earlier run.
        output_bytes: Size of the files that it made.
        warnings: For the user.
    """

    facts: ProgramFacts
    problem: str = ""
    no_plugin: bool = False
    written_inputs: tuple[str, ...] = ()
    replaced_inputs: tuple[str, ...] = ()
    output_bytes: int = 0
    warnings: tuple[str, ...] = ()


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


Look = Callable[[str, Place, Outcome], Measurement]
"""Turn an ended run into a measurement: run_id, place, outcome."""
LookFirst = Callable[[Place, Measurement], FirstLook]
"""Find out from an ended first run what the program does."""
Compare = Callable[[Sequence[str], str, bool], Verification]
"""Compare outputs, by run_id: two baselines, a candidate; whether layout may differ."""


@dataclass(frozen=True)
class Tools:
    """Everything from outside.

    Attributes:
        launcher: Runs commands.
        workspace: Makes their places.
        look / look_first: Read evidence.
        compare: Verifies outputs.
        unreadable: Why the content of a run's outputs, by run_id, cannot be compared here; "" if
            it can.
        find_space: Knobs for a program, by its facts.
        configure: Settings, with the facts where known, to what is applied.
        sweep: End whatever is left of the unfinished runs recorded below a directory.
        find_again: Handle of a run that ended but whose handle was never recorded, from its
            record directory; None if it never ended.
        policy: What the site and the user allow.
        provenance: Versions, host, storage; text to text.
        memory: What earlier studies found; None: nothing is remembered, nor kept.
    """

    launcher: Launcher
    workspace: Workspace
    look: Look
    look_first: LookFirst
    compare: Compare
    find_space: Callable[[ProgramFacts], Space]
    configure: Callable[[Mapping[str, Value], ProgramFacts | None], Configuration]
    sweep: Callable[[Path], object]
    find_again: Callable[[str, Path], Handle | None]
    policy: Policy
    provenance: Mapping[str, str] = field(default_factory=dict)
    memory: Memory | None = None
    unreadable: Callable[[str], str] = lambda run_id: ""
