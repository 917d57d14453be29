# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Burst buffers: pools and how full they are; whose they are is left out."""

from __future__ import annotations

from collections import Counter

from stripewise.site._base import Host, Probe, Section
from stripewise.site.probes._queue import try_job
from stripewise.slurm import BurstBuffers, parse_burst
from stripewise.tiers import Pool, TierRequest, find_tier

_SETTINGS = ("StageInTimeout", "StageOutTimeout", "ValidateTimeout", "OtherTimeout")


class BurstProbe(Probe):
    """`scontrol show burst`, DataWarp's own status, a job tried with a burst buffer."""

    name = "burst_buffers"
    summary = "pools of burst buffers, and a job tried with one node of DataWarp"

    def run(self, host: Host) -> Section:
        """Ask scontrol and dwstat."""
        found: Section = {"plugins": []}
        if host.which("scontrol"):
            answer = host.ask("scontrol", "show", "burst")
            plugins = parse_burst(answer.text)
            found["plugins"] = [_plugin(one) for one in plugins]
            found |= answer.failure()
            if pool := _datawarp_pool(plugins):
                found["test_job"] = _try_datawarp(host, pool)
        if host.which("dwstat"):
            status = host.ask("dwstat", "pools")
            found["dwstat"] = {"text": status.text[:4000], **status.failure()}
        return found


def _plugin(one: BurstBuffers) -> Section:
    states = Counter(buffer.state for buffer in one.buffers)
    return {
        "name": one.plugin,
        "default_pool": one.default_pool,
        "flags": list(one.flags),
        "settings": {key: one.settings[key] for key in _SETTINGS if key in one.settings},
        "pools": [_pool(pool) for pool in one.pools],
        "buffers": dict(states),
        "persistent": sum(1 for buffer in one.buffers if buffer.name),
    }


def _pool(pool: Pool) -> Section:
    return {
        "name": pool.name,
        "granularity_bytes": pool.granularity_bytes,
        "nodes": pool.nodes,
        "free_nodes": pool.free_nodes,
        "drained_nodes": pool.drained_nodes,
        "total_bytes": pool.total_bytes,
        "free_bytes": pool.free_bytes,
    }


def _datawarp_pool(plugins: tuple[BurstBuffers, ...]) -> Pool | None:
    found = (one.pools[0] for one in plugins if one.plugin in ("datawarp", "cray") and one.pools)
    return next((pool for pool in found if pool.nodes), None)


def _try_datawarp(host: Host, pool: Pool) -> Section:
    """Ask whether a job with one node would be accepted; nothing is allocated."""
    lines = find_tier("datawarp").directives(TierRequest(nodes=1), pool)
    return {"lines": list(lines), **try_job(host, "".join(f"{line}\n" for line in lines))}
