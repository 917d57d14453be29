# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from math import inf
from pathlib import Path
from statistics import median, pstdev
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.run.launch import RunRequest
from stripewise.study.procedure import SimulatedLauncher
from stripewise.testing.launcher_suite import LauncherSuite


def seconds(settings):
    return {"ok": 2.0, "fail": None, "slow": 60.0, "hang": inf}[settings.get("kind", "ok")]


def request(kind="ok", limit=None):
    return RunRequest(
        str(uuid4()), ("simulated",), Path("/"), Path("/"),
        settings={"kind": kind}, timeout_seconds=limit,
    )  # fmt: skip


def run(launcher, asked):
    return launcher.collect(launcher.submit(asked))


class TestSimulatedLauncher(LauncherSuite):
    def make_launcher(self, directory):
        return SimulatedLauncher(seconds, write_bytes=1 << 30)

    def make_request(self, directory, kind):
        return request("slow", 0.5) if kind == "limited" else request() if kind == "ok" else None


def test_without_noise_a_run_takes_what_the_model_says():
    outcome = run(SimulatedLauncher(seconds, write_bytes=7), request())
    assert (outcome.io_seconds, outcome.elapsed_seconds) == (2.0, 2.0)
    assert (outcome.read_bytes, outcome.write_bytes) == (0, 7)


def test_noise_makes_runs_longer_and_never_shorter():
    launcher = SimulatedLauncher(seconds, cv=0.2)
    rates = [1 / run(launcher, request()).io_seconds for _ in range(400)]
    assert max(rates) == pytest.approx(0.5)
    assert pstdev(rates) / (sum(rates) / len(rates)) == pytest.approx(0.2, rel=0.2)
    assert median(rates) > 0.4


def test_the_nth_run_of_settings_depends_on_the_seed_alone():
    one, other = (SimulatedLauncher(seconds, cv=0.3, seed=4) for _ in range(2))
    run(other, request("slow"))
    assert run(one, request()).io_seconds == run(other, request()).io_seconds
    assert (
        run(one, request()).io_seconds
        != run(SimulatedLauncher(seconds, cv=0.3, seed=9), request()).io_seconds
    )


def test_virtual_time_goes_on():
    launcher = SimulatedLauncher(seconds)
    first, second = (run(launcher, request()) for _ in range(2))
    assert second.started_unix_seconds == first.started_unix_seconds + 2.0


@pytest.mark.parametrize(
    ("kind", "status"),
    [("fail", RunStatus.FAILED), ("slow", RunStatus.TIMEOUT), ("hang", RunStatus.TIMEOUT)],
)
def test_what_cannot_be_simulated_and_what_hangs(kind, status):
    outcome = run(SimulatedLauncher(seconds), request(kind, 10.0))
    assert (outcome.status, bool(outcome.message)) == (status, True)
    assert outcome.elapsed_seconds in (0.0, 10.0)
