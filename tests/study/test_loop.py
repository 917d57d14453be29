# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from stripewise.core import (
    ProgramFacts,
    RunRole,
    RunStatus,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.core.errors import ProgramError, StudyError
from stripewise.run.launch import Outcome
from stripewise.run.runtime import program_name
from stripewise.settings.tunables import SafetyClass, Space, find_space, get
from stripewise.study.plan import Observer
from stripewise.study.plan._statistics import LOOKS
from stripewise.study.procedure import _search as _strategy
from stripewise.study.strategies import create
from support.strategy_suite import romio_facts
from support.study_fakes import KNOB, FakeLauncher, helped, lognormal


def test_finds_and_shows_an_improvement(run_fake):
    launcher = FakeLauncher(helped, lognormal(0.03))
    result = run_fake(launcher, trials=8)
    assert result.improved
    assert result.winner.settings[KNOB] == "disable"
    assert 1.7 < result.speedup.median < 2.3
    assert result.speedup.low > 1
    assert result.speedup.n_pairs == LOOKS[0]
    assert result.verification.status is VerificationStatus.IDENTICAL
    assert result.unsynced is not None
    assert len(result.trials) <= 8
    assert result.stopped_because


def test_procedure_order(run_fake):
    result = run_fake(FakeLauncher(helped), trials=3)
    roles = [entry.role for entry in result.runs]
    assert roles[0] is RunRole.WARM_UP
    assert roles[1:4] == [RunRole.BASELINE] * 3
    assert [r for r in roles if r.value.startswith("pair")].count(RunRole.PAIR_WINNER) == 4
    assert roles[-2:] == [RunRole.UNSYNCED_BASELINE, RunRole.UNSYNCED_WINNER]


def test_pairs_are_in_random_order(run_fake):
    result = run_fake(FakeLauncher(helped), trials=3)
    firsts = {}
    for entry in result.runs:
        if entry.role in (RunRole.PAIR_BASELINE, RunRole.PAIR_WINNER):
            firsts.setdefault(entry.pair_number, entry.role)
    assert set(firsts.values()) == {RunRole.PAIR_BASELINE, RunRole.PAIR_WINNER}


def test_every_candidate_is_next_to_a_baseline(run_fake):
    launcher = FakeLauncher(lambda _: 4.0, lognormal(0.05), seed=3)
    result = run_fake(launcher, trials=8, strategy="random")
    roles = [e.role for e in result.runs if e.role in (RunRole.TRIAL, RunRole.BASELINE)]
    for index, role in enumerate(roles):
        if role is RunRole.TRIAL:
            assert RunRole.BASELINE in (roles[index - 1], *roles[index + 1 : index + 2])


def test_drift_does_not_fake_an_improvement(run_fake, no_fsync):
    launcher = FakeLauncher(lambda _: 4.0, lognormal(0.02), drift=0.02)
    assert not run_fake(launcher, trials=8).improved


def test_the_strategy_knows_a_run_of_the_baseline(run_fake, monkeypatch):
    made = []
    monkeypatch.setattr(
        _strategy, "create", lambda *given: made.append(create(*given)) or made[-1]
    )
    result = run_fake(FakeLauncher(helped), trials=2)
    told = [one.baseline for one in made]
    assert told
    assert all(run in result.baseline for run in told)


def test_no_knob_ends_at_once(run_fake):
    launcher = FakeLauncher(lambda _: 4.0)
    result = run_fake(launcher, space=lambda facts: Space((), {KNOB: "no MPI-IO"}))
    assert len(launcher.settings) == 1
    assert not result.improved
    assert "no tunable acts" in result.stopped_because
    assert result.left_out == {KNOB: "no MPI-IO"}


def test_why_the_tunable_that_was_asked_for_cannot_act_is_said(run_fake):
    space = Space((), {KNOB: "no collective calls", "mpiio.cb_nodes": "not requested"})
    result = run_fake(FakeLauncher(lambda _: 4.0), only=(KNOB,), space=lambda facts: space)
    assert result.stopped_because.endswith(f"({KNOB}: no collective calls)")


def test_outputs_that_cannot_be_read_leave_only_safe_knobs(run_fake):
    facts, why = replace(romio_facts(), uses_hdf5=True), "x.bp: install a reader"
    result = run_fake(FakeLauncher(helped), trials=3, facts=facts, unreadable=why)
    classes = {get(name).safety for name in result.searched}
    assert classes == {SafetyClass.SAFE}
    kept_out = [name for name, said in result.left_out.items() if said == why]
    assert kept_out
    assert all(get(name).safety is not SafetyClass.SAFE for name in kept_out)
    assert any(why in text for text in result.warnings)


