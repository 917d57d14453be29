# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a request, in one line with the remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.errors import StorageError, UsageError
from stripewise.text import plural, printable

if TYPE_CHECKING:
    from stripewise.tiers._base import Pool, Tier, TierRequest

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
                f"{printable(name)!r} is no name for a directive: letters, digits, - _ and . only"
            )
    if request.place and (not _PLACE.fullmatch(request.place) or _climbs(request.place)):
        raise UsageError(
            f"{printable(request.place)!r}: the place in a tier is a relative path of letters, "
            "digits, - _ and ."
        )
    for path in filter(None, (request.stage_in, request.stage_out, request.backing)):
        check_path(path)
    for path in filter(None, (request.stage_in, request.backing)):
        check_there(path)


def _climbs(place: str) -> bool:
    return ".." in place.split("/")


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
