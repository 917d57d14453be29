# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import io
from dataclasses import replace

import pytest
import studies

from stripewise.core import Speedup
from stripewise.study.plan import RunSlot
from stripewise.study.report import ProgressObserver


class Terminal(io.StringIO):
    def isatty(self):
        return True


def replay(observer, result):
    observer.began(result.directory, 2)
    observer.facts_known(result.facts)
    for entry in result.runs:
        slot = RunSlot(
            "x", entry.role, {"mpiio.cb_nodes": 4}, entry.trial_number, entry.pair_number
        )
        observer.run_started(slot)
        observer.run_finished(slot, entry.measurement)
    observer.baseline_known(result.baseline, result.resolution)
    best = float("inf")
    for trial in result.trials:
        best = min(best, trial.io_ratio)
        observer.trial_started(trial.number, 12)
        observer.trial_finished(trial, 12, best)
        observer.verified(trial, result.rejected.get(trial.number, result.verification))
    if result.speedup is not None:
        observer.pair_finished(6, 6, result.speedup)
    for decision in result.decisions:
        observer.decided(decision.text)
    for warning in (*result.warnings, "[bold]not markup[/bold]"):
        observer.warned(warning)
    observer.close()
    observer.close()


@pytest.mark.parametrize("name", studies.ALL)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_plain_lines_on_any_stream(name, encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    replay(ProgressObserver(stream), studies.ALL[name]())
    stream.flush()
    assert b"[bold]not markup[/bold]" in raw.getvalue()


def test_plain_lines_say_trials_and_the_best_so_far():
    stream = io.StringIO()
    replay(ProgressObserver(stream), studies.improved())
    shown = stream.getvalue()
    assert "trial  7/12" in shown
    assert "best so far 5.3x" in shown
    assert "cb_nodes=4 alignment=1 MiB,1 MiB" in shown
    assert "warm-up run (not counted)" in shown


@pytest.mark.parametrize("name", studies.ALL)
def test_bar_on_a_terminal_shows_names_as_they_are(name, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    observer = ProgressObserver(stream)
    replay(observer, studies.ALL[name]())
    observer.warned("[bold]not markup[/bold] and :warning: no picture")
    shown = stream.getvalue()
    assert "\x1b[" in shown
    assert "[bold]not markup[/bold] and :warning: no picture" in shown


def test_a_terminal_without_a_cursor_gets_plain_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    replay(ProgressObserver(stream), studies.improved())
    assert "\x1b" not in stream.getvalue()


def test_failed_trials_say_why():
    stream = io.StringIO()
    replay(ProgressObserver(stream), studies.troubles())
    assert "FAILED: stopped by its time limit" in stream.getvalue()


def test_a_median_below_one_is_not_called_faster():
    stream = io.StringIO()
    observer = ProgressObserver(stream)
    observer.pair_finished(1, 6, Speedup(0.43, float("nan"), float("nan"), 1))
    observer.pair_finished(2, 6, Speedup(1.3, float("nan"), float("nan"), 2))
    first, second = stream.getvalue().splitlines()
    assert "0.43x, slower [1 paired run" in first
    assert "1.30x faster [2 paired runs" in second


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("MPICH Version:\t4.0.2", "MPICH 4.0.2"),
        (
            "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022",
            "Open MPI v4.1.4",
        ),
    ],
)
def test_the_mpi_is_named_shortly(version, shown):
    stream = io.StringIO()
    facts = replace(studies.improved().facts, mpi_version=version)
    ProgressObserver(stream).facts_known(facts)
    assert stream.getvalue().rstrip().endswith(f", {shown}")
