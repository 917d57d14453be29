# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns: their suites, figures, doubts about the figures, and files for exchange."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.campaign._anonymous import anonymised as anonymised
    from stripewise.bench.campaign._doubts import Ceiling as Ceiling
    from stripewise.bench.campaign._doubts import figures_of as figures_of
    from stripewise.bench.campaign._doubts import operations_of as operations_of
    from stripewise.bench.campaign._doubts import samples_of as samples_of
    from stripewise.bench.campaign._exchange import campaign_json as campaign_json
    from stripewise.bench.campaign._exchange import campaign_text as campaign_text
    from stripewise.bench.campaign._exchange import exchange_schema as exchange_schema
    from stripewise.bench.campaign._exchange import parse_campaign as parse_campaign
    from stripewise.bench.campaign._exchange import read_exchange as read_exchange
    from stripewise.bench.campaign._exchange import write_campaign as write_campaign
    from stripewise.bench.campaign._figures import DATA as DATA
    from stripewise.bench.campaign._figures import Campaign as Campaign
    from stripewise.bench.campaign._figures import CaseFigures as CaseFigures
    from stripewise.bench.campaign._figures import CaseRates as CaseRates
    from stripewise.bench.campaign._figures import Flag as Flag
    from stripewise.bench.campaign._figures import OfOperation as OfOperation
    from stripewise.bench.campaign._figures import coverage_of as coverage_of
    from stripewise.bench.campaign._import import import_campaign as import_campaign
    from stripewise.bench.campaign._interference import flags_of_campaign as flags_of_campaign
    from stripewise.bench.campaign._interference import (
        interference_circumstances as interference_circumstances,
    )
    from stripewise.bench.campaign._suite import Suite as Suite
    from stripewise.bench.campaign._suite import bytes_of as bytes_of
    from stripewise.bench.campaign._suite import find_suite as find_suite
    from stripewise.bench.campaign._suite import parse_suite as parse_suite
    from stripewise.bench.campaign._suite import suite_names as suite_names
    from stripewise.bench.campaign._suite_form import DirectoryStriping as DirectoryStriping
    from stripewise.bench.campaign._suite_form import seconds_of as seconds_of
    from stripewise.bench.campaign._suite_form import size_of as size_of
else:
    __getattr__, __all__ = lazy_exports(__name__)
