# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which charts a campaign gets follows from what varies in it."""

from __future__ import annotations

from dataclasses import replace

import campaigns
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.bench import Case
from stripewise.bench.campaign import DirectoryStriping, figures_of
from stripewise.bench.report import chart_kinds
from stripewise.bench.report._axes import axes_of, striping_words
from stripewise.bench.report._charts import chart_sections
from stripewise.bench.report._curves import panels_of
from stripewise.bench.report._kinds import MOST_LINES


def kinds(campaign):
    return [
        (one.kind, one.operation, one.x and one.x.title, one.y and one.y.title)
        for one in chart_kinds(campaign)
    ]


def made_of(cases, rates=("write",)):
    cases = list(cases)
    runs = [campaigns.run(case, 1, dict.fromkeys(rates, 1e9 + n)) for n, case in enumerate(cases)]
    return campaigns.campaign(campaigns.suite_of(cases), runs)


def test_nodes_and_directories_give_curves_in_panels_and_bars():
    found = chart_kinds(campaigns.array3d(1, (1, 2, 4)))
    curve = next(one for one in found if one.kind == "curves")
    assert curve.x.title == "nodes"
    assert [axis.title for axis in curve.panels] == ["directory"]
    assert [one.kind for one in found if one.operation == "write"] == ["curves", "bars"]


def test_two_sizes_give_a_heat_map_for_each_series():
    found = chart_kinds(campaigns.transfer_size())
    heat = next(one for one in found if one.kind == "heat map")
    assert (heat.x.title, heat.y.title) == ("transfer size", "stripe size")
    assert heat.series_apart
    assert len(panels_of(heat, figures_of(campaigns.transfer_size()))) == 2


def test_one_cell_gives_a_bar():
    assert kinds(campaigns.one_cell()) == [("bars", "write", None, None)]


def test_nothing_that_ended_well_gives_no_chart():
    assert kinds(campaigns.failed_only()) == []


def test_metadata_give_curves_of_each_operation_bars_and_percentiles():
    found = kinds(campaigns.metadata())
    assert ("curves", "create", "nodes", None) in found
    assert [one[0] for one in found[-3:]] == ["metadata", "percentiles", "runs"]


def test_a_users_own_setting_becomes_an_axis():
    cases = [
        Case("mine", settings=(("mpiio.cb_nodes", nodes), ("mpiio.romio_ds_write", sieve)))
        for nodes in (1, 2, 4, 8) for sieve in ("enable", "disable")
    ]  # fmt: skip
    assert ("curves", "write", "cb_nodes", None) in kinds(made_of(cases))
    assert ("heat map", "write", "cb_nodes", "romio_ds_write") in kinds(made_of(cases))


def test_series_with_other_settings_get_curves_of_their_own():
    cases = [Case("A", nodes=n, settings=(("mpiio.cb_nodes", k),)) for n in (1, 2) for k in (1, 2)]
    cases += [Case("B", nodes=n, settings=(("mpiio.cb_buffer_size", k << 20),))
              for n in (1, 2) for k in (1, 2)]  # fmt: skip
    found = [one for one in chart_kinds(made_of(cases)) if one.kind == "curves"]
    assert [one.series for one in found] == [("A",), ("B",)]
    titles = [[axis.title for axis in one.lines] for one in found]
    assert titles == [["cb_nodes"], ["cb_buffer_size"]]


def test_a_case_that_leaves_a_setting_out_has_no_place_on_its_axis():
    cases = [Case("A", settings=(("mpiio.cb_nodes", k),)) for k in (1, 2, 4)] + [Case("A")]
    found = made_of(cases)
    kind = next(one for one in chart_kinds(found) if one.kind == "curves")
    (panel,) = panels_of(kind, figures_of(found))
    assert len(panel.figures) == 3
    assert chart_sections(found, figures_of(found))


def test_an_axis_that_says_the_same_as_another_is_left_out():
    cases = [Case("A", nodes=n, transfer_bytes=n << 20) for n in (1, 2, 4)]
    assert [axis.name for axis in axes_of(cases, {})] == ["nodes"]


def test_what_only_tells_series_apart_is_no_axis():
    cases = [Case("A", backend="posix"), Case("B", backend="hdf5")]
    assert axes_of(cases, {}) == ()


def test_directories_of_stripe_sizes_are_a_measure_and_others_are_names():
    cases = [Case("A", directory=name) for name in ("a", "b")]
    sizes = {"a": DirectoryStriping(4, 1 << 20), "b": DirectoryStriping(4, 4 << 20)}
    counts = {"a": DirectoryStriping(-1), "b": DirectoryStriping(1)}
    assert axes_of(cases, sizes)[0].values == (1 << 20, 4 << 20)
    by_count = axes_of(cases, counts)[0]
    assert [by_count.text(value) for value in by_count.values] == ["b (1 stripe)",
                                                                   "a (all targets)"]  # fmt: skip


def test_directories_of_targets_are_numbered():
    cases = [Case("A", directory=name) for name in ("x", "y", "z")]
    axis = axes_of(cases, {name: DirectoryStriping(1, 0, n) for n, name in enumerate("xyz")})[0]
    assert (axis.title, axis.values) == ("target", (0, 1, 2))
    assert axis.labelled_value(cases[2]) == "2"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (DirectoryStriping(), ""),
        (DirectoryStriping(-1), "all targets"),
        (DirectoryStriping(4, 1 << 20), "4 stripes of 1 MiB"),
        (DirectoryStriping(0, 4 << 20), "stripes of 4 MiB"),
        (DirectoryStriping(1, 0, 7), "1 stripe from target 7"),
    ],
)
def test_striping_in_words(place, words):
    assert striping_words(place) == words


def cell(draw):
    return Case(
        draw(st.sampled_from("ABC")),
        nodes=draw(st.integers(1, 6)),
        ranks_per_node=draw(st.integers(1, 3)),
        transfer_bytes=draw(st.sampled_from([0, 1 << 20, 4 << 20])),
        directory=draw(st.sampled_from(["one", "all"])),
        sync=draw(st.booleans()),
        local=draw(st.sampled_from(["", "1024", "8,8,8"])),
        settings=draw(st.sampled_from([(), (("mpiio.cb_nodes", 2),), (("mpiio.cb_nodes", 4),)])),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.composite(cell)(), min_size=1, max_size=30, unique=True))
def test_every_figure_is_in_exactly_one_panel_of_curves_and_no_panel_has_too_many_lines(cases):
    found = made_of(cases)
    places = {"one": DirectoryStriping(1), "all": DirectoryStriping(-1)}
    found = replace(found, suite=replace(found.suite, directories=places))
    figures = figures_of(found)
    curves = [one for one in chart_kinds(found, figures) if one.kind == "curves"]
    shown = [figure.case.key for kind in curves for panel in panels_of(kind, figures)
             for figure in panel.figures]  # fmt: skip
    assert len(shown) == len(set(shown))
    for kind in curves:
        for panel in panels_of(kind, figures):
            lines = {(one.case.series, *(axis.at(one.case) for axis in kind.lines))
                     for one in panel.figures}  # fmt: skip
            assert len(lines) <= MOST_LINES
            axes, shown_here = (kind.x, *kind.lines), panel.figures
            at = [(one.case.series, *(a.at(one.case) for a in axes)) for one in shown_here]
            assert len(at) == len(set(at))
    chart_sections(found, figures)
