# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models out of surfaces and of studies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import RunStatus, to_json
from stripewise.core.errors import UsageError
from stripewise.learning.performance import Ground, fitted_prediction, load_models
from stripewise.storage.simulation import workload_from_kernel
from stripewise.study.plan import Journal, StudyOptions
from stripewise.study.plan._journal import VERSION
from stripewise.study.procedure import simulated_workload, tune_simulated
from stripewise.study.report import result_to_json
from stripewise.study.training import (
    Surface,
    SurfaceRun,
    TrainingOptions,
    find_evidence,
    fit_models,
    fits_json,
    fits_lines,
    read_evidence,
    train,
)
from stripewise.study.training._evidence import JOURNAL
from stripewise.study.training._models import by_ground
from support.strategy_suite import romio_facts


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    options = TrainingOptions(
        directory=tmp_path_factory.mktemp("made") / "hopper.training",
        machine="hopper@1/16",
        kernels=(("vorpal", "--local", "60,100,300"), ("gcrm", "--local", "1,26,327680")),
        ranks=(8, 16),
        ranks_per_node=1,
        simulate=True,
        stack="romio-lustre",
        configurations=60,
        repeats=1,
        vary={"mpiio.striping_factor": (4, 8, 16, 64, -1), "mpiio.cb_nodes": (1, 2, 4, 16)},
    )
    return train(options)


def test_a_model_of_what_was_simulated_holds_for_what_is_emulated(trained, tmp_path):
    evidence, refused = find_evidence(trained.plan.options.directory)
    fits = fit_models(evidence, refused, tmp_path)
    assert len(evidence) == 4
    (model,) = fits.models
    assert (model.way, model.runs) == ("simulated", sum(one.runs for one in evidence))
    assert str(model.ground) == "hopper@1/16 with romio-lustre"
    loaded = load_models([tmp_path]).models
    facts = Surface.load(trained.surfaces[0]).facts
    found = fitted_prediction(facts, model.ground, loaded)
    assert found.prediction is not None
    assert found.prediction.seconds({"mpiio.striping_factor": 64}) < found.prediction.seconds({})
    assert any("hopper@1/16 with romio-lustre" in line for line in fits_lines(fits))
    assert json.dumps(fits_json(fits))


def test_runs_that_were_cut_off_count_as_long_as_they_took(trained, tmp_path):
    surface = Surface.load(trained.surfaces[0])
    cut = SurfaceRun({"mpiio.cb_nodes": 3}, 99.0, 1.0, status=RunStatus.TIMEOUT)
    failed = SurfaceRun({"mpiio.cb_nodes": 5}, 1.0, 1.0, status=RunStatus.FAILED)
    other = SurfaceRun({"mca.io": "ompio"}, 1.0, 1.0)
    replace(surface, runs=(*surface.runs, cut, failed, other)).save(tmp_path / "a.jsonl")
    ((evidence,), _) = find_evidence(tmp_path)
    times = {str(one.settings): one.seconds for one in evidence.samples}
    assert times["{'mpiio.cb_nodes': 3}"] == (99.0,)
    assert not any("'mpiio.cb_nodes': 5" in text or "mca.io" in text for text in times)


def test_another_network_is_another_storage(trained, tmp_path):
    surface = Surface.load(trained.surfaces[0])
    said = {**surface.provenance, "simulated": "hopper@1/16, ofi"}
    replace(surface, provenance=said).save(tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="hopper@1/16 with ofi is another storage"):
        find_evidence(tmp_path)


def test_a_described_storage_is_known_by_its_description(trained, tmp_path):
    surface = Surface.load(trained.surfaces[0])
    for number, said in enumerate(({"described": "site", "described digest": "12"}, {})):
        replace(surface, provenance=said).save(tmp_path / f"{number}.jsonl")
    evidence, _ = find_evidence(tmp_path)
    assert [one.ground for one in evidence] == [
        Ground("site", "12", "romio-lustre"), Ground("lustre", "", "romio-lustre"),
    ]  # fmt: skip
    assert {one.way.value for one in evidence} == {"real"}


def test_grounds_are_kept_apart(trained):
    evidence, _ = read_evidence(trained.surfaces, trained.plan.options.directory)
    slower = [replace(one, ground=Ground("edison", "1", "cray")) for one in evidence[:1]]
    renamed = [replace(one, ground=replace(one.ground, storage="mine")) for one in evidence]
    trainings = by_ground([*evidence, *slower, *renamed])
    assert [one.ground.storage for one in trainings] == ["hopper@1/16", "edison"]
    assert len(trainings[0].samples) == 2 * sum(len(one.samples) for one in evidence)


