# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The gallery's mapping is whole, and its page is made of what campaigns give."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "present")]

import campaigns  # noqa: E402
import gallery  # noqa: E402
from gallery_pictures import MOST_BYTES, draw, smaller, together  # noqa: E402

from stripewise.bench.campaign import find_suite, parse_suite  # noqa: E402
from stripewise.cli._bench_run import command_run  # noqa: E402

BOOK = tomllib.loads((ROOT / "benchmarks" / "gallery.toml").read_text("utf-8"))


def named(item):
    return [name for picture in item.get("pictures", ())
            for name in picture.partition("/")[0].split("+")]  # fmt: skip


def test_every_item_has_a_counterpart_or_says_what_is_to_come():
    for item in BOOK["items"]:
        assert item["talk"] in BOOK["talks"]
        assert item["kind"] in ("table", "figure")
        assert item.get("pictures") or item.get("words"), item["shows"]


def test_numbers_of_a_talk_are_in_order():
    for talk in BOOK["talks"]:
        numbers = [int(item["number"]) for item in BOOK["items"] if item["talk"] == talk]
        assert numbers == list(range(1, len(numbers) + 1))


def test_every_campaign_is_used_and_every_one_used_is_there():
    assert {name for item in BOOK["items"] for name in named(item)} == set(BOOK["campaigns"])


@pytest.mark.parametrize("name", list(BOOK["campaigns"]))
def test_the_command_of_a_campaign_has_these_options(name):
    spec = BOOK["campaigns"][name]
    words = gallery.words_of(spec, spec.get("on", ""))
    with click.Context(command_run) as parent:
        given = command_run.make_context("run", words, parent=parent).params
    suite = find_suite(given["suite"])
    suite = suite.shortened() if given["quick"] else suite
    assert suite.narrowed(
        series=given["series"], directories=given["dirs"], nodes=given["nodes"]
    ).cases


@pytest.mark.extended
def test_the_page_has_every_item_with_its_pictures(tmp_path):
    kinds = {"array3d": lambda: campaigns.array3d(2, (1, 2)), "mdtest": campaigns.metadata}

    def make(name, spec):
        return kinds.get(spec["suite"], campaigns.transfer_size)()

    page = gallery.build(BOOK, tmp_path, make, ["jamstec"])
    for item in BOOK["items"]:
        assert (item["shows"] in page) == (item["talk"] == "jamstec")
    for name in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", page):
        assert ElementTree.fromstring((tmp_path / name).read_text("utf-8")).tag.endswith("svg")
    assert "$ stripewise bench run mdtest" in page


def test_several_campaigns_become_lines_of_one_picture(tmp_path):
    one = campaigns.array3d(2, (1, 2))
    one = replace(one, suite=replace(one.suite, cases=one.suite.cases[:6]))
    both = together([("first", one), ("second", one)])
    assert {case.series for case in both.suite.cases} == {"first", "second"}
    assert len(both.runs) == 2 * sum(len(runs) for _, runs in one.of_cases())
    words = draw(both, tmp_path / "a.svg", "curves", "write")
    assert "first" in words
    assert "second" in words
    assert (tmp_path / "a.svg").stat().st_size < MOST_BYTES


def test_a_smaller_drawing_has_the_same_texts():
    svg = '<svg a="1"><g role="x"><text x="1.23456">9.87654321</text></g><g></g></svg>'
    assert smaller(svg) == '<svg a="1"><g><text x="1.2">9.87654321</text></g></svg>'


def test_the_suite_that_the_guide_shows_is_valid():
    page = (ROOT / "docs/how-to/run-a-campaign.md").read_text("utf-8")
    block = re.search(r"```toml\n(.*?)```", page, flags=re.S)[1]
    assert len(parse_suite(block, "mine.toml").cases) == 6
