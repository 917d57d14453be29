# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import campaigns
import pytest

from stripewise.bench import Case
from stripewise.bench.campaign import figures_of
from stripewise.bench.report import chart_kinds, draw_campaign, draw_limits
from stripewise.bench.report._charts import (
    MOST_PANELS,
    chart_group,
    chart_sections,
    percentile_rows,
    standings,
)
from stripewise.bench.report._over_time import relative_runs, slow_targets, target_ratios
from stripewise.bench.report._path import narrowest, stages_of
from stripewise.core.errors import UsageError


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", list(campaigns.ALL))
def test_every_chart_becomes_a_picture(name, tmp_path):
    campaign = campaigns.ALL[name]()
    figures = campaigns.flagged(campaign)
    for number, kind in enumerate(chart_kinds(campaign, figures)):
        if chart_group(kind, campaign, figures) is None:
            continue
        path = tmp_path / f"{number}.svg"
        words = draw_campaign(campaign, figures, path, kind=kind.kind, operation=kind.operation)
        assert words.endswith(".")
        root = ElementTree.fromstring(path.read_text("utf-8"))
        assert root.tag.endswith("svg")
        assert "NaN" not in path.read_text("utf-8")


def test_series_are_compared_on_the_largest_job_that_two_of_them_have():
    cases = [Case("fast", nodes=n) for n in (1, 2, 4, 64)] + [
        Case("slow", nodes=n) for n in (1, 2)
    ]
    runs = [campaigns.run(case, 1, {"write": 1e9 * case.nodes * (1 + (case.series == "fast"))})
            for case in cases]  # fmt: skip
    campaign = campaigns.campaign(campaigns.suite_of(cases), runs)
    kind = next(one for one in chart_kinds(campaign) if one.kind == "bars")
    found = standings(kind, figures_of(campaign))
    assert [(one.label, one.figures.case.nodes) for one in found] == [("fast", 2), ("slow", 2)]
    assert [one.efficiency for one in found] == [1.0, pytest.approx(0.5)]


def test_panels_without_room_are_counted():
    campaign = campaigns.many_cells(400)
    figures = figures_of(campaign)
    sections = {one.name: one for one in chart_sections(campaign, figures)}
    for drawings in sections["curves"].blocks:
        assert len(drawings.charts) <= MOST_PANELS
        assert "more panels are not shown" in drawings.note


def test_neighbours_with_the_same_lines_stand_side_by_side():
    campaign = campaigns.metadata()
    sections = {one.name: one for one in chart_sections(campaign, figures_of(campaign))}
    (drawings,) = sections["curves"].blocks
    assert len(drawings.charts) == 4
    assert drawings.title == "Over nodes"


def test_percentiles_are_the_medians_of_the_runs_of_the_largest_job():
    rows = percentile_rows(campaigns.metadata(), ())
    assert {row["share"] for row in rows} == {"half", "90 %", "99 %", "longest"}
    assert {row["operation"] for row in rows} == {"Create", "Stat", "Read file", "Remove"}


def test_runs_are_relative_to_their_cells():
    campaign = campaigns.one_cell(5)
    found = relative_runs(campaign, figures_of(campaign))
    assert sorted(one.ratio for one in found)[2] == 1.0


def on_targets(factor):
    """Runs whose files lie on targets in turn; target 3 has a factor."""
    case = Case("file per process", nodes=2, repeats=40)
    runs = []
    for repeat in range(1, 41):
        target = repeat % 8
        rate = 1e9 * (1 + 0.01 * (repeat % 5)) * (factor if target == 3 else 1)
        runs.append(campaigns.run(case, repeat, {"write": rate}, repeat,
                                  layout={"stripe_count": 1, "targets": [target]}))  # fmt: skip
    return campaigns.campaign(campaigns.suite_of([case]), runs)


def test_a_slow_target_is_named_by_its_number():
    found = slow_targets(target_ratios(on_targets(0.5)))
    assert list(found) == [3]
    assert found[3] == pytest.approx(0.5, rel=0.05)
    assert slow_targets(target_ratios(on_targets(1.0))) == {}


def test_a_slow_target_is_found_where_directories_pin_files_to_targets():
    cases = [Case("one target", directory=f"t{n}", repeats=3) for n in range(4)]
    runs = [
        campaigns.run(case, repeat, {"write": 1e9 * (0.4 if case.directory == "t2" else 1)},
                      layout={"targets": [int(case.directory[1:])]})
        for case in cases for repeat in (1, 2, 3)
    ]  # fmt: skip
    campaign = campaigns.campaign(campaigns.suite_of(cases), runs)
    assert list(slow_targets(target_ratios(campaign))) == [2]


def test_the_narrowest_part_of_the_path_depends_on_the_job():
    limits = campaigns.limits_of(campaigns.one_cell())
    assert narrowest(stages_of(limits, "write", 1, 1)).title == "process"
    assert narrowest(stages_of(limits, "write", 64, 64 * 128)).title == "target"
    assert all(one.limit is not None or one.one > 0 for one in stages_of(limits, "read", 2, 8))


def test_limits_become_a_picture_in_words_too(tmp_path):
    campaign = campaigns.array3d(1, (1, 2))
    path = tmp_path / "limits.svg"
    words = draw_limits(campaign, campaigns.limits_of(campaign), path)
    assert "narrowest" in words
    assert ElementTree.parse(path).getroot().get("aria-label") == words
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_limits(campaign, campaigns.limits_of(campaign), tmp_path / "limits.txt")
    none = replace(campaigns.limits_of(campaign), limits=())
    with pytest.raises(UsageError, match="shows no limit"):
        draw_limits(campaign, none, path)


def test_operations_share_a_picture_that_names_them(tmp_path):
    campaign = campaigns.metadata()
    path = tmp_path / "a.svg"
    draw_campaign(campaign, figures_of(campaign), path, kind="curves")
    text = path.read_text("utf-8")
    for name in ("Create", "Stat", "Read file", "Remove"):
        assert f">{name}<" in text
    assert len(text) < 60_000


def test_a_chart_that_the_campaign_has_not_is_refused(tmp_path):
    campaign = campaigns.one_cell()
    with pytest.raises(UsageError, match="no chart heat map"):
        draw_campaign(campaign, figures_of(campaign), tmp_path / "a.svg", kind="heat map")
