# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the directories of a campaign with their striping, and reads how files were striped."""

from __future__ import annotations

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stripewise.bench.campaign import Place
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
    """What a campaign has on the storage: a directory of its own, known by the mark in it.

    `DIR/NAME.campaign.files/DIRECTORY/NUMBER` holds the files of one run.
    """

    def __init__(self, inside: Path, name: str, striping: Striping) -> None:
        """Make the directory, or find that of the campaign again.

        Args:
            inside: Directory on the storage.
            name: Of the campaign's own directory.
            striping: The way to stripe there.

        Raises:
            StudyError: It holds something else, or is not the user's alone.
            StorageError: It cannot be made.
        """
        self.striping = striping
        self._owned = OwnedDirectory.take(inside / f"{name}{_SUFFIX}", KIND)

    @property
    def path(self) -> Path:
        """The campaign's directory."""
        return self._owned.path

    def prepare(self, directories: Mapping[str, Place]) -> None:
        """Make and stripe directories, and see that they are striped so.

        Raises:
            StorageError: The storage refuses, or has taken something else.
        """
        for name, place in directories.items():
            self.stripe(self._owned.inside(name).make(), place)

    def stripe(self, path: Path, place: Place) -> None:
        """Stripe a directory, and see that it is striped so.

        Raises:
            StorageError: The storage refuses, or has taken something else.
        """
        if place != Place():
            self.striping.stripe(path, place)
            self.striping.check(path, place)

    def make(self, directory: str, number: int) -> Path:
        """Return an empty directory for a run; what an earlier try left is removed.

        Raises:
            StorageError: There is no room.
        """
        self.remove(directory, number)
        return self._owned.inside(directory, _name(number)).make()

    def layout(self, directory: str, number: int) -> dict[str, Any]:
        """Return how the files of a run are striped; nothing where the storage does not tell."""
        with suppress(StripewiseError, OSError):
            return file_layout(self.striping, self._owned.inside(directory, _name(number)).path)
        return {}

    def remove(self, directory: str, number: int) -> None:
        """Remove the files of a run; no error if there are none."""
        self._owned.inside(directory).remove(_name(number))

    def clear(self, directories: Iterable[str]) -> None:
        """Remove the files of all runs: what a tuner that was killed has left."""
        for directory in directories:
            inner = self._owned.inside(directory)
            for name in inner.names():
                inner.remove(name)

    def free_bytes(self) -> int:
        """Return the room that the user has left, as the file system tells it.

        Raises:
            StorageError: It does not.
        """
        try:
            facts = os.statvfs(self.path)
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}: give another --in") from error
        return facts.f_bavail * facts.f_frsize

    def discard(self) -> None:
        """Remove all of it."""
        self._owned.discard()


def _name(number: int) -> str:
    return f"{number:06d}"


# How directories are striped, and how files are found to be: Lustre, emulated, or not at all.

_SECONDS = 60.0
_WORD = re.compile(r"\b(?:lmm_)?(stripe_count|stripe_size|stripe_offset):\s*(-?\d+)")
_OBJECT = re.compile(r"^\s+(\d+)\s+\d+\s+0x[0-9a-f]+\s+\S+\s*$", re.M)
MOST_FILES = 256
"""Files of one run whose layouts are read."""


