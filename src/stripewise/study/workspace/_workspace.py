# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a working directory for each run: inputs as at the start, outputs new in every run."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stripewise.core import OwnedDirectory
from stripewise.core.errors import StorageError, StudyError, UsageError
from stripewise.storage.emulation import Layout, set_layout
from stripewise.study.workspace._copying import can_clone, check_free, check_quota, copy_file
from stripewise.study.workspace._snapshot import InputSnapshot, SnapshotEntry

SMALL_BYTES = 1 << 20
"""Size up to which inputs are copied in every run; larger read-only ones are linked."""

RUN_DIRECTORY = "{run_dir}"


@dataclass(frozen=True)
class RunLocation:
    """Directories and command of a run.

    Attributes:
        directory: Working directory of the run.
        record_directory: Directory of its evidence.
        writable: Directories in which files may be created and changed.
        command: Command with its paths adapted to this place.
    """

    directory: Path
    record_directory: Path
    writable: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputFile:
    """File that a run created or changed.

    Attributes:
        path: Path relative to the run's directory.
        size_bytes: Length of the file.
        is_link: Whether it is a symbolic link, which is compared by its target.
    """

    path: str
    size_bytes: int
    is_link: bool = False


@dataclass(frozen=True)
class OutputSet:
    """All files that a run wrote."""

    directory: Path
    files: tuple[OutputFile, ...]

    @property
    def size_bytes(self) -> int:
        """Total number of bytes of all files."""
        return sum(file.size_bytes for file in self.files)

    @classmethod
    def of(cls, directory: Path) -> OutputSet:
        """Return all files and links in a directory, ordered by path."""
        found = []
        for folder, folders, files in os.walk(directory):
            links = [entry for entry in folders if os.path.islink(os.path.join(folder, entry))]
            for path in (os.path.join(folder, entry) for entry in (*files, *links)):
                status = os.lstat(path)
                is_link = stat.S_ISLNK(status.st_mode)
                if is_link or stat.S_ISREG(status.st_mode):
                    size = 0 if is_link else status.st_size
                    found.append(OutputFile(os.path.relpath(path, directory), size, is_link))
        return cls(directory, tuple(sorted(found, key=lambda file: file.path)))


