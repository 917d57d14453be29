# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies on emulated storage: what is recorded, refused, lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.core.errors import StudyError
from stripewise.run.launch import Outcome
from stripewise.storage.emulation import EmulatedRun, EmulationOptions
from stripewise.study.plan import StudyOptions
from stripewise.study.plan._options import (
    check_storage,
    options_from_json,
    options_to_json,
    with_storage,
)
from stripewise.study.runs._looking import look
from stripewise.study.workspace import RunLocation

ON = EmulationOptions("archer2-hdd@1/64")
SEEN = EmulatedRun(
    "archer2-hdd@1/64", ON.machine, 64.0, held=5, model_seconds=10.0, limits={"process": 1.0}
)


def options(storage: EmulationOptions | None = ON) -> StudyOptions:
    return StudyOptions(("./a.out",), storage=storage)


def run_of(emulated: EmulatedRun, tmp_path: Path):
    outcome = Outcome(RunStatus.OK, 0, 2.0, 1.0, io_seconds=1.0, emulated=emulated)
    return look("id", RunLocation(tmp_path, tmp_path), outcome)


def test_the_journal_keeps_the_storage_and_its_description(tmp_path: Path) -> None:
    begun = with_storage(options())
    assert begun.storage is not None
    assert begun.storage.digest
    assert not begun.unsynced
    again = options_from_json(options_to_json(begun), tmp_path)
    assert again.storage == begun.storage
    for given in (None, ON):
        check_storage(with_storage(options(given)), again)


@pytest.mark.parametrize("machine", ["archer2-hdd@1/32", "archer2-nvme@1/64"])
def test_it_goes_on_with_the_same_storage_alone(machine: str) -> None:
    begun, other = with_storage(options()), with_storage(options(EmulationOptions(machine)))
    with pytest.raises(StudyError, match=f"started on archer2-hdd@1/64, not on {machine}"):
        check_storage(other, begun)
    with pytest.raises(StudyError, match="started on the storage of this host"):
        check_storage(begun, options(None))


def test_it_does_not_go_on_with_another_description(tmp_path: Path) -> None:
    begun = options(replace(ON, digest="0123456789abcdef"))
    with pytest.raises(StudyError, match="description of archer2-hdd has changed"):
        check_storage(options(None), begun)
    gone = options(EmulationOptions(str(tmp_path / "gone.toml"), digest="0"))
    with pytest.raises(StudyError, match=r"cannot continue: .*gone\.toml"):
        check_storage(options(None), gone)


def test_a_run_in_which_the_host_was_the_limit_is_lost(tmp_path: Path) -> None:
    good = run_of(SEEN, tmp_path)
    assert good.ok
    assert good.limits == "single processes 100%"
    bad = run_of(replace(SEEN, late=3, late_seconds=1.0), tmp_path)
    assert bad.status is RunStatus.FAILED
    assert bad.cause is FailureCause.HOST
    assert bad.cause.is_outside
    assert "the host was the limit" in bad.message


def test_a_job_that_hangs_there_is_told_by_its_nodes() -> None:
    seen = replace(SEEN, ranks_per_node=2, transport="ucx", hangs_from_nodes=32)
    assert seen.why_it_hangs(62) == ""
    assert "jobs of 32 nodes or more hang on archer2-hdd" in seen.why_it_hangs(63)


def test_what_bypassed_the_storage_is_kept_with_the_run(tmp_path: Path) -> None:
    seen = run_of(replace(SEEN, writes=5, static_programs=2, rings=1), tmp_path)
    assert seen.ok
    assert any("2 statically linked programs" in text for text in seen.bypassed)
    assert any("io_uring" in text for text in seen.bypassed)
    assert run_of(replace(SEEN, writes=5), tmp_path).bypassed == ()
