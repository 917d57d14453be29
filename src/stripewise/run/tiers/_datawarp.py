# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cray DataWarp, through Slurm's burst_buffer/datawarp.

Source: DataWarp user guide (S-2558); Slurm's Burst Buffer Guide; documented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.run.tiers._base import (
    Line,
    Pool,
    Tier,
    TierRequest,
    below,
    burst_size_text,
    capacity_of,
    directives_of,
    options_of,
    with_stage,
    with_stages,
)

_GIB = 1 << 30
_MIB = 1 << 20
_IDENTIFIER = "letters, digits and _"


class DataWarpTier(Tier):
    """Flash nodes of a Cray XC, striped over or private to the nodes of a job."""

    name = "datawarp"
    summary = "Cray DataWarp: #DW lines, nodes by capacity"
    markers = ("#DW",)
    has_persistent = True
    copy_in = "stage_in"

    def capacity_bytes(self, nodes: int, pool: Pool) -> int:
        """Return 1 GiB less than so many nodes hold, or all where a node holds little.

        DataWarp gives ceil(capacity / granularity) nodes, and shows granularities rounded: a
        little less is on the safe side.  Source: Markomanolis (KAUST), ExPBB; documented.
        """
        exact = nodes * pool.granularity_bytes
        less = exact - _GIB
        for size in (less // _GIB * _GIB, less // _MIB * _MIB, exact // _MIB * _MIB):
            if size > 0 and self.nodes_of(size, pool) == nodes:
                return size
        return exact

    def directives(self, request: TierRequest, pool: Pool | None) -> tuple[str, ...]:
        """Return the #DW lines: the allocation, the staging, what else the script had."""
        return (*self._lines(request, pool), *request.kept)

    def _lines(self, request: TierRequest, pool: Pool | None) -> Iterator[str]:
        if request.persistent:
            yield f"#DW persistentdw name={request.persistent}"
        else:
            size = burst_size_text(self.asked_bytes(request, pool))
            backing = f" pfs={request.backing}" if request.backing else ""
            named = request.pool or (pool.name if pool else "")
            yield (
                f"#DW jobdw type={request.type or 'scratch'} access_mode={request.access} "
                f"capacity={size}" + (f" pool={named}" if named else "") + backing
            )
        there = below(self.directory_variable(request), request.place)
        if request.stage_in:
            yield f"#DW stage_in type=directory source={request.stage_in} destination={there}"
        if request.stage_out:
            yield f"#DW stage_out type=directory source={there} destination={request.stage_out}"

    def is_shared(self, request: TierRequest) -> bool:
        """Whether it is striped over the nodes, or outlives the job."""
        return bool(request.persistent) or request.access != "private"

    def directory_variable(self, request: TierRequest) -> str:
        """Return DW_JOB_STRIPED and its kin."""
        if request.persistent:
            return f"DW_PERSISTENT_STRIPED_{request.persistent}"
        cache = "_CACHE" if request.type == "cache" else ""
        return f"DW_JOB_{'PRIVATE' if request.access == 'private' else 'STRIPED'}{cache}"

    def read(self, words: Sequence[Sequence[str]]) -> TierRequest | None:
        """Return the request of the jobdw or persistentdw line, with its staging."""
        lines = directives_of(words)
        first = next((line for line in lines if line[1] in ("jobdw", "persistentdw")), None)
        if first is None or not (request := _allocation(first)):
            return None
        return with_stages(request, [line for line in lines if line is not first], self._staged)

    def _staged(self, request: TierRequest, line: Line) -> TierRequest | None:
        """Return the request with a stage line; None if the line has to stay as it is."""
        options = options_of(line[2:])
        if options.get("type") != "directory" or len(options) != 3:
            return None
        variable = self.directory_variable(request)
        return with_stage(request, line, variable, "stage_in", "stage_out")

    def check(self, request: TierRequest, pools: Sequence[Pool]) -> Pool | None:
        """Also refuse what DataWarp has not."""
        pool = super().check(request, pools)
        if request.type not in ("", "scratch", "cache"):
            raise UsageError(f"type={request.type}: DataWarp has scratch and cache")
        if request.access not in ("striped", "private"):
            raise UsageError(f"access_mode={request.access}: use striped or private")
        if request.type == "cache" and not request.backing:
            raise UsageError("a DataWarp cache needs the directory that it stands before (pfs=)")
        if request.persistent and not request.persistent.isidentifier():
            raise UsageError(
                f"persistent burst buffer {request.persistent!r}: its directory is in a variable "
                f"of that name, so only {_IDENTIFIER} will do"
            )
        staged = request.stage_in or request.stage_out
        if staged and (request.type == "cache" or request.access == "private"):
            raise UsageError(
                "DataWarp stages files only for type=scratch access_mode=striped: leave the "
                "staging out, or change the access mode"
            )
        return pool


def _allocation(line: Sequence[str]) -> TierRequest | None:
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
