# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pages
import pytest
import studies

from stripewise.core import Configuration, FileRule, Trial
from stripewise.present.numbers import ratio_text
from stripewise.present.renderers import as_markdown
from stripewise.study.report import render_html, study_content, summary_lines
from stripewise.study.report._charts import timeline_chart, tunable_effects


@pytest.fixture(scope="module", params=list(studies.ALL))
def page(request):
    return render_html(studies.ALL[request.param]())


def test_page_is_well_formed_self_contained_accessible_and_small(page):
    pages.assert_self_contained(page)
    pages.assert_accessible(page)
    assert len(pages.without_script(page).encode("utf-8")) < 1_000_000
    assert len(page.encode("utf-8")) < 2_000_000


def test_only_our_own_script_may_run(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none';")
    has_charts = '<figure class="chart"' in page
    assert ("script-src 'sha256-" in policy) == has_charts
    assert "unsafe-eval" not in policy
    assert page.count("<script>") == has_charts


def test_navigation_leads_to_every_section(page):
    tags = pages.Page(page).tags
    linked = [a["href"] for tag, a in tags if tag == "a"]
    shown = [f"#{a['id']}" for tag, a in tags if tag == "section" and "id" in a]
    assert linked == shown


def test_a_chart_names_the_trial_of_each_mark():
    rows = timeline_chart(studies.improved()).spec["vconcat"][0]["data"]["values"]
    trials = [row for row in rows if row["role"] == "trial"]
    assert trials[0]["run"] == "trial 1"
    assert "romio_cb_write" in trials[0]["settings"]


def test_speedups_are_printed_as_on_the_terminal():
    page = pages.Page(render_html(studies.improved())).words
    assert "Speed-up of the I/O" in page
    for trial in studies.improved().trials:
        assert f"{ratio_text(1 / trial.io_ratio)}x" in page


@pytest.mark.parametrize("name", studies.ALL)
def test_page_and_markdown_say_what_the_terminal_says(name):
    """Each line of the terminal's summary is on the page and in the Markdown, warnings too."""
    result = studies.ALL[name]()
    page = pages.Page(render_html(result)).words
    text = re.sub(r"\\(.)", r"\1", as_markdown(study_content(result)))
    text = " ".join(text.split())
    for line in summary_lines(result, encoding="utf-8"):
        said = " ".join(line[17:].split())
        assert said in page
        assert said.replace("\\", "") in text.replace("\\", "")


def test_the_same_study_gives_the_same_page():
    assert render_html(studies.improved()) == render_html(studies.improved())


def test_names_are_data():
    page = render_html(studies.rejected())
    assert page.count("<script>") == 1
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(" in page
    page = render_html(studies.troubles())
    assert "<b>bold" not in page
    assert "log\\xff.txt" in page


def test_hostile_settings_reach_neither_page_nor_figure():
    evil = "</title><script>$\\frac{1}{0}$\x07\udcff"
    trial = Trial(1, {"mpiio.evil": evil}, Configuration((FileRule(),)), io_ratio=0.5)
    result = replace(studies.improved(), trials=(trial,), winner=trial, searched={})
    page = render_html(result)
    pages.Page(page)
    plain = pages.without_script(page)
    assert "<script>" not in plain
    assert "</title><script" not in page
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
    assert '"role":"timed out"' in page
    assert '"role":"failed"' in page


def test_hundreds_of_runs_stay_small():
    result = studies.improved()
    trials = tuple(replace(result.trials[i % 8], number=i + 1) for i in range(300))
    many = replace(result, runs=result.runs * 20, trials=trials)
    assert len(pages.without_script(render_html(many)).encode("utf-8")) < 1_000_000


def test_effects_count_trials_and_runs():
    effects = tunable_effects(studies.troubles())
    rows = {value.value: value for value in effects["mpiio.cb_nodes"]}
    assert list(rows) == ["not set", "2", "4", "8"]
    assert (rows["4"].n_trials, rows["4"].n_runs, rows["4"].winning) == (4, 8, True)
    assert (rows["8"].n_trials, rows["8"].n_failed) == (2, 1)


def test_what_draws_is_not_loaded_until_a_page_is_drawn():
    code = "import sys, stripewise.present; sys.exit('vl_convert' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_cases_are_shown_in_a_table_each_with_its_figure():
    page = render_html(studies.ensemble())
    assert "Case by case" in page
    assert "&lt;large&gt;.nml" in page
    assert "<large>" not in page
    assert page.count('class="chart"') > 2
    assert "Case by case" not in render_html(studies.improved())
