# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of storage tiers, and parses and checks requests for them."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core.errors import StorageError, UsageError
from stripewise.present import plural, printable


@dataclass(frozen=True)
class StoragePool:
    """A pool of storage nodes of one kind.

    Attributes:
        name: Name of the pool in directives.
        granularity_bytes: Capacity of one node, in multiples of which capacity is allocated.
        total_bytes / free_bytes / used_bytes: Total, free and used capacity of all its nodes.
    """

    name: str
    granularity_bytes: int
    total_bytes: int
    free_bytes: int
    used_bytes: int = 0

    @property
    def nodes(self) -> int:
        """Number of all nodes."""
        return self.total_bytes // max(1, self.granularity_bytes)

    @property
    def free_nodes(self) -> int:
        """Number of nodes currently available to a job."""
        return self.free_bytes // max(1, self.granularity_bytes)

    @property
    def drained_nodes(self) -> int:
        """Number of nodes neither free nor used: drained, or not managed by Slurm."""
        allocatable = self.total_bytes - self.free_bytes - self.used_bytes
        return max(0, allocatable) // max(1, self.granularity_bytes)


@dataclass(frozen=True)
class TierRequest:
    """A job's request to a tier.

    Attributes:
        nodes: Number of storage nodes; 0 to use `capacity_bytes`.
        pool: Name of the pool; empty for the default one.
        access: Access mode: "striped" (one name space for all nodes of the job) or "private" (one
            for each).
        type: Type of storage: "scratch" or "cache" (DataWarp), "lustre", "xfs", "gfs2" or "raw"
            (Rabbit); empty for the default of the tier.
        capacity_bytes: Capacity in an existing script, used if `nodes` is 0.
        stage_in / stage_out: Directories of the parallel file system to copy to the tier before
            the job starts, and from the tier after its end.
        place: Relative directory in the tier for the job's files; empty for its top.
        persistent: Name of an existing persistent tier, with which nothing is allocated.
        backing: Directory of the parallel file system that is cached.
        name: Name of the allocation (Rabbit).
        profile: The site's storage profile (Rabbit).
        template: The site's lines (lua), with {capacity} {nodes} {pool} {stage_in} {stage_out}.
        variable: Environment variable with the tier's directory, if the site chooses it (lua).
        directory: Directory, possibly with environment variables (tier "directory").
        kept: Other lines of the script, which are kept unchanged.
    """

    nodes: int = 0
    pool: str = ""
    access: str = "striped"
    type: str = ""
    capacity_bytes: int = 0
    stage_in: Path | None = None
    stage_out: Path | None = None
    place: str = ""
    persistent: str = ""
    backing: Path | None = None
    name: str = ""
    profile: str = ""
    template: tuple[str, ...] = ()
    variable: str = ""
    directory: str = ""
    kept: tuple[str, ...] = ()


