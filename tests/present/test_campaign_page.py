# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import re

import campaigns
import pages
import pytest

from stripewise.bench.campaign import figures_of
from stripewise.bench.report import campaign_lines, limit_lines, render_campaign
from stripewise.bench.report._axes import rate_of
from stripewise.bench.report._charts import chart_sections
from stripewise.present.numbers import rate_text
from support.work import calls_and_peak


@pytest.fixture(scope="module", params=list(campaigns.ALL))
def made(request):
    campaign = campaigns.ALL[request.param]()
    figures = campaigns.flagged(campaign)
    limits = campaigns.limits_of(campaign) if request.param == "array3d" else None
    return campaign, figures, render_campaign(campaign, figures, limits, why_no_limits="<why>")


def test_page_is_well_formed_self_contained_accessible_and_small(made):
    page = made[2]
    pages.assert_self_contained(page)
    pages.assert_accessible(page)
    assert len(pages.without_script(page).encode("utf-8")) < 800_000


def test_only_our_own_script_may_run(made):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made[2])[1]
    assert policy.startswith("default-src 'none';")
    assert made[2].count("<script>") == 1


def test_navigation_leads_to_every_section(made):
    tags = pages.Page(made[2]).tags
    linked = [a["href"] for tag, a in tags if tag == "a"]
    assert linked == [f"#{a['id']}" for tag, a in tags if tag == "section"]


def test_every_figure_of_the_campaign_is_on_the_page(made):
    campaign, figures, page = made
    words = pages.Page(page).words
    for one in figures:
        assert rate_of(one) in words
        assert rate_of(one, one.best) in words
    for run in campaign.runs:
        if run.status != "ok" and run.message:
            assert run.message.split("\x1b")[0][:30] in words


def test_charts_show_the_figures_that_the_statistics_give():
    campaign = campaigns.transfer_size()
    figures = figures_of(campaign)
    shown = {
        round(row["median"], 9)
        for section in chart_sections(campaign, figures) if section.name == "curves"
        for drawings in section.blocks for panel in drawings.charts
        for row in panel.spec["vconcat"][0]["data"]["values"]
    }  # fmt: skip
    assert shown == {round(one.median / 2**30, 9) for one in figures}


def test_charts_of_a_page_are_json_without_tags():
    page = render_campaign(campaigns.hostile(), campaigns.flagged(campaigns.hostile()))
    texts = re.findall(r"data-chart='(.*?)'", page, flags=re.S)
    assert texts
    for text in texts:
        json.loads(text)
        assert "<" not in text
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_hostile_texts_stay_texts():
    page = render_campaign(campaigns.hostile(), campaigns.flagged(campaigns.hostile()))
    assert not any(tag == "script" and not a for tag, a in pages.Page(page).tags[1:-1])
    assert "alert('x')" not in re.sub(r"<script.*?</script>", "", page, flags=re.S).replace(
        "&#39;", "~"
    )


@pytest.mark.extended
def test_ten_thousand_cells_make_a_page_of_some_megabytes():
    campaign = campaigns.many_cells(10_000)
    page = render_campaign(campaign, campaigns.flagged(campaign))
    assert len(page.encode("utf-8")) < 5_000_000
    assert "write all with" in page


@pytest.mark.extended
def test_what_a_page_takes_is_linear_in_its_cells():
    calls = []
    for cells in (40, 160):
        campaign = campaigns.many_cells(cells)
        figures = campaigns.flagged(campaign)
        calls.append(calls_and_peak(lambda c=campaign, f=figures: render_campaign(c, f))[0])
    assert calls[1] < 4.5 * calls[0]


def test_what_is_emulated_or_simulated_is_called_so():
    from dataclasses import replace

    real = campaigns.one_cell()
    emulated = replace(real, machine="archer2-hdd", storage="archer2-hdd@1/64")
    simulated = replace(emulated, about={"launcher": "simulated"})
    for campaign, word in ((real, "measured"), (emulated, "emulated"), (simulated, "simulated")):
        page = pages.Page(render_campaign(campaign, figures_of(campaign))).words
        assert f" {word} " in page
        assert any(word in line for line in campaign_lines(campaign, figures_of(campaign))) or (
            word == "measured"
        )


def test_a_figure_of_a_cache_is_no_headline():
    campaign = campaigns.mixed()
    figures = list(campaigns.flagged(campaign))
    from dataclasses import replace

    from stripewise.bench.campaign import Flag

    top = max((one for one in figures if one.operation == "write"), key=lambda one: one.median)
    figures = [
        replace(one, flags=(Flag("caching", "too fast"),) if one is top else ()) for one in figures
    ]
    title = re.search("<h1>(.*?)</h1>", render_campaign(campaign, figures))[1]
    assert rate_of(top) not in title
    assert rate_text(5 * campaigns.GIB) in title


def test_limits_are_drawn_with_the_narrowest_marked_and_tabulated():
    campaign = campaigns.array3d(1, (1, 2))
    limits = campaigns.limits_of(campaign)
    page = pages.Page(render_campaign(campaign, figures_of(campaign), limits)).words
    assert page.count("narrowest") >= 2
    for one in limits.limits:
        assert one.sentence in page
    assert "does not hold" in page
    assert "no series stopped growing below twelve targets" in page
    text = "\n".join(limit_lines(limits))
    assert "client.process_write" in text
    assert "does not hold" in text


def test_why_there_are_no_limits_is_said():
    campaign = campaigns.one_cell()
    page = render_campaign(campaign, figures_of(campaign), why_no_limits="too few <cells>")
    assert "The campaign does not show the limits of the storage: too few &lt;cells&gt;" in page


def test_lines_for_the_terminal_are_printable_and_name_failed_runs(made):
    campaign, figures, _ = made
    lines = campaign_lines(campaign, figures)
    assert all(line.isprintable() for line in lines)
    assert any("did not succeed" in line for line in lines) == any(
        run.status != "ok" for run in campaign.runs
    )


def test_a_table_for_the_terminal_ends_where_it_is_asked_to():
    campaign = campaigns.transfer_size()
    lines = campaign_lines(campaign, figures_of(campaign), most_cells=5)
    assert any(line.startswith(" The first 5 of 96 rows") for line in lines)
    assert len(campaign_lines(campaign, figures_of(campaign), most_cells=0)) > 96