class Workspace:
    """Creates the places of runs from a snapshot, finds their outputs, and removes them again.

    A run works in `work/<run_id>/<name of the user's directory>`, so that `..` is private to it
    too, and its evidence is in `runs/<run_id>`.  Files that runs did not create are never touched.

    Attributes:
        snapshot: Inputs as they were at the start.
    """

    def __init__(
        self,
        snapshot: InputSnapshot,
        home: OwnedDirectory,
        command: Sequence[str] = (),
        *,
        emulated: bool = False,
        allowed: Sequence[Path] = (),
    ) -> None:
        """Store the snapshot, a folder for runs and records, and the command of the runs.

        Args:
            snapshot: Inputs of the runs.
            home: Folder for runs and records.
            command: Command of the runs.
            emulated: Whether runs are on emulated storage: inputs are in the directory of the run,
                as hard links if they are large, and have the layouts of the originals.
            allowed: Absolute paths of outside directories and files that runs may change.
        """
        self.snapshot = snapshot
        self._work = home.inside("work")
        self._records = home.inside("runs")
        self._command = command
        self._emulated = emulated
        self._allowed = tuple(allowed)
        self._written: Collection[str] | None = None
        self._old_outputs: Collection[str] = ()
        self._output_bytes = 0
        self._granted_bytes = 0

    def first_run_known(
        self, written_inputs: Collection[str], output_bytes: int, old_outputs: Collection[str] = ()
    ) -> None:
        """Learn from the first run which inputs are written to, and the size of the outputs.

        Before that, every input is copied; afterwards inputs that are only read are linked.

        Args:
            written_inputs: Paths relative to the run.
            output_bytes: Total size of outputs; a run without enough space for them is refused.
            old_outputs: Files of the snapshot that are not inputs but outputs of an earlier run by
                hand, which the program replaces: they are left out of later runs, so that they are
                created anew.
        """
        self._written = written_inputs
        self._old_outputs = old_outputs
        self._output_bytes = output_bytes

    def prepare(self, run_id: str) -> RunLocation:
        """Create a new place with the inputs as they were at the start.

        Raises:
            StudyError: The snapshot is damaged, or the directory exists.
            StorageError: There is not enough space or quota.
        """
        self.snapshot.check()
        directory = self._directory(run_id)
        try:
            self._work.make()
            self._check_space(self._output_bytes + self._copied_bytes())
            directory.parent.mkdir(mode=0o700)
            directory.mkdir()
            if self._emulated and self.snapshot.layout:
                set_layout(directory, Layout.parse(self.snapshot.layout))
            for relative, entry in self.snapshot.entries.items():
                if relative not in self._old_outputs:
                    self._copy_or_link(relative, entry, directory / relative)
        except FileExistsError:
            raise StudyError(f"{directory.parent} exists already; remove it first") from None
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"cannot prepare {directory}: {error}; free some space there"
            ) from error
        self._records.inside(run_id).make()
        return self.find(run_id)

    def find(self, run_id: str) -> RunLocation:
        """Return the place of a run, present or past, without creating anything.

        Raises:
            UsageError: The command names an outside file to be created, which no trial may do.
        """
        directory = self._directory(run_id)
        return RunLocation(
            directory=directory,
            record_directory=self._records.path / run_id,
            writable=(directory.parent, *self._allowed),
            command=tuple(self._adapted(word, directory) for word in self._command),
        )

    def outputs(self, run_id: str) -> OutputSet:
        """Return the files that a run created or changed relative to the snapshot."""
        every = OutputSet.of(self._directory(run_id))
        new = (file for file in every.files if not self._is_input(every.directory, file))
        return OutputSet(every.directory, tuple(new))

    def release(self, run_id: str, *, evidence: bool = True) -> None:
        """Remove a run's files and containers, if they still exist; its messages are kept.

        Only files inside its directory are removed; links are removed, never followed.

        Raises:
            StudyError: The directory was not made by `prepare`.
            StorageError: The directory cannot be removed.
        """
        top = self._directory(run_id).parent
        if run_id in self._work.names():
            self._work.remove(run_id)
        elif os.path.lexists(top):
            raise StudyError(f"{top} is not a run's directory; it is left alone")
        if evidence:
            self._records.inside(run_id).remove("containers")

    def forget(self, run_id: str) -> None:
        """Remove a run's files, containers and messages."""
        self.release(run_id, evidence=False)
        self._records.remove(run_id)

    def check_after_failure(self, run_id: str) -> None:
        """Distinguish a full disk from a failed run by checking the space for another run.

        Raises:
            StorageError: There is not enough, so the failure says nothing about the run.
        """
        self.release(run_id, evidence=False)
        self._check_space(self._output_bytes)

    def sweep(self, kept: Collection[str]) -> None:
        """Remove the working directories of all runs except the given ones, after a restart."""
        for run_id in set(self._work.names()) - set(kept):
            self.release(run_id, evidence=False)

    def _directory(self, run_id: str) -> Path:
        if not run_id or run_id in (".", "..") or "/" in run_id or "\0" in run_id:
            raise UsageError(f"{run_id!r} cannot name a run's directory")
        return self._work.path / run_id / (self.snapshot.source.name or "run")

    def _check_space(self, needed_bytes: int) -> None:
        """Refuse a run that does not fit; the quota is tested if more is needed than before."""
        check_free(self._work.path, needed_bytes, "a run")
        if needed_bytes > self._granted_bytes:
            check_quota(self._work.path, needed_bytes, "a run")
            self._granted_bytes = needed_bytes

    def _adapted(self, argument: str, directory: Path) -> str:
        """Adapt an argument of the command to the run: `{run_dir}`, and paths that lead outside.

        A relative path out of the user's directory would lead elsewhere from the run's directory:
        if it exists it is made absolute.
        """
        key, separator, value = argument.partition("=")
        if separator and _leaves(value):
            return f"{key}={self._absolute(value)}"
        if _leaves(argument):
            return self._absolute(argument)
        return argument.replace(RUN_DIRECTORY, str(directory))

    def _absolute(self, text: str) -> str:
        path = Path(os.path.normpath(self.snapshot.source / text))
        if path.is_relative_to(self.snapshot.source):
            return text
        if path.exists():
            return str(path)
        if path.parent.is_dir():
            raise UsageError(
                f"{text} would be made outside of {self.snapshot.source}, where a trial must not "
                f"write; start from a directory above it, or write {RUN_DIRECTORY}/{path.name}"
            )
        return text

    def _copied_bytes(self) -> int:
        """Return the bytes of a run's copies of the inputs."""
        if self._clones:
            return 0
        return sum(
            entry.size_bytes
            for relative, entry in self.snapshot.entries.items()
            if entry.kind == "file" and self._is_copied(relative, entry)
        )

    def _is_copied(self, relative: str, entry: SnapshotEntry) -> bool:
        if self._clones or entry.size_bytes <= SMALL_BYTES:
            return True
        return self._written is None or relative in self._written

    @cached_property
    def _clones(self) -> bool:
        """Whether copies of large inputs share their blocks with the originals."""
        for relative, entry in self.snapshot.entries.items():
            if entry.kind == "file" and entry.size_bytes > SMALL_BYTES:
                return can_clone(self.snapshot.directory / relative, self._work.path)
        return False

    def _copy_or_link(self, relative: str, entry: SnapshotEntry, target: Path) -> None:
        original = self.snapshot.directory / relative
        if entry.kind == "directory":
            target.mkdir(mode=0o700)
            os.chmod(target, entry.mode | 0o700)
            self._give_layout(entry, target)
        elif entry.kind == "link":
            os.symlink(entry.target, target)
        elif self._is_copied(relative, entry):
            copy_file(original, target)
            os.chmod(target, entry.mode | 0o200)
            self._give_layout(entry, target)
            os.chmod(target, entry.mode)
        elif self._emulated:
            os.link(original, target)
        else:
            os.symlink(original, target)

    def _give_layout(self, entry: SnapshotEntry, target: Path) -> None:
        if self._emulated and entry.layout:
            set_layout(target, Layout.parse(entry.layout), even_with_data=True)

    def _is_input(self, directory: Path, file: OutputFile) -> bool:
        """Return whether a file of a run is unchanged from the snapshot."""
        entry = self.snapshot.entries.get(file.path)
        if entry is None:
            return False
        if not file.is_link:
            return entry.is_same(os.lstat(directory / file.path))
        target = os.readlink(directory / file.path)
        same = entry.kind == "link" and target == entry.target
        return same or target == str(self.snapshot.directory / file.path)


def _leaves(text: str) -> bool:
    return not text.startswith("/") and ".." in text.split("/")
