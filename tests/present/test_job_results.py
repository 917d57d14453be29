# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the study of a job script leaves: tables, words, files, a section, a key of the JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import stat
from dataclasses import replace
from pathlib import Path

import job_studies
import jsonschema
import pytest
import studies

from stripewise.core import JobStudy, OwnedDirectory, RungAhead, Speedup, TrialState
from stripewise.core.errors import StudyError
from stripewise.present.blocks import Content
from stripewise.present.chart import picture
from stripewise.present.renderers import as_page, block_lines
from stripewise.settings.formats import get
from stripewise.study.report import (
    job_lines,
    job_section,
    payback,
    render_html,
    result_to_json,
    write_job_outputs,
    write_outputs,
)
from stripewise.study.report._job_conclusions import conclusions, decisions
from stripewise.study.report._job_page import job_charts
from stripewise.study.report._job_rungs import (
    AGGREGATORS,
    STRIPING_UNIT,
    rungs_csv,
    rungs_text,
    series,
    state_word,
    sweeps,
    terminal_table,
)
from stripewise.study.report._outputs import decisions_text

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/reference/result.schema.json").read_text("utf-8")
)
EVERY = pytest.mark.parametrize("name", job_studies.ALL)


@EVERY
def test_lines_fit_a_terminal_and_no_text_acts_on_it(name) -> None:
    lines = job_lines(job_studies.ALL[name](), encoding="utf-8")
    assert all(line.isprintable() for line in lines)
    narrow = [line for line in lines if not line.startswith("  export ")]
    assert max(map(len, narrow)) <= 80


def test_the_table_has_every_rung() -> None:
    lines = list(block_lines(terminal_table(job_studies.improved()), 79))
    assert lines[0].split()[:3] == ["run", "aggregators", "striping"]
    assert lines[15].split() == "14 BB 8 * 128 2 MiB 16 MiB 5.5 s 65.5 s 25 611 14x".split()
    assert "failed" in lines[11]


def test_the_summary_of_an_improvement() -> None:
    text = " ".join(" ".join(job_lines(job_studies.improved(), encoding="utf-8")).split())
    assert "parallel file system: I/O 14x faster [12–15, 95 %, 6 paired runs]" in text
    assert "defaults: I/O 13x faster [single runs: no interval]" in text
    assert "1 burst-buffer node with tuned settings (run 8, 3.11 GiB/s)" in text
    assert "64 times the burst-buffer nodes (1 to 64) gave 3.5x the bandwidth, 5 %" in text
    assert "the whole run took 8 % longer" in text
    assert "64 aggregators gave the fastest I/O (burst buffer, 1 node): 1: 70 s, 8:" in text
    assert "A striping unit of 2 MiB gave the fastest I/O" in text
    assert "raised the number of system writes from 6411 to 51 211 (8.0x)" in text
    assert "1 run could not be measured: 10 (failed)." in text
    assert f"  {job_studies.HINTS}" in job_lines(job_studies.improved())


def test_rungs_that_were_not_reached_are_said() -> None:
    left = (RungAhead(16, 3, 9), RungAhead(32, 8, 17))
    study = replace(
        job_studies.improved(), rungs_left=left, stopped_because="14 of 14 trials used"
    )
    said = "Rungs not reached: 16, 32 burst-buffer nodes (14 of 14 trials used). Reaching the last"
    assert f"{said} of them takes 8 to 17 more trials: continue with --resume" in " ".join(
        conclusions(study)
    )
    assert said in " ".join(" ".join(job_lines(study, encoding="utf-8")).split())
    one = conclusions(replace(study, rungs_left=(RungAhead(16, 1, 1),)))
    assert "Reaching it takes 1 more trial: continue" in " ".join(one)
    assert "not reached" not in " ".join(conclusions(job_studies.improved()))


def test_a_striping_unit_that_was_slower_than_none_is_not_called_the_fastest() -> None:
    study = job_studies.improved()
    (sweep,) = list(sweeps(study.runs, STRIPING_UNIT))[:1]
    faster = replace(
        sweep.fastest, number=99, striping_unit_bytes=None, io_seconds=sweep.fastest.io_seconds / 2
    )
    text = " ".join(conclusions(replace(study, runs=(*study.runs, faster))))
    assert "No striping unit that was tried was faster than the default" in text
    assert "gave the fastest I/O (burst buffer, 8" not in text.partition("No striping unit")[2]


