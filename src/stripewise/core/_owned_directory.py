# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates, checks, fills and removes directories that Stripewise owns, also temporary ones."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from stripewise.core import _files
from stripewise.core.errors import StorageError, StudyError

MARK = ".stripewise-mark"
"""File in each owned directory that contains its purpose and a random identity."""
LOCK = "lock"
_FEW_BYTES = 4096
_OPTIONS = {
    "study": "--study-dir",
    "recording": "--work-dir",
    "replay": "--directory",
    "training": "-o",
}


@dataclass(frozen=True)
class OwnedDirectory:
    """A private directory that Stripewise created, or a folder inside one.

    Every operation reopens it by descriptors, component by component without following links, and
    uses the mark to verify that it is still the same directory.

    Attributes:
        root: Absolute path of the directory with the mark.
        kind: Purpose of the directory: "study", "run", "probe" and the like.
        identity: Random text in the mark.
        made: Whether Stripewise created it; if not, it was an empty directory of the user.
        host: Name of the host on which it was created.
        parts: Names of the folders from the root to this one; empty for the root itself.
    """

    root: Path
    kind: str
    identity: str
    made: bool = True
    host: str = ""
    parts: tuple[str, ...] = ()

    @classmethod
    def take(cls, path: Path, kind: str) -> OwnedDirectory:
        """Create a directory, take over an empty one, or find an owned one.

        Raises:
            StudyError: It contains something else, or is not private to the user.
            StorageError: It cannot be created.
        """
        path = path.absolute()
        with _refused("make", path, kind):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                path.mkdir(mode=0o700)
                made = True
            except FileExistsError:
                made = False
            with open_folder(path) as folder:
                if MARK not in os.listdir(folder):
                    leave_mark(folder, path, kind, made)
        return cls.find(path, kind)

    @classmethod
    def find(cls, path: Path, kind: str = "") -> OwnedDirectory:
        """Find an owned directory that already exists.

        Args:
            path: Path of the directory.
            kind: Expected purpose; any if not given.

        Raises:
            StudyError: It does not exist, is not private to the user, or has another purpose.
        """
        path = path.absolute()
        try:
            with open_folder(path) as folder:
                found = _read_mark(folder, path)
        except OSError as error:
            raise StudyError(f"cannot open {path}: {error.strerror or error}") from error
        if kind and found.kind != kind:
            other = _other(kind)
            raise StudyError(f"{path} is the directory of a {found.kind}; give {other}")
        return found

    @property
    def path(self) -> Path:
        """Absolute path of the directory."""
        return self.root.joinpath(*self.parts)

    def inside(self, *parts: str) -> OwnedDirectory:
        """Return a folder inside this one, which need not exist."""
        return replace(self, parts=(*self.parts, *parts))

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open the folder and yield its descriptor.

        Raises:
            StudyError: The directory is no longer the original one, or its path contains a link.
            FileNotFoundError: The folder does not exist.
        """
        with open_folder(self.root) as root:
            found = _read_mark(root, self.root)
            if found.identity != self.identity:
                raise StudyError(f"{self.root} was replaced in the meantime and is left as it is")
            folder, path = root, self.root
            with ExitStack() as opened:
                for part in self.parts:
                    path /= part
                    folder = _inner(folder, part, path)
                    opened.callback(os.close, folder)
                yield folder

    def make(self) -> Path:
        """Create the folder and its parents with private access, and return its path.

        Raises:
            StorageError: It cannot be created.
        """
        with _refused("make", self.path, self.kind):
            for place, part in enumerate(self.parts):
                above = replace(self, parts=self.parts[:place])
                with above.opened() as folder, suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=folder)
        with self.opened():
            return self.path

    def names(self) -> tuple[str, ...]:
        """Return the names of the directories in the folder, without links."""
        try:
            with self.opened() as folder, os.scandir(folder) as entries:
                return tuple(sorted(e.name for e in entries if e.is_dir(follow_symlinks=False)))
        except FileNotFoundError:
            return ()

    def read(self, name: str) -> bytes | None:
        """Return the content of a file in the folder; None if it does not exist.

        Raises:
            StudyError: It belongs to another user, others can write to it, or it cannot be read.
        """
        try:
            with self.opened() as folder:
                descriptor = _files.open_private(Path(name), os.O_RDONLY, folder)
            with open(descriptor, "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise StudyError(f"cannot read {self.path / name}: {why}") from error

    def write(self, name: str, data: bytes) -> None:
        """Write a private file in the folder atomically, without following links.

        Raises:
            StorageError: It cannot be written.
        """
        with _refused("write", self.path / name, self.kind), self.opened() as folder:
            _files.replace_file(folder, name, data)

    def remove(self, name: str) -> None:
        """Remove an entry of the folder and all that is below it, if it exists.

        Raises:
            StudyError: The directory is no longer the original one, or its path contains a link.
            StorageError: It cannot be removed.
        """
        with _refused("remove", self.path / name, self.kind), suppress(FileNotFoundError):
            with self.opened() as folder:
                _files.remove_tree(folder, name)

    def discard(self) -> None:
        """Remove the directory's content, and the directory itself if Stripewise created it."""
        with _refused("remove", self.root, self.kind):
            with self.opened() as folder:
                names = [name for name in os.listdir(folder) if name != MARK]
                for name in (*names, MARK):
                    _files.remove_tree(folder, name)
            if self.made:
                self.root.rmdir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory against other processes.

        Raises:
            StudyError: Another process holds the lock; its pid is named.
            StorageError: It cannot be locked.
        """
        with _refused("lock", self.path, self.kind), self.opened() as folder:
            descriptor = _files.open_private(Path(LOCK), os.O_RDWR | os.O_CREAT, folder)
        try:
            self._lock(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        with _refused("write in", self.path, self.kind):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pid = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
                raise StudyError(
                    f"{self.path} is in use by pid {pid}; wait for it, or give {_other(self.kind)}"
                ) from None
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    """Open a private directory whose last path component is not a link."""
    descriptor = _inner(None, path, path)
    try:
        _files.check_private(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def _inner(folder: int | None, name: str | Path, path: Path) -> int:
    try:
        return os.open(name, _files.FOLDER_FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise StudyError(
                f"{path} is a link or not a directory, and is left as it is: give the directory "
                "itself"
            ) from None
        raise


def leave_mark(folder: int, path: Path, kind: str, made: bool) -> None:
    """Write the mark into an empty directory, or accept the mark of another process."""
    names = os.listdir(folder)
    foreign = [name for name in names if MARK not in name]
    if foreign and MARK not in names:
        raise StudyError(
            f"{path} exists and is not a {kind} of this version ({min(foreign)} lies in it); "
            f"give {_other(kind)}"
        )
    os.fchmod(folder, 0o700)
    facts = {"kind": kind, "identity": uuid4().hex, "made": made, "host": os.uname().nodename}
    text = json.dumps(facts)
    temporary = f"{MARK}.{uuid4().hex}"
    _files.replace_file(folder, temporary, text.encode())
    try:
        os.link(temporary, MARK, src_dir_fd=folder, dst_dir_fd=folder)
        os.unlink(temporary, dir_fd=folder)
    except FileExistsError:
        os.unlink(temporary, dir_fd=folder)
    except OSError:  # no hard links on this file system
        os.rename(temporary, MARK, src_dir_fd=folder, dst_dir_fd=folder)


def _read_mark(folder: int, path: Path) -> OwnedDirectory:
    try:
        descriptor = _files.open_private(Path(MARK), os.O_RDONLY, folder)
        with open(descriptor, "rb") as stream:
            data = json.loads(stream.read(_FEW_BYTES))
        words = (str(data["kind"]), str(data["identity"]))
        return OwnedDirectory(path, *words, bool(data["made"]), str(data.get("host", "")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(
            f"{path} was not made by this version of Stripewise (it holds no {MARK} that can be "
            "read); give another directory"
        ) from error


def _other(kind: str) -> str:
    return f"another {_OPTIONS.get(kind, 'directory')}"


@contextmanager
def _refused(what: str, path: Path, kind: str) -> Iterator[None]:
    """Return an error that says what the file system refused, with the remedy."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise StorageError(
            f"cannot {what} {path}: {why}; free some space there, or give {_other(kind)}"
        ) from error


