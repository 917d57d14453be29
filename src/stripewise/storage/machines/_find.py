# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds storage descriptions by name: the user's, the site's, presets, files, measured mounts."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from itertools import chain
from pathlib import Path

from stripewise.core import SITE_DIRECTORY, user_directory, whole_file
from stripewise.core.errors import ConfigurationError, StorageError
from stripewise.core.inputs import DESCRIPTION, read_input
from stripewise.present import printable
from stripewise.storage.machines._description import (
    KINDS,
    LOCAL,
    Mount,
    Storage,
    find_mount,
    slowed,
)
from stripewise.storage.machines._figures import Dimension, quantity_text
from stripewise.storage.machines._write import description_text

_SLOWEST = 1_000_000
_SCALE = re.compile(r"1/[0-9]{1,7}|[0-9]{1,9}(\.[0-9]{1,9})?")


def preset_names() -> list[str]:
    """Return the names of the descriptions that come with Stripewise, in alphabetical order."""
    places = (files("stripewise.storage.machines") / "presets").iterdir()
    return sorted(place.name[:-5] for place in places if place.name.endswith(".toml"))


def load_description(source: str | Path, directory: Path = Path()) -> Storage:
    """Read one description.

    Args:
        source: Name of a stored description, name of a preset, "local", path of a file, or
            (several lines) the TOML itself.
        directory: Directory whose file system "local" is.

    Raises:
        ConfigurationError: The description does not exist, or is malformed.
        StorageError: The local storage has not been measured.
    """
    from stripewise.storage.machines._parse import parse_description

    if source == LOCAL:
        return kept_storage(directory)
    if isinstance(source, str) and "\n" in source:
        return parse_description(source)
    by_name = isinstance(source, str) and "/" not in source and not source.endswith(".toml")
    known = known_storages() if by_name else None
    if known and (one := known.named(str(source))):
        return one.storage
    if isinstance(source, str) and source in preset_names():
        place = files("stripewise.storage.machines") / "presets" / f"{source}.toml"
        return parse_description(place.read_text(encoding="utf-8"), source)
    path = Path(source)
    if isinstance(source, str) and path.suffix != ".toml" and not path.exists():
        from stripewise.settings.tunables import suggest

        names = [one.storage.name for one in known.found] if known else []
        closest = suggest(source, [*names, *preset_names(), LOCAL]) or ":"
        if Path(f"{source}.toml").is_file():
            closest = f": {source}.toml is here;"
        raise ConfigurationError(
            f"no storage is called {source!r}{closest} give the path of a .toml file or a name "
            "that `stripewise machine list` shows"
        )
    return read_description(path)


def find_storage(name: str, directory: Path = Path()) -> Storage:
    """Return a storage by the argument of `--on`: "archer2-hdd", "site.toml", "archer2-hdd@1/64".

    Args:
        name: Name of a preset, "local", or path of a description; `@1/N` or `@FRACTION` is slow
            motion.
        directory: Directory whose file system "local" is.

    Raises:
        ConfigurationError: The storage does not exist, is malformed, or the fraction is invalid.
        StorageError: The local storage has not been measured.
    """
    base, sign, scale = name.rpartition("@")
    if not sign or Path(name).is_file():
        return load_description(name, directory)
    return slowed(load_description(base, directory), _slowdown(name, scale))


def _slowdown(name: str, scale: str) -> float:
    """Return the factor by which all times are multiplied."""
    try:
        share = Fraction(scale) if _SCALE.fullmatch(scale) else Fraction(0)
    except ZeroDivisionError:
        share = Fraction(0)
    if not Fraction(1, _SLOWEST) <= share <= 1:
        raise ConfigurationError(
            f"{name}: {scale!r} is not a slow-motion factor: write @1/64, or a fraction from "
            f"1/{_SLOWEST} to 1 such as @0.25"
        )
    return float(1 / share)


# Descriptions stored for a user or for a site, and the mounts that they describe.

SITE_MACHINES = SITE_DIRECTORY / "machines"
_TAKEN = (LOCAL, "none")
_KERNEL_KINDS = ("lustre", "gpfs")
"""Kinds of storage by the kernel's file system types."""


@dataclass(frozen=True)
class KnownStorage:
    """A description stored where all commands find it.

    Attributes:
        storage: The description; its `mounts` are those that no other description claims.
        file: File of the description.
    """

    storage: Storage
    file: Path

    def __str__(self) -> str:
        """Return name and file, for people."""
        return f"{self.storage.name} ({printable(str(self.file))})"


@dataclass(frozen=True)
class KnownStorages:
    """All stored descriptions.

    Attributes:
        found: Descriptions, the user's own before the site's.
        problems: Reasons why others cannot be used, a line each.
    """

    found: tuple[KnownStorage, ...] = ()
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> KnownStorage | None:
        """Return the description of this name; a user's own takes precedence over the site's."""
        return next((one for one in self.found if one.storage.name == name), None)

    def at(self, mount: Mount) -> KnownStorage | None:
        """Return the description of a mounted file system; a user's own takes precedence."""
        return next((one for one in self.found if _stands_for(one.storage, mount)), None)


def machine_directories() -> tuple[Path, Path]:
    """Return the directories of stored descriptions: the user's own, and the site's."""
    return user_directory() / "machines", SITE_MACHINES


