# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The winner of a job script's study against the other default."""

from __future__ import annotations

import pytest

from stripewise.core import RunRole
from stripewise.settings.tunables import find_space
from stripewise.study.plan import JobOptions, Journal
from stripewise.study.plan._statistics import LOOKS
from stripewise.study.procedure._final import default_name
from stripewise.study.strategies import NODES
from support.study_fakes import KNOB, FakeLauncher, lognormal

BOTH = ("mpiio.romio_ds_write",)


class Kill(BaseException):
    """As kill -9: nothing catches it."""


def helps(settings):
    """A burst buffer helps, data sieving disabled helps, and both most."""
    nodes = int(settings.get(NODES, 0))
    return (2.0 if nodes else 4.0) * (0.5 if settings.get(KNOB) == "disable" else 1.0)


def only_nodes(settings):
    return 2.0 if settings.get(NODES) else 4.0


@pytest.fixture
def run(run_fake, monkeypatch, no_fsync):
    """Run a study of a job script, whose cluster is a formula."""
    monkeypatch.setattr("stripewise.study.procedure._loop.with_job", lambda options: options)
    launchers = {}

    def run_one(io_seconds=helps, job=JobOptions("run.sh", bb_nodes=(1,)), **given):  # noqa: B008
        ladders = {NODES: (1,)}
        launcher = launchers.setdefault(io_seconds, FakeLauncher(io_seconds, lognormal(0.01)))
        given.setdefault("trials", 12)
        return run_fake(
            launcher,
            job=job,
            strategy="exhaustive",
            space=lambda facts: find_space(facts, only=BOTH, ladders=ladders),
            **given,
        )

    return run_one


def roles(result):
    return [entry.role for entry in result.runs]


def test_the_winner_is_compared_with_the_plain_burst_buffer(run) -> None:
    result = run()
    assert dict(result.winner.settings) == {NODES: 1, KNOB: "disable"}
    (reference,) = result.references
    assert reference.settings == {NODES: 1}
    assert reference.name == "a burst buffer of 1 node with its defaults"
    assert 1.9 < reference.speedup.median < 2.1
    assert reference.speedup.low > 1
    assert roles(result).count(RunRole.REFERENCE) == LOOKS[0]
    assert roles(result).count(RunRole.REFERENCE_WINNER) == LOOKS[0]
    assert 3.8 < result.speedup.median < 4.2


def test_no_pairs_where_the_winner_is_that_default(run) -> None:
    result = run(only_nodes)
    assert dict(result.winner.settings) == {NODES: 1}
    assert result.references == ()
    assert RunRole.REFERENCE not in roles(result)


def test_no_pairs_without_a_job_script_or_an_improvement(run) -> None:
    assert run(job=None).references == ()


def test_nothing_better_has_no_reference(run) -> None:
    assert run(lambda settings: 4.0).references == ()


def test_the_budget_may_hold_none(run, tmp_path) -> None:
    least = len(run().runs) - 2 * LOOKS[0] - 1
    result = run(runs=least, directory=tmp_path / "other")
    assert result.improved
    assert result.references == ()
    assert "has no runs left for pairs against a burst buffer" in str(result.decisions), (
        result.winner
    )


@pytest.mark.parametrize("kill_at", [1, 2, 5, 9])
def test_a_kill_among_the_pairs_loses_and_repeats_nothing(run, monkeypatch, kill_at) -> None:
    append, state = Journal.append, {"left": -1}

    def counted(self, kind, **data):
        if "default/" in str(data) and state["left"] < 0:
            state["left"] = kill_at
        if state["left"] >= 0:
            state["left"] -= 1
            if state["left"] < 0:
                raise Kill
        return append(self, kind, **data)

    monkeypatch.setattr(Journal, "append", counted)
    with pytest.raises(Kill):
        run()
    monkeypatch.setattr(Journal, "append", append)
    result = run(resume=True)
    (reference,) = result.references
    assert reference.speedup.n_pairs == LOOKS[0]
    assert roles(result).count(RunRole.REFERENCE) in (LOOKS[0], LOOKS[0] + 1)
    again = run(resume=True)
    assert again.references == result.references
    assert len(again.runs) == len(result.runs)


def test_names_of_defaults() -> None:
    assert default_name({NODES: 0}) == "the parallel file system"
    assert default_name({NODES: 4}) == "a burst buffer of 4 nodes with its defaults"
