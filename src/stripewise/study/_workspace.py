# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The places of runs, on a snapshot of the user's directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from stripewise.errors import StorageError
from stripewise.study._options import StudyOptions
from stripewise.study._sandbox import Sandbox
from stripewise.study._snapshot import InputSnapshot
from stripewise.study._tools import Place, Workspace


class SandboxWorkspace(Workspace):
    """In the study: `inputs`, the snapshot; `work`, a directory for each run; `runs`, the records.

    Where there are several cases, runs and records are in `<study>/cases/<case>`.  They share
    the snapshot; a case that names inputs of its own has one of its own there.

    Attributes:
        sandbox: Makes the working directories.
    """

    def __init__(self, options: StudyOptions) -> None:
        """Take the snapshot, or find the one again that the study was begun with."""
        study, part = options.study_directory, options.part_directory
        copy = (study if options.sharing else part) / "inputs"
        snapshot = InputSnapshot.load(copy)
        if snapshot is None:
            commands = options.sharing or (options.command,)
            snapshot = InputSnapshot.create(
                options.origin,
                copy,
                inputs=options.inputs,
                command=[word for command in commands for word in command],
                study_directory=study,
            )
        self.sandbox = Sandbox(snapshot, part / "work")
        self._records = part / "runs"
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
        try:
            self._records.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._records / run_id).mkdir(exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot write in {self._records}: {error.strerror}") from error
        return self.find(run_id)

    def find(self, run_id: str) -> Place:
        """Return where a run is or was."""
        directory = self.sandbox.directory(run_id)
        return Place(
            directory=directory,
            record_directory=self._records / run_id,
            writable=(directory.parent,),
            command=self.sandbox.command(self._command, run_id),
        )

    def release(self, run_id: str, *, outputs: bool = True, evidence: bool = True) -> None:
        """Remove a run's files and containers; its standard output and error stay."""
        if outputs:
            self.sandbox.remove(run_id)
        if evidence:
            shutil.rmtree(self._records / run_id / "containers", ignore_errors=True)

    def forget(self, run_id: str) -> None:
        """Remove a run's files, containers and what it said."""
        self.sandbox.remove(run_id)
        shutil.rmtree(self._records / run_id, ignore_errors=True)

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


def other_file_system(options: StudyOptions) -> str:
    """Warn if the runs work on another storage than the user's directory; "" if not."""
    study = options.study_directory
    if os.stat(study).st_dev == os.stat(options.origin).st_dev:
        return ""
    return (
        f"the study's directory {study} lies on another file system than {options.origin}: "
        "that storage is measured; give --study-dir inside the one that your jobs write to"
    )


def size_of_outputs(sandbox: Sandbox, run_id: str) -> int:
    """Return the bytes of all files that a run made or changed."""
    return sandbox.outputs(run_id).size_bytes


def shown(path: Path | str) -> str:
    """Return a path for people; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
