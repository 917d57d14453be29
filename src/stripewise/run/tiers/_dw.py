# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the tiers that #DW lines request: Cray DataWarp through Slurm, and HPE Rabbit.

Source: DataWarp user guide (S-2558) and Slurm's Burst Buffer Guide; the user interactions guide
of NearNodeFlash and the Rabbit guide of flux-coral2; documented.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.run.tiers._base import (
    StoragePool,
    Tier,
    TierRequest,
    burst_size_text,
    capacity_of,
    options_of,
    place_in,
)

Line = Sequence[str]
_MARKER = "#DW"
_GIB = 1 << 30
_MIB = 1 << 20


class DwTier(Tier):
    """A tier with lines that allocate (jobdw, persistentdw) and copy (a keyword per direction).

    Attributes:
        copy_out: Keyword of the lines that copy from it.
        copied: Mandatory words in these lines before the directories.
    """

    markers = (_MARKER,)
    has_persistent = True
    copy_out: str
    copied: str = ""

    @abstractmethod
    def job_words(self, request: TierRequest, pool: StoragePool | None, capacity: str) -> str:
        """Return the words of the line that allocates for a job, after `#DW jobdw`."""

    @abstractmethod
    def allocation(self, line: Line) -> TierRequest | None:
        """Return the allocation in a line; None if it allocates nothing of this tier."""

    def directives(self, request: TierRequest, pool: StoragePool | None) -> tuple[str, ...]:
        """Return the #DW lines: the allocation, the copies, and other lines of the script."""
        return (*self._lines(request, pool), *request.kept)

    def _lines(self, request: TierRequest, pool: StoragePool | None) -> Iterator[str]:
        if request.persistent:
            yield f"{_MARKER} persistentdw name={request.persistent}"
        else:
            capacity = burst_size_text(self.requested_bytes(request, pool))
            yield f"{_MARKER} jobdw {self.job_words(request, pool, capacity)}"
        there = f"${self.directory_variable(request)}/{request.place}"
        for keyword, source, destination in (
            (self.copy_in, request.stage_in, there),
            (self.copy_out, request.stage_out and there, request.stage_out),
        ):
            if source:
                words = f"{keyword} {self.copied}".rstrip()
                yield f"{_MARKER} {words} source={source} destination={destination}"

    def read(self, words: Sequence[Line]) -> TierRequest | None:
        """Return the request in the jobdw or persistentdw line, with the copies of other lines.

        All parsed copies have one directory in the tier: lines that copy elsewhere are kept
        unchanged, like other lines.
        """
        lines = [line for line in words if len(line) > 1 and line[0] == _MARKER]
        first = next((line for line in lines if self.allocates(line)), None)
        request = self.allocation(first) if first is not None else None
        if request is None:
            return None
        kept: list[str] = []
        places: list[str] = []
        for line in lines:
            if line is first:
                continue
            stage = self._with_copy(request, line)
            if stage is None or places not in ([], [stage.place]):
                kept.append(" ".join(line))
                continue
            places, request = [stage.place], stage
        return replace(request, kept=tuple(kept))

    def allocates(self, line: Line) -> bool:
        """Return whether a line is the one that allocates."""
        return line[1] in ("jobdw", "persistentdw")

    def _with_copy(self, request: TierRequest, line: Line) -> TierRequest | None:
        """Return the request with the directory that a line copies; None for another line.

        Existing copies in the request are not replaced.
        """
        options, needed = options_of(line[2:]), options_of(self.copied.split())
        is_in = line[1] == self.copy_in
        if line[1] not in (self.copy_in, self.copy_out) or len(options) != 2 + len(needed):
            return None
        outside, inside = ("source", "destination") if is_in else ("destination", "source")
        path = options.get(outside, "")
        place = place_in(options.get(inside, ""), self.directory_variable(request))
        if place is None or not path.startswith("/") or not needed.items() <= options.items():
            return None
        if is_in:
            return None if request.stage_in else replace(request, stage_in=Path(path), place=place)
        return None if request.stage_out else replace(request, stage_out=Path(path), place=place)