class Tier(ABC):
    """Base class of kinds of storage for jobs.

    Attributes:
        name: Name of the tier.
        summary: One line.
        markers: First words of its lines in a job script ("#DW"); empty if it has no lines.
        sized: Whether a job chooses the number of its nodes.
        needs_pool: Whether nothing can be allocated without a known pool.
        copies_itself: Whether only the job itself can copy its files there.
        has_persistent: Whether there are named persistent ones, which outlive jobs.
        copy_in: Keyword of the lines that copy to it; empty if there is none.
    """

    name: str
    summary: str
    markers: tuple[str, ...] = ()
    sized: bool = True
    needs_pool: bool = True
    copies_itself: bool = False
    has_persistent: bool = False
    copy_in: str = ""

    def capacity_bytes(self, nodes: int, pool: StoragePool) -> int:
        """Return the capacity to request for exactly a number of nodes of a pool; 0 for none."""
        return nodes * pool.granularity_bytes if self.sized else 0

    def nodes_of(self, capacity_bytes: int, pool: StoragePool) -> int:
        """Return the number of nodes of a pool for a capacity; 0 if nodes are not chosen."""
        return 0 if not self.sized else -(-capacity_bytes // max(1, pool.granularity_bytes))

    @abstractmethod
    def directives(self, request: TierRequest, pool: StoragePool | None) -> tuple[str, ...]:
        """Return the lines for a job script.

        Args:
            request: Request that has been checked.
            pool: Pool that `check` chose; None if nothing is allocated by size.
        """

    def is_shared(self, request: TierRequest) -> bool | None:
        """Return whether all nodes of a job see the same storage; None if unknown in advance."""
        del request
        return None

    def copied_in(self, request: TierRequest) -> tuple[tuple[str, str], ...]:
        """Return the sources that a script's own lines copy to the tier, with their destinations.

        A source is a file or a directory; a file whose destination is a directory keeps its name.

        Raises:
            UsageError: A line copies something that a job cannot copy itself.
        """
        found = [(str(request.stage_in), request.place)] if request.stage_in else []
        variable = self.directory_variable(request)
        for line in request.kept:
            if self.copy_in and line.split()[1:2] == [self.copy_in]:
                found.append(copied_of(line, variable))
        return tuple(found)

    @abstractmethod
    def directory_variable(self, request: TierRequest) -> str:
        """Return the environment variable with the directory in a job; empty if there is none."""

    def directory_text(self, request: TierRequest) -> str:
        """Return the directory of the job's files, with a variable to expand in the job, or ""."""
        variable = self.directory_variable(request)
        if not variable:
            return ""
        return "/".join(part for part in (f"${{{variable}}}", request.place) if part)

    def read(self, words: Sequence[Sequence[str]]) -> TierRequest | None:
        """Return the request in the lines of a job script; None if there is none for this tier.

        Args:
            words: Words of each line, beginning with the marker.

        Raises:
            UsageError: A line of this tier has an invalid value.
        """
        del words
        return None

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Choose the pool, and check that the request can be met at the moment.

        Args:
            request: Request of the job.
            pools: Pools of the site, the default one first.

        Raises:
            UsageError: The request can never be met as written.
            StorageError: Too few nodes are free at the moment.
        """
        check_staging(request)
        check_persistent(self, request)
        if not self.sized or request.persistent:
            return None
        if not (pools or self.needs_pool or request.nodes):
            return None
        return check_pool(self, request, pools)

    def requested_bytes(self, request: TierRequest, pool: StoragePool | None) -> int:
        """Return the capacity that a request specifies."""
        if request.nodes and pool is not None:
            return self.capacity_bytes(request.nodes, pool)
        return request.capacity_bytes


# Errors in a request, in one line with the remedy.

_PATH = re.compile(r"/[^\s\x00-\x1f\x7f\x22\x27\x60\x24\x5c#;&|<>]*")
"""A path that is possible in a directive, which has no quoting."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_PLACE = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


def check_pool(tier: Tier, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool:
    """Choose the pool and check that it has enough nodes.

    Raises:
        UsageError: There is no such pool, no size is given, or the pool is smaller.
        StorageError: Too few nodes are free.
    """
    pool = _chosen(tier, request, pools)
    nodes = request.nodes or tier.nodes_of(request.capacity_bytes, pool)
    if nodes < 1:
        raise UsageError(f"{nodes} nodes of {tier.name}: ask for at least 1 node or a capacity")
    if nodes > pool.nodes:
        raise UsageError(
            f"{plural(nodes, 'node')} of pool {pool.name}, which has {pool.nodes}: ask for fewer"
        )
    if nodes > pool.free_nodes:
        drained = f" ({pool.drained_nodes} drained)" if pool.drained_nodes else ""
        raise StorageError(
            f"{plural(nodes, 'node')} of pool {pool.name}, where {pool.free_nodes} of "
            f"{pool.nodes} are free{drained}: ask for fewer, or wait until others have ended"
        )
    return pool


def _chosen(tier: Tier, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool:
    if not pools:
        raise UsageError(
            f"there is no pool of {tier.name} here: see `scontrol show burst`, or choose "
            "another tier"
        )
    if not request.pool:
        return pools[0]
    for pool in pools:
        if pool.name == request.pool:
            return pool
    there = ", ".join(printable(pool.name) for pool in pools)
    raise UsageError(f"there is no pool {printable(request.pool)!r}; there are {there}")


def check_persistent(tier: Tier, request: TierRequest) -> None:
    """Check that the tier supports persistent storage if the request names one.

    Raises:
        UsageError: This kind of tier does not.
    """
    if request.persistent and not tier.has_persistent:
        raise UsageError(
            f"persistent burst buffer {printable(request.persistent)}: the tier {tier.name} has "
            "none; choose --tier datawarp or --tier rabbit"
        )


def check_staging(request: TierRequest) -> None:
    """Check the names and directories of a request.

    Raises:
        UsageError: One cannot be written in a directive, or does not exist.
    """
    for name in (request.pool, request.persistent, request.name, request.profile):
        if name and not _NAME.fullmatch(name):
            raise UsageError(
                f"{printable(name)!r} is not a valid name in a directive: letters, digits, - _ "
                "and . only"
            )
    place = request.place
    if place and (not _PLACE.fullmatch(place) or ".." in place.split("/")):
        raise UsageError(
            f"{printable(place)!r}: the place in a tier is a relative path of letters, "
            "digits, - _ and ."
        )
    for path in filter(None, (request.stage_in, request.stage_out, request.backing)):
        check_path(path)
    for path in filter(None, (request.stage_in, request.backing)):
        check_directory_exists(path)


def check_path(path: Path) -> None:
    """Refuse a path that is not possible in a directive.

    Raises:
        UsageError: It is refused; the message has the remedy.
    """
    if not path.is_absolute():
        raise UsageError(f"{printable(str(path))}: a staged directory needs an absolute path")
    if not is_plain_path(path):
        raise UsageError(
            f"{printable(str(path))!r} cannot be staged: directives cannot quote white space, "
            "quotes, $, \\ and control characters; name a directory without them with --stage-in "
            "(for results: --stage-out), or use a link"
        )


def is_plain_path(path: Path) -> bool:
    """Return whether a path is possible in a directive."""
    text = str(path)
    return bool(_PATH.fullmatch(text)) and printable(text) == text


def check_absolute(path: Path) -> None:
    """Refuse a directory whose name depends on the working directory of a job.

    Raises:
        UsageError: It is refused; the message has the remedy.
    """
    if not path.is_absolute():
        raise UsageError(
            f"{printable(str(path))}: a copied directory needs an absolute path, such as "
            "$PWD/results"
        )


def check_directory_exists(path: Path) -> None:
    """Refuse a directory that does not exist.

    Raises:
        UsageError: It is refused; the message has the remedy.
    """
    if not os.path.isdir(path):
        raise UsageError(
            f"{printable(str(path))}: there is no such directory: make it, or name another"
        )


# Parsing of directives: "#DW jobdw type=scratch capacity=16GiB".


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Return the KEY=VALUE words of a line."""
    pairs = (word.partition("=") for word in words)
    return {key: value for key, equals, value in pairs if equals}


def capacity_of(options: dict[str, str]) -> int:
    """Return the capacity in bytes; 0 if not given.

    Raises:
        UsageError: The value is not a size.
    """
    text = options.get("capacity", "")
    size_bytes = burst_size_bytes(text) if text else 0
    if size_bytes is None:
        raise UsageError(
            f"capacity={printable(text)} in the job script is not a size: write it as 16GiB"
        )
    return size_bytes


def place_in(path: str, variable: str) -> str | None:
    """Return the part of a path below "$VARIABLE/"; None if it is elsewhere."""
    for root in (f"${variable}", f"${{{variable}}}"):
        if path == root:
            return ""
        if path.startswith(root + "/"):
            return path[len(root) + 1 :].strip("/")
    return None


def copied_of(line: str, variable: str) -> tuple[str, str]:
    """Return the source and the destination of a line that copies a file or directory to a tier.

    Raises:
        UsageError: It copies a list, or to another tier, or its source does not exist.
    """
    options = options_of(line.split()[2:])
    source, place = options.get("source", ""), place_in(options.get("destination", ""), variable)
    kind = options.get("type", "file")
    if place is None or ".." in place.split("/") or kind not in ("file", "directory"):
        raise UsageError(
            f"`{printable(line)}` copies what a study cannot copy again for each run: let it copy "
            f"a file or a directory (type=file, type=directory) to ${variable}"
        )
    if not os.path.isabs(source) or not os.path.exists(source):
        raise UsageError(
            f"`{printable(line)}`: {printable(source)!r} does not exist: give an absolute path"
        )
    return source, place


# Sizes in requests for burst buffers and in the output of Slurm: 16GiB, 20G, 10737418240.
#
# Source: Slurm 22.05, bb_get_size_num: k, m, g, t, p and kib to pib are powers of 1024, kb to pb
# powers of 1000, in either case; a plain number is bytes.

_LETTERS = "kmgtp"
_FACTORS = {"": 1, "b": 1, "n": 1, "node": 1, "nodes": 1}
for _power, _letter in enumerate(_LETTERS, 1):
    _FACTORS[_letter] = _FACTORS[f"{_letter}ib"] = 1024**_power
    _FACTORS[f"{_letter}b"] = 1000**_power
_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,9}))?\s?([A-Za-z]{0,5})")
_WRITTEN = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def burst_size_bytes(text: str) -> int | None:
    """Parse a size in bytes, or a number of nodes ("4N" gives 4); return None for others."""
    found = _SIZE.fullmatch(text.strip())
    factor = _FACTORS.get(found.group(3).lower()) if found else None
    if found is None or factor is None:
        return None
    part = found.group(2) or ""
    return int(found.group(1) + part) * factor // int(10 ** len(part))


def burst_size_text(size_bytes: int) -> str:
    """Format a size exactly, as a whole number of the largest possible unit: 16GiB."""
    for unit, factor in _WRITTEN:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)