def test_words_without_an_improvement_claim_nothing() -> None:
    for study in (job_studies.no_improvement(), job_studies.failed()):
        text = " ".join(conclusions(study))
        assert "none was confirmed to be faster. Keep the job as it is." in text
        assert "best" not in text
    (said, failed) = conclusions(job_studies.nothing())
    assert said == "The unchanged job could not be measured, so there is nothing to compare with."
    assert failed == "1 run could not be measured: 0 (failed)."


def test_a_hybrid_run_is_compared_with_the_plain_one_of_as_many_nodes() -> None:
    text = " ".join(conclusions(job_studies.hybrid()))
    assert "only wrfout* on the burst buffer) made the whole run 50 % shorter: 300 s" in text
    assert "With default settings, 20 times the burst-buffer nodes (2 to 40) gave 2.0x" in text
    assert "took 50 % longer" in text


def test_small_differences_of_single_runs_are_called_none() -> None:
    study = replace(
        job_studies.improved(),
        runs=tuple(job_studies.rung(n, 1, 20.0 + n / 10, aggregators=8 * n) for n in range(1, 4)),
        best=None,
    )
    assert any("aggregators made no clear difference" in one for one in conclusions(study))


def test_decisions_tell_every_rung_with_its_rule() -> None:
    said = decisions(job_studies.improved())
    assert len(said) == 15
    assert said[0].startswith("The baseline: parallel file system, defaults: I/O 75 s (1.00x)")
    assert said[10] == "Run 10: burst buffer, 1 node, cb_nodes=256: failed. Aggregators doubled."


def test_how_a_run_ended_is_said() -> None:
    lost = job_studies.without_figure
    assert [
        state_word(run)
        for run in (
            job_studies.rung(1, 1, 2.0),
            lost(2, 1, TrialState.COMPLETE),
            lost(3, 1, TrialState.HOPELESS),
            lost(4, 1, TrialState.REJECTED),
        )
    ] == ["measured", "not measured", "stopped early", "rejected"]


def test_a_run_that_was_clearly_slower_has_its_figures() -> None:
    """The burst buffer by default is often slower: what it is compared with must be seen."""
    slow = job_studies.rung(1, 1, 200.0, state=TrialState.HOPELESS)
    study = job_studies.improved()
    study = replace(study, runs=(study.runs[0], slow, *study.runs[2:]))
    assert (slow.ok, state_word(slow)) == (True, "stopped early")
    assert series(study)["burst buffer, default"][0] is slow
    assert "200 s" in next(
        line for line in block_lines(terminal_table(study)) if line.startswith("1 BB 1")
    )
    assert decisions(study)[1].startswith(
        "Run 1: burst buffer, 1 node, defaults: I/O 200 s (0.38x)"
    )
    assert "1 run could not be measured: 10 (failed)." in conclusions(study)


def test_numbers_of_nodes_are_whole() -> None:
    runs = tuple(job_studies.rung(n, n, 40.0 / n) for n in (1, 4))
    study = replace(job_studies.improved(), runs=runs, best=None)
    assert any("4 times the burst-buffer nodes (1 to 4)" in one for one in conclusions(study))
    assert not any("4.0 times the" in one for one in conclusions(study))


def test_series_are_the_best_of_each_number_of_nodes() -> None:
    found = series(job_studies.improved())
    assert list(found) == [
        "burst buffer, default",
        "burst buffer, tuned",
        "parallel file system",
    ]
    assert [[run.number for run in runs] for runs in found.values()] == [
        [1, 11, 13],
        [8, 12, 14],
        [0],
    ]


def test_sweeps_differ_in_one_setting_alone() -> None:
    runs = job_studies.improved().runs
    (sweep,) = sweeps(runs, AGGREGATORS)
    assert [run.number for run in sweep.runs] == [1, 2, 3, 4, 5, 6]
    (sweep,) = sweeps(runs, STRIPING_UNIT)
    assert [run.number for run in sweep.runs] == [9, 8, 7, 5]
    assert sweep.fastest.number == 8


def test_text_has_a_header_and_no_blank_in_a_cell() -> None:
    text = rungs_text(job_studies.hostile())
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert rows[0][:4] == ["run", "storage", "BB_nodes", "IO_aggregators"]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert rows[15][:4] == ["14", "burst_buffer", "8", "128"]
    assert text.splitlines()[1] == "# best run 14"
    assert all(line.isprintable() for line in text.splitlines())


