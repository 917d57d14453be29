# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents a described storage, a job's burst-buffer grant, and storage in slow motion."""

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

# Records of the file system of a directory, and how they are read from the kernel.


def find_mount(directory: Path, root: Path = Path("/")) -> Mount:
    """Describe the file system of a directory.

    Args:
        directory: Directory in question; links are followed.
        root: Directory that contains `proc` and `sys` (for tests).
    """
    real = os.path.realpath(directory)
    found = mount_in(text_of(root / "proc/self/mountinfo", "surrogateescape"), real)
    try:
        identity = str(os.statvfs(real).f_fsid)
    except OSError:
        identity = ""
    return replace(found, identity=identity, medium=_medium(found, root))


def mount_in(mountinfo: str, path: str) -> Mount:
    """Find the file system that contains a path in the text of /proc/self/mountinfo.

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
        kind: Type of the file system in the kernel, e.g. "ext4"; empty if unknown.
        source: What is mounted: a device, an export, a file system's name.
        point: Path at which it is mounted.
        device: Device number, "259:2".
        identity: Identifier from statvfs; empty if there is none.
        medium: Underlying medium: "rotational", "solid state", "virtual", "network", "memory";
            empty if unknown.
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
        """Whether nodes share it."""
        return self.kind in _NETWORK

    @property
    def is_memory(self) -> bool:
        """Whether it is only in memory."""
        return self.kind in _MEMORY

    def __str__(self) -> str:
        """Return type, mount point and source, for people."""
        return f"{self.kind} on {self.point} ({self.source})" if self.kind else "unknown"


KINDS = ("lustre", "datawarp", "scatefs", "gpfs", "local")
LOCAL = "local"


@dataclass(frozen=True)
class Transport:
    """Set-up of the network below MPI: another variant of the same machine.

    Attributes:
        name: "ofi", "ofi-sar64k", "ucx", ...
        when: Environment variables that choose it, with their values; empty for the default.
        figures: Figures that it replaces.
        hangs_from_nodes: Number of nodes from which jobs hang; 0 if they never do.
        from_nodes: Number of nodes from which its figures apply, since the network is not used
            within one node.
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
        name: Name of the description: "archer2-hdd".
        title: One line for people.
        kind: One of `KINDS`.
        stack: MPI-IO of its users, a name of `stripewise.storage.simulation.STACKS`; empty if
            unknown.
        figures: Figures by name of `FIGURES`; a missing one has its default.
        transports: Variants; the first is used if no other is chosen.
        slowdown: Factor of slow motion, by which every time is multiplied.
        mounts: Absolute paths at which it is mounted, if specified: it describes the file system
            that is mounted there.
        mount: For this machine's own storage, the mounted file system.
        costs: For this machine's own storage, the measured costs of requests.
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
        """Whether somebody described it, as opposed to a probe of this machine."""
        return self.name != LOCAL

    @property
    def striping(self) -> Striping:
        """Properties of new files on it for tunables and strategies."""
        targets = int(self.value("servers.targets"))
        count = min(int(self.value("layout.stripe_count")), targets)
        return Striping(targets, count, int(self.value("layout.stripe_size")))

    def transport(self, environment: Mapping[str, str]) -> Transport | None:
        """Return the variant that a job's environment chooses; None if there are no variants.

        Of the variants with all variables set to their values, the one with the most variables is
        chosen; without any, the first.
        """
        chosen = [one for one in self.transports if one.when.items() <= environment.items()]
        default = self.transports[0] if self.transports else None
        return max(chosen, key=lambda one: len(one.when), default=default)

    def with_figures(self, figures: Mapping[str, Figure]) -> Storage:
        """Return the storage with additional or replaced figures."""
        return replace(self, figures={**self.figures, **figures})

    def over(self, transport: Transport | None, nodes: int = 0) -> Storage:
        """Return the storage with the figures of a variant.

        Args:
            transport: The variant.
            nodes: Number of nodes of the job; if 0 (unknown), the figures apply.
        """
        if transport is None or 0 < nodes < transport.from_nodes:
            return self
        return self.with_figures(transport.figures)


# What a job is granted of a storage: for a burst buffer, nodes by capacity.


def granted_targets(storage: Storage, capacity_bytes: int = 0) -> int:
    """Return the number of targets that a job's files can be on.

    Args:
        storage: A burst buffer, or one with fixed targets.
        capacity_bytes: Capacity that the job requested of a burst buffer; 0 for the minimum grant,
            the nodes that a file has by default.

    Raises:
        ConfigurationError: The capacity exceeds the storage, or the targets are fixed.
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


# Slow motion: every time is multiplied, and all ratios stay the same.

_Key = TypeVar("_Key")


def slowed(storage: Storage, slowdown: float) -> Storage:
    """Return a storage with its bandwidths divided and its times multiplied.

    Args:
        storage: Storage, which may already be in slow motion.
        slowdown: Factor on all times, at least 1.
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
