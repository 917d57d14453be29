# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records a described storage, a job's burst-buffer grant, and the storage in slow motion."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from stripewise.core import Interval, StorageCosts, Striping
from stripewise.core.errors import ConfigurationError
from stripewise.present import size_text, text_of
from stripewise.storage.machines._figures import SPEC_OF, Dimension, Figure

# Records which file system a directory is on, and reads it from what the kernel tells.


def find_mount(directory: Path, root: Path = Path("/")) -> Mount:
    """Describe the file system that a directory is on.

    Args:
        directory: Of which it is asked; links are followed.
        root: Where `proc` and `sys` are (for tests).
    """
    real = os.path.realpath(directory)
    found = mount_in(text_of(root / "proc/self/mountinfo", "surrogateescape"), real)
    try:
        identity = str(os.statvfs(real).f_fsid)
    except OSError:
        identity = ""
    return replace(found, identity=identity, medium=_medium(found, root))


def mount_in(mountinfo: str, path: str) -> Mount:
    """Find the file system that holds a path in the text of /proc/self/mountinfo.

    Source: proc(5), /proc/pid/mountinfo.
    """
    best, found = -1, Mount()
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(rest) < 2:
            continue
        point = _unescaped(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best = len(point)
            found = Mount(rest[0], _unescaped(rest[1]), point, fields[2])
    return found


def _medium(mount: Mount, root: Path) -> str:
    if mount.is_network:
        return "network"
    if mount.is_memory:
        return "memory"
    place = root / "sys/dev/block" / mount.device
    for queue in (place / "queue/rotational", place / "../queue/rotational"):
        turning = text_of(queue).strip()
        if turning:
            real = os.path.realpath(place)
            if "/virtio" in real or "/vbd-" in real or "/virtual/" in real:
                return "virtual"
            return "rotational" if turning == "1" else "solid state"
    return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), text)


# The file system that a directory is on.

