# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trainings in virtual time: the whole of a training but for the runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stripewise.core import OwnedDirectory
from stripewise.core.errors import StripewiseError, StudyError, UsageError
from stripewise.settings.tunables import find_space
from stripewise.study.training import (
    Surface,
    TrainingObserver,
    TrainingOptions,
    spent_seconds,
    train,
)
from stripewise.study.training._cells import program_of
from stripewise.study.training._plan import TrainingCell, TrainingPlan
from stripewise.study.training._train import (
    AGGREGATORS,
    COUNT,
    NODES,
    SIZE,
    _with_counts,
    training_ladders,
)


@pytest.fixture
def options(tmp_path):
    return TrainingOptions(
        directory=tmp_path / "edison.training",
        machine="edison",
        kernels=(("vpic", "--local", "8388608"), ("gcrm", "--local", "1,26,327680")),
        ranks=(1024, 512),
        simulate=True,
        configurations=30,
        repeats=2,
        vary={COUNT: (4, 16, -1), NODES: (4, 16, 64), SIZE: (4 << 20, 16 << 20)},
    )


def test_surfaces_of_each_pattern_and_scale(options):
    trained = train(options)
    assert [path.name for path in trained.surfaces] == [
        "vpic-local-8388608-512.jsonl",
        "gcrm-local-1_26_327680-512.jsonl",
        "vpic-local-8388608-1024.jsonl",
        "gcrm-local-1_26_327680-1024.jsonl",
    ]
    assert not trained.unfinished
    surfaces = [Surface.load(path) for path in trained.surfaces]
    assert [len(surface.runs) for surface in surfaces] == [60, 60, 32, 32]
    assert [surface.facts.n_ranks for surface in surfaces] == [512, 512, 1024, 1024]
    first = surfaces[0]
    assert first.provenance["simulated"] == "edison, 16 ranks a node"
    assert first.facts.patterns[0].block == (8388608,)
    default, best = first.default_and_best_seconds()
    assert default / best > 3  # 2 stripes of 96 by default
    assert spent_seconds(trained.plan) == pytest.approx(
        sum(run.elapsed_seconds for one in surfaces for run in one.runs)
    )


def test_the_published_ladders(options):
    cell = TrainingCell(options.kernels[0], 512)
    program = program_of(options, cell)
    space = find_space(program.facts, only=sorted(program.tunables))
    ladders = training_ladders(program.facts, space)
    assert {4, 96 - 32, -1} <= set(ladders[COUNT])
    assert max(ladders[COUNT]) < 96
    assert set(AGGREGATORS) <= set(ladders[NODES])
    assert ladders[SIZE] == tuple(n << 20 for n in (2, 4, 8, 16, 32, 64, 128))  # default 1 MiB
    small = replace(program.facts, write_bytes=8 << 20, collective_bytes=8 << 20, n_ranks=4)
    ladders = training_ladders(small, find_space(small, only=sorted(program.tunables)))
    assert max(ladders[NODES]) == 4
    assert (min(ladders[SIZE]), max(n for n in ladders[SIZE] if n < 4 << 20)) == (1 << 16, 2 << 20)


def test_the_noise_of_the_storage_is_in_it(options):
    path = train(replace(options, ranks=(512,))).surfaces[0]
    pairs = Surface.load(path).by_settings().values()
    runs = Surface.load(path).runs
    assert any(runs[a].io_seconds != runs[b].io_seconds for a, b in pairs)


def test_it_goes_on_where_it_was(options):
    paths = train(options).surfaces
    before = [path.read_bytes().partition(b"\n")[2] for path in paths]
    paths[2].unlink()
    told = []

    class Observer(TrainingObserver):
        def measuring(self, cell, number, of):
            told.append(cell.name)

    again = train(options, Observer()).surfaces
    assert told == ["vpic-local-8388608-1024"]
    assert [path.read_bytes().partition(b"\n")[2] for path in again] == before


def test_another_training_is_not_mixed_in(options):
    train(options)
    with pytest.raises(StudyError, match="is a training with repeats 2, not 3"):
        train(replace(options, repeats=3))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (b'{"format": "other"}', "its format is 'other'"),
        (b'{"format": "stripewise-training", "version": 9}', "is of version 9"),
    ],
)
def test_a_damaged_plan_is_said(options, content, said):
    train(options)
    (options.directory / "training.json").write_bytes(content)
    with pytest.raises(StudyError, match=said):
        train(options)


def test_a_budget_makes_it_smaller(options):
    whole = spent_seconds(train(options).plan)
    small = replace(options, directory=options.directory.with_name("b"), budget_seconds=whole / 2)
    plan = train(small).plan
    assert whole * 0.3 < spent_seconds(plan) < whole * 0.7
    assert json.loads((small.directory / "training.json").read_text())["options"]["seed"] == 0


def test_a_budget_for_less_than_wanted_leaves_out_what_only_studies_set(options, tmp_path):
    facts = program_of(options, TrainingCell(options.kernels[0], 512)).facts
    vary = {COUNT: (4, 16, -1), SIZE: (4 << 20, 16 << 20), "hdf5.alignment": ([65536, 1 << 20],)}
    cell = TrainingCell(options.kernels[0], 512, facts, 1.0, 1.0, vary, possible=24)
    directory = OwnedDirectory.take(tmp_path / "plan", "training")
    for seconds, names, number in ((61.0, vary, 30), (60.0, (COUNT, SIZE), 12)):
        how = replace(options, vary={}, budget_seconds=seconds, configurations=30)
        (settled,) = _with_counts(
            TrainingPlan(how, (replace(cell, possible=30),)), directory
        ).cells
        assert (list(settled.vary), settled.configurations) == (list(names), number)
        assert settled.possible == (30 if names is vary else 12)


def test_ranks_that_fill_no_nodes(options):
    with pytest.raises(UsageError, match="512 ranks do not fill nodes of 24"):
        train(replace(options, ranks_per_node=24, ranks=(512,)))


@pytest.mark.parametrize("simulate", [False, True])
def test_a_storage_that_nobody_described_is_said_before_anything_is_done(options, simulate):
    class Quiet(TrainingObserver):
        def looking(self, cell):
            raise AssertionError(cell)

    with pytest.raises(StripewiseError, match="no storage is called 'nowhere'"):
        train(replace(options, machine="nowhere", simulate=simulate), Quiet())
    assert not options.directory.exists()


def test_what_cannot_be_varied_is_said_before_anything_is_done(options):
    with pytest.raises(UsageError, match=r"mpiio\.cb_node"):
        train(replace(options, vary={"mpiio.cb_node": (1,)}))
    assert not options.directory.exists()


def test_options_that_are_impossible(options):
    for change, said in (
        ({"kernels": ()}, "give --patterns and --ranks"),
        ({"machine": ""}, "--simulate needs a described storage"),
        ({"repeats": 0}, "--repeats must be at least 1, not 0"),
    ):
        with pytest.raises(UsageError, match=said):
            replace(options, **change)
