# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page of a campaign in a real browser: every chart is drawn and nothing complains."""

from __future__ import annotations

import campaigns
import pytest
from test_profile_browser import BROWSER, load

from stripewise.bench.report import render_campaign

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["array3d", "transfer-size", "metadata", "hostile"])
def test_every_chart_is_drawn_without_complaints(name, tmp_path):
    campaign = campaigns.ALL[name]()
    page = tmp_path / "campaign.html"
    text = render_campaign(campaign, campaigns.flagged(campaign))
    page.write_text(text, encoding="utf-8")
    document, console = load(page, tmp_path)
    assert console == []
    charts = text.count('<figure class="chart" ')
    assert document.count('class="chart drawn"') == charts > 1