_PARALLEL = (
    "lustre", "gpfs", "beegfs", "beegfs_nodev", "pvfs2", "ceph", "panfs", "wekafs", "daos",
)  # fmt: skip
_NETWORK = (
    *_PARALLEL, "nfs", "nfs4", "cifs", "smb3", "9p", "glusterfs", "afs", "fuse.sshfs",
    "fuse.glusterfs",
)  # fmt: skip
_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Mount:
    """A mounted file system.

    Attributes:
        kind: Its type as the kernel names it, e.g. "ext4"; "" if it cannot be told.
        source: What is mounted: a device, an export, a file system's name.
        point: Where it is mounted.
        device: Device number, "259:2".
        identity: As statvfs tells it; "" if it does not.
        medium: What it lies on: "rotational", "solid state", "virtual", "network", "memory"; ""
            if it cannot be told.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    kind: str = ""
    source: str = ""
    point: str = ""
    device: str = ""
    identity: str = ""
    medium: str = ""

    @property
    def is_parallel(self) -> bool:
        """Whether many servers share the work."""
        return self.kind in _PARALLEL

    @property
    def is_network(self) -> bool:
        """Whether nodes have it in common."""
        return self.kind in _NETWORK

    @property
    def is_memory(self) -> bool:
        """Whether there is no storage behind it."""
        return self.kind in _MEMORY

    def __str__(self) -> str:
        """For people: type, place and source."""
        return f"{self.kind} on {self.point} ({self.source})" if self.kind else "unknown"


KINDS = ("lustre", "datawarp", "scatefs", "gpfs", "local")
LOCAL = "local"


@dataclass(frozen=True)
class Transport:
    """How the network below MPI is set up: another variant of the same machine.

    Attributes:
        name: "ofi", "ofi-sar64k", "ucx", ...
        when: Environment variables that choose it, with their values; empty: the default.
        figures: That it replaces.
        hangs_from_nodes: Jobs of at least so many nodes hang; 0: none.
        from_nodes: Its figures hold for jobs of at least so many nodes: within one node the
            network is not used.
    """

    name: str
    when: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    hangs_from_nodes: int = 0
    from_nodes: int = 1


@dataclass(frozen=True)
class Storage:
    """One storage system as the nodes of one machine see it.

    Attributes:
        name: Of the description: "archer2-hdd".
        title: One line for people.
        kind: One of `KINDS`.
        stack: MPI-IO of its users, a name of `stripewise.storage.simulation.STACKS`; "": not said.
        figures: Name of `FIGURES` -> figure; what is missing has its default.
        transports: Variants; the first is in use if no other is chosen.
        slowdown: The same storage in slow motion: every time is so many times as long.
        mounts: Absolute paths at which it is mounted, where that is said: it stands for the file
            system that is mounted there.
        mount: Of this machine's own storage: what is mounted.
        costs: Of this machine's own storage: what requests were measured to cost.
    """

    name: str
    title: str
    kind: str
    stack: str
    figures: Mapping[str, Figure]
    transports: tuple[Transport, ...] = ()
    slowdown: float = 1.0
    mounts: tuple[str, ...] = ()
    mount: Mount = field(default_factory=Mount)
    costs: StorageCosts = field(default_factory=StorageCosts)

    def value(self, name: str) -> float:
        """Return a figure in base units, or its default.

        Raises:
            KeyError: There is no such figure, or it has no default and is not described.
        """
        if name in self.figures:
            return self.figures[name].value
        default = SPEC_OF[name].default
        if default is None:
            raise KeyError(name)
        return default

    @property
    def is_described(self) -> bool:
        """Whether somebody described it, and it is not what a probe found here."""
        return self.name != LOCAL

    @property
    def striping(self) -> Striping:
        """What tunables and strategies are to know of new files on it."""
        targets = int(self.value("servers.targets"))
        count = min(int(self.value("layout.stripe_count")), targets)
        return Striping(targets, count, int(self.value("layout.stripe_size")))

    def transport(self, environment: Mapping[str, str]) -> Transport | None:
        """Return the variant that a job's environment chooses; None: there are no variants.

        The variant all of whose variables have their values holds, of several the one with the
        most; without any, the first.
        """
        chosen = [one for one in self.transports if one.when.items() <= environment.items()]
        default = self.transports[0] if self.transports else None
        return max(chosen, key=lambda one: len(one.when), default=default)

    def with_figures(self, figures: Mapping[str, Figure]) -> Storage:
        """Return the storage with some figures more, or other ones."""
        return replace(self, figures={**self.figures, **figures})

    def over(self, transport: Transport | None, nodes: int = 0) -> Storage:
        """Return the storage with the figures of a variant.

        Args:
            transport: The variant.
            nodes: Of the job; 0: not known, and then the figures hold.
        """
        if transport is None or 0 < nodes < transport.from_nodes:
            return self
        return self.with_figures(transport.figures)


# What a job is granted of a storage: of a burst buffer, nodes by capacity.


def granted_targets(storage: Storage, capacity_bytes: int = 0) -> int:
    """Return the targets that a job's files can lie on.

    Args:
        storage: A burst buffer, or one with fixed targets.
        capacity_bytes: That the job asked a burst buffer for; 0: the least that is granted, the
            nodes that a file has by default.

    Raises:
        ConfigurationError: It is more than there is, or the targets are fixed.
    """
    targets = int(storage.value("servers.targets"))
    granularity = storage.value("layout.granularity")
    if not granularity:
        if capacity_bytes:
            raise ConfigurationError(
                f"capacity = {size_text(capacity_bytes)}: {storage.name} has fixed targets; only "
                "a burst buffer is granted by capacity"
            )
        return targets
    default = int(storage.value("layout.stripe_count"))
    granted = ceil(capacity_bytes / granularity) if capacity_bytes else default
    if granted > targets:
        raise ConfigurationError(
            f"capacity = {size_text(capacity_bytes)} needs {granted:,} nodes of "
            f"{size_text(int(granularity))}; {storage.name} has {targets:,}"
        )
    return granted


# Slow motion: every time is so many times as long, and all relations stay the same.

_Key = TypeVar("_Key")


def slowed(storage: Storage, slowdown: float) -> Storage:
    """Return a storage with its bandwidths divided and its times multiplied.

    Args:
        storage: Which may be in slow motion already.
        slowdown: How many times as long everything takes, at least 1.
    """
    transports = tuple(
        replace(one, figures=_slowed(one.figures, slowdown)) for one in storage.transports
    )
    return replace(
        storage,
        figures=_slowed(storage.figures, slowdown),
        transports=transports,
        slowdown=storage.slowdown * slowdown,
        costs=_slowed_costs(storage.costs, slowdown),
    )


def _slowed_costs(costs: StorageCosts, slowdown: float) -> StorageCosts:
    exchange = [
        replace(
            one,
            opening=one.opening.scaled(slowdown),
            write=_scaled(one.write, slowdown),
            read=_scaled(one.read, slowdown),
        )
        for one in costs.exchange
    ]
    return replace(
        costs,
        write=_scaled(costs.write, slowdown),
        read=_scaled(costs.read, slowdown),
        sync=_scaled(costs.sync, slowdown),
        calls=_scaled(costs.calls, slowdown),
        exchange=tuple(exchange),
    )


def _scaled(table: Mapping[_Key, Interval], slowdown: float) -> dict[_Key, Interval]:
    return {key: cost.scaled(slowdown) for key, cost in table.items()}


def _slowed(figures: Mapping[str, Figure], slowdown: float) -> dict[str, Figure]:
    return {name: _figure(name, figure, slowdown) for name, figure in figures.items()}


def _figure(name: str, figure: Figure, slowdown: float) -> Figure:
    dimension = SPEC_OF[name].dimension
    if dimension is Dimension.BANDWIDTH:
        factor = 1 / slowdown
    elif dimension is Dimension.TIME:
        factor = slowdown
    else:
        return figure
    low, high = (end if end is None else end * factor for end in (figure.low, figure.high))
    return replace(figure, value=figure.value * factor, low=low, high=high)
