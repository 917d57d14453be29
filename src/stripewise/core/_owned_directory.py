# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes, trusts, writes into and removes directories that Stripewise owns, temporary ones too."""

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
"""File in a directory that Stripewise made: what for, and a random identity."""
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
    """A directory of the user's alone, made by Stripewise, or a folder inside of one.

    Every operation opens it anew by descriptors, component by component without following
    links, and sees by the mark that it is still the directory that was made.

    Attributes:
        root: Absolute path of the directory with the mark.
        kind: What it was made for: "study", "run", "probe" and the like.
        identity: Random text in its mark.
        made: Whether Stripewise made it; else it was an empty directory of the user's.
        host: On which it was made.
        parts: Folders below the root that lead to this one; none: it is the root.
    """

    root: Path
    kind: str
    identity: str
    made: bool = True
    host: str = ""
    parts: tuple[str, ...] = ()

    @classmethod
    def take(cls, path: Path, kind: str) -> OwnedDirectory:
        """Make a directory, take an empty one, or find the one that was made before.

        Raises:
            StudyError: It holds something else, or is not the user's alone.
            StorageError: It cannot be made.
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
        """Find a directory that was made before.

        Args:
            path: Of the directory.
            kind: What it was made for; any if not given.

        Raises:
            StudyError: It is not there, not the user's alone, or was made for something else.
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
        """Its absolute path."""
        return self.root.joinpath(*self.parts)

    def inside(self, *parts: str) -> OwnedDirectory:
        """Return a folder inside, which need not exist."""
        return replace(self, parts=(*self.parts, *parts))

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open the folder.

        Raises:
            StudyError: The directory is not the one that was made, or a link lies in the way.
            FileNotFoundError: The folder is not there.
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
        """Make the folder with those above it, each for the user alone; return its path.

        Raises:
            StorageError: It cannot be made.
        """
        with _refused("make", self.path, self.kind):
            for place, part in enumerate(self.parts):
                above = replace(self, parts=self.parts[:place])
                with above.opened() as folder, suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=folder)
        with self.opened():
            return self.path

    def names(self) -> tuple[str, ...]:
        """Return the names of the directories in it, links not among them."""
        try:
            with self.opened() as folder, os.scandir(folder) as entries:
                return tuple(sorted(e.name for e in entries if e.is_dir(follow_symlinks=False)))
        except FileNotFoundError:
            return ()

    def read(self, name: str) -> bytes | None:
        """Return the content of a file in it; None if there is none.

        Raises:
            StudyError: It is another user's, can be written by others, or cannot be read.
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
        """Write a file in it for the user alone, whole or not at all; no link is followed.

        Raises:
            StorageError: It cannot be written.
        """
        with _refused("write", self.path / name, self.kind), self.opened() as folder:
            _files.replace_file(folder, name, data)

    def remove(self, name: str) -> None:
        """Remove a name in it and all that is below; no error if it is gone.

        Raises:
            StudyError: The directory is not the one that was made, or a link lies in the way.
            StorageError: It cannot be removed.
        """
        with _refused("remove", self.path / name, self.kind), suppress(FileNotFoundError):
            with self.opened() as folder:
                _files.remove_tree(folder, name)

    def discard(self) -> None:
        """Remove all that is in it, and itself if Stripewise made it."""
        with _refused("remove", self.root, self.kind):
            with self.opened() as folder:
                names = [name for name in os.listdir(folder) if name != MARK]
                for name in (*names, MARK):
                    _files.remove_tree(folder, name)
            if self.made:
                self.root.rmdir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out.

        Raises:
            StudyError: One is in; its pid is named.
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
    """Open a directory that is the user's alone; the last component is no link."""
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
    """Leave the mark in an empty directory; another process's mark is as good."""
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
    """Say what the file system refuses, and the remedy."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise StorageError(
            f"cannot {what} {path}: {why}; free some space there, or give {_other(kind)}"
        ) from error


# Directories for a while, and what processes that were killed have left of them.

_BEGINNING_SECONDS = 10.0
"""A directory so young may belong to a process that has not locked it yet."""


@contextmanager
def temporary_directory(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a directory under a new name, and remove it with all that came into it.

    Those of the same kind that killed processes of this host have left beside it are removed
    first.  What cannot be removed, or is no longer what was made, is left where it is: the work
    in it is done.

    Args:
        kind: What for; it is in the name.
        parent: Where; `TMPDIR` if not given.

    Raises:
        StorageError: It cannot be made.
    """
    place = Path(parent or tempfile.gettempdir()).absolute()
    prefix = f".stripewise-{kind}-"
    for path in place.glob(f"{prefix}*"):
        with suppress(OSError, StudyError, StorageError):
            _remove_if_left(path, kind)
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


def _remove_if_left(path: Path, kind: str) -> None:
    """Remove a directory that no living process has locked."""
    found = OwnedDirectory.find(path, kind)
    if found.host != os.uname().nodename:
        return
    with open_folder(path) as folder:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(folder).st_mtime > _BEGINNING_SECONDS:
            found.discard()
