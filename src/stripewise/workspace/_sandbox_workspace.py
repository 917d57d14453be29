# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The places of runs, on a snapshot of the user's directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from stripewise.owned import OwnedDirectory
from stripewise.workspace._place import Place, Workspace
from stripewise.workspace._sandbox import Sandbox
from stripewise.workspace._snapshot import InputSnapshot


class Origin(Protocol):
    """What a workspace must know of the command whose runs it makes places for."""

    @property
    def study_directory(self) -> Path:
        """Holds everything that the study makes."""

    @property
    def part(self) -> Path:
        """Holds the runs of this command, one of several cases; relative to the study's."""

    @property
    def origin(self) -> Path:
        """The user's directory, which is copied."""

    @property
    def inputs(self) -> Sequence[Path]:
        """Names the inputs that the command does not; relative to `origin`."""

    @property
    def command(self) -> Sequence[str]:
        """The words of the command."""

    @property
    def sharing(self) -> Sequence[Sequence[str]]:
        """The commands of all cases with the same snapshot."""


class SandboxWorkspace(Workspace):
    """In the study: `inputs`, the snapshot; `work`, a directory for each run; `runs`, the records.

    Where there are several cases, runs and records are in `<study>/cases/<case>`.  They share
    the snapshot; a case that names inputs of its own has one of its own there.

    Attributes:
        sandbox: Makes the working directories.
    """

    def __init__(self, options: Origin) -> None:
        """Take the snapshot, or find the one again that the study was begun with."""
        study = OwnedDirectory.find(options.study_directory)
        part = study.inside(*options.part.parts)
        home = study if options.sharing else part
        home.make()
        snapshot = InputSnapshot.load(home)
        if snapshot is None:
            commands = options.sharing or (options.command,)
            snapshot = InputSnapshot.create(
                options.origin,
                home,
                inputs=options.inputs,
                command=[word for command in commands for word in command],
                study_directory=study.path,
            )
        self.sandbox = Sandbox(snapshot, part.inside("work"))
        self._records = part.inside("runs")
        self._command = options.command
        self._written: tuple[str, ...] | None = None
        self._output_bytes = 0
        self._old_outputs: tuple[str, ...] = ()

    def prepare(self, run_id: str) -> Place:
        """Make a fresh place; see `Workspace.prepare`."""
        self.sandbox.prepare(
            run_id,
            written=self._written,
            omit=self._old_outputs,
            expected_bytes=self._output_bytes,
        )
        self._records.inside(run_id).make()
        return self.find(run_id)

    def find(self, run_id: str) -> Place:
        """Return where a run is or was."""
        directory = self.sandbox.directory(run_id)
        return Place(
            directory=directory,
            record_directory=self._records.path / run_id,
            writable=(directory.parent,),
            command=self.sandbox.command(self._command, run_id),
        )

    def release(self, run_id: str, *, outputs: bool = True, evidence: bool = True) -> None:
        """Remove a run's files and containers; its standard output and error stay."""
        if outputs:
            self.sandbox.remove(run_id)
        if evidence:
            self._records.inside(run_id).remove("containers")

    def forget(self, run_id: str) -> None:
        """Remove a run's files, containers and what it said."""
        self.sandbox.remove(run_id)
        self._records.remove(run_id)

    def check_after_failure(self, run_id: str) -> None:
        """Remove its outputs, look for room; see `Workspace.check_after_failure`."""
        self.sandbox.remove(run_id)
        self.sandbox.check_space(self._output_bytes)

    def first_run_known(
        self, written_inputs: Sequence[str], output_bytes: int, old_outputs: Sequence[str] = ()
    ) -> None:
        """Link inputs that are only read, leave old outputs out, ask for the room of a run."""
        self._written = tuple(written_inputs)
        self._old_outputs = tuple(old_outputs)
        self._output_bytes = output_bytes

    def sweep(self, kept: Sequence[str]) -> None:
        """Remove the working directories of all other runs."""
        for name in set(self.sandbox.names()) - set(kept):
            self.sandbox.remove(name)
