# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A working directory for each run: inputs as at the start, outputs new in every run."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stripewise.errors import StorageError, StudyError, UsageError
from stripewise.owned import OwnedDirectory
from stripewise.workspace._copying import can_clone, copy_file
from stripewise.workspace._disk_space import check_free, check_quota
from stripewise.workspace._snapshot import Entry, InputSnapshot

SMALL_BYTES = 1 << 20
"""Inputs up to this size are copied in every run; larger ones that are only read are linked."""

RUN_DIRECTORY = "{run_dir}"


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


class Sandbox:
    """Makes run directories from a snapshot, finds what runs wrote, removes them again.

    A run's directory is `<root>/<name>/<name of the user's directory>`, so that `..` is
    private to the run too.
    """

    def __init__(self, snapshot: InputSnapshot, home: OwnedDirectory) -> None:
        """Take the snapshot and a folder for the runs; everything inside is Stripewise's."""
        self.snapshot = snapshot
        self._home = home
        self.root = home.path
        self._granted_bytes = 0

    def directory(self, name: str) -> Path:
        """Return where the run `name` works, without making anything."""
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise UsageError(f"{name!r} cannot name a run's directory")
        return self.root / name / (self.snapshot.source.name or "run")

    def prepare(
        self,
        name: str,
        *,
        written: Collection[str] | None = None,
        omit: Collection[str] = (),
        expected_bytes: int = 0,
    ) -> Path:
        """Make the directory of a run.

        Args:
            name: Of the run; unique.
            written: Inputs (relative paths) known to be opened for writing; None: unknown,
                every input is copied.
            omit: Files of the snapshot (relative paths) that are not inputs but what an earlier
                run by hand left, and that the program replaces: left out, so that they are
                new in every run.
            expected_bytes: What the run will write, as far as known.

        Raises:
            StudyError: The snapshot is damaged, or the directory exists.
            StorageError: No room or no quota for it.
        """
        self.snapshot.check()
        directory = self.directory(name)
        try:
            self._home.make()
            self.check_space(expected_bytes + self._copied_bytes(written))
            directory.parent.mkdir(mode=0o700)
            directory.mkdir()
            for relative, entry in self.snapshot.entries.items():
                if relative in omit:
                    continue
                self._place(relative, entry, directory / relative, written)
        except FileExistsError:
            raise StudyError(f"{directory.parent} exists already; remove it first") from None
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"cannot prepare {directory}: {error}; make room there") from error
        return directory

    def check_space(self, needed_bytes: int) -> None:
        """Refuse a run that does not fit; the quota is asked when more is needed than before.

        Raises:
            StorageError: What is needed, what is free, and the remedy.
        """
        check_free(self.root, needed_bytes, "a run")
        if needed_bytes > self._granted_bytes:
            check_quota(self.root, needed_bytes, "a run")
            self._granted_bytes = needed_bytes

    def outputs(self, name: str) -> OutputSet:
        """Find what the run created or changed, against the snapshot."""
        directory = self.directory(name)
        found = []
        for folder, folders, files in os.walk(directory):
            links = [entry for entry in folders if os.path.islink(os.path.join(folder, entry))]
            for entry in (*files, *links):
                path = os.path.join(folder, entry)
                output = self._output(path, os.path.relpath(path, directory))
                if output is not None:
                    found.append(output)
        return OutputSet(directory, tuple(sorted(found, key=lambda file: file.path)))

    def remove(self, name: str) -> None:
        """Remove a run's directory; no error if it is gone.

        Only what lies inside is removed; links are removed, never followed.

        Raises:
            StudyError: It is not a directory that `prepare` made.
            StorageError: It cannot be removed.
        """
        top = self.directory(name).parent
        if name in self.names():
            self._home.remove(name)
        elif os.path.lexists(top):
            raise StudyError(f"{top} is not a run's directory; it is left alone")

    def names(self) -> tuple[str, ...]:
        """Names of the runs whose directories exist."""
        return self._home.names()

    def command(self, command: Sequence[str], name: str) -> tuple[str, ...]:
        """Adapt a command to the run: `{run_dir}`, and paths that leave the user's directory.

        A relative path that leaves the user's directory would lead elsewhere from the run's
        directory: if it exists it is made absolute.

        Raises:
            UsageError: Such a path names a file to be made, which no trial may do there.
        """
        directory = self.directory(name)
        adapted = []
        for argument in command:
            key, separator, value = argument.partition("=")
            if separator and _leaves(value):
                adapted.append(f"{key}={self._absolute(value)}")
            elif _leaves(argument):
                adapted.append(self._absolute(argument))
            else:
                adapted.append(argument.replace(RUN_DIRECTORY, str(directory)))
        return tuple(adapted)

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

    def _copied_bytes(self, written: Collection[str] | None) -> int:
        if self._clones:
            return 0
        return sum(
            entry.size_bytes
            for relative, entry in self.snapshot.entries.items()
            if entry.kind == "file" and self._is_copied(relative, entry, written)
        )

    def _is_copied(self, relative: str, entry: Entry, written: Collection[str] | None) -> bool:
        known_read_only = written is not None and relative not in written
        return self._clones or entry.size_bytes <= SMALL_BYTES or not known_read_only

    @cached_property
    def _clones(self) -> bool:
        """Whether copies of large inputs cost no blocks."""
        for relative, entry in self.snapshot.entries.items():
            if entry.kind == "file" and entry.size_bytes > SMALL_BYTES:
                return can_clone(self.snapshot.directory / relative, self.root)
        return False

    def _place(
        self, relative: str, entry: Entry, target: Path, written: Collection[str] | None
    ) -> None:
        original = self.snapshot.directory / relative
        if entry.kind == "directory":
            target.mkdir(mode=0o700)
            os.chmod(target, entry.mode | 0o700)
        elif entry.kind == "link":
            os.symlink(entry.target, target)
        elif self._is_copied(relative, entry, written):
            copy_file(original, target)
            os.chmod(target, entry.mode)
        else:
            os.symlink(original, target)

    def _output(self, path: str, relative: str) -> OutputFile | None:
        status = os.lstat(path)
        entry = self.snapshot.entries.get(relative)
        if stat.S_ISLNK(status.st_mode):
            return self._link_output(path, relative, entry)
        if not stat.S_ISREG(status.st_mode):
            return None
        if entry is not None and entry.kind == "file":
            same = (status.st_size, status.st_mtime_ns) == (entry.size_bytes, entry.mtime_ns)
            if same:
                return None
        return OutputFile(relative, status.st_size)

    def _link_output(self, path: str, relative: str, entry: Entry | None) -> OutputFile | None:
        target = os.readlink(path)
        if entry is not None and entry.kind == "link" and target == entry.target:
            return None
        if entry is not None and target == str(self.snapshot.directory / relative):
            return None
        return OutputFile(relative, 0, is_link=True)


def _leaves(text: str) -> bool:
    return not text.startswith("/") and ".." in text.split("/")
