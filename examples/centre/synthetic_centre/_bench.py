# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of benchmarks, one a month: rates of the preset's storage, and how busy it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from time import gmtime, strftime

import numpy as np

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, Suite, campaign_json, figures_of
from stripewise.centre.database._records import CampaignRecord, pack
from stripewise.storage.machines import Storage, load_description
from synthetic_centre._behaviour import PRESET, TARGETS
from synthetic_centre._weather import DAY, FAILOVER_DAY, SCRATCH, Weather

_NODES, _RANKS, _REPEATS = 16, 8, 5
_AMOUNT = 4 << 40
_FILES = 1 << 17
_EVERY_DAYS = 30
_BAD_FACTOR = 0.6
"""Of all rates in the month in which a server failed over (assumed: its disks were rebuilt)."""
_CASES = (
    Case("file per process", operation="write-read", nodes=_NODES, ranks_per_node=_RANKS,
         layout="per-process", repeats=_REPEATS),
    Case("shared file, collective", operation="write-read", nodes=_NODES, ranks_per_node=_RANKS,
         backend="mpiio", mode="collective", repeats=_REPEATS),
    Case("metadata", runner="metadata", operation="metadata", nodes=_NODES,
         ranks_per_node=_RANKS, files=_FILES // (_NODES * _RANKS), repeats=_REPEATS),
)  # fmt: skip
_SUITE = Suite("demo-monthly", "Monthly check (synthetic)", "Figures are made up.", {}, _CASES)
_SHARED = 0.6
"""Rate of a shared file, of that of a file per process (assumed)."""


def campaigns(seed: int, weather: Weather) -> Iterator[CampaignRecord]:
    """Yield the campaign of each month."""
    storage, random = load_description(PRESET), np.random.default_rng([seed, 5])
    for day in range(_EVERY_DAYS // 2, 365, _EVERY_DAYS):
        at = weather.start + day * DAY + 3 * 3600
        bad = abs(day - FAILOVER_DAY) <= _EVERY_DAYS // 2
        yield _record(_campaign(storage, at, _BAD_FACTOR if bad else 1.0, random), at)


def _campaign(storage: Storage, at: int, factor: float, random: np.random.Generator) -> Campaign:
    runs = []
    for case in _CASES:
        for repeat in range(1, _REPEATS + 1):
            noise = factor * float(np.exp(random.normal(0.0, storage.value("noise.cv") / 3)))
            samples = tuple(
                RunFigure(operation, amount, amount / (rate * noise))
                for operation, amount, rate in _rates(storage, case)
            )
            runs.append(CaseRun(case.key, repeat, "ok", samples, started_unix_seconds=float(at)))
    return Campaign(
        f"monthly-{strftime('%Y-%m', gmtime(at))}", _SUITE, tuple(runs), f"{SCRATCH} (synthetic)",
        PRESET, float(at), "all runs are made", {"launcher": "synthetic", "targets": TARGETS},
    )  # fmt: skip


def _rates(storage: Storage, case: Case) -> Iterator[tuple[str, float, float]]:
    """Yield operations with their amount, and what is done of it in a second."""
    if case.runner == "metadata":
        for operation, figure in (("create", "create"), ("stat", "stat"), ("remove", "remove")):
            yield operation, float(_FILES), 1 / storage.value(f"metadata.{figure}")
        return
    share = _SHARED if case.mode == "collective" else 1.0
    for way in ("write", "read"):
        rate = min(
            _NODES * storage.value(f"client.node_{way}"),
            TARGETS * storage.value(f"servers.target_{way}"),
        )
        yield way, float(_AMOUNT), share * rate


def _record(campaign: Campaign, at: int) -> CampaignRecord:
    figures = tuple(
        {
            "case": one.case.key, "operation": one.operation, "nodes": one.case.nodes,
            "ranks": one.case.ranks, "run_count": len(one.rates), "median": one.median,
            "low": one.low, "high": one.high,
            "unit": "bytes/s" if one.of_data else "operations/s",
        }
        for one in figures_of(campaign)
    )  # fmt: skip
    columns = {
        "name": campaign.name, "suite": campaign.suite.name, "storage": campaign.storage,
        "made_at": at, "is_emulated": True, "document": pack(campaign_json(campaign)),
    }  # fmt: skip
    digest = hashlib.sha256(f"demo campaign {at}".encode()).hexdigest()
    return CampaignRecord(digest, columns, figures)