# Temporary directories, and the removal of those that killed processes left behind.

_BEGINNING_SECONDS = 10.0
"""A directory younger than this may belong to a process that has not locked it yet."""


@contextmanager
def temporary_directory(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Create a directory with a new name, and remove it with its content at the end.

    Directories of the same kind that killed processes of this host left beside it are removed
    first.  A directory that cannot be removed, or has been replaced, is left in place.

    Args:
        kind: Purpose, which becomes part of the name.
        parent: Directory to create it in; `TMPDIR` if not given.

    Raises:
        StorageError: It cannot be created.
    """
    place = Path(parent or tempfile.gettempdir()).absolute()
    prefix = f".stripewise-{kind}-"
    for path in place.glob(f"{prefix}*"):
        with suppress(OSError, StudyError, StorageError):
            _remove_if_abandoned(path, kind)
    try:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with open_folder(path) as folder:
            leave_mark(folder, path, kind, made=True)
    except OSError as error:
        raise StorageError(f"no {kind} directory in {place}: {error.strerror}") from error
    made = OwnedDirectory.find(path, kind)
    try:
        with open_folder(path) as folder:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield path
    finally:
        with suppress(StudyError, StorageError):
            made.discard()


def _remove_if_abandoned(path: Path, kind: str) -> None:
    """Remove a directory that no living process has locked."""
    found = OwnedDirectory.find(path, kind)
    if found.host != os.uname().nodename:
        return
    with open_folder(path) as folder:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(folder).st_mtime > _BEGINNING_SECONDS:
            found.discard()
