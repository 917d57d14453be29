# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import io
from dataclasses import replace

import pytest
import studies
from rich.console import Console

from stripewise.model import Speedup
from stripewise.report import (
    PlainObserver,
    ProgressObserver,
    progress_observer,
    trial_line,
)
from stripewise.study import RunSlot


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
        observer.trial_started(trial.number, 12, "cb_nodes=4", "why")
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
    replay(PlainObserver(stream), studies.ALL[name]())
    stream.flush()
    assert b"[bold]not markup[/bold]" in raw.getvalue()


def test_plain_lines_say_trials_and_the_best_so_far():
    stream = io.StringIO()
    replay(PlainObserver(stream), studies.improved())
    shown = stream.getvalue()
    assert "trial  7/12" in shown
    assert "best so far 5.3x" in shown
    assert "cb_nodes=4 alignment=1 MiB,1 MiB" in shown
    assert "warm-up run (not counted)" in shown


def test_quiet_keeps_warnings_only():
    stream = io.StringIO()
    replay(PlainObserver(stream, quiet=True), studies.no_improvement())
    assert all(text.startswith(" warning") for text in stream.getvalue().splitlines())


@pytest.mark.parametrize("name", studies.ALL)
def test_bar_on_a_terminal_shows_names_as_they_are(name):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=200, color_system=None)
    replay(ProgressObserver(console), studies.ALL[name]())
    assert "[bold]not markup[/bold]" in stream.getvalue()


def test_a_pipe_gets_plain_lines():
    assert isinstance(progress_observer(io.StringIO()), PlainObserver)


def test_failed_trials_say_why():
    trial = studies.troubles().trials[9]
    assert "FAILED: stopped by its time limit" in trial_line(trial, 12)


def test_a_median_below_one_is_not_called_faster():
    stream = io.StringIO()
    observer = PlainObserver(stream)
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
    PlainObserver(stream).facts_known(facts)
    assert stream.getvalue().rstrip().endswith(f", {shown}")
