# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of storage on the disk: one JSON file for each file system of each machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stripewise.errors import StorageError
from stripewise.machines._costs import Exchange, Interval, StorageCosts
from stripewise.machines._mount import find_mount
from stripewise.outputs import whole_file

VERSION = 2
_MOST_BYTES = 1 << 20


def storage_file(directory: Path) -> Path:
    """Return where the record of a directory's file system is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    mount = find_mount(directory)
    words = (platform.node(), mount.kind, mount.source, mount.identity)
    name = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()
    return Path(base) / "stripewise" / "storage" / f"{name[:16]}.json"


def load_storage(paths: Sequence[str], hosts: Sequence[str] = ()) -> StorageCosts:
    """Return the kept record of the file system on which most of some files lie, if there is one.

    Files of other machines (a log that came from elsewhere) have none; nothing is measured here.

    Args:
        paths: Absolute paths of files; their directories must exist.
        hosts: Where the run was; empty: not known, and then nothing is known of its storage.
    """
    if platform.node() not in hosts:
        return StorageCosts()
    counted: Counter[Path] = Counter()
    folders = Counter(os.path.dirname(path) for path in paths if os.path.isabs(path))
    for folder, number in folders.items():
        if os.path.isdir(folder):
            counted[storage_file(Path(folder))] += number
    for file, _ in counted.most_common():
        try:
            return read_storage(file)
        except (OSError, StorageError):
            continue
    return StorageCosts()


def read_storage(file: Path) -> StorageCosts:
    """Read a record.

    Raises:
        OSError: There is none.
        StorageError: It is of another version, or damaged.
    """
    with open(file, "rb") as stream:
        text = stream.read(_MOST_BYTES)
    try:
        found = json.loads(text)
        if found.pop("version") != VERSION:
            raise ValueError("another version")
        tables = {name: _table(found[name]) for name in ("write", "read", "sync")}
        calls = {str(name): _interval(cost) for name, cost in found["calls"].items()}
        exchange = tuple(_exchange(one) for one in found["exchange"])
        record = StorageCosts(**{**found, **tables, "calls": calls, "exchange": exchange})
        return replace(record, measured=float(record.measured))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(
            f"{file} is no record of storage of this version: measure it again with "
            "`stripewise doctor --storage DIR`"
        ) from error


def write_storage(storage: StorageCosts, file: Path) -> None:
    """Write a record, whole or not at all.

    Raises:
        StorageError: It cannot be written.
    """
    text = json.dumps({"version": VERSION, **asdict(storage)}, indent=1)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot keep the costs of the storage: {error}") from error
    with whole_file(file) as place:
        place.write_text(text + "\n", encoding="utf-8")


def _exchange(one: Mapping[str, Any]) -> Exchange:
    stack, ranks, collective = str(one["stack"]), int(one["ranks"]), bool(one["collective"])
    costs = _interval(one["opening"]), _table(one["write"]), _table(one["read"])
    return Exchange(stack, ranks, collective, *costs)


def _table(costs: Mapping[str, Any]) -> dict[int, Interval]:
    return {int(size): _interval(cost) for size, cost in costs.items()}


def _interval(cost: Sequence[Any]) -> Interval:
    low, middle, high = (float(value) for value in cost)
    if not 0 < low <= middle <= high < float("inf"):
        raise ValueError("no interval of seconds")
    return Interval(low, middle, high)
