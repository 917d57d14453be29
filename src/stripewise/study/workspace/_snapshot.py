# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores the inputs as they were when the study began."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import OwnedDirectory
from stripewise.core.errors import StorageError, StudyError, UsageError
from stripewise.present import printable, size_text
from stripewise.storage.emulation import Layout, layout_text, set_layout
from stripewise.study.workspace._copying import can_clone, check_free, copy_file

MAX_BYTES = 2 << 30
"""Maximum number of bytes to copy; there is no limit if blocks are shared."""
MAX_ENTRIES = 50_000
STUDY_SUFFIX = ".stripewise"
COPY = "inputs"
MANIFEST = "inputs.json"
_LEFT_OUT = frozenset({".git"})
_REMEDY = (
    "name what the program reads with --input PATH (again for each), or start it from a "
    "directory that holds only that"
)


@dataclass(frozen=True)
class SnapshotEntry:
    """One entry of the snapshot.

    Attributes:
        kind: "file", "directory" or "link".
        mode: Permission bits of the original.
        size_bytes / mtime_ns: Size and modification time of a file.
        target: Target of a link, as it is in the snapshot.
        layout: Layout of a file or directory on emulated storage, in the form of its attribute.
    """

    kind: str
    mode: int = 0
    size_bytes: int = 0
    mtime_ns: int = 0
    target: str = ""
    layout: str = ""

    def is_same(self, status: os.stat_result) -> bool:
        """Return whether a status has the same kind and, for a file, is unchanged."""
        if _kind(status.st_mode) != self.kind:
            return False
        unchanged = (status.st_size, status.st_mtime_ns) == (self.size_bytes, self.mtime_ns)
        return self.kind != "file" or unchanged


@dataclass(frozen=True)
class InputSnapshot:
    """Copy of the user's working directory, which is never changed after its creation.

    Attributes:
        directory: Directory of the copy.
        source: Working directory of the user.
        entries: Relative path to its entry; sockets and unreadable files are left out.
        layout: Layout of the user's directory on emulated storage, its own or inherited; empty if
            there is none.
    """

    directory: Path
    source: Path
    entries: Mapping[str, SnapshotEntry]
    layout: str = ""

    @classmethod
    def create(
        cls,
        source: Path,
        home: OwnedDirectory,
        *,
        inputs: Sequence[Path] = (),
        command: Sequence[str] = (),
    ) -> InputSnapshot:
        """Copy the source into a new directory, by reflink if possible.

        The study's directory, other studies and .git are left out.

        Args:
            source: Working directory of the user.
            home: Directory of the study, or a folder in it, for the copy; the remains of an
                interrupted attempt are replaced.
            inputs: Files and directories inside the source to copy; empty for all of it.
            command: Command whose files inside the source are also copied if inputs are given.

        Raises:
            StudyError: There are more than MAX_BYTES; the message has the size and the remedy.
            StorageError: There is not enough space, or the directory cannot be written.
            UsageError: An input is missing or outside of the source.
        """
        source = source.resolve()
        directory = home.path / COPY
        if inputs:
            inputs = (*inputs, *_named_by(command, source))
        names = _select(source, home.root.resolve(), inputs)
        try:
            home.remove(MANIFEST)
            home.remove(COPY)
            home.inside(COPY).make()
            _check_size(source, directory, names)
            entries = _copy(source, directory, names)
            snapshot = cls(directory, source, entries, layout_text(source, inherited=True))
            home.write(MANIFEST, snapshot._manifest())
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"cannot copy the inputs to {directory}: {error}; "
                "free some space, or put the study elsewhere with --study-dir"
            ) from error
        return snapshot

    @classmethod
    def load(cls, home: OwnedDirectory) -> InputSnapshot | None:
        """Load a complete snapshot; None if there is none."""
        try:
            data = json.loads(home.read(MANIFEST) or b"")
            entries = {name: SnapshotEntry(**entry) for name, entry in data["entries"].items()}
            layout = str(data.get("layout", ""))
            return cls(home.path / COPY, Path(data["source"]), entries, layout)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def check(self) -> None:
        """Verify that the copy is unchanged.

        Raises:
            StudyError: An input is missing, changed, or was added.
        """
        found = set()
        for name, status in _walk(self.directory):
            entry = self.entries.get(name)
            if entry is None:
                raise self._damaged(name, "was added to")
            if not entry.is_same(status):
                raise self._damaged(name, "was changed in")
            found.add(name)
        for name in self.entries:
            if name not in found:
                raise self._damaged(name, "is missing from")

    def _damaged(self, name: str, what: str) -> StudyError:
        return StudyError(
            f"{printable(name)} {what} the study's copy of the inputs, {self.directory}, so that "
            "later runs cannot be compared with earlier ones; start over with --force"
        )

    def _manifest(self) -> bytes:
        data = {
            "source": str(self.source),
            "layout": self.layout,
            "entries": {name: vars(entry) for name, entry in self.entries.items()},
        }
        return json.dumps(data).encode("ascii")


