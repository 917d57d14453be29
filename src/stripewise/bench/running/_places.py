# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates and stripes the directories of a campaign, and reads the striping of files."""

from __future__ import annotations

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stripewise.bench.campaign import DirectoryStriping
from stripewise.core import OwnedDirectory
from stripewise.core.errors import StorageError, StripewiseError
from stripewise.storage.emulation import (
    EmulatedStorage,
    Layout,
    find_layout,
    own_layout,
    set_layout,
)
from stripewise.storage.machines import find_mount

KIND = "campaign's files"
_SUFFIX = ".files"


class Places:
    """The campaign's own directory on the storage, which is recognised by a mark in it.

    `DIR/NAME.campaign.files/DIRECTORY/NUMBER` contains the files of one run.
    """

    def __init__(self, inside: Path, name: str, striping: Striping) -> None:
        """Create the directory, or find that of the campaign again.

        Args:
            inside: Directory on the storage.
            name: Name of the campaign's own directory.
            striping: Method of striping there.

        Raises:
            StudyError: The directory contains something else, or is not private to the user.
            StorageError: The directory cannot be created.
        """
        self.striping = striping
        self._owned = OwnedDirectory.take(inside / f"{name}{_SUFFIX}", KIND)

    @property
    def path(self) -> Path:
        """Path of the campaign's directory."""
        return self._owned.path

    def prepare(self, directories: Mapping[str, DirectoryStriping]) -> None:
        """Create and stripe directories, and check their striping.

        Raises:
            StorageError: The storage refuses, or has applied something else.
        """
        for name, place in directories.items():
            self.stripe(self._owned.inside(name).make(), place)

    def stripe(self, path: Path, place: DirectoryStriping) -> None:
        """Stripe a directory, and check its striping.

        Raises:
            StorageError: The storage refuses, or has applied something else.
        """
        if place != DirectoryStriping():
            self.striping.stripe(path, place)
            self.striping.check(path, place)

    def make(self, directory: str, number: int) -> Path:
        """Return an empty directory for a run, removing the remains of an earlier attempt.

        Raises:
            StorageError: There is not enough space.
        """
        self.remove(directory, number)
        return self._owned.inside(directory, _name(number)).make()

    def layout(self, directory: str, number: int) -> dict[str, Any]:
        """Return the striping of the files of a run; empty if the storage does not report it."""
        with suppress(StripewiseError, OSError):
            return file_layout(self.striping, self._owned.inside(directory, _name(number)).path)
        return {}

    def remove(self, directory: str, number: int) -> None:
        """Remove the files of a run; no error if there are none."""
        self._owned.inside(directory).remove(_name(number))

    def clear(self, directories: Iterable[str]) -> None:
        """Remove the files of all runs, which a killed tuner may have left."""
        for directory in directories:
            inner = self._owned.inside(directory)
            for name in inner.names():
                inner.remove(name)

    def free_bytes(self) -> int:
        """Return the space that the user has left, according to the file system.

        Raises:
            StorageError: The file system does not report it.
        """
        try:
            facts = os.statvfs(self.path)
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}: give another --in") from error
        return facts.f_bavail * facts.f_frsize

    def discard(self) -> None:
        """Remove the campaign's directory."""
        self._owned.discard()


def _name(number: int) -> str:
    return f"{number:06d}"


# Striping of directories and of files: Lustre, emulated, or none.

_SECONDS = 60.0
_WORD = re.compile(r"\b(?:lmm_)?(stripe_count|stripe_size|stripe_offset):\s*(-?\d+)")
_OBJECT = re.compile(r"^\s+(\d+)\s+\d+\s+0x[0-9a-f]+\s+\S+\s*$", re.M)
MOST_FILES = 256
"""Maximum number of files of one run whose layouts are read."""


class Striping(ABC):
    """Method of striping directories.

    Attributes:
        stripes: Whether files can be on several targets.
        name: Name of the file system, for users.
    """

    stripes: bool = True
    name: str

    @abstractmethod
    def stripe(self, directory: Path, place: DirectoryStriping) -> None:
        """Set the striping of new files in a directory.

        Raises:
            StorageError: The storage refuses.
        """

    @abstractmethod
    def found(self, directory: Path) -> DirectoryStriping:
        """Return the striping of new files in a directory, as reported by the storage."""

    @abstractmethod
    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return stripe count, stripe size in bytes and targets of files."""

    def check(self, directory: Path, place: DirectoryStriping) -> None:
        """Refuse a directory whose striping differs from the requested one.

        Raises:
            StorageError: The directory is striped in another way.
        """
        found = self.found(directory)
        for what, required, is_so, is_required in (
            ("stripe count", place.stripe_count, found.stripe_count, place.stripe_count != 0),
            ("stripe size", place.stripe_bytes, found.stripe_bytes, place.stripe_bytes != 0),
            ("first target", place.target, found.target, place.target >= 0),
        ):
            if is_required and required != is_so:
                raise StorageError(
                    f"{directory} has a {what} of {is_so}, and the suite asks for {required}: see "
                    f"with `{self.look} {directory}` why the storage did not apply it"
                )

    look: str = "ls"
    """Command that shows the striping of a directory."""


class NoStripes(Striping):
    """File system without targets to choose."""

    stripes = False

    def __init__(self, name: str) -> None:
        """Store the name of the file system."""
        self.name = name

    def stripe(self, directory: Path, place: DirectoryStriping) -> None:
        """Do nothing."""

    def found(self, directory: Path) -> DirectoryStriping:
        """Return a place in which nothing is known."""
        return DirectoryStriping()

    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return an empty list."""
        return []

    def check(self, directory: Path, place: DirectoryStriping) -> None:
        """Accept the directory: cases whose directories differ only in stripes are run once."""


