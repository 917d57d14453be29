# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a storage tier: sizes to nodes, requests to lines of a job script and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.tiers._checks import check_persistent, check_pool, check_staging
from stripewise.tiers._words import copied_of


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

    def asked_bytes(self, request: TierRequest, pool: Pool | None) -> int:
        """Return the capacity that a request writes."""
        if request.nodes and pool is not None:
            return self.capacity_bytes(request.nodes, pool)
        return request.capacity_bytes
