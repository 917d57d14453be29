# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses pools and persistent burst buffers from `scontrol show burst`.

Source: Slurm 22.05, src/api/burst_buffer_info.c (the formats of its lines); documented.  Other
releases have more or fewer fields, and pools after the first as `PoolName[0]`, `AltPoolName[0]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.slurm._text import parse_pairs
from stripewise.run.tiers import StoragePool, burst_size_bytes

_POOL = re.compile(r"(?:Alt)?PoolName\[\d+\]")
_SECTIONS = ("Allocated Buffers:", "Per User Buffer Use:")


@dataclass(frozen=True)
class BurstBuffer:
    """A burst buffer of a job, or a persistent one.

    Attributes:
        name: Name of a persistent one; empty otherwise.
        pool: Name of its pool.
        size_bytes: Size over all its nodes.
        state: State of the burst buffer: "allocated", "staging-in", "staged-in", "running",
            "staging-out" ...
    """

    name: str
    pool: str
    size_bytes: int
    state: str


@dataclass(frozen=True)
class BurstBuffers:
    """Pools and buffers of one burst-buffer plug-in.

    Attributes:
        plugin: Name of the plug-in: "datawarp", "lua".
        default_pool: Name of the default pool; empty if there is none.
        pools: Pools, the default one first; empty until Slurm has first polled the storage.
        buffers: Allocated burst buffers.
        flags: Flags of burst_buffer.conf, such as "EmulateCray".
        settings: All its other fields, such as StageInTimeout.
    """

    plugin: str
    default_pool: str = ""
    pools: tuple[StoragePool, ...] = ()
    buffers: tuple[BurstBuffer, ...] = ()
    flags: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def pool(self, name: str = "") -> StoragePool | None:
        """Return a pool by name, or the default one; None if there is none."""
        wanted = name or self.default_pool
        return next((pool for pool in self.pools if pool.name == wanted), None)


def parse_burst(text: str) -> tuple[BurstBuffers, ...]:
    """Return the burst buffers in the output of `scontrol show burst`; empty if there are none.

    Lines of unknown form are ignored.
    """
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("Name="):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    return tuple(_plugin(block) for block in blocks)


def _plugin(lines: list[str]) -> BurstBuffers:
    settings: dict[str, str] = {}
    pools: list[StoragePool] = []
    buffers: list[BurstBuffer] = []
    section = ""
    for line in lines:
        pairs = parse_pairs(line)
        if line.strip() in _SECTIONS:
            section = line.strip()
        elif section == _SECTIONS[0]:
            buffers += _buffer(pairs)
        elif section:
            continue  # sums by user
        elif pool := _other_pool(pairs):
            pools.append(pool)
        else:
            settings |= pairs
    return BurstBuffers(
        plugin=settings.pop("Name", ""),
        default_pool=settings.get("DefaultPool", "").replace("(null)", ""),
        pools=_all_pools(settings, pools),
        buffers=tuple(buffers),
        flags=tuple(filter(None, settings.pop("Flags", "").split(","))),
        settings=_own_settings(settings),
    )


def _own_settings(settings: Mapping[str, str]) -> dict[str, str]:
    of_pool = ("DefaultPool", "Granularity", "TotalSpace", "FreeSpace", "UsedSpace")
    return {key: value for key, value in settings.items() if key not in of_pool}


def _all_pools(settings: Mapping[str, str], others: list[StoragePool]) -> tuple[StoragePool, ...]:
    """Return the default pool from the first line, and the others."""
    name = settings.get("DefaultPool", "").replace("(null)", "")
    first = _pool(name, settings)
    same = [pool for pool in others if pool.name == name]
    rest = [pool for pool in others if pool.name != name]
    if first.total_bytes or (name and not same):
        return (first, *rest)
    return (*same, *rest)


def _other_pool(pairs: Mapping[str, str]) -> StoragePool | None:
    key = next((key for key in pairs if _POOL.fullmatch(key)), "")
    return _pool(pairs[key], pairs) if key else None


def _pool(name: str, pairs: Mapping[str, str]) -> StoragePool:
    grain = _size(pairs, "Granularity")
    total, used = _size(pairs, "TotalSpace"), _size(pairs, "UsedSpace")
    free = _size(pairs, "FreeSpace") if "FreeSpace" in pairs else max(0, total - used)
    return StoragePool(name, grain or 1, total, free, used)


def _size(pairs: Mapping[str, str], key: str) -> int:
    return burst_size_bytes(pairs.get(key, "")) or 0


def _buffer(pairs: Mapping[str, str]) -> list[BurstBuffer]:
    if not {"JobID", "Name"} & pairs.keys():
        return []
    return [
        BurstBuffer(
            name=pairs.get("Name", ""),
            pool=pairs.get("Pool", "").replace("(null)", ""),
            size_bytes=_size(pairs, "Size"),
            state=pairs.get("State", ""),
        )
    ]


# Persistent burst buffers, which jobs name but do not create.


def nodes_of_persistent(name: str, plugin: str, known: Sequence[BurstBuffers]) -> int:
    """Return the number of nodes of a persistent burst buffer; 1 if Slurm does not report it.

    Args:
        name: Name of the burst buffer.
        plugin: Plug-in of Slurm that manages it.
        known: Burst buffers that Slurm reports.

    Raises:
        UsageError: Slurm reports others, but not this one.
    """
    plugins = [one for one in known if one.plugin == plugin]
    if not plugins:
        return 1
    there = {buffer.name: (one, buffer) for one in plugins for buffer in one.buffers}
    there.pop("", None)
    if name not in there:
        names = ", ".join(printable(each) for each in sorted(there)) or "none"
        raise UsageError(
            f"there is no persistent burst buffer {printable(name)!r} here; there are {names} "
            "(scontrol show burst): name one of these, or make it in a job of its own"
        )
    one, buffer = there[name]
    pool = one.pool(buffer.pool)
    return max(1, ceil(buffer.size_bytes / pool.granularity_bytes)) if pool else 1
