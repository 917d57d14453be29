# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads pools and persistent burst buffers from `scontrol show burst`.

Source: Slurm 22.05, src/api/burst_buffer_info.c (the formats of its lines); documented.  Other
releases have more or fewer fields, and pools beside the first as `PoolName[0]`, `AltPoolName[0]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.tiers import Pool, burst_size_bytes

_PAIR = re.compile(r"([A-Za-z]\w*(?:\[\d+\])?)=(\S*)")
_POOL = re.compile(r"(?:Alt)?PoolName\[\d+\]")
_USER = re.compile(r"(.*)\((\d+)\)")
_JOB = re.compile(r"(\d+)(?:_(\d+)\((\d+)\))?")
_SECTIONS = ("Allocated Buffers:", "Per User Buffer Use:")


@dataclass(frozen=True)
class BurstBuffer:
    """What a job or a user has.

    Attributes:
        job_id: Whose it is; 0 for a persistent one.  Of a task of an array: the task's own.
        name: Of a persistent one; "" otherwise.
        pool: It is from.
        size_bytes: Of all its nodes.
        state: "allocated", "staging-in", "staged-in", "running", "staging-out" ...
        user / user_id: The owner; -1 if it is not said.
        array_job: "169509_3" where it is a task of an array; "" otherwise.
        fields: Everything that its line says.
    """

    job_id: int
    name: str
    pool: str
    size_bytes: int
    state: str
    user: str
    user_id: int
    array_job: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BurstBuffers:
    """What one burst-buffer plugin has.

    Attributes:
        plugin: "datawarp", "lua".
        default_pool: Name; "" where it has none.
        pools: The default one first; empty until Slurm has polled the storage for the first
            time.
        buffers: That are allocated.
        flags: Of burst_buffer.conf, such as "EmulateCray".
        used_by_user: Name to bytes.
        settings: All other fields of its own, such as StageInTimeout.
    """

    plugin: str
    default_pool: str = ""
    pools: tuple[Pool, ...] = ()
    buffers: tuple[BurstBuffer, ...] = ()
    flags: tuple[str, ...] = ()
    used_by_user: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def pool(self, name: str = "") -> Pool | None:
        """Return a pool by its name, or the default one; None if there is none."""
        wanted = name or self.default_pool
        return next((pool for pool in self.pools if pool.name == wanted), None)


def parse_burst(text: str) -> tuple[BurstBuffers, ...]:
    """Return the burst buffers in the output of `scontrol show burst`; empty if there are none.

    Lines that are of no known form are left out.
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
    pools: list[Pool] = []
    buffers: list[BurstBuffer] = []
    used: dict[str, int] = {}
    section = ""
    for line in lines:
        pairs = _pairs(line)
        if line.strip() in _SECTIONS:
            section = line.strip()
        elif section == _SECTIONS[0]:
            buffers += _buffer(pairs)
        elif section:
            used |= _use(pairs)
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
        used_by_user=used,
        settings=_own(settings),
    )


def _pairs(line: str) -> dict[str, str]:
    return dict(_PAIR.findall(line))


def _own(settings: Mapping[str, str]) -> dict[str, str]:
    of_pool = ("DefaultPool", "Granularity", "TotalSpace", "FreeSpace", "UsedSpace")
    return {key: value for key, value in settings.items() if key not in of_pool}


def _all_pools(settings: Mapping[str, str], others: list[Pool]) -> tuple[Pool, ...]:
    """Return the default pool, which the first line has, and the others."""
    name = settings.get("DefaultPool", "").replace("(null)", "")
    first = _pool(name, settings)
    same = [pool for pool in others if pool.name == name]
    rest = [pool for pool in others if pool.name != name]
    if first.total_bytes or (name and not same):
        return (first, *rest)
    return (*same, *rest)


def _other_pool(pairs: Mapping[str, str]) -> Pool | None:
    key = next((key for key in pairs if _POOL.fullmatch(key)), "")
    return _pool(pairs[key], pairs) if key else None


def _pool(name: str, pairs: Mapping[str, str]) -> Pool:
    grain = _size(pairs, "Granularity")
    total, used = _size(pairs, "TotalSpace"), _size(pairs, "UsedSpace")
    free = _size(pairs, "FreeSpace") if "FreeSpace" in pairs else max(0, total - used)
    return Pool(name, grain or 1, total, free, used)


def _size(pairs: Mapping[str, str], key: str) -> int:
    return burst_size_bytes(pairs.get(key, "")) or 0


def _buffer(pairs: Mapping[str, str]) -> list[BurstBuffer]:
    job = _JOB.fullmatch(pairs.get("JobID", ""))
    if job is None and "Name" not in pairs:
        return []
    number, task, own = job.groups() if job else ("0", None, None)
    user, user_id = _user(pairs)
    return [
        BurstBuffer(
            job_id=int(own or number),
            name=pairs.get("Name", ""),
            pool=pairs.get("Pool", "").replace("(null)", ""),
            size_bytes=_size(pairs, "Size"),
            state=pairs.get("State", ""),
            user=user,
            user_id=user_id,
            array_job=f"{number}_{task}" if task else "",
            fields=dict(pairs),
        )
    ]


def _user(pairs: Mapping[str, str]) -> tuple[str, int]:
    found = _USER.fullmatch(pairs.get("UserID", ""))
    return (found.group(1), int(found.group(2))) if found else (pairs.get("UserID", ""), -1)


def _use(pairs: Mapping[str, str]) -> dict[str, int]:
    user, _ = _user(pairs)
    return {user: _size(pairs, "Used")} if user else {}


# Persistent burst buffers, which jobs name and do not make.


def nodes_of_persistent(name: str, plugin: str, known: Sequence[BurstBuffers]) -> int:
    """Return how many nodes a persistent burst buffer has; 1 where Slurm does not tell.

    Args:
        name: Of the burst buffer.
        plugin: Of Slurm, which has it.
        known: What Slurm tells.

    Raises:
        UsageError: Slurm tells of others, but not of this one.
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
