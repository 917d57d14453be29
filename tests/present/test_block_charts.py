# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of curves and heat maps as the charts that a page draws."""

from __future__ import annotations

import json

import pages
import pytest

from stripewise.present import blocks
from stripewise.present.renderers import as_page
from stripewise.present.renderers._charts import drawn

HOSTILE = "</script><img src=x onerror=alert(1)>' \" & \x1b[31m"


def curves(values, **more):
    at = [60.0 * place for place in range(len(values))]
    return blocks.Chart("c", "Title", at, [blocks.Line("one", "one", values)], **more)


def layers(block):
    """The layers of a chart, by their mark."""
    parts = drawn(block).spec["vconcat"][0]["layer"]
    return {part["mark"]["type"]: part for part in parts}


def values_of(layer):
    return [(row["at"], row["value"]) for row in layer["data"]["values"]]


def test_a_value_of_steps_holds_up_to_the_next_moment():
    line = layers(curves([None, 5.0, None], style="steps", is_clock=False))["line"]
    assert values_of(line) == [(0, None), (60, 5), (120, 5), (180, None)]
    assert line["mark"]["interpolate"] == "step-after"


def test_a_value_that_is_held_is_not_one_that_is_known():
    told = layers(curves([None, 5.0, None], style="steps"))["rule"]
    assert [row["line0"] for row in told["data"]["values"]] == [None, 5, None]
    assert told["transform"][0]["calculate"].endswith(": '–'")


def test_a_value_between_gaps_gets_a_dot():
    parts = layers(curves([1.0, 2.0, None, 3.0, None, 4.0], is_clock=False))
    assert values_of(parts["point"]) == [(180, 3), (300, 4)]
    assert (120, None) in values_of(parts["line"])
    assert "point" not in layers(curves([1.0, 2.0]))
    assert values_of(layers(curves([2.0]))["point"]) == [(0, 2)]


def test_points_are_not_joined():
    parts = layers(curves([1.0, None, 2.0], style="points"))
    assert "line" not in parts
    assert [value for _, value in values_of(parts["point"])] == [1, 2]


@pytest.mark.parametrize(
    ("kind", "value", "title", "shown"),
    [("rate", 3 * 2.0**30, "GiB/s", 3), ("bytes", 2.0**14, "KiB", 16), ("share", 0.25, "%", 25),
     ("seconds", 7200.0, "minutes", 120), ("operations", 5.0, "per second", 5),
     ("count", 5.0, "", 5)],
)  # fmt: skip
def test_values_are_shown_in_the_unit_of_their_kind(kind, value, title, shown):
    line = layers(curves([value, 0.0], kind=kind))["line"]
    assert line["encoding"]["y"]["title"] == title
    assert values_of(line)[0][1] == shown


def test_a_clock_shows_utc():
    parts = layers(curves([1.0, 2.0]))
    assert parts["line"]["encoding"]["x"]["scale"]["type"] == "utc"
    assert [at for at, _ in values_of(parts["line"])] == [0, 60_000]
    assert parts["rule"]["data"]["values"][1]["when"] == "1970-01-01 00:01"


def test_only_what_is_shown_of_a_marked_time_is_marked():
    spans = [blocks.Span("before", -9, -5), blocks.Span("job", -9, 30)]
    marked = layers(curves([1.0, 2.0], is_clock=False, spans=spans))["rect"]
    assert marked["data"]["values"] == [{"at": 0, "end": 30, "title": "job"}]


def test_heat_leaves_idle_cells_out():
    spec = drawn(blocks.Heat("h", "Busy", ["a", "b"], 2.0, [[0, 1], [0.5, 0]])).spec
    rows = spec["vconcat"][0]["data"]["values"]
    assert [(row["row"], row["at"], row["end"], row["share"]) for row in rows] == [
        (0, 2, 4, "100 %"), (1, 0, 2, "50 %")
    ]  # fmt: skip


def test_a_page_by_itself_has_such_charts_with_their_words():
    heat = blocks.Heat("h", HOSTILE, [HOSTILE], 1.0, [[1.0]], HOSTILE)
    lines = [blocks.Line("one", HOSTILE, [1.0])]
    chart = blocks.Chart("c", HOSTILE, [0.0], lines, description=HOSTILE)
    page = as_page(blocks.Content("Title", blocks=[chart, heat]))
    pages.assert_self_contained(page)
    pages.assert_accessible(page)
    assert "SPDX" not in page
    figures = [found for tag, found in pages.Page(page).tags if tag == "figure"]
    assert len(figures) == 2
    for one in figures:
        assert json.loads(one["data-chart"])["vconcat"]
        assert one["aria-label"].count("</script>") == 2
