# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import studies

from stripewise.model import Configuration, FileRule, Trial
from stripewise.report import render_html
from stripewise.report._knobs import knob_effects

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Checks that tags nest, and collects what the tests ask for."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()


@pytest.fixture(scope="module", params=list(studies.ALL))
def page(request):
    return render_html(studies.ALL[request.param]())


def test_page_is_well_formed_and_small(page):
    Page(page)
    assert len(page.encode("utf-8")) < 1_000_000


def test_page_has_no_scripts_and_no_outside_resources(page):
    for tag, attributes in Page(page).tags:
        assert tag not in {"script", "link", "iframe", "object", "embed", "img"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in {"src", "href", "xlink:href", "action"}:
                assert (value or "").startswith("#")
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_ids_are_unique_and_references_resolve(page):
    tags = Page(page).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in tags:
        for name, value in attributes.items():
            if name == "xlink:href":
                assert value[1:] in ids
    assert {reference for reference in re.findall(r"url\(#([^)]*)\)", page)} <= set(ids)


def test_figures_have_words_and_tables_have_headers(page):
    tags = Page(page).tags
    for tag, attributes in tags:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert attributes["aria-labelledby"]
        if tag == "th":
            assert attributes["scope"] in {"row", "col", "colgroup"}
    assert sum(t == "table" for t, _ in tags) == sum(t == "caption" for t, _ in tags)


def test_colours_come_from_the_style_sheet(page):
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.S):
        assert "#0102" not in svg
        assert set(re.findall(r"(?:fill|stroke): (#\w+)", svg)) <= {"#000000"}


def test_the_same_study_gives_the_same_page():
    assert render_html(studies.improved()) == render_html(studies.improved())


def test_names_are_data():
    page = render_html(studies.rejected())
    assert "<script" not in page.lower()
    assert "&lt;script&gt;alert(" in page
    page = render_html(studies.troubles())
    assert "<b>bold" not in page
    assert "log\\xff.txt" in page


def test_hostile_settings_reach_neither_page_nor_figure():
    evil = "</title><script>$\\frac{1}{0}$\x07\udcff"
    trial = Trial(1, {"mpiio.evil": evil}, Configuration((FileRule(),)), io_ratio=0.5)
    result = replace(studies.improved(), trials=(trial,), winner=trial, searched={})
    page = render_html(result)
    Page(page)
    assert "<script" not in page
    page.encode("utf-8")


def test_improved_page_tells_how_to_apply():
    page = render_html(studies.improved())
    assert "stripewise run --config /scratch/me/flash_io.stripewise/best.toml --" in page
    assert "export MPICH_MPIIO_HINTS=" in page
    assert "export ROMIO_HINTS=" in page
    assert "I/O 5.2x faster" in page


def test_without_improvement_nothing_is_to_be_applied():
    page = render_html(studies.no_improvement())
    assert "No improvement found" in page
    assert "How to apply" not in page
    assert "24 pairs would resolve 16 %" in page
    assert "Candidate (not kept)" in page


def test_rejection_is_the_first_thing_after_the_headline():
    page = render_html(studies.rejected())
    assert page.index("Rejected: the output changed") < page.index("How to apply")


def test_failures_and_timeouts_are_marked():
    page = render_html(studies.troubles())
    assert ">timed out</text>" in page
    assert ">failed</text>" in page


def test_hundreds_of_runs_stay_below_a_megabyte():
    result = studies.improved()
    trials = tuple(replace(result.trials[i % 8], number=i + 1) for i in range(300))
    many = replace(result, runs=result.runs * 20, trials=trials)
    assert len(render_html(many).encode("utf-8")) < 1_000_000


def test_knob_effects_count_trials_and_runs():
    effects = {knob.name: knob for knob in knob_effects(studies.troubles())}
    rows = {value.value: value for value in effects["mpiio.cb_nodes"].values}
    assert list(rows) == ["not set", "2", "4", "8"]
    assert (rows["4"].n_trials, rows["4"].n_runs, rows["4"].winning) == (4, 8, True)
    assert (rows["8"].n_trials, rows["8"].n_failed) == (2, 1)


def test_matplotlib_is_not_loaded_until_a_page_is_drawn():
    code = "import sys, stripewise.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_cases_are_shown_in_a_table_each_with_its_figure():
    page = render_html(studies.ensemble())
    assert "Case by case" in page
    assert "&lt;large&gt;.nml" in page
    assert "<large>" not in page
    assert page.count('id="evidence') >= 1
    assert "Case by case" not in render_html(studies.improved())