def test_outputs_that_cannot_be_read_can_leave_nothing(run_fake):
    def layout_only(facts: ProgramFacts) -> Space:
        found = find_space(facts)
        layout = [d for d in found.dimensions if d.tunable.safety is SafetyClass.LAYOUT]
        return Space(tuple(layout), {})

    facts = replace(romio_facts(), uses_hdf5=True)
    result = run_fake(FakeLauncher(helped), facts=facts, space=layout_only, unreadable="no reader")
    assert not result.trials
    assert "could be verified" in result.stopped_because
    assert result.baseline


def test_deadlock_is_a_failed_trial(run_fake):
    def hangs(settings) -> float:
        return inf if settings.get(KNOB) == "disable" else 4.0

    result = run_fake(FakeLauncher(hangs), trials=12, strategy="rules")
    stuck = [trial for trial in result.trials if trial.settings.get(KNOB) == "disable"]
    assert stuck
    assert all(trial.state is TrialState.FAILED for trial in stuck)
    assert stuck[0].measurements[0].status is RunStatus.TIMEOUT
    assert stuck[0].io_ratio == inf


def test_hopeless_candidates_get_one_run(run_fake):
    def slower(settings) -> float:
        return 8.0 if settings else 4.0

    result = run_fake(FakeLauncher(slower, lognormal(0.02)), trials=5, strategy="random")
    assert {trial.state for trial in result.trials} == {TrialState.HOPELESS}
    assert all(len(trial.measurements) == 1 for trial in result.trials)
    assert result.winner is None


def test_changed_output_is_rejected_and_the_next_best_taken(run_fake):
    def both(settings) -> float:
        factor = 0.4 if settings.get(KNOB) == "disable" else 1.0
        return 4.0 * factor * (0.7 if "mpiio.ind_wr_buffer_size" in settings else 1.0)

    launcher = FakeLauncher(both, lognormal(0.01))
    by_run = {}

    def compare(baselines, candidate, layout, traced):
        del baselines, layout
        if by_run[candidate].get(KNOB) == "disable":
            return Verification(VerificationStatus.DIFFERENT, differences={"o": "offset 7"})
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    submit = launcher.submit

    def noted(request):
        by_run[request.run_id] = request.settings
        return submit(request)

    launcher.submit = noted
    result = run_fake(launcher, trials=10, compare=compare, strategy="rules")
    rejected = [trial for trial in result.trials if trial.state is TrialState.REJECTED]
    assert rejected
    assert rejected[0].number in result.rejected
    assert any("REJECTED" in warning for warning in result.warnings)
    assert any("REJECTED" in decision.text for decision in result.decisions)
    assert result.winner is not None
    assert KNOB not in result.winner.settings or result.winner.settings[KNOB] != "disable"


def test_an_output_that_differs_by_chance_says_nothing_of_the_settings(run_fake):
    """It differs in the first run of a candidate, and neither in its next nor in a baseline's."""
    wrong = []

    def compare(baselines, candidate, layout, traced):
        if not wrong and candidate not in baselines:
            wrong.append(candidate)
        if candidate in wrong:
            return Verification(VerificationStatus.DIFFERENT, differences={"o": "offset 7"})
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    result = run_fake(FakeLauncher(helped, lognormal(0.01)), trials=6, compare=compare)
    lost = [trial for trial in result.trials if trial.state is TrialState.LOST]
    assert len(lost) == 1
    assert "one of two runs" in lost[0].message
    assert not result.rejected
    assert not any("REJECTED" in text for text in result.warnings)
    assert result.winner is None or result.winner.number != lost[0].number
    again = run_fake(FakeLauncher(helped, lognormal(0.01)), trials=8, compare=compare, resume=True)
    assert [trial.state for trial in again.trials[:6]] == [trial.state for trial in result.trials]


def test_a_date_that_changed_meanwhile_rejects_nobody(run_fake):
    """Both early baselines wrote one minute, the candidate and a baseline beside it the next."""
    asked = []

    def compare(baselines, candidate, layout, traced):
        if candidate in baselines:
            return Verification(VerificationStatus.IDENTICAL, ("o",))
        asked.append(tuple(baselines))
        if len(set(asked)) == 1:
            return Verification(VerificationStatus.DIFFERENT, differences={"log": "offset 7"})
        return Verification(VerificationStatus.IDENTICAL, ("o",), {"log": "baselines differ"})

    result = run_fake(FakeLauncher(helped, lognormal(0.01)), trials=4, compare=compare)
    assert result.improved
    assert not result.rejected
    assert asked[0][0] == asked[1][0]
    assert asked[0][1] != asked[1][1]
    again = run_fake(FakeLauncher(helped, lognormal(0.01)), trials=6, compare=compare, resume=True)
    assert not again.rejected


