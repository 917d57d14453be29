# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`bench kernel --from` and `tune --replay`: options, directories, what decides."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stripewise.cli._bench_kernel import replay_directory, replay_options
from stripewise.core import StudyResult, Trial
from stripewise.core.errors import RuntimeMissingError, StudyError, UsageError
from stripewise.evidence.replay import Plan
from stripewise.run.runtime import Runtime
from stripewise.run.runtime import _programs as replay_run
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import _with_replay

PLAN = Plan(3, (), (), (), (), (), (), (), (), ())


def test_options_of_a_replay() -> None:
    nothing = {"compute": "keep", "directory": None, "ranks": None, "keep": False}
    assert replay_options([]) == nothing
    words = ["--compute", "0.5", "--file", "x", "--np", "4", "--keep"]
    asked = {"compute": "0.5", "directory": Path("x"), "ranks": 4, "keep": True}
    assert replay_options(words) == asked


@pytest.mark.parametrize(
    "words", [["--compute", "fast"], ["--compute", "-1"], ["--pattern", "btio"], ["--np", "0"]]
)
def test_others_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        replay_options(words)


def test_the_number_of_ranks_is_the_traces() -> None:
    replay_run.check_ranks(PLAN, None)
    replay_run.check_ranks(PLAN, 3)
    with pytest.raises(UsageError, match="of 3 ranks and cannot be replayed with 4"):
        replay_run.check_ranks(PLAN, 4)


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    replayed = replay_run.Replay(PLAN, tmp_path, Path("true"), ())
    with pytest.raises(StudyError, match="mine lies in it"):
        replayed.prepare()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_directory_that_nobody_named_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with replay_directory(None, keep=False) as made:
        (made / "x").touch()
    assert not list(tmp_path.iterdir())
    with replay_directory(None, keep=True) as made:
        pass
    assert list(tmp_path.iterdir()) == [made]


def test_a_replay_program_that_is_not_built_names_the_remedy(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "stripewise-replay-mpich"
    program.parent.mkdir()
    program.touch()
    runtime = Runtime(tmp_path)
    assert replay_run.replay_program(runtime, None) == ("mpich", program)
    with pytest.raises(RuntimeMissingError, match=r"no replay program for openmpi.*doctor build"):
        replay_run.replay_program(runtime, "openmpi")


def test_what_wins_on_the_replay_is_all_that_the_program_tries(tmp_path: Path) -> None:
    options = StudyOptions(("mpiexec", "./a"), origin=tmp_path, trials=30, strategy="genetic")
    trial = cast(Trial, SimpleNamespace(settings={"mpiio.cb_nodes": 2, "mpiio.cb_read": "x"}))
    won = StudyResult(("replay",), "d", winner=trial, improved=True)
    deciding = _with_replay.confirmation(options, won)
    assert deciding is not None
    assert deciding.command == options.command
    assert deciding.vary == {"mpiio.cb_nodes": (2,), "mpiio.cb_read": ("x",)}
    assert set(deciding.only) == set(deciding.vary)
    assert (deciding.trials, deciding.strategy_options) == (1, {"order": "most"})
    assert not deciding.memory


def test_nothing_won_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = StudyOptions(("mpiexec", "./a"), origin=tmp_path)
    monkeypatch.setattr(_with_replay, "replay_options", lambda options, trace: options)
    runs: list[Any] = []

    def run(one: StudyOptions) -> StudyResult:
        runs.append(one)
        return StudyResult(("replay",), "d")

    assert _with_replay.tune_replay(options, tmp_path, run)[1] is None
    assert len(runs) == 1


@pytest.mark.parametrize("more", [{"ranks": (2, 4)}, {"ranks_per_node": (1,)}])
def test_a_trace_is_of_one_number_of_ranks(tmp_path: Path, more: dict[str, Any]) -> None:
    options = StudyOptions(("mpiexec", "./a"), origin=tmp_path, **more)
    with pytest.raises(UsageError, match="--replay goes neither with"):
        _with_replay.replay_options(options, tmp_path)
