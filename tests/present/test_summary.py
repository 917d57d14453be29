# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest
import studies

from stripewise.core import Speedup
from stripewise.study.report import summary_lines
from stripewise.study.report._verdict import conclusion, headline


def text(result, **options):
    return "\n".join(summary_lines(result, encoding="utf-8", **options))


def test_improved_study_reads_like_the_documented_session():
    shown = text(studies.improved(), wrote=["best.toml", "report.html"])
    assert "5.2x faster [4.6–5.7, 95 %, 6 paired runs]    whole program 1.80x" in shown
    assert "output identical to the baseline's (3 files, bit for bit)" in shown
    assert "romio_cb_write=enable cb_nodes=4 alignment=1 MiB,1 MiB" in shown
    assert "flash_io.stripewise/{best.toml, report.html}" in shown
    assert (
        "stripewise run --config /scratch/me/flash_io.stripewise/best.toml --"
        " mpiexec -n 16 ./flash_io out.h5" in shown
    )
    assert "GiB/s" in shown


def test_no_improvement_is_said_with_evidence_and_without_a_command():
    shown = text(studies.no_improvement())
    assert "no improvement." in shown
    assert "1.04x [0.87–1.19, 95 %, 6 paired runs]" in shown
    assert "24 pairs would resolve 16 %" in shown
    assert "stripewise run" not in shown


def test_faster_io_but_slower_program_is_explained():
    result = replace(
        studies.no_improvement(),
        speedup=Speedup(1.5, 1.3, 1.7, 6),
        elapsed_speedup=Speedup(0.8, 0.7, 0.9, 6),
    )
    assert "the whole program got slower" in text(result)


def test_too_few_pairs_have_no_interval():
    result = replace(studies.no_improvement(), speedup=Speedup(1.5, float("nan"), float("nan"), 2))
    assert "[2 paired runs: too few for an interval]" in text(result)
    assert "more pairs were unlikely to show an improvement" in text(result)
    assert "too few pairs" not in text(result)


def test_a_study_that_its_budget_ended_says_so():
    """It says neither that nothing improved, nor that nothing can act on the program."""
    why = "time budget: 9 of 10 s used; another trial and the winner's 4 pairs take about 20 s"
    nothing = replace(studies.no_improvement(), trials=(), stopped_because=why, left_open=why)
    shown = text(nothing)
    assert f" result          nothing tried. {why}." in shown
    assert "no improvement" not in shown
    assert "can act" not in shown
    open_pairs = replace(studies.no_improvement(), left_open="I/O 1.2x [3 fresh pairs]: too few")
    assert " result          undecided. I/O 1.2x [3 fresh pairs]: too few." in text(open_pairs)
    assert headline(open_pairs) == "Undecided"
    assert headline(nothing) == "Nothing tried"


def test_rejected_configurations_are_loud():
    shown = text(studies.rejected())
    assert "REJECTED" in shown
    assert "trial 8" in shown
    assert "CHANGED THE OUTPUT" in shown
    assert "byte 4096" in shown


def test_failures_and_timeouts_are_counted():
    shown = text(studies.troubles())
    assert "2 failed, 1 run stopped by the time limit" in shown
    assert "not verifiable: log\\xff.txt: holds the date" in shown


def test_every_case_has_its_line_and_its_command():
    shown = text(studies.ensemble(), wrote=["best.toml"])
    assert "small.nml: I/O 7.87 s → 4.11 s" in shown
    assert "2.0x faster [1.90–2.10, 95 %, 6 paired runs]" in shown
    assert "<large>.nml: I/O" in shown
    assert "best.toml -- mpiexec ./app small.nml" in shown


def test_a_case_that_loses_is_named():
    shown = text(studies.ensemble(improved_too=False))
    assert "no improvement." in shown
    assert "but <large>.nml got slower (I/O 0.83x [0.79–0.88, 95 %, 6 paired runs])" in shown
    assert "must not make any case slower" in shown
    assert "0.83x SLOWER" in shown
    assert "stripewise run" not in shown


@pytest.mark.parametrize("name", studies.ALL)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "no-such-encoding"])
def test_every_ending_fits_every_terminal(name, encoding):
    for line in summary_lines(studies.ALL[name](), encoding=encoding):
        line.encode("ascii" if encoding == "no-such-encoding" else encoding)
        assert "\n" not in line


def test_ascii_keeps_the_meaning():
    shown = "\n".join(summary_lines(studies.improved(), encoding="ascii"))
    assert "[4.6-5.7, 95 %, 6 paired runs]" in shown


def test_more_bytes_on_the_storage_are_said():
    result = studies.improved()
    doubled = tuple(
        (first, replace(second, files=tuple(
            replace(file, system_write_bytes=2 * sum(f.system_write_bytes for f in first.files))
            for file in second.files[:1]
        )))
        for first, second in result.pairs
    )  # fmt: skip
    assert "the system writes more with these settings" in "\n".join(
        summary_lines(replace(result, pairs=doubled))
    )
    assert "the system writes more" not in "\n".join(summary_lines(result))


def test_a_wide_interval_says_what_would_help():
    speedup = Speedup(5.4, 1.51, 19.96, 6)
    text = "\n".join(summary_lines(replace(studies.improved(), speedup=speedup)))
    assert "a larger problem or a quieter machine would narrow it down" in text


def test_what_was_written_is_named_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = studies.improved()
    inside = replace(result, directory=str(tmp_path / "deep" / "x.stripewise"))
    assert text(inside, wrote=["best.toml"]).count(" deep/x.stripewise/best.toml") == 1
    outside = text(result, wrote=["best.toml"])
    assert "wrote           /scratch/me/flash_io.stripewise/best.toml" in outside


@pytest.mark.parametrize(
    "why", ["no tunable acts on this program", "the I/O time varies by 151 % from run to run"]
)
def test_a_study_that_tried_nothing_gives_its_own_reason(why: str) -> None:
    text = conclusion(replace(studies.one_run(), stopped_because=why))
    assert text.startswith(f"No configuration was tried: {why}.")
