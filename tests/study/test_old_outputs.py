# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that an earlier run by hand left are new in every run of a study."""

from __future__ import annotations

from dataclasses import replace

from stripewise.core import RunStatus, StudyResult
from stripewise.run.launch import Outcome
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import NoFiles, run_study
from stripewise.study.runs import FirstLook
from support.strategy_suite import romio_facts
from support.study_fakes import FakeLauncher, fake_tools, helped


class OldOutputs(NoFiles):
    """Notes what is left out of each run."""

    def __init__(self) -> None:
        self.old: tuple[str, ...] = ()
        self.left_out: list[tuple[str, ...]] = []

    def prepare(self, run_id):
        self.left_out.append(self.old)
        return super().prepare(run_id)

    def first_run_known(self, written_inputs, output_bytes, old_outputs=()):
        self.old = tuple(old_outputs)


def with_old_outputs(launcher, tmp_path, **more) -> tuple[StudyResult, OldOutputs]:
    workspace = OldOutputs()
    facts = romio_facts()
    tools = replace(
        fake_tools(launcher),
        workspace=workspace,
        measure_first_run=lambda place, run: FirstLook(facts, replaced_inputs=("out.dat",)),
    )
    options = StudyOptions(("prog",), tmp_path / "study", tmp_path, trials=1, **more)
    return run_study(options, None, lambda options, ledger: tools), workspace


def test_old_outputs_are_new_in_every_run_but_the_first(tmp_path):
    result, workspace = with_old_outputs(FakeLauncher(helped), tmp_path)
    assert workspace.left_out == [(), *[("out.dat",)] * (len(result.runs) - 1)]
    assert any("creates it: out.dat" in decision.text for decision in result.decisions)
    again, resumed = with_old_outputs(FakeLauncher(helped), tmp_path, resume=True)
    assert again.runs == result.runs
    assert resumed.old == ("out.dat",)


def test_a_program_that_needs_its_old_outputs_gets_them_back(tmp_path):
    class Needs(FakeLauncher):
        def collect(self, handle):
            if len(self.settings) == 2:
                return Outcome(RunStatus.FAILED, 1, 1.0, 0.0, message="no out.dat")
            return super().collect(handle)

    result, workspace = with_old_outputs(Needs(helped), tmp_path)
    assert workspace.left_out[:4] == [(), ("out.dat",), (), ()]
    assert any("fails without its old outputs" in warning for warning in result.warnings)
    assert result.trials