@pytest.mark.parametrize(
    "facts",
    [
        {"n_ranks": 0},
        {"n_ranks": 10**30},
        {"n_hosts": 0},
        {"write_bytes": -1},
        {"io_seconds": 1e300},
        {"striping": {"targets": 0}},
        {"striping": {"targets": 4, "stripe_size": 10**25}},
        {"patterns": [{"writing": True, "grid": [1], "block": [1, 2], "distributions": ["*"]}]},
        {"patterns": [{"writing": True, "grid": [1], "block": [10**30], "distributions": ["*"]}]},
    ],
)
def test_facts_that_no_run_shows_are_refused(trained, tmp_path, facts):
    header, *runs = trained.surfaces[0].read_text().splitlines(keepends=True)
    data = json.loads(header)
    data["facts"].update(facts)
    (tmp_path / "a.jsonl").write_text("".join((json.dumps(data) + "\n", *runs)))
    with pytest.raises(UsageError, match=r"a\.jsonl"):
        find_evidence(tmp_path / "a.jsonl")


def test_unknown_settings_are_left_out(trained, tmp_path):
    surface = Surface.load(trained.surfaces[0])
    odd = [{"mpiio.unknown": 1}, {"mpiio.cb_nodes": -5}, {"mpiio.cb_nodes@*.h5": 2}]
    runs = (SurfaceRun(settings, 1.0, 1.0) for settings in odd)
    replace(surface, runs=(*surface.runs, *runs)).save(tmp_path / "a.jsonl")
    ((evidence,), _) = find_evidence(tmp_path)
    assert len(evidence.samples) == len(surface.by_settings())


def test_what_cannot_be_read_is_passed_over_and_said(trained, tmp_path):
    for path in trained.surfaces[:1]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "b.jsonl").write_text("{}\n")
    (tmp_path / "journal.jsonl").write_text("{}\n\n")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "result.json").write_text('{"trials": [1]}')
    evidence, refused = find_evidence(tmp_path)
    assert len(evidence) == 1
    assert "is not a surface" in refused[0]
    assert ["damaged" in text for text in refused] == [False, True, True]


def test_nothing_to_learn_from(tmp_path):
    with pytest.raises(UsageError, match="holds no surface and no result of a study"):
        find_evidence(tmp_path)
    with pytest.raises(UsageError, match="there is no such directory"):
        find_evidence(tmp_path / "x")


def test_a_study_without_a_result_is_known_by_its_journal(tmp_path):
    facts = {**to_json(romio_facts()), "n_ranks": 4}
    study = tmp_path / "a.stripewise"
    study.mkdir()
    journal = Journal(study / JOURNAL)
    said = {"emulated": "edison@1/8, 2 ranks a node", "emulated digest": "abc"}
    journal.append("study", version=VERSION, options={}, provenance=said)
    journal.append("value", name="first-look", value={"facts": facts})
    for number, (role, settings, status) in enumerate(
        (
            ("warm-up", {}, "ok"),
            ("baseline", {}, "ok"),
            ("trial", {"mpiio.cb_nodes": 2}, "ok"),
            ("trial", {"mpiio.cb_nodes": 4}, "failed"),
            ("pair-winner", {"mpiio.cb_nodes": 2}, "ok"),
            ("unsynced-winner", {"mpiio.cb_nodes": 2}, "ok"),
        )
    ):
        run = str(number)
        journal.append("run-planned", run_id=run, slot=run, role=role, settings=settings, case="")
        seen = {"status": status, "io_seconds": 1.0 + number, "elapsed_seconds": 2.0}
        journal.append("run-finished", run_id=run, measurement=seen)
    journal.close()
    ((evidence,), refused) = find_evidence(tmp_path)
    assert not refused
    assert evidence.ground.storage == "edison@1/8"
    assert [(one.settings, one.seconds) for one in evidence.samples] == [
        ({}, (2.0,)), ({"mpiio.cb_nodes": 2}, (3.0, 5.0)),
    ]  # fmt: skip
    assert (evidence.runs, evidence.run_seconds) == (6, 12.0)


def test_a_study_is_evidence_too(tmp_path):
    from stripewise.storage.machines import find_storage

    storage = find_storage("edison")
    program = simulated_workload(storage, workload_from_kernel("gcrm", 4, 16))
    result = tune_simulated(program, StudyOptions(("simulated",), trials=6))
    said = {"emulated": "edison@1/8", "emulated digest": "abc"}
    result = replace(result, provenance={**result.provenance, **said})
    (tmp_path / "result.json").write_text(json.dumps(result_to_json(result)))
    ((evidence,), refused) = find_evidence(tmp_path)
    assert not refused
    assert evidence.ground == Ground("edison@1/8", "abc", "cray")
    default = next(one for one in evidence.samples if not one.settings)
    assert len(default.seconds) >= 3
    assert len(evidence.samples) >= 4
    assert evidence.samples[0].facts.patterns == program.facts.patterns


def test_samples_of_a_kernel_have_its_name():
    surface = Path(__file__).parents[3] / "benchmarks" / "surfaces" / "emulated" / "vpic.jsonl"
    (found,), refused = read_evidence([surface], surface)
    assert refused == []
    assert {sample.name for sample in found.samples} == {"vpic"}
