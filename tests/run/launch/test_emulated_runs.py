# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs on emulated storage: their clocks come and go with them, and are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import ProgramError
from stripewise.run.launch import LocalLauncher, _records
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions

SHOW = ("sh", "-c", 'test -s "$STRIPEWISE_EMULATE" && echo "$STRIPEWISE_EMULATE"')


@pytest.fixture
def storage() -> EmulatedStorage:
    return EmulatedStorage.find(EmulationOptions("archer2-hdd@1/64", ranks_per_node=2))


def ended(runs, request):
    handle = runs.launcher.submit(request)
    assert runs.launcher.wait(handle, 20)
    return handle


def mapping_of(request) -> Path:
    return Path((request.record_directory / "stdout").read_text().strip())


def test_the_clocks_are_there_for_the_run_alone(runs, storage):
    request = runs.request(*SHOW, storage=storage)
    handle = ended(runs, request)
    first = runs.launcher.collect(handle)
    assert first.status is RunStatus.OK
    assert first.emulated is not None
    assert first.emulated.storage == "archer2-hdd@1/64, 2 ranks a node"
    assert not mapping_of(request).exists()
    assert runs.launcher.collect(handle) == first
    assert runs.launcher.collect(ended(runs, runs.request("true"))).emulated is None


def test_a_run_that_is_cancelled_or_cannot_start_leaves_none(runs, storage):
    request = runs.request("sleep", "30", storage=storage)
    handle = runs.launcher.submit(request)
    path = _records._RUNNING[request.run_id].path
    assert path.exists()
    runs.launcher.cancel(handle)
    assert not path.exists()
    with pytest.raises(ProgramError):
        runs.launcher.submit(runs.request("/nowhere/program", storage=storage))
    assert not _records._RUNNING


def test_a_tuner_that_comes_back_reads_the_clocks_of_the_dead_one(runs, storage):
    request = runs.request(*SHOW, storage=storage)
    handle = ended(runs, request)
    _records._RUNNING.pop(request.run_id).forget()  # what the death of a process does
    assert mapping_of(request).exists()
    outcome = LocalLauncher(None).collect(handle)
    assert outcome.emulated is not None
    assert not mapping_of(request).exists()


def test_a_run_whose_clocks_are_gone_counts_as_never_run(runs, storage):
    request = runs.request(*SHOW, storage=storage)
    handle = ended(runs, request)
    _records.end_emulation(request.run_id)
    assert runs.launcher.collect(handle).status is RunStatus.CANCELLED
