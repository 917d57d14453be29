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
from stripewise.study.workspace._snapshot import Entry, InputSnapshot

SMALL_BYTES = 1 << 20
"""Inputs up to this size are copied in every run; larger ones that are only read are linked."""

RUN_DIRECTORY = "{run_dir}"


@dataclass(frozen=True)
class Place:
    """Where a run takes place.

    Attributes:
        directory: Its working directory.
        record_directory: Where its evidence goes.
        writable: Directories in which files may be made and changed.
        command: The command with its paths as they are in this place.
    """

    directory: Path
    record_directory: Path
    writable: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputFile:
    """A file that a run created or changed.

    Attributes:
        path: Relative to the run's directory.
        size_bytes: Its length.
        is_link: A symbolic link, compared by its target.
    """

    path: str
    size_bytes: int
    is_link: bool = False


@dataclass(frozen=True)
class OutputSet:
    """All that a run wrote."""

    directory: Path
    files: tuple[OutputFile, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size_bytes for file in self.files)

    @classmethod
    def of(cls, directory: Path) -> OutputSet:
        """Take all files and links in a directory, in order of their paths."""
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
    """Makes the places of runs from a snapshot, finds what runs wrote, removes it again.

    A run works in `work/<run_id>/<name of the user's directory>`, so that `..` is private to it
    too, and its evidence goes to `runs/<run_id>`.  Nothing that runs did not make is touched.

    Attributes:
        snapshot: The inputs as they were at the start.
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
        """Take the snapshot, a folder for runs and records, and the command of the runs.

        Args:
            snapshot: The inputs.
            home: Folder.
            command: Command of the runs.
            emulated: Runs are on emulated storage: inputs lie in the directory of the run, by
                hard links where they are large, and have the layouts of the originals.
            allowed: Directories and files outside, absolute, that runs may change.
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
        """Learn from the first run which inputs are written to, and how much is made.

        Before that every input is copied; afterwards inputs that are only read are linked.

        Args:
            written_inputs: Paths relative to the run.
            output_bytes: Bytes of all outputs; a run that has no room for them is refused.
            old_outputs: Files of the snapshot that are not inputs but what an earlier run by
                hand left, and that the program replaces: left out of the runs that follow, so
                that they are made anew.
        """
        self._written = written_inputs
        self._old_outputs = old_outputs
        self._output_bytes = output_bytes

    def prepare(self, run_id: str) -> Place:
        """Make a fresh place with the inputs as they were at the start.

        Raises:
            StudyError: The snapshot is damaged, or the directory exists.
            StorageError: No room or no quota for it.
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

    def find(self, run_id: str) -> Place:
        """Return where a run is or was, without making anything.

        Raises:
            UsageError: The command names a file to be made outside, which no trial may do.
        """
        directory = self._directory(run_id)
        return Place(
            directory=directory,
            record_directory=self._records.path / run_id,
            writable=(directory.parent, *self._allowed),
            command=tuple(self._adapted(word, directory) for word in self._command),
        )

    def outputs(self, run_id: str) -> OutputSet:
        """Find what the run created or changed, against the snapshot."""
        every = OutputSet.of(self._directory(run_id))
        new = (file for file in every.files if not self._is_input(every.directory, file))
        return OutputSet(every.directory, tuple(new))

    def release(self, run_id: str, *, evidence: bool = True) -> None:
        """Remove a run's files and containers, if not gone yet; what it said stays.

        Only what lies inside is removed; links are removed, never followed.

        Raises:
            StudyError: It is not a directory that `prepare` made.
            StorageError: It cannot be removed.
        """
        top = self._directory(run_id).parent
        if run_id in self._work.names():
            self._work.remove(run_id)
        elif os.path.lexists(top):
            raise StudyError(f"{top} is not a run's directory; it is left alone")
        if evidence:
            self._records.inside(run_id).remove("containers")

    def forget(self, run_id: str) -> None:
        """Remove a run's files, containers and what it said."""
        self.release(run_id, evidence=False)
        self._records.remove(run_id)

    def check_after_failure(self, run_id: str) -> None:
        """Tell a full disk from a bad run: is there room for another, its outputs removed?

        Raises:
            StorageError: There is not, so the failure says nothing about the run.
        """
        self.release(run_id, evidence=False)
        self._check_space(self._output_bytes)

    def sweep(self, kept: Collection[str]) -> None:
        """Remove the working directories of all runs but these; after a restart."""
        for run_id in set(self._work.names()) - set(kept):
            self.release(run_id, evidence=False)

    def _directory(self, run_id: str) -> Path:
        if not run_id or run_id in (".", "..") or "/" in run_id or "\0" in run_id:
            raise UsageError(f"{run_id!r} cannot name a run's directory")
        return self._work.path / run_id / (self.snapshot.source.name or "run")

    def _check_space(self, needed_bytes: int) -> None:
        """Refuse a run that does not fit; the quota is asked when more is needed than before."""
        check_free(self._work.path, needed_bytes, "a run")
        if needed_bytes > self._granted_bytes:
            check_quota(self._work.path, needed_bytes, "a run")
            self._granted_bytes = needed_bytes

    def _adapted(self, argument: str, directory: Path) -> str:
        """Adapt a word of the command to the run: `{run_dir}`, and paths that leave the user's.

        A relative path that leaves the user's directory would lead elsewhere from the run's
        directory: if it exists it is made absolute.
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
        """Return the bytes that a run's copies of the inputs take."""
        if self._clones:
            return 0
        return sum(
            entry.size_bytes
            for relative, entry in self.snapshot.entries.items()
            if entry.kind == "file" and self._is_copied(relative, entry)
        )

    def _is_copied(self, relative: str, entry: Entry) -> bool:
        if self._clones or entry.size_bytes <= SMALL_BYTES:
            return True
        return self._written is None or relative in self._written

    @cached_property
    def _clones(self) -> bool:
        """Whether copies of large inputs cost no blocks."""
        for relative, entry in self.snapshot.entries.items():
            if entry.kind == "file" and entry.size_bytes > SMALL_BYTES:
                return can_clone(self.snapshot.directory / relative, self._work.path)
        return False

    def _copy_or_link(self, relative: str, entry: Entry, target: Path) -> None:
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

    def _give_layout(self, entry: Entry, target: Path) -> None:
        if self._emulated and entry.layout:
            set_layout(target, Layout.parse(entry.layout), even_with_data=True)

    def _is_input(self, directory: Path, file: OutputFile) -> bool:
        """Return whether a file of a run is as it came from the snapshot."""
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
