# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directories of a campaign on the storage: made and striped, and nothing else is ever removed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stripewise.bench._striping import Striping, file_layout
from stripewise.bench._suite import Place
from stripewise.errors import StorageError, StripewiseError
from stripewise.owned import OwnedDirectory

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
