# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies that begin with what a trained model promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.learning.performance import (
    Loaded,
    Model,
    Range,
    Score,
    Term,
    class_of_program,
    ground_of,
    save_model,
)
from stripewise.storage.emulation import EmulationOptions
from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import workload_from_kernel
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import run_study, simulated_workload, tune_simulated
from stripewise.study.strategies import PredictedStrategy
from support.study_fakes import FakeLauncher, fake_tools, lognormal

NODES, PER_NODE = 4, 24
EMULATED = EmulationOptions("edison", ranks_per_node=PER_NODE)


@pytest.fixture(scope="module")
def program():
    work = workload_from_kernel("vorpal --steps 4", NODES, PER_NODE)
    return simulated_workload(find_storage("edison"), work)


@pytest.fixture(scope="module")
def models(program):
    """One that knows: the more stripes the better, and a little the more aggregators."""
    terms = (Term({}, 0.5), Term({"c": -1}, 20.0), Term({"a": -1}, 2.0))
    score = Score("pattern", "gcrm", 9, 0.1, 0.95, 1.0)
    model = Model(
        ground_of(program.facts, storage=find_storage("edison")),
        class_of_program(program.facts),
        "regression",
        terms=terms,
        features=("c", "s", "a", "f"),
        tunables=("mpiio.striping_factor", "mpiio.cb_nodes"),
        ranges={
            "c": Range(1, 96),
            "s": Range(0.01, 1024),
            "a": Range(1, 1024),
            "f": Range(0.1, 100),
            "ranks": Range(8, 1024),
        },
        scores=(score,),
    )
    return Loaded((model,))


def tuned(path, program, loaded=None, **options):
    launcher = FakeLauncher(program.seconds, lognormal(0.03))
    facts = replace(program.facts, io_seconds=4.0, elapsed_seconds=5.0)
    tools = fake_tools(launcher, facts=facts)
    tools = tools if loaded is None else replace(tools, models=lambda: loaded)
    given = StudyOptions(
        command=("mpiexec", "./a"), origin=path, directory=path / "s", unsynced=False,
        memory=False, **{"storage": EMULATED, **options},
    )  # fmt: skip
    return run_study(given, None, lambda _options, _ledger: tools)


def test_studies_in_virtual_time_know_models_too(tmp_path, models, program, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path))
    save_model(models.models[0])

    def tune(strategy):
        options = StudyOptions(("vorpal",), tmp_path, tmp_path, strategy=strategy, trials=2)
        return decided(tune_simulated(program, options))

    assert "trained model: the search begins" in tune("model")
    assert "trained model" not in tune("auto")


def decided(result):
    return " ".join(decision.text for decision in result.decisions)


def test_model_runs_what_the_trained_model_holds_for_best(tmp_path, models, program):
    options = {"strategy_options": {"top": "3"}, "trials": 4}
    result = tuned(tmp_path, program, models, strategy="model", **options)
    assert "trained model: the search begins with what the model of edison" in decided(result)
    assert "error" in decided(result)
    first = program.seconds(result.trials[0].settings)
    assert first < program.seconds({}) / 2


def test_auto_uses_a_fitting_model_without_being_asked(tmp_path, models, program):
    result = tuned(tmp_path, program, models, trials=2)
    assert "trained model: the search begins" in decided(result)


@pytest.mark.parametrize(("way", "error"), [("simulated", None), ("emulated", 0.1)])
def test_a_model_of_simulated_runs_is_trusted_no_more_than_a_simulation(
    tmp_path, models, program, monkeypatch, way, error
):
    given = []

    class Seen(PredictedStrategy):
        def __init__(self, inner, prediction):
            given.append(prediction.error)
            super().__init__(inner, prediction)

    monkeypatch.setattr("stripewise.study.procedure._memory.PredictedStrategy", Seen)
    of_that_way = Loaded((replace(models.models[0], way=way),))
    tuned(tmp_path, program, of_that_way, trials=1)
    assert given[-1] == error


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"storage": EmulationOptions("hopper", ranks_per_node=PER_NODE)}, "not of hopper"),
        ({"machine": "none"}, "no model is used (--machine none): the search is that of auto"),
    ],
)
def test_a_model_that_does_not_hold_is_said_and_auto_goes_on(
    tmp_path, models, program, options, said
):
    result = tuned(tmp_path, program, models, strategy="model", trials=2, **options)
    assert said in decided(result)
    assert "trained model: the search begins" not in decided(result)
    other = tuned(tmp_path / "auto", program, None, strategy="auto", trials=2, **options)
    assert [t.settings for t in result.trials] == [t.settings for t in other.trials]


def test_no_model_at_all_is_said_where_one_was_asked_for(tmp_path, program):
    asked = tuned(tmp_path / "m", program, strategy="model", trials=1, storage=None)
    assert "no trained model is used: none is stored" in decided(asked)
    assert "trained model" not in decided(tuned(tmp_path / "a", program, trials=1, storage=None))


def test_damaged_models_are_said_and_passed_over(tmp_path, models, program):
    loaded = replace(models, warnings=("the model x.json cannot be used",))
    result = tuned(tmp_path, program, loaded, strategy="model", trials=1)
    assert "the model x.json cannot be used" in result.warnings
    assert "trained model: the search begins" in decided(result)


def test_a_study_goes_on_with_the_model_that_it_began_with(tmp_path, models, program):
    options = {"strategy": "model", "strategy_options": {"top": "3"}}
    begun = tuned(tmp_path, program, models, trials=2, **options)
    gone = tuned(tmp_path, program, Loaded(), trials=3, resume=True, **options)
    whole = tuned(tmp_path / "whole", program, models, trials=3, **options)
    assert [t.settings for t in gone.trials[:2]] == [t.settings for t in begun.trials]
    assert [t.settings for t in gone.trials] == [t.settings for t in whole.trials]