def _walk(root: Path, left_out: Path | None = None) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all names below `root`, directories before their contents, without following links."""
    pending = [""]
    while pending:
        folder = pending.pop()
        for entry in _scan(root / folder):
            if left_out is not None and _is_left_out(entry, left_out):
                continue
            name = os.path.join(folder, entry.name)
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield name, status
            if stat.S_ISDIR(status.st_mode):
                pending.append(name)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    """Return a directory's entries in order; empty if the user may not read it."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (PermissionError, FileNotFoundError):
        return []


def _is_left_out(entry: os.DirEntry[str], study: Path) -> bool:
    if entry.name in _LEFT_OUT or Path(entry.path) == study:
        return True
    return entry.name.endswith(STUDY_SUFFIX) and entry.is_dir(follow_symlinks=False)


def _select(source: Path, study: Path, inputs: Sequence[Path]) -> dict[str, os.stat_result]:
    """Return the names to copy with their status, without special and unreadable files."""
    chosen: dict[str, os.stat_result] = {}
    try:
        for given in inputs or (Path("."),):
            for name, status in _chosen(source, study, given):
                chosen[name] = status
                if len(chosen) > MAX_ENTRIES:
                    raise StudyError(
                        f"{source} holds more than {MAX_ENTRIES} files, which each run would "
                        f"have to copy; {_REMEDY}"
                    )
    except OSError as error:
        raise StudyError(f"cannot read the inputs: {error}") from error
    return {
        name: status
        for name, status in chosen.items()
        if (kind := _kind(status.st_mode))
        and (kind != "file" or os.access(source / name, os.R_OK))
    }


def _named_by(command: Sequence[str], source: Path) -> list[Path]:
    """Return the relative paths in a command that exist inside the source."""
    words = [word for argument in command for word in (argument, argument.partition("=")[2])]
    paths = [Path(os.path.normpath(source / word)) for word in words if word and word[0] != "/"]
    return [
        path.relative_to(source)
        for path in paths
        if path != source and path.is_relative_to(source) and path.exists()
    ]


def _chosen(source: Path, study: Path, given: Path) -> Iterator[tuple[str, os.stat_result]]:
    path = Path(os.path.normpath(source / given))
    if not path.is_relative_to(source):
        raise UsageError(
            f"the input {given} lies outside of {source}; runs read such files where they are, "
            "so leave it out of --input"
        )
    if not os.path.lexists(path):
        raise UsageError(f"there is no input {given} in {source}")
    relative = path.relative_to(source)
    for parent in reversed(relative.parents[:-1]):
        yield str(parent), os.stat(source / parent)
    if relative != Path("."):
        yield str(relative), os.lstat(path)
    if path.is_dir() and not path.is_symlink():
        for name, status in _walk(path, study):
            yield str(relative / name), status


def _check_size(source: Path, directory: Path, names: Mapping[str, os.stat_result]) -> None:
    files = {name: status for name, status in names.items() if stat.S_ISREG(status.st_mode)}
    total = sum(min(status.st_size, status.st_blocks * 512) for status in files.values())
    if not files or can_clone(source / max(files, key=lambda n: files[n].st_size), directory):
        return
    if total > MAX_BYTES:
        largest = sorted(files, key=lambda name: files[name].st_size, reverse=True)[:3]
        sizes = ", ".join(f"{printable(n)} {size_text(files[n].st_size)}" for n in largest)
        raise StudyError(
            f"{source} holds {size_text(total)} ({sizes}), more than the "
            f"{size_text(MAX_BYTES)} that are copied as inputs; {_REMEDY}"
        )
    check_free(directory, total, "the copy of the inputs")


def _copy(
    source: Path, directory: Path, names: Mapping[str, os.stat_result]
) -> dict[str, SnapshotEntry]:
    entries: dict[str, SnapshotEntry] = {}
    for name, status in names.items():
        target = directory / name
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            target.mkdir()
            entries[name] = SnapshotEntry("directory", mode, layout=layout_text(source / name))
        elif stat.S_ISLNK(status.st_mode):
            text = _retarget(source, name, os.readlink(source / name))
            os.symlink(text, target)
            entries[name] = SnapshotEntry("link", target=text)
        else:
            try:
                copy_file(source / name, target)
            except FileNotFoundError:
                continue  # it was removed meanwhile
            layout = layout_text(source / name)
            if layout:
                os.chmod(target, mode | 0o200)
                with suppress(StorageError):  # needed only on emulated storage
                    set_layout(target, Layout.parse(layout), even_with_data=True)
            os.chmod(target, mode & ~0o222)
            copied = os.lstat(target)
            size, mtime = copied.st_size, copied.st_mtime_ns
            entries[name] = SnapshotEntry("file", mode, size, mtime, layout=layout)
    return entries


def _retarget(source: Path, name: str, text: str) -> str:
    """Return a link's new target: inside the source it stays inside, otherwise it is unchanged."""
    here = (source / name).parent
    target = Path(os.path.normpath(here / text))
    if target.is_relative_to(source):
        return os.path.relpath(target, here) if os.path.isabs(text) else text
    return str(target)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else ""