def test_csv_reads_back_and_holds_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(rungs_csv(job_studies.hostile()))))
    assert len(rows) == 15
    assert float(rows[14]["io_seconds"]) == 5.5
    assert rows[10]["io_seconds"] == ""
    assert all(row["studied_file"].startswith("'=cmd") for row in rows)
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def drawn(study: JobStudy) -> str:
    """Return the section of a study, alone on a page."""
    return as_page(Content("Job", blocks=[job_section(study)]))


@EVERY
def test_the_section_escapes_whatever_it_is_given(name) -> None:
    section = drawn(job_studies.ALL[name]())
    assert section.count("<section") == section.count("</section>") == 1
    assert "<script>alert" not in section
    assert "\x1b" not in section
    assert "\u202e" not in section
    page = render_html(studies.improved(), job_studies.ALL[name]())
    assert '<a href="#job">' in page
    page.encode("utf-8")


def test_a_study_of_a_command_has_no_section() -> None:
    assert 'id="job"' not in render_html(studies.improved())
    assert "job" not in result_to_json(studies.improved())


@EVERY
def test_json_follows_the_schema(name) -> None:
    document = result_to_json(studies.improved(), job_studies.ALL[name]())
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    jsonschema.validate(json.loads(text), SCHEMA)


def test_json_has_the_figures_in_base_units() -> None:
    document = result_to_json(studies.improved(), job_studies.improved())["job"]
    assert document["best"] == 14
    assert document["runs"][8]["striping_unit_bytes"] == 2 * 2**20
    assert document["runs"][14]["speedup"] == pytest.approx(75 / 5.5)
    assert document["runs"][10]["io_seconds"] is None
    assert document["runs"][10]["speedup"] is None
    assert document["speedups"]["burst buffer, 1 node, defaults"]["low"] is None
    assert document["paid_after"] | {"text": ""} == {"runs": 26, "low": 24, "high": 28, "text": ""}


@EVERY
def test_charts_say_in_words_what_they_show(name) -> None:
    charts = job_charts(job_studies.ALL[name]())
    assert all(str(chart.data) and chart.description for chart in charts.values())
    expected = {
        "improved": {"rungs", "bandwidth", "aggregators", "striping-unit"},
        "hostile": {"rungs", "bandwidth", "aggregators", "striping-unit"},
        "nothing": set(),
        "failed": {"rungs"},
    }
    assert set(charts) == expected.get(name, {"rungs", "bandwidth"})


def test_every_value_of_a_sweep_has_its_mark() -> None:
    pytest.importorskip("vl_convert")
    runs = [job_studies.rung(n, 1, 90.0 - n, aggregators=2**n) for n in range(9)]
    drawn = job_charts(replace(job_studies.improved(), runs=tuple(runs)))["aggregators"]
    svg = picture(drawn.spec, ".svg").decode()
    assert all(f">{2**n}</text>" in svg for n in range(1, 9))


def test_configurations_are_counted_alike_and_the_end_is_said() -> None:
    study = replace(job_studies.improved(), stopped_because="rule 6: <b> more nodes")
    assert "15 configurations in 5 jobs" in job_lines(study)[0]
    section = drawn(study)
    assert "15 configurations in 5 jobs" in section
    assert "The search ended: rule 6: &lt;b&gt; more nodes." in section
    assert "The search ended: rule 6: <b> more nodes.\n" in decisions_text(study)


def test_many_rungs_make_a_chart_that_can_still_be_read() -> None:
    runs = tuple(job_studies.rung(n, 1, 10.0 + n, aggregators=n + 1) for n in range(200))
    chart = job_charts(replace(job_studies.improved(), runs=runs, best=None))["rungs"]
    assert chart.spec["vconcat"][0]["height"] == 20 * 80
    assert "the first 80" in chart.spec["vconcat"][0]["title"]["text"]


def test_files_are_for_the_user_alone(tmp_path) -> None:
    directory = OwnedDirectory.take(tmp_path / "a.stripewise", "study").path
    names = write_job_outputs(job_studies.hostile(), directory)
    assert names[:3] == ["rungs.txt", "rungs.csv", "decisions.txt"]
    assert {"rungs.svg", "rungs.png", "striping-unit.png"} <= set(names)
    for name in names:
        assert stat.S_IMODE((directory / name).stat().st_mode) == 0o600
    assert (directory / "rungs.png").read_bytes().startswith(b"\x89PNG")
    picture = (directory / "bandwidth.svg").read_text("utf-8")
    assert "burst-buffer nodes" in picture
    assert "<script" not in picture


