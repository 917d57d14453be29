# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions that are kept for a user or for a site, and the mounts that they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from stripewise.errors import ConfigurationError
from stripewise.inputs import DESCRIPTION, read_input
from stripewise.machines._description import LOCAL, Storage
from stripewise.machines._mount import find_mount
from stripewise.model import Mount
from stripewise.policy import SITE_DIRECTORY, user_directory
from stripewise.text import printable

SITE_MACHINES = SITE_DIRECTORY / "machines"
_TAKEN = (LOCAL, "none")
_KERNEL_KINDS = ("lustre", "gpfs")
"""Kinds of storage that the kernel calls so."""


@dataclass(frozen=True)
class KnownStorage:
    """A description that is kept where everybody's commands find it.

    Attributes:
        storage: What is described; its `mounts` are those that no other description claims.
        file: Where.
    """

    storage: Storage
    file: Path

    def __str__(self) -> str:
        """For people: name and file."""
        return f"{self.storage.name} ({printable(str(self.file))})"


@dataclass(frozen=True)
class KnownStorages:
    """All that are kept.

    Attributes:
        found: The user's own before the site's.
        problems: What keeps others from being used, a line each.
    """

    found: tuple[KnownStorage, ...] = ()
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> KnownStorage | None:
        """Return the one that is called so; a user's own wins over the site's."""
        return next((one for one in self.found if one.storage.name == name), None)

    def at(self, mount: Mount) -> KnownStorage | None:
        """Return the one that stands for a mounted file system; a user's own wins."""
        return next((one for one in self.found if _stands_for(one.storage, mount)), None)


def machine_directories() -> tuple[Path, Path]:
    """Return where descriptions are kept: the user's own directory, and the site's."""
    return user_directory() / "machines", SITE_MACHINES


def known_storages() -> KnownStorages:
    """Read every description that is kept; one that cannot be used is a problem, no error."""
    read = [_read_directory(directory) for directory in machine_directories()]
    return KnownStorages(
        tuple(chain.from_iterable(one.found for one in read)),
        tuple(chain.from_iterable(one.problems for one in read)),
    )


def known_storage(directory: Path) -> tuple[KnownStorage | None, tuple[str, ...]]:
    """Return the description that stands for the file system of a directory, and all problems.

    Args:
        directory: Of which it is asked; links are followed.
    """
    kept = known_storages()
    return kept.at(find_mount(directory)), kept.problems


def read_description(path: Path) -> Storage:
    """Read a description from its file.

    Raises:
        ConfigurationError: It cannot be read, or is malformed.
    """
    from stripewise.machines._parse import parse_description

    shown = printable(str(path))
    try:
        text = read_input(path, DESCRIPTION).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{shown}: not UTF-8 text: save the description as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigurationError(
            f"{shown}: the description cannot be read ({error.strerror or error}): check its path"
        ) from error
    return parse_description(text, shown)


def mount_warnings(storage: Storage) -> list[str]:
    """Return which of a description's mounts are not here, or are not what is described."""
    found = []
    for path in storage.mounts:
        shown, mount = printable(path), find_mount(Path(path))
        here = f"{mount.kind} on {printable(mount.point)}"
        if not os.path.exists(path):
            found.append(f"mounts: {shown} is not on this host, so nothing is predicted there")
        elif mount.point != os.path.realpath(path):
            found.append(
                f"mounts: nothing is mounted at {shown}, which lies on {here}: write the mount "
                "point of the storage that is described"
            )
        elif storage.kind in _KERNEL_KINDS and mount.kind != storage.kind:
            found.append(f"mounts: {here} is not {storage.kind}, which is described")
    return found


def _stands_for(storage: Storage, mount: Mount) -> bool:
    """Whether one of its mounts is this one, or the same file system mounted elsewhere."""
    for path in storage.mounts:
        there = mount if path == mount.point else find_mount(Path(path))
        same = (there.device, there.kind) == (mount.device, mount.kind)
        if same and (there is mount or there.point == os.path.realpath(path)):
            return True
    return False


def _read_directory(directory: Path) -> KnownStorages:
    try:
        files = sorted(p for p in directory.iterdir() if p.suffix == ".toml" and p.stem[0] != ".")
    except OSError as error:
        if not os.path.lexists(directory) and not isinstance(error, PermissionError):
            return KnownStorages()
        reason = error.strerror or "error"
        return KnownStorages(problems=(f"{directory} cannot be read ({reason})",))
    found: list[KnownStorage] = []
    problems = []
    for file in files:
        try:
            found.append(KnownStorage(_read_kept(file), file))
        except ConfigurationError as error:
            problems.append(f"{error}; it is not used")
    claims = list(_claimed_twice(found))
    shared = {path for path, _ in claims}
    return KnownStorages(
        tuple(_without(one, shared) for one in found),
        (*problems, *_named_twice(found), *(text for _, text in claims)),
    )


def _read_kept(file: Path) -> Storage:
    storage = read_description(file)
    if storage.name in _TAKEN:
        raise ConfigurationError(
            f"{printable(str(file))}: name = {storage.name!r} has a meaning of its own: give it "
            "another one"
        )
    return storage


def _without(one: KnownStorage, paths: set[str]) -> KnownStorage:
    kept = tuple(path for path in one.storage.mounts if path not in paths)
    return replace(one, storage=replace(one.storage, mounts=kept))


def _named_twice(found: list[KnownStorage]) -> Iterator[str]:
    first: dict[str, KnownStorage] = {}
    for one in found:
        other = first.setdefault(one.storage.name, one)
        if other is not one:
            yield (
                f"{printable(str(one.file))}: name = {one.storage.name!r} is the name in "
                f"{printable(other.file.name)} too: give it another one"
            )


def _claimed_twice(found: list[KnownStorage]) -> Iterator[tuple[str, str]]:
    """Yield each path that several descriptions claim, and what to do about it."""
    claims: dict[str, list[tuple[KnownStorage, str]]] = {}
    for one in found:
        for path in one.storage.mounts:
            claims.setdefault(os.path.realpath(path), []).append((one, path))
    for several in claims.values():
        if len({id(one) for one, _ in several}) > 1:
            files = " and ".join(printable(one.file.name) for one, _ in several)
            for path in dict.fromkeys(path for _, path in several):
                yield (
                    path,
                    f"{several[0][0].file.parent}: {files} both stand for {printable(path)}, so "
                    "neither is used there: take it out of `mounts` in one of them",
                )
