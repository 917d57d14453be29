# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what a storage tier must offer, and reads and checks requests for one."""

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
class Pool:
    """Storage nodes of one kind.

    Attributes:
        name: As directives give it.
        granularity_bytes: What one node gives: capacity is handed out in multiples of it.
        total_bytes / free_bytes / used_bytes: Of all its nodes.
    """

    name: str
    granularity_bytes: int
    total_bytes: int
    free_bytes: int
    used_bytes: int = 0

    @property
    def nodes(self) -> int:
        """All nodes."""
        return self.total_bytes // max(1, self.granularity_bytes)

    @property
    def free_nodes(self) -> int:
        """Nodes that a job can have now."""
        return self.free_bytes // max(1, self.granularity_bytes)

    @property
    def drained_nodes(self) -> int:
        """Nodes that are neither free nor used: drained, or not Slurm's to give."""
        held = self.total_bytes - self.free_bytes - self.used_bytes
        return max(0, held) // max(1, self.granularity_bytes)


@dataclass(frozen=True)
class TierRequest:
    """What a job asks of a tier.

    Attributes:
        nodes: Storage nodes; 0: as `capacity_bytes` says.
        pool: "" for the default one.
        access: "striped" (one name space for all nodes of the job) or "private" (one for each).
        type: "scratch" or "cache" (DataWarp), "lustre", "xfs", "gfs2" or "raw" (Rabbit); "": as
            is usual for the tier.
        capacity_bytes: As an existing script says; used where `nodes` is 0.
        stage_in / stage_out: Directories of the parallel file system: copied to the tier before
            the job starts, and from the tier after its end.
        place: Directory in the tier that holds the job's files, relative; "": its top.
        persistent: Name of an existing persistent tier; then nothing is allocated.
        backing: Directory of the parallel file system that a cache stands before.
        name: Of the allocation (Rabbit).
        profile: The site's storage profile (Rabbit).
        template: The site's lines (lua), with {capacity} {nodes} {pool} {stage_in} {stage_out}.
        variable: Environment variable with the tier's directory, where the site chooses it (lua).
        directory: Directory, perhaps with environment variables (directory).
        kept: Other lines of the script, which are given back as they were.
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
    """One kind of storage that a job can be given.

    Attributes:
        name: Of the member.
        summary: One line.
        markers: First words of its lines in a job script ("#DW"); empty: it has no lines.
        sized: Whether a job chooses the number of its nodes.
        needs_pool: Whether nothing can be had where no pool is known.
        copies_itself: Whether nobody copies a job's files there unless the job does.
        has_persistent: Whether there are some that outlive jobs, found by their names.
        copy_in: Keyword of the lines that copy to it; "" if it has none.
    """

    name: str
    summary: str
    markers: tuple[str, ...] = ()
    sized: bool = True
    needs_pool: bool = True
    copies_itself: bool = False
    has_persistent: bool = False
    copy_in: str = ""

    def capacity_bytes(self, nodes: int, pool: Pool) -> int:
        """Return the capacity to ask for to get exactly this many nodes of a pool; 0: none."""
        return nodes * pool.granularity_bytes if self.sized else 0

    def nodes_of(self, capacity_bytes: int, pool: Pool) -> int:
        """Return how many nodes of a pool a capacity takes; 0 where none are chosen."""
        return 0 if not self.sized else -(-capacity_bytes // max(1, pool.granularity_bytes))

    @abstractmethod
    def directives(self, request: TierRequest, pool: Pool | None) -> tuple[str, ...]:
        """Return the lines for a job script.

        Args:
            request: Checked before.
            pool: That `check` chose; None where nothing is allocated by size.
        """

    def is_shared(self, request: TierRequest) -> bool | None:
        """Whether all nodes of a job see the same storage; None: that is not known before."""
        del request
        return None

    def copied_in(self, request: TierRequest) -> tuple[tuple[str, str], ...]:
        """Return what a script's own lines copy to the tier: sources, and their places there.

        A source is a file or a directory; a file whose place is a directory keeps its name.

        Raises:
            UsageError: A line copies what cannot be copied in its place.
        """
        found = [(str(request.stage_in), request.place)] if request.stage_in else []
        variable = self.directory_variable(request)
        for line in request.kept:
            if self.copy_in and line.split()[1:2] == [self.copy_in]:
                found.append(copied_of(line, variable))
        return tuple(found)

    @abstractmethod
    def directory_variable(self, request: TierRequest) -> str:
        """Return the environment variable that holds the directory in a job; "" if none does."""

    def directory_text(self, request: TierRequest) -> str:
        """Return where the job's files are, with a variable to expand in the job; "" if none."""
        variable = self.directory_variable(request)
        if not variable:
            return ""
        return "/".join(part for part in (f"${{{variable}}}", request.place) if part)

    def read(self, words: Sequence[Sequence[str]]) -> TierRequest | None:
        """Return what the lines of a job script ask for; None if nothing of this tier.

        Args:
            words: Of each line; the first is the marker.

        Raises:
            UsageError: A line of this tier has a value that is none.
        """
        del words
        return None

    def check(self, request: TierRequest, pools: Sequence[Pool]) -> Pool | None:
        """Choose the pool, and check that the request can be met now.

        Args:
            request: Of the job.
            pools: Of the site, the default one first.

        Raises:
            UsageError: The request can never be met as it is written.
            StorageError: Too few nodes are free now.
        """
        check_staging(request)
        check_persistent(self, request)
        if not self.sized or request.persistent:
            return None
        if not (pools or self.needs_pool or request.nodes):
            return None
        return check_pool(self, request, pools)

    def requested_bytes(self, request: TierRequest, pool: Pool | None) -> int:
        """Return the capacity that a request writes."""
        if request.nodes and pool is not None:
            return self.capacity_bytes(request.nodes, pool)
        return request.capacity_bytes


