# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.learning.performance import load_models
from stripewise.study.training import train


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def call(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="stripewise")


SIMULATED = (
    "knowledge", "train", "--on", "edison@1/8", "--simulate", "--stack", "romio-lustre",
    "--patterns", "gcrm",
    "--ranks", "8,16", "--size", "4MiB", "--repeats", "1", "--configurations", "24",
    "--vary", "mpiio.striping_factor=4,16,-1", "--vary", "mpiio.cb_nodes=2,4,8",
)  # fmt: skip


@pytest.mark.extended
def test_from_nothing_to_a_model(tmp_path, models):
    done = call(*SIMULATED)
    assert done.exit_code == 0, done.output
    assert "2 surfaces with" in done.stderr
    assert "in virtual time, with romio-lustre" in done.stderr
    assert "edison@1/8 with romio-lustre  write collective interleaved" in done.stdout
    (model,) = load_models().models
    assert model.ground.storage == "edison@1/8"
    assert len(list((tmp_path / "edison-1_8-simulated.training").glob("*.jsonl"))) == 2

    again = call("knowledge", "train", "--from", "edison-1_8-simulated.training", "--json")
    document = json.loads(again.stdout)
    assert [one["file"] for one in document["models"]] == [str(*models.glob("*.json"))]
    assert document["models"][0]["runs"] == sum(one["runs"] for one in document["evidence"])


def test_json(tmp_path):
    document = json.loads(call(*SIMULATED, "--json", "-o", "a").stdout)
    assert document["way"] == "simulated"
    assert document["unfinished"] == []
    assert document["runs"] == sum(one["runs"] for one in document["surfaces"])
    assert all(one["best_seconds"] < one["default_seconds"] for one in document["surfaces"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give --on MACHINE, --here or --from DIR"),
        (("--here", "--on", "edison"), "give --on MACHINE, --here or --from DIR"),
        (("--here", "--simulate"), "--simulate needs a described storage"),
        (("--on", "edison", "--simulate"), "give --ranks"),
        (
            ("--on", "edison", "--simulate", "--ranks", "4", "--patterns", "x"),
            "no kernel is called",
        ),
        (("--on", "edisn", "--simulate", "--ranks", "4"), "did you mean edison"),
        (("--on", "edison", "--simulate", "--ranks", "4", "--stack", "x"), "'x'"),
        (("--on", "edison", "--simulate", "--ranks", "4", "--ranks-per-node", "3"), "do not fill"),
        (
            ("--on", "edison", "--simulate", "--ranks", "4", "--vary", "mpiio.cb_nodes=x"),
            "integer",
        ),
        (("--from", ".", "--ranks", "4"), "leave --ranks out"),
        (
            ("--on", "edison", "--simulate", "--ranks", "4", "--mpi", "x"),
            "--mpi can only be used without",
        ),
        (
            ("--on", "edison", "--ranks", "4", "--stack", "cray"),
            "--stack can only be used with --simulate",
        ),
        (("--here", "--ranks", "4", "--noise"), "--noise requires --on MACHINE"),
        (("--here", "--ranks", "4", "--repeats", "0"), "--repeats"),
        (("--from", "nowhere"), "there is no such directory"),
        (("--from", "."), "holds no surface"),
    ],
)
def test_bad_input_gets_one_line(words, said, tmp_path):
    done = call("knowledge", "train", *words)
    assert done.exit_code in (2, 3)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"models"}


def test_an_interrupt_says_how_to_go_on(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("stripewise.study.training.train", interrupted)
    assert train is not interrupted
    done = call(*SIMULATED)
    assert done.exit_code == 130
    assert "continue with: the same command" in done.stderr
