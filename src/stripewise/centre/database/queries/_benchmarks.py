# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists benchmark campaigns on a storage system: each case over time, and its latest change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Connection, or_, select

from stripewise.centre.database.tables._storage import CampaignFigure, CampaignRow

MOST_CAMPAIGNS = 100
"""Maximum number of campaigns on a storage that are read, newest first."""
FEWEST_BEFORE = 5
"""Minimum number of earlier campaigns for a change to be reported."""
_FAR = 3.0
"""Robust standard deviations beyond which the latest figure has changed (chosen)."""
_LEAST_CHANGE = 0.05
"""Minimum change of the logarithm of a rate; smaller ones are not reported (chosen)."""
_NORMAL = 1.4826


@dataclass(frozen=True)
class Figure:
    """Result of one case in one campaign.

    Attributes:
        at: Time of the campaign.
        median / low / high: Bytes or operations a second, with the interval of the median.
        run_count: Number of runs behind it.
    """

    at: int
    campaign: str
    median: float
    low: float
    high: float
    run_count: int


@dataclass(frozen=True)
class CaseHistory:
    """One case over time.

    Attributes:
        is_emulated: Whether all of it was measured on emulated storage.
        unit: "bytes/s" or "operations/s".
        figures: Results, oldest first.
    """

    case: str
    operation: str
    is_emulated: bool
    nodes: int
    ranks: int
    unit: str
    figures: Sequence[Figure]

    @property
    def latest(self) -> Figure:
        """The newest figure."""
        return self.figures[-1]

    @property
    def before(self) -> float | None:
        """Median of the campaigns before the latest one; None if there are none."""
        earlier = [one.median for one in self.figures[:-1]]
        return median(earlier) if earlier else None

    @property
    def change(self) -> float | None:
        """Ratio of the latest figure to those before, minus 1; None if there are none."""
        return None if not self.before else self.latest.median / self.before - 1

    @property
    def verdict(self) -> str:
        """Return how the latest figure compares: lower, higher or usual; "" if unknown."""
        earlier = [math.log(one.median) for one in self.figures[:-1] if one.median > 0]
        if len(earlier) < FEWEST_BEFORE or self.latest.median <= 0:
            return ""
        middle = median(earlier)
        spread = _NORMAL * median(abs(one - middle) for one in earlier)
        away = math.log(self.latest.median) - middle
        if abs(away) <= max(_FAR * spread, _LEAST_CHANGE):
            return "usual"
        return "lower" if away < 0 else "higher"


def _is_on(storage: str) -> Any:
    """Return the condition that a campaign ran on a storage; more words may follow its name."""
    begins = CampaignRow.storage.startswith(f"{storage} ", autoescape=True)
    return or_(CampaignRow.storage == storage, begins)


def newest_benchmark(connection: Connection, storage: str) -> tuple[int, bool] | None:
    """Return when the newest campaign on a storage was made, and whether it is emulated.

    A campaign on real storage is preferred. None if there is no campaign.
    """
    row = connection.execute(
        select(CampaignRow.made_at, CampaignRow.is_emulated)
        .where(_is_on(storage))
        .order_by(CampaignRow.is_emulated, CampaignRow.made_at.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else (row.made_at, row.is_emulated)


def benchmark_history(connection: Connection, storage: str) -> list[CaseHistory]:
    """Return every case that campaigns on a storage ran, those that became slower first."""
    newest = (
        select(CampaignRow.id)
        .where(_is_on(storage))
        .order_by(CampaignRow.made_at.desc(), CampaignRow.id.desc())
        .limit(MOST_CAMPAIGNS)
    )
    query = (
        select(
            *(CampaignFigure.case, CampaignFigure.operation, CampaignRow.is_emulated),
            *(CampaignFigure.nodes, CampaignFigure.ranks, CampaignFigure.unit),
            *(CampaignRow.made_at, CampaignRow.name, CampaignFigure.median),
            *(CampaignFigure.low, CampaignFigure.high, CampaignFigure.run_count),
        )
        .join(CampaignRow, CampaignRow.id == CampaignFigure.campaign_id)
        .where(CampaignRow.id.in_(newest))
        .order_by(CampaignRow.made_at, CampaignRow.id, CampaignFigure.number)
    )
    found: dict[tuple[str, str, bool, int, int, str], list[Figure]] = {}
    for row in connection.execute(query):
        key = (row.case, row.operation, row.is_emulated, row.nodes, row.ranks, row.unit)
        found.setdefault(key, []).append(
            Figure(row.made_at, row.name, row.median, row.low, row.high, row.run_count)
        )
    cases = [CaseHistory(*key, figures) for key, figures in found.items()]
    return sorted(cases, key=lambda one: (one.verdict != "lower", one.is_emulated))
