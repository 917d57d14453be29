# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies with several runs in flight, told in the order in which they end."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from stripewise.core import RunRole
from stripewise.core.errors import UsageError
from stripewise.study.plan import Journal, parse_journal
from stripewise.study.plan._statistics import LOOKS
from support.journal_checks import check_runs
from support.study_fakes import FakeLauncher, helped


class Kill(BaseException):
    """As kill -9: nothing catches it."""


@dataclass
class SlowLauncher(FakeLauncher):
    """Has places, and runs that end after a number of looks that chance gives."""

    max_in_flight: int = 4
    poll_seconds: float = 0.0
    most_in_flight: int = 0
    looks: dict[str, int] = field(default_factory=dict)
    random: Random = field(default_factory=lambda: Random(1))

    def submit(self, request):
        self.looks[request.run_id] = self.random.randrange(6)
        in_flight = sum(left >= 0 for left in self.looks.values())
        self.most_in_flight = max(self.most_in_flight, in_flight)
        return super().submit(request)

    def poll(self, handle):
        self.looks[handle.run_id] -= 1
        return self.looks[handle.run_id] < 0

    def cancel(self, handle):
        self.looks[handle.run_id] = -1


def records(directory: Path) -> list[dict]:
    path = directory / "study" / "journal.jsonl"
    return parse_journal(path.read_bytes(), path)[0]


def told(directory: Path) -> list[int]:
    values = [r for r in records(directory) if r["kind"] == "value"]
    return [v["value"] for v in values if v["name"].startswith("told/")]


@pytest.mark.parametrize("strategy", ["random", "exhaustive", "genetic", "tpe", "rules"])
def test_the_answer_is_that_of_one_after_another(run_fake, tmp_path, no_fsync, strategy):
    several = run_fake(launcher := SlowLauncher(helped), trials=12, strategy=strategy, seed=2)
    alone = run_fake(
        FakeLauncher(helped), trials=12, strategy=strategy, seed=2, directory=tmp_path / "alone"
    )
    assert launcher.most_in_flight == 4
    assert several.winner.settings == alone.winner.settings
    assert several.speedup == alone.speedup
    assert [t.number for t in several.trials] == [t.number for t in alone.trials]
    if strategy != "rules":
        assert told(tmp_path) != sorted(told(tmp_path))


def test_runs_of_a_pair_follow_one_another_in_one_place(run_fake, tmp_path, no_fsync):
    result = run_fake(SlowLauncher(helped), trials=12, strategy="random", seed=2)
    assert result.improved
    in_flight: dict[str, str] = {}
    for record in records(tmp_path):
        if record["kind"] == "run-planned" and record["slot"].startswith(("pair/", "trial/")):
            unit = "/".join(record["slot"].split("/")[:2])
            if record["slot"].startswith("pair/"):
                unit = record["slot"].rpartition("/")[0]
            assert unit not in in_flight.values(), "two runs of one pair at a time"
            in_flight[record["run_id"]] = unit
        elif record["kind"] == "run-finished":
            in_flight.pop(record["run_id"], None)


def test_fewer_in_flight_than_places(run_fake, no_fsync):
    run_fake(launcher := SlowLauncher(helped), trials=4, strategy="random", in_flight=2)
    assert launcher.most_in_flight == 2


def test_more_in_flight_than_places_is_refused(run_fake, tmp_path):
    with pytest.raises(UsageError, match=r"in-flight 2.*runs 1 at a time"):
        run_fake(FakeLauncher(helped), in_flight=2)
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("runs", [18, 25, 30, 41])
def test_a_budget_of_runs_is_kept(run_fake, no_fsync, runs):
    result = run_fake(SlowLauncher(helped), runs=runs, strategy="random", seed=2)
    assert len(result.runs) <= runs
    roles = [run.role for run in result.runs]
    assert roles.count(RunRole.PAIR_WINNER) in (0, LOOKS[0])


@pytest.mark.parametrize("strategy", ["random", "genetic", "rules"])
@pytest.mark.parametrize("step", [37, 50, 71])
def test_kills_change_nothing(run_fake, tmp_path, no_fsync, monkeypatch, strategy, step):
    """One study is carried on through kills after every few operations of its journal."""
    whole = run_fake(
        SlowLauncher(helped), trials=9, strategy=strategy, seed=2, directory=tmp_path / "whole"
    )
    append, left = Journal.append, [0]

    def counted(self, kind, **data):
        left[0] -= 1
        if left[0] < 0:
            raise Kill
        return append(self, kind, **data)

    monkeypatch.setattr(Journal, "append", counted)
    launcher = SlowLauncher(helped)
    for session in range(200):
        left[0] = step
        begun = (tmp_path / "study" / "journal.jsonl").exists()
        order = told(tmp_path) if begun else []
        try:
            result = run_fake(launcher, trials=9, strategy=strategy, seed=2, resume=begun)
            break
        except Kill:
            launcher.random = Random(session)
            assert told(tmp_path)[: len(order)] == order
    check_runs(records(tmp_path))
    assert session >= 1
    assert result.winner.settings == whole.winner.settings
    assert [t.settings for t in result.trials] == [t.settings for t in whole.trials]
    assert result.speedup == whole.speedup
