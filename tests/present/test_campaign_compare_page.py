# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of comparisons and of histories: escaped, complete, light."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from stripewise.bench.comparison import History, compare
from stripewise.bench.comparison._history import Night, night_of
from stripewise.bench.report import (
    comparison_lines,
    comparison_to_json,
    render_comparison,
    render_history,
)
from support.campaigns import made_campaign, target_campaign, usual_cases, usual_rate

EVIL = "<script>alert(1)</script>\x1b[31m"
DAY = 86400.0


class Tags(HTMLParser):
    """Counts tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1


def test_a_page_has_curves_tables_and_every_cell() -> None:
    one = made_campaign(usual_cases(), usual_rate)
    two = made_campaign(usual_cases(), lambda *a: 2 * usual_rate(*a), seed=2)
    found = compare([one, two])
    text = render_comparison(found)
    assert text.count('class="canvas"') == 8  # two lines of write and read, one of four operations
    assert text.count("<caption>") == 3
    assert Tags(text).counts["tr"] > len(found.cells)


def test_a_page_of_three_campaigns_has_a_column_for_each() -> None:
    some = [made_campaign(usual_cases(), usual_rate, seed=n, name=f"c{n}") for n in range(3)]
    text = render_comparison(compare(some))
    assert "c1 / c0" in text
    assert "c2 / c0" in text


def test_foreign_texts_are_escaped() -> None:
    cases = [replace(one, series=EVIL) for one in usual_cases()]
    one = made_campaign(cases, usual_rate, name=EVIL)
    two = made_campaign(cases, lambda *a: 2 * usual_rate(*a), name=EVIL, seed=1)
    found = compare([one, two])
    text = render_comparison(found)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert comparison_to_json(found)["campaigns"][0] == EVIL
    assert any("ratio" in line for line in comparison_lines(found))


# ---- histories -------------------------------------------------------------------------------


def three_years(evil: str = "") -> History:
    """Nights of forty figures, drawn without making campaigns."""
    chance = np.random.default_rng(1)
    nights = []
    for number in range(1095):
        rates = {
            f"case {place}{evil} nodes={place + 1}\twrite": (
                float(2e9 * np.exp(chance.normal(0, 0.03)) * (0.8 if number > 1000 else 1)),
                1.5e9,
                2.5e9,
            )
            for place in range(40)
        }
        nights.append(Night(f"{number}.json", "nightly", 1.7e9 + number * DAY, rates, failed=0))
    return History("work" + evil, tuple(nights))


@pytest.fixture(scope="module")
def years() -> str:
    return render_history(three_years())


def test_three_years_of_nights_are_a_light_page_without_a_script(years: str) -> None:
    assert len(years) < 400_000
    assert "<script" not in years
    assert years.count("<svg") == 40
    assert "Slower since 2026" in years


def test_a_curve_marks_what_changed(years: str) -> None:
    assert years.count('class="slower"') >= 40


def test_texts_of_histories_are_escaped() -> None:
    short = replace(three_years(EVIL), nights=three_years(EVIL).nights[:30])
    text = render_history(short)
    assert "<script" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("number", [1, 2, 30])
def test_few_nights_have_a_page_too(number: int) -> None:
    night = night_of(target_campaign(1), "a.json")
    nights = tuple(replace(night, started_unix_seconds=1.7e9 + one * DAY) for one in range(number))
    assert "Still learning" in render_history(History("h", nights)) or number == 30