class Striping(ABC):
    """A way to stripe directories.

    Attributes:
        stripes: Whether files can lie on several targets.
        name: Of the file system, for people.
    """

    stripes: bool = True
    name: str

    @abstractmethod
    def stripe(self, directory: Path, place: Place) -> None:
        """Let new files in a directory be striped so.

        Raises:
            StorageError: The storage refuses.
        """

    @abstractmethod
    def found(self, directory: Path) -> Place:
        """Return how new files in a directory are striped, as the storage tells it."""

    @abstractmethod
    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return stripe count, stripe size in bytes and targets of files."""

    def check(self, directory: Path, place: Place) -> None:
        """Refuse a directory that is not striped as it was asked.

        Raises:
            StorageError: It is striped in another way.
        """
        found = self.found(directory)
        for what, asked, is_so, is_asked in (
            ("stripe count", place.stripe_count, found.stripe_count, place.stripe_count != 0),
            ("stripe size", place.stripe_bytes, found.stripe_bytes, place.stripe_bytes != 0),
            ("first target", place.target, found.target, place.target >= 0),
        ):
            if is_asked and asked != is_so:
                raise StorageError(
                    f"{directory} has a {what} of {is_so}, and the suite asks for {asked}: see "
                    f"with `{self.look} {directory}` why the storage did not apply it"
                )

    look: str = "ls"
    """Command that shows how a directory is striped."""


class NoStripes(Striping):
    """A file system that has no targets to choose."""

    stripes = False

    def __init__(self, name: str) -> None:
        """Take the name of the file system."""
        self.name = name

    def stripe(self, directory: Path, place: Place) -> None:
        """Do nothing."""

    def found(self, directory: Path) -> Place:
        """Return nothing that is known."""
        return Place()

    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return nothing."""
        return []

    def check(self, directory: Path, place: Place) -> None:
        """Accept it: cases whose directories differ in their stripes alone are run once."""


class EmulatedStripes(Striping):
    """Layouts on emulated storage."""

    look = "stripewise machine layout get"

    def __init__(self, storage: EmulatedStorage) -> None:
        """Take the storage that is emulated."""
        self.name = storage.storage.name
        self._targets = storage.targets

    def stripe(self, directory: Path, place: Place) -> None:
        """Give the directory a layout."""
        set_layout(directory, Layout(place.stripe_count, place.stripe_bytes, place.target))

    def found(self, directory: Path) -> Place:
        """Return the layout that new files get."""
        layout = find_layout(directory).layout
        return Place(layout.stripe_count, layout.stripe_size, layout.first_target)

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
    """Lustre, through `lfs`."""

    name = "lustre"
    look = "lfs getstripe -d"

    def stripe(self, directory: Path, place: Place) -> None:
        """Call `lfs setstripe`."""
        words = ["setstripe", "-c", str(place.stripe_count or 0)]
        words += ["-S", str(place.stripe_bytes)] if place.stripe_bytes else []
        words += ["-i", str(place.target)] if place.target >= 0 else []
        _lfs(*words, "--", str(directory))

    def found(self, directory: Path) -> Place:
        """Read `lfs getstripe -d`."""
        return parse_directory(_lfs("getstripe", "-d", "--", str(directory)))

    def layouts(self, files: Iterable[Path]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Read `lfs getstripe` of all files at once."""
        words = [str(path) for path in files]
        return parse_files(_lfs("getstripe", "--", *words)) if words else []


def parse_directory(text: str) -> Place:
    """Return what `lfs getstripe -d` says.

    Source: documented, lfs-getstripe(1).
    """
    words = {name: int(number) for name, number in reversed(_WORD.findall(text))}
    return Place(
        words.get("stripe_count", 0), words.get("stripe_size", 0), words.get("stripe_offset", -1)
    )


def parse_files(text: str) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return stripe count, stripe size and targets of each file that `lfs getstripe` lists.

    A file of several components has those of all that have objects.
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
    """Return the way in which directories are striped there."""
    if storage is not None:
        return EmulatedStripes(storage)
    mount = find_mount(directory)
    return LustreStripes() if mount.kind == "lustre" else NoStripes(mount.kind or "this storage")


def file_layout(striping: Striping, directory: Path) -> dict[str, Any]:
    """Return how the files of a run are striped: nothing where the storage does not tell."""
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
        said = " ".join(done.stderr.split())[:300]
        raise StorageError(f"lfs {' '.join(words[:-1])} refuses {words[-1]}: {said}")
    return done.stdout