def test_files_are_written_nowhere_else(tmp_path) -> None:
    with pytest.raises(StudyError, match="was not made by"):
        write_job_outputs(job_studies.improved(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_outputs_of_a_study_hold_those_of_its_job(tmp_path) -> None:
    directory = OwnedDirectory.take(tmp_path / "a.stripewise", "study").path
    result = replace(studies.improved(), directory=str(directory))
    names, _ = write_outputs(result, job_studies.improved())
    assert {"result.json", "report.html", "rungs.txt", "decisions.txt"} <= set(names)
    document = json.loads((directory / "result.json").read_text("utf-8"))
    assert document["job"]["script"] == "run.sh"


def test_the_hints_are_a_line_that_the_format_reads() -> None:
    loaded = get("mpich-hints").read(job_studies.improved().hints)
    assert [rule.match for rule in loaded.configuration.files] == ["wrfi*", "wrfo*"]


class TestPayback:
    def test_of_an_improvement_has_an_interval(self) -> None:
        paid = payback(job_studies.improved())
        assert (paid.fewest_runs, paid.runs, paid.most_runs) == (24, 26, 28)
        assert paid.saved_node_seconds == pytest.approx(8 * 59.5)
        assert "after 26 runs (24 to 28, from the 95 % interval of the speed-up)" in paid.text
        assert "(stage-in 4 s, stage-out 6 s)" in paid.text

    def test_without_improvement_nothing_pays(self) -> None:
        paid = payback(job_studies.no_improvement())
        assert paid.runs is None
        assert paid.text == (
            "The study spent 0.14 node-hours. It found nothing faster, so its cost cannot "
            "be recovered."
        )

    def test_fewer_nodes_save_though_the_run_takes_as_long(self) -> None:
        study = replace(
            job_studies.improved(),
            elapsed_speedup=Speedup(1.0, 0.95, 1.05, 6),
            node_seconds_per_run_after=4 * 145.0,
            node_share=0.5,
        )
        paid = payback(study)
        assert paid.saved_node_seconds == pytest.approx(8 * 135 - 4 * 145)
        assert paid.runs == 24
        assert "after 24 runs (23 to 26, from" in paid.text

    def test_staging_can_eat_the_gain(self) -> None:
        study = replace(job_studies.improved(), node_seconds_per_run_after=8 * 150.0)
        paid = payback(study)
        assert paid.runs is None
        assert "no node-hours are saved, and the study does not pay for itself" in paid.text

    def test_a_saving_below_the_noise_gives_no_number(self) -> None:
        study = replace(job_studies.improved(), elapsed_speedup=Speedup(1.02, 0.97, 1.08, 6))
        paid = payback(study)
        assert (paid.runs, paid.fewest_runs, paid.most_runs) == (None, None, None)
        assert "less than the noise" in paid.text
        assert "between 0.97x and 1.08x" in paid.text

    @pytest.mark.parametrize("speedup", [None, Speedup(2.0, math.nan, math.nan, 2)])
    def test_without_an_interval_that_is_said(self, speedup) -> None:
        paid = payback(replace(job_studies.improved(), elapsed_speedup=speedup))
        assert (paid.runs, paid.fewest_runs, paid.most_runs) == (26, None, None)
        assert "has no interval" in paid.text

    def test_a_wide_interval_may_have_no_end(self) -> None:
        """Staging is sure, the step's gain is not: at its lower end no run saves anything."""
        study = replace(
            job_studies.improved(),
            elapsed_speedup=Speedup(1.15, 1.01, 1.3, 6),
            node_seconds_per_run_after=8 * (135 / 1.15 + 10),
        )
        paid = payback(study)
        assert paid.runs is not None
        assert paid.most_runs is None
        assert "at the lower end of the 95 % interval it never does" in paid.text

    def test_unknown_costs_are_said(self) -> None:
        paid = payback(replace(job_studies.improved(), node_seconds_per_run_after=math.nan))
        assert paid.runs is None
        assert "not known" in paid.text
