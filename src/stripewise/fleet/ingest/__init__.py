# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of all kinds into the statistics database."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet.ingest._base import Feed as Feed
    from stripewise.fleet.ingest._base import Reading as Reading
    from stripewise.fleet.ingest._book import store as store
    from stripewise.fleet.ingest._ingest import ingest as ingest
    from stripewise.fleet.ingest._options import SETTLE_SECONDS as SETTLE_SECONDS
    from stripewise.fleet.ingest._options import IngestOptions as IngestOptions
    from stripewise.fleet.ingest._registry import FEEDS as FEEDS
    from stripewise.fleet.ingest._slurm import Asked as Asked
    from stripewise.fleet.ingest._slurm import next_window as next_window
    from stripewise.fleet.ingest._slurm import take_jobs as take_jobs
    from stripewise.fleet.ingest._tally import Tally as Tally
    from stripewise.fleet.ingest._watch import watch as watch
else:
    __getattr__, __all__ = lazy_exports(__name__)