# What is wrong with a request, in one line with the remedy.

_PATH = re.compile(r"/[^\s\x00-\x1f\x7f\x22\x27\x60\x24\x5c#;&|<>]*")
"""A path that a directive can hold: it has no way to quote."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_PLACE = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


def check_pool(tier: Tier, request: TierRequest, pools: Sequence[Pool]) -> Pool:
    """Choose the pool and check that it has the nodes.

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


def _chosen(tier: Tier, request: TierRequest, pools: Sequence[Pool]) -> Pool:
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
    """Check that there can be a persistent one, where the request names one.

    Raises:
        UsageError: This kind of tier has none.
    """
    if request.persistent and not tier.has_persistent:
        raise UsageError(
            f"persistent burst buffer {printable(request.persistent)}: the tier {tier.name} has "
            "none; choose --tier datawarp or --tier rabbit"
        )


def check_staging(request: TierRequest) -> None:
    """Check the names and directories of a request.

    Raises:
        UsageError: One cannot be written into a directive, or is not there.
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
        check_there(path)


def check_path(path: Path) -> None:
    """Refuse a path that a directive cannot hold.

    Raises:
        UsageError: With the remedy.
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
    """Whether a directive can hold a path."""
    text = str(path)
    return bool(_PATH.fullmatch(text)) and printable(text) == text


def check_absolute(path: Path) -> None:
    """Refuse a directory whose name depends on where a job begins.

    Raises:
        UsageError: With the remedy.
    """
    if not path.is_absolute():
        raise UsageError(
            f"{printable(str(path))}: a copied directory needs an absolute path, such as "
            "$PWD/results"
        )


def check_there(path: Path) -> None:
    """Refuse a directory that is not there.

    Raises:
        UsageError: With the remedy.
    """
    if not os.path.isdir(path):
        raise UsageError(
            f"{printable(str(path))}: there is no such directory: make it, or name another"
        )


# Reading of directives: "#DW jobdw type=scratch capacity=16GiB".


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Return the KEY=VALUE words."""
    pairs = (word.partition("=") for word in words)
    return {key: value for key, equals, value in pairs if equals}


def capacity_of(options: dict[str, str]) -> int:
    """Return the capacity in bytes; 0 if none is given.

    Raises:
        UsageError: It is no size.
    """
    text = options.get("capacity", "")
    size_bytes = burst_size_bytes(text) if text else 0
    if size_bytes is None:
        raise UsageError(
            f"capacity={printable(text)} in the job script is not a size: write it as 16GiB"
        )
    return size_bytes


def place_in(path: str, variable: str) -> str | None:
    """Return the place below "$VARIABLE/"; None if the path is elsewhere."""
    for root in (f"${variable}", f"${{{variable}}}"):
        if path == root:
            return ""
        if path.startswith(root + "/"):
            return path[len(root) + 1 :].strip("/")
    return None


def copied_of(line: str, variable: str) -> tuple[str, str]:
    """Return source and place of a line that copies a file or a directory to a tier.

    Raises:
        UsageError: It copies a list, or to another tier, or its source is not there.
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


# Sizes as burst buffers are asked for them and as Slurm prints them: 16GiB, 20G, 10737418240.
#
# Source: Slurm 22.05, bb_get_size_num: k, m, g, t, p and kib to pib are powers of 1024, kb to pb
# powers of 1000, in either case; a number alone is bytes.

_LETTERS = "kmgtp"
_FACTORS = {"": 1, "b": 1, "n": 1, "node": 1, "nodes": 1}
for _power, _letter in enumerate(_LETTERS, 1):
    _FACTORS[_letter] = _FACTORS[f"{_letter}ib"] = 1024**_power
    _FACTORS[f"{_letter}b"] = 1000**_power
_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,9}))?\s?([A-Za-z]{0,5})")
_WRITTEN = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def burst_size_bytes(text: str) -> int | None:
    """Return a size in bytes (a number of nodes, "4N", as it stands); None if it is none."""
    found = _SIZE.fullmatch(text.strip())
    factor = _FACTORS.get(found.group(3).lower()) if found else None
    if found is None or factor is None:
        return None
    part = found.group(2) or ""
    return int(found.group(1) + part) * factor // int(10 ** len(part))


def burst_size_text(size_bytes: int) -> str:
    """Return a size exactly, a whole number of the largest unit that allows it: 16GiB."""
    for unit, factor in _WRITTEN:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)