def known_storages() -> KnownStorages:
    """Read every stored description; an unusable one is a problem, not an error."""
    read = [_read_directory(directory) for directory in machine_directories()]
    return KnownStorages(
        tuple(chain.from_iterable(one.found for one in read)),
        tuple(chain.from_iterable(one.problems for one in read)),
    )


def known_storage(directory: Path) -> tuple[KnownStorage | None, tuple[str, ...]]:
    """Return the description of a directory's file system, and all problems.

    Args:
        directory: Directory in question; links are followed.
    """
    kept = known_storages()
    return kept.at(find_mount(directory)), kept.problems


def read_description(path: Path) -> Storage:
    """Read a description from its file.

    Raises:
        ConfigurationError: It cannot be read, or is malformed.
    """
    from stripewise.storage.machines._parse import parse_description

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
    """Return which of a description's mounts do not exist here, or are of another kind."""
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
    """Return whether one of its mounts is this one, or the same file system elsewhere."""
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
        tuple(_without_mounts(one, shared) for one in found),
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


def _without_mounts(one: KnownStorage, paths: set[str]) -> KnownStorage:
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


# Storage of this machine: what is mounted, and the stored measurements of it. There is one record
# for each file system of each machine: a description like any other, with the mount and the
# measured costs in addition to its figures.

_REMEDY = "measure it with `stripewise machine probe DIR`"


def storage_file(directory: Path) -> Path:
    """Return the path of the record of a directory's file system."""
    return _file(find_mount(directory))


def local_storage(directory: Path, root: Path = Path("/")) -> Storage:
    """Return the record of a directory's file system.

    It is the description of that file system, with the costs that were measured here, or else the
    measurements. Without either it has only the mount: no figures, and assumed costs.

    Args:
        directory: Directory in question; links are followed.
        root: Directory that contains `proc` and `sys` (for tests).
    """
    mount = find_mount(directory, root)
    try:
        kept = replace(_read(_file(mount)), mount=mount)
    except (OSError, StorageError):
        kept = described(mount)
    known = known_storages().at(mount)
    return replace(known.storage, mount=mount, costs=kept.costs) if known else kept


def kept_storage(directory: Path) -> Storage:
    """Return the measurements of the file system that a directory is on.

    Raises:
        StorageError: Nothing was measured there, or the record is damaged or has another version.
    """
    mount = find_mount(directory)
    try:
        return replace(_read(_file(mount)), mount=mount)
    except FileNotFoundError as error:
        raise StorageError(
            f"nothing was measured of the storage of {directory}: {_REMEDY}"
        ) from error
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"cannot read {_file(mount)}: {error.strerror}") from error


def storage_of_files(paths: Sequence[str], hosts: Sequence[str] = ()) -> Storage:
    """Return the record of the file system that most of some files are on.

    Files of other machines (a log from elsewhere) have none; nothing is measured here.

    Args:
        paths: Absolute paths of files; their directories must exist.
        hosts: Hosts of the run; if empty, they are unknown, and so is its storage.
    """
    if platform.node() not in hosts:
        return described(Mount())
    counted: Counter[Path] = Counter()
    places: dict[Path, Path] = {}
    folders = Counter(os.path.dirname(path) for path in paths if os.path.isabs(path))
    for folder, number in folders.items():
        if os.path.isdir(folder):
            file = storage_file(Path(folder))
            counted[file] += number
            places.setdefault(file, Path(folder))
    for file, _ in counted.most_common():
        found = local_storage(places[file])
        if found.costs.is_measured:
            return found
    return described(Mount())


def keep_storage(storage: Storage, directory: Path) -> Path:
    """Store the record of a directory's file system, atomically; return its file.

    Raises:
        StorageError: It cannot be written.
    """
    file = storage_file(directory)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot keep the record of the storage: {error}") from error
    with whole_file(file) as place:
        place.write_text(description_text(storage), encoding="utf-8")
    return file


def described(mount: Mount) -> Storage:
    """Return a storage of which only the mount is known."""
    return Storage(LOCAL, printable(str(mount)), kind_of(mount), "", {}, mount=mount)


def kind_of(mount: Mount) -> str:
    """Return what kind of storage a mounted file system is, one of `KINDS`."""
    return mount.kind if mount.kind in KINDS else LOCAL


def measured_words(storage: Storage) -> str:
    """Describe what was measured of a local storage, and when; empty if nothing was.

    The text is empty for a described storage: its figures are not those of the probe.
    """
    names = {"writes": "client.process_write", "reads": "client.process_read"}
    if storage.is_described or not storage.costs.is_measured:
        return ""
    if not storage.figures.keys() >= set(names.values()):
        return ""
    rates = " and ".join(
        f"{verb} {quantity_text(storage.value(name), Dimension.BANDWIDTH)}"
        for verb, name in names.items()
    )
    date = time.strftime("%Y-%m-%d", time.localtime(storage.costs.measured))
    return f"one process {rates}, measured on {date}"


def _file(mount: Mount) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    words = (platform.node(), mount.kind, mount.source, mount.identity)
    name = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()
    return Path(base) / "stripewise" / "storage" / f"{name[:16]}.toml"


def _read(file: Path) -> Storage:
    """Read a record.

    Raises:
        OSError: The record does not exist.
        StorageError: It is damaged, or has another version.
    """
    from stripewise.storage.machines._parse import parse_description

    try:
        return parse_description(read_input(file, DESCRIPTION).decode("utf-8"), str(file))
    except (ConfigurationError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{file} is not a record of storage of this version: {_REMEDY} again"
        ) from error