def test_whole_time_must_not_get_worse(run_fake):
    class Slower(FakeLauncher):
        def collect(self, handle):
            outcome = super().collect(handle)
            faster = outcome.io_seconds < 3
            extra = 3.0 if faster else 0.0
            return Outcome(
                outcome.status, 0, outcome.elapsed_seconds + extra, 0.0,
                io_seconds=outcome.io_seconds, write_bytes=1,
            )  # fmt: skip

    result = run_fake(Slower(helped, lognormal(0.01)), trials=4)
    assert not result.improved
    if result.winner is not None:
        assert any("whole time got worse" in d.text for d in result.decisions)


def test_a_study_directory_is_not_overwritten(run_fake):
    run_fake(FakeLauncher(helped), trials=1)
    with pytest.raises(StudyError, match=r"finished study.*--force"):
        run_fake(FakeLauncher(helped), trials=1)
    assert run_fake(FakeLauncher(helped), trials=1, force=True).trials


def test_a_study_in_use_names_the_pid(run_fake, tmp_path):
    class Nested(Observer):
        def began(self, directory, runs_done):
            with pytest.raises(StudyError, match="in use by pid"):
                run_fake(FakeLauncher(helped), resume=True)

    run_fake(FakeLauncher(helped), trials=1, observer=Nested())


def test_a_failing_program_is_said_and_leaves_the_way_free(run_fake):
    class Failing(FakeLauncher):
        def collect(self, handle):
            return Outcome(RunStatus.FAILED, 3, 1.0, 0.0, message="exit code 3")

    with pytest.raises(ProgramError, match="exit code 3"):
        run_fake(Failing(helped))
    assert run_fake(FakeLauncher(helped), trials=1).trials


def test_a_baseline_that_breaks_in_between_can_be_resumed(run_fake):
    class Breaks(FakeLauncher):
        broken = True

        def collect(self, handle):
            if self.broken and len(self.settings) > 6 and not self.settings[-1]:
                return Outcome(RunStatus.FAILED, 1, 1.0, 0.0, message="no licence")
            return super().collect(handle)

    launcher = Breaks(helped)
    with pytest.raises(ProgramError, match="twice in a row: no licence"):
        run_fake(launcher, trials=4)
    launcher.broken = False
    assert run_fake(launcher, resume=True).improved


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("mpiexec", "-n", "4", "./flash_io", "out.h5"), "flash_io"),
        (("mpirun.openmpi", "--oversubscribe", "-np", "2", "/bin/ls"), "ls"),
        (("./a.out",), "a.out"),
        (("mpiexec.mpich", "-n", "2", "python3", "write.py"), "write"),
        (("sh", "job.sh"), "job"),
    ],
)
def test_program_name(command, name):
    assert program_name(command) == name


def test_what_cannot_be_compared_is_said_before_the_first_trial(run_fake):
    said = []

    class Watching(Observer):
        def warned(self, text):
            said.append(text)

        def trial_started(self, *given):
            said.append("trial")

    def compare(baselines, candidate, layout, traced):
        why = {"(all)": "the program wrote no file in its directory"}
        return Verification(VerificationStatus.NOT_VERIFIABLE, (), why)

    launcher = FakeLauncher(helped, lognormal(0.01))
    result = run_fake(launcher, trials=1, compare=compare, observer=Watching())
    text = next(text for text in result.warnings if "cannot be compared" in text)
    assert "give --keep-removed" in text
    assert said.index(text) < said.index("trial")


def test_an_output_that_differs_from_run_to_run_is_named_before_the_first_trial(run_fake):
    def compare(baselines, candidate, layout, traced):
        why = {"out.dat": "two baselines differ: bytes differ, first at offset 8"}
        return Verification(VerificationStatus.NOT_VERIFIABLE, (), why)

    result = run_fake(FakeLauncher(helped, lognormal(0.01)), trials=1, compare=compare)
    text = next(text for text in result.warnings if "cannot be compared" in text)
    assert "out.dat: two baselines differ" in text
    assert "time stamp" in text
