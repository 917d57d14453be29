# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The storage of this machine: what is mounted, and what was measured and kept of it.

There is one record for each file system of each machine: a description like any other, with
the mount and the measured costs beside its figures.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.errors import ConfigurationError, StorageError
from stripewise.inputs import DESCRIPTION, read_input
from stripewise.machines._description import KINDS, LOCAL, Storage
from stripewise.machines._figures import Dimension
from stripewise.machines._known import known_storages
from stripewise.machines._mount import find_mount
from stripewise.machines._units import quantity_text
from stripewise.machines._write import description_text
from stripewise.model import Mount
from stripewise.outputs import whole_file
from stripewise.text import printable

_REMEDY = "measure it with `stripewise machine probe DIR`"


def storage_file(directory: Path) -> Path:
    """Return where the record of a directory's file system is kept."""
    return _file(find_mount(directory))


def local_storage(directory: Path, root: Path = Path("/")) -> Storage:
    """Return the record of the file system that a directory is on.

    It is the description that stands for it, with the costs that were measured here, or else
    what was measured. Without either it has the mount alone: no figures, and assumed costs.

    Args:
        directory: Of which it is asked; links are followed.
        root: Where `proc` and `sys` are (for tests).
    """
    mount = find_mount(directory, root)
    try:
        kept = replace(_read(_file(mount)), mount=mount)
    except (OSError, StorageError):
        kept = described(mount)
    known = known_storages().at(mount)
    return replace(known.storage, mount=mount, costs=kept.costs) if known else kept


def kept_storage(directory: Path) -> Storage:
    """Return what was measured of the file system that a directory is on.

    Raises:
        StorageError: Nothing was measured there, or the record is damaged or of another version.
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
    """Return the record of the file system on which most of some files lie.

    Files of other machines (a log that came from elsewhere) have none; nothing is measured here.

    Args:
        paths: Absolute paths of files; their directories must exist.
        hosts: Where the run was; empty: not known, and then nothing is known of its storage.
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
    """Keep the record of a directory's file system, whole or not at all; return its file.

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
    """Return a storage of which nothing but the mount is known."""
    return Storage(LOCAL, printable(str(mount)), kind_of(mount), "", {}, mount=mount)


def kind_of(mount: Mount) -> str:
    """Return what kind of storage a mounted file system is, one of `KINDS`."""
    return mount.kind if mount.kind in KINDS else LOCAL


def measured_words(storage: Storage) -> str:
    """Say what was measured of a local storage, and when; "" if nothing was.

    Nothing is said of a storage that is described: its figures are not those of the probe.
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
        OSError: There is none.
        StorageError: It is damaged, or of another version.
    """
    from stripewise.machines._parse import parse_description

    try:
        return parse_description(read_input(file, DESCRIPTION).decode("utf-8"), str(file))
    except (ConfigurationError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{file} is no record of storage of this version: {_REMEDY} again"
        ) from error
