# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a campaign: adapts its suite to the machine, runs its cases and keeps a journal."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.running._directory import read_campaign as read_campaign
    from stripewise.bench.running._directory import read_directory as read_directory
    from stripewise.bench.running._directory import run_campaign as run_campaign
    from stripewise.bench.running._fit_here import fitted_suite as fitted_suite
    from stripewise.bench.running._plan import CampaignOptions as CampaignOptions
    from stripewise.bench.running._plan import PlannedRun as PlannedRun
    from stripewise.bench.running._run import CampaignObserver as CampaignObserver
else:
    __getattr__, __all__ = lazy_exports(__name__)
