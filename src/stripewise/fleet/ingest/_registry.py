# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The feeds, and which of them an input is of."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from stripewise.fleet.ingest._base import Claim, Feed
from stripewise.fleet.ingest._campaign import CampaignFeed
from stripewise.fleet.ingest._evidence import EvidenceFeed
from stripewise.fleet.ingest._report import ReportFeed
from stripewise.fleet.ingest._samples import SamplesFeed
from stripewise.fleet.ingest._scheduler import SchedulerFeed
from stripewise.fleet.ingest._study import StudyFeed

FEEDS: tuple[Feed, ...] = (
    ReportFeed(), SamplesFeed(), SchedulerFeed(), StudyFeed(), CampaignFeed(), EvidenceFeed(),
)  # fmt: skip
"""In the order in which they are asked: those that look at little first."""


def feed_of(path: Path, head: bytes) -> Feed | None:
    """Return the feed of an input; None: it is of no kind that is taken in."""
    return next((feed for feed in FEEDS if feed.recognises(path, head)), None)


def claim_of(directory: Path, names: Collection[str]) -> Claim | None:
    """Return the files of a directory that together are one input."""
    for feed in FEEDS:
        if (claim := feed.claim(directory, names)) is not None:
            return claim
    return None


def summaries() -> list[str]:
    """Return what can be taken in, for people."""
    return [feed.summary for feed in FEEDS]