class EmulatedStripes(Striping):
    """Layouts on emulated storage."""

    look = "stripewise machine layout get"

    def __init__(self, storage: EmulatedStorage) -> None:
        """Store the storage that is emulated."""
        self.name = storage.storage.name
        self._targets = storage.targets

    def stripe(self, directory: Path, place: DirectoryStriping) -> None:
        """Set the layout of the directory."""
        set_layout(directory, Layout(place.stripe_count, place.stripe_bytes, place.target))

    def found(self, directory: Path) -> DirectoryStriping:
        """Return the layout of new files."""
        layout = find_layout(directory).layout
        return DirectoryStriping(layout.stripe_count, layout.stripe_size, layout.first_target)

    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return the layouts that the emulation gave the files."""
        found = []
        for path in files:
            layout = own_layout(path)
            if layout is not None and layout.first_target >= 0:
                count = self._targets if layout.stripe_count == -1 else layout.stripe_count
                targets = ((layout.first_target + i) % self._targets for i in range(count))
                found.append((count, layout.stripe_size, tuple(targets)))
        return found


class LustreStripes(Striping):
    """Striping on Lustre with `lfs`."""

    name = "lustre"
    look = "lfs getstripe -d"

    def stripe(self, directory: Path, place: DirectoryStriping) -> None:
        """Call `lfs setstripe`."""
        words = ["setstripe", "-c", str(place.stripe_count or 0)]
        words += ["-S", str(place.stripe_bytes)] if place.stripe_bytes else []
        words += ["-i", str(place.target)] if place.target >= 0 else []
        _lfs(*words, "--", str(directory))

    def found(self, directory: Path) -> DirectoryStriping:
        """Return the striping from `lfs getstripe -d`."""
        return parse_directory(_lfs("getstripe", "-d", "--", str(directory)))

    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return the striping from `lfs getstripe` of all files at once."""
        words = [str(path) for path in files]
        return parse_files(_lfs("getstripe", "--", *words)) if words else []


def parse_directory(text: str) -> DirectoryStriping:
    """Return the striping in the output of `lfs getstripe -d`.

    Source: documented, lfs-getstripe(1).
    """
    words = {name: int(number) for name, number in reversed(_WORD.findall(text))}
    return DirectoryStriping(
        words.get("stripe_count", 0), words.get("stripe_size", 0), words.get("stripe_offset", -1)
    )


def parse_files(text: str) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return stripe count, stripe size and targets of each file that `lfs getstripe` lists.

    A file of several components has the values of all components that have objects.
    Source: documented, lfs-getstripe(1).
    """
    found = []
    for part in re.split(r"(?m)^(?=/)", text):
        words = {name: int(number) for name, number in reversed(_WORD.findall(part))}
        targets = tuple(int(number) for number in _OBJECT.findall(part))
        if "stripe_count" in words and targets:
            found.append((words["stripe_count"], words.get("stripe_size", 0), targets))
    return found


def striping_of(directory: Path, storage: EmulatedStorage | None) -> Striping:
    """Return the method of striping for a directory."""
    if storage is not None:
        return EmulatedStripes(storage)
    mount = find_mount(directory)
    return LustreStripes() if mount.kind == "lustre" else NoStripes(mount.kind or "this storage")


def file_layout(striping: Striping, directory: Path) -> dict[str, Any]:
    """Return the striping of the files of a run; empty if the storage does not report it."""
    files = []
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not path.is_symlink():
            files.append(path)
        if len(files) == MOST_FILES:
            break
    found = striping.layouts(files)
    if not found:
        return {}
    return {
        "files": len(found),
        "stripe_count": sorted({count for count, _, _ in found})[-1],
        "stripe_size_bytes": sorted({size for _, size, _ in found})[-1],
        "targets": [target for _, _, targets in found for target in targets],
    }


def _lfs(*words: str) -> str:
    try:
        done = subprocess.run(
            ["lfs", *words], capture_output=True, text=True, timeout=_SECONDS, check=False,
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StorageError(
            f"cannot run lfs {words[0]} ({error}): campaigns on Lustre need its client commands "
            "on this node"
        ) from error
    if done.returncode:
        message = " ".join(done.stderr.split())[:300]
        raise StorageError(f"lfs {' '.join(words[:-1])} refuses {words[-1]}: {message}")
    return done.stdout
