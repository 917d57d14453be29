# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HPE Rabbit, through the Data Workflow Service.

Source: the user interactions guide of NearNodeFlash and the Rabbit guide of flux-coral2;
documented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

_TYPES = ("lustre", "xfs", "gfs2", "raw")
_DEFAULT_NAME = "stripewise"


class RabbitTier(Tier):
    """Flash beside the compute nodes, as a Lustre of the job's own or a file system per node.

    The capacity is that of all nodes for `lustre`, and of each compute node for the others.
    """

    name = "rabbit"
    summary = "HPE Rabbit (DWS): #DW lines with a named allocation"
    markers = ("#DW",)
    needs_pool = False
    has_persistent = True
    copy_in = "copy_in"

    def directives(self, request: TierRequest, pool: Pool | None) -> tuple[str, ...]:
        """Return the #DW lines: the allocation, the copies, what else the script had."""
        return (*self._lines(request, pool), *request.kept)

    def _lines(self, request: TierRequest, pool: Pool | None) -> Iterator[str]:
        if request.persistent:
            yield f"#DW persistentdw name={request.persistent}"
        else:
            size = burst_size_text(self.asked_bytes(request, pool))
            profile = f" profile={request.profile}" if request.profile else ""
            yield (
                f"#DW jobdw type={request.type or 'lustre'} capacity={size} "
                f"name={request.name or _DEFAULT_NAME}{profile}"
            )
        there = below(self.directory_variable(request), request.place)
        if request.stage_in:
            yield f"#DW copy_in source={request.stage_in} destination={there}"
        if request.stage_out:
            yield f"#DW copy_out source={there} destination={request.stage_out}"

    def is_shared(self, request: TierRequest) -> bool:
        """Whether it is no file system of each node."""
        return bool(request.persistent) or request.type in ("", "lustre", "gfs2")

    def directory_variable(self, request: TierRequest) -> str:
        """Return DW_JOB_ or DW_PERSISTENT_ and the name, with _ for each -."""
        kind = "PERSISTENT" if request.persistent else "JOB"
        name = request.persistent or request.name or _DEFAULT_NAME
        return f"DW_{kind}_{name.replace('-', '_')}"

    def read(self, words: Sequence[Sequence[str]]) -> TierRequest | None:
        """Return the request of the jobdw or persistentdw line, with its copies."""
        lines = directives_of(words)
        first = next((line for line in lines if _is_rabbit(line)), None)
        if first is None:
            return None
        others = [line for line in lines if line is not first]
        return with_stages(_allocation(first), others, self._copied)

    def _copied(self, request: TierRequest, line: Line) -> TierRequest | None:
        """Return the request with a copy line; None if the line has to stay as it is."""
        if len(options_of(line[2:])) != 2:
            return None
        variable = self.directory_variable(request)
        return with_stage(request, line, variable, "copy_in", "copy_out")

    def check(self, request: TierRequest, pools: Sequence[Pool]) -> Pool | None:
        """Also refuse what Rabbit has not."""
        if request.type and request.type not in _TYPES:
            raise UsageError(f"type={request.type}: Rabbit has {', '.join(_TYPES)}")
        name = request.persistent or request.name or _DEFAULT_NAME
        if not name.replace("-", "_").isidentifier():
            raise UsageError(f"name={name}: Rabbit's names are of letters, digits and -")
        if request.type == "raw" and (request.stage_in or request.stage_out):
            raise UsageError("type=raw has no files to copy: use lustre, xfs or gfs2")
        pool = super().check(request, pools)
        if pool is None and not (request.persistent or request.capacity_bytes):
            raise UsageError("a Rabbit allocation needs a capacity: no pool here says it by nodes")
        return pool


def _is_rabbit(line: Sequence[str]) -> bool:
    """Whether a line allocates for Rabbit: DataWarp's have no name and other types."""
    options = options_of(line[2:])
    if line[1] == "persistentdw":
        return bool(options.get("name"))
    return line[1] == "jobdw" and options.get("type") in _TYPES


def _allocation(line: Sequence[str]) -> TierRequest:
    options = options_of(line[2:])
    if line[1] == "persistentdw":
        return TierRequest(persistent=options["name"])
    return TierRequest(
        type=options["type"],
        capacity_bytes=capacity_of(options),
        name=options.get("name", ""),
        profile=options.get("profile", ""),
    )