class DataWarpTier(DwTier):
    """Flash nodes of a Cray XC, shared by (striped) or private to the nodes of a job."""

    name = "datawarp"
    summary = "Cray DataWarp: #DW lines, nodes by capacity"
    copy_in, copy_out = "stage_in", "stage_out"
    copied = "type=directory"

    def capacity_bytes(self, nodes: int, pool: StoragePool) -> int:
        """Return 1 GiB less than the capacity of the nodes, or all of it if nodes are small.

        DataWarp allocates ceil(capacity / granularity) nodes, and reports rounded granularities,
        so that slightly less is safe.  Source: Markomanolis (KAUST), ExPBB; documented.
        """
        exact = nodes * pool.granularity_bytes
        less = exact - _GIB
        for size in (less // _GIB * _GIB, less // _MIB * _MIB, exact // _MIB * _MIB):
            if size > 0 and self.nodes_of(size, pool) == nodes:
                return size
        return exact

    def job_words(self, request: TierRequest, pool: StoragePool | None, capacity: str) -> str:
        """Return the type, access mode, capacity, pool, and the directory that is cached."""
        named = request.pool or (pool.name if pool else "")
        return (
            f"type={request.type or 'scratch'} access_mode={request.access} capacity={capacity}"
            + (f" pool={named}" if named else "")
            + (f" pfs={request.backing}" if request.backing else "")
        )

    def allocation(self, line: Line) -> TierRequest | None:
        """Return the request in a line; None for swap space."""
        options = options_of(line[2:])
        if line[1] == "persistentdw":
            name = options.get("name", "")
            return TierRequest(persistent=name) if name else None
        if options.get("type") == "swap":
            return None
        backing = options.get("pfs", "")
        return TierRequest(
            pool=options.get("pool", ""),
            access=options.get("access_mode", "striped").partition("(")[0],
            type=options.get("type", "scratch"),
            capacity_bytes=capacity_of(options),
            backing=Path(backing) if backing else None,
        )

    def is_shared(self, request: TierRequest) -> bool:
        """Return whether the storage is striped over the nodes, or persistent."""
        return bool(request.persistent) or request.access != "private"

    def directory_variable(self, request: TierRequest) -> str:
        """Return DW_JOB_STRIPED or the corresponding variable."""
        if request.persistent:
            return f"DW_PERSISTENT_STRIPED_{request.persistent}"
        cache = "_CACHE" if request.type == "cache" else ""
        return f"DW_JOB_{'PRIVATE' if request.access == 'private' else 'STRIPED'}{cache}"

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Check the request, and refuse features that DataWarp does not have."""
        pool = super().check(request, pools)
        if request.type not in ("", "scratch", "cache"):
            raise UsageError(f"type={request.type}: DataWarp has scratch and cache")
        if request.access not in ("striped", "private"):
            raise UsageError(f"access_mode={request.access}: use striped or private")
        if request.type == "cache" and not request.backing:
            raise UsageError("a DataWarp cache needs the directory that it caches (pfs=)")
        if request.persistent and not request.persistent.isidentifier():
            raise UsageError(
                f"persistent burst buffer {request.persistent!r}: its directory is in a variable "
                f"of that name, so only letters, digits and _ will do"
            )
        staged = request.stage_in or request.stage_out
        if staged and (request.type == "cache" or request.access == "private"):
            raise UsageError(
                "DataWarp stages files only for type=scratch access_mode=striped: leave the "
                "staging out, or change the access mode"
            )
        return pool


_TYPES = ("lustre", "xfs", "gfs2", "raw")
_DEFAULT_NAME = "stripewise"


class RabbitTier(DwTier):
    """Flash near the compute nodes, as a Lustre file system of the job or a file system per node.

    The capacity is that of all nodes for `lustre`, and that of each compute node otherwise.
    """

    name = "rabbit"
    summary = "HPE Rabbit (DWS): #DW lines with a named allocation"
    needs_pool = False
    copy_in, copy_out = "copy_in", "copy_out"

    def job_words(self, request: TierRequest, pool: StoragePool | None, capacity: str) -> str:
        """Return the type, capacity, name and profile."""
        profile = f" profile={request.profile}" if request.profile else ""
        name = request.name or _DEFAULT_NAME
        return f"type={request.type or 'lustre'} capacity={capacity} name={name}{profile}"

    def allocates(self, line: Line) -> bool:
        """Return whether a line allocates for Rabbit; DataWarp's have no name and other types."""
        options = options_of(line[2:])
        if line[1] == "persistentdw":
            return bool(options.get("name"))
        return line[1] == "jobdw" and options.get("type") in _TYPES

    def allocation(self, line: Line) -> TierRequest:
        """Return the request in a line."""
        options = options_of(line[2:])
        if line[1] == "persistentdw":
            return TierRequest(persistent=options["name"])
        return TierRequest(
            type=options["type"],
            capacity_bytes=capacity_of(options),
            name=options.get("name", ""),
            profile=options.get("profile", ""),
        )

    def is_shared(self, request: TierRequest) -> bool:
        """Return whether the storage is not a file system per node."""
        return bool(request.persistent) or request.type in ("", "lustre", "gfs2")

    def directory_variable(self, request: TierRequest) -> str:
        """Return DW_JOB_ or DW_PERSISTENT_ and the name, with _ for each -."""
        kind = "PERSISTENT" if request.persistent else "JOB"
        name = request.persistent or request.name or _DEFAULT_NAME
        return f"DW_{kind}_{name.replace('-', '_')}"

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Check the request, and refuse features that Rabbit does not have."""
        if request.type and request.type not in _TYPES:
            raise UsageError(f"type={request.type}: Rabbit has {', '.join(_TYPES)}")
        name = request.persistent or request.name or _DEFAULT_NAME
        if not name.replace("-", "_").isidentifier():
            raise UsageError(f"name={name}: Rabbit's names consist of letters, digits and -")
        if request.type == "raw" and (request.stage_in or request.stage_out):
            raise UsageError("type=raw has no files to copy: use lustre, xfs or gfs2")
        pool = super().check(request, pools)
        if pool is None and not (request.persistent or request.capacity_bytes):
            raise UsageError("a Rabbit allocation needs a capacity: no pool here says it by nodes")
        return pool
