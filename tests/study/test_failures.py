# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A failure says something about a setting only if it is the program's own and comes again."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from stripewise.core import FailureCause, RunRole, RunStatus, TrialState
from stripewise.core.errors import ProgramError
from stripewise.run.launch import Outcome
from support.study_fakes import KNOB, FakeLauncher, helped

KILLED = {"exit_code": -signal.SIGKILL, "message": "ended by SIGKILL"}
FULL = {"exit_code": 1, "message": "exit code 1", "output": "No space left on device"}
NOT_UP = {"exit_code": 213, "message": "exit code 213", "output": "PMIX ERROR: NO-PERMISSIONS"}
GONE = {"exit_code": 1, "message": "exit code 1", "place_lost": True}
SUPERVISOR = {"status": RunStatus.CANCELLED, "exit_code": None, "message": "stopped"}
OWN = {"exit_code": 3, "message": "exit code 3"}
HANG = {"status": RunStatus.TIMEOUT, "exit_code": None, "message": "stopped"}
OUTSIDE = [KILLED, FULL, NOT_UP, GONE, SUPERVISOR]


@dataclass
class Failing(FakeLauncher):
    """Fails in some of the runs of the setting that helps, or of the unchanged program.

    Attributes:
        failures: What ends the n-th such run, from 0; other runs end well.
        of: Whether a run counts.
    """

    failures: dict[int, dict] = field(default_factory=dict)
    of: Callable[[dict], bool] = lambda settings: settings.get(KNOB) == "disable"
    counted: int = 0

    def submit(self, request):
        handle = super().submit(request)
        if self.of(dict(request.settings)):
            failure = self.failures.get(self.counted)
            self.counted += 1
            if failure is not None:
                outcome = replace(
                    self._outcomes[request.run_id], **({"status": RunStatus.FAILED} | failure)
                )
                self._outcomes[request.run_id] = outcome
        return handle


def always(failure: dict) -> dict[int, dict]:
    return dict.fromkeys(range(1000), failure)


def trial_of(result, value="disable"):
    return next(t for t in result.trials if t.settings == {KNOB: value})


@pytest.mark.parametrize("failure", [*OUTSIDE, OWN, HANG])
@pytest.mark.parametrize("at", [0, 1, 3])
def test_one_failure_does_not_lose_the_win(run_fake, no_fsync, failure, at):
    """In its trial (the first or the second run of the setting), or in a fresh pair."""
    result = run_fake(Failing(helped, failures={at: failure}), trials=4, strategy="rules")
    assert result.improved
    assert result.winner.settings[KNOB] == "disable"
    assert not any("given up" in d.text for d in result.decisions)
    failed = [e for e in result.runs if not e.measurement.ok]
    assert len(failed) == 1
    assert (
        failed[0].measurement.cause
        is Outcome(
            **{
                "status": RunStatus.FAILED,
                "elapsed_seconds": 1,
                "started_unix_seconds": 0,
                **failure,
            }
        ).cause
    )


@pytest.mark.parametrize("failure", [OWN, HANG])
def test_the_program_s_own_failure_counts_when_it_repeats(run_fake, no_fsync, failure):
    result = run_fake(Failing(helped, failures=always(failure)), trials=4, strategy="rules")
    trial = trial_of(result)
    assert trial.state is TrialState.FAILED
    assert not result.improved
    runs = [e for e in result.runs if e.role is RunRole.TRIAL and e.trial_number == trial.number]
    assert len(runs) == 2


def test_a_hang_repeats_whatever_its_end(run_fake, no_fsync):
    """MPICH's mpiexec ends by SIGTERM now with 15, now with 0."""
    ends = {n: HANG | {"exit_code": 15 * (n % 2)} for n in range(100)}
    result = run_fake(Failing(helped, failures=ends), trials=4, strategy="rules")
    trial = trial_of(result)
    runs = [e for e in result.runs if e.role is RunRole.TRIAL and e.trial_number == trial.number]
    assert (trial.state, len(runs)) == (TrialState.FAILED, 2)


@pytest.mark.parametrize("failure", OUTSIDE)
def test_failures_from_outside_never_count(run_fake, no_fsync, failure):
    result = run_fake(Failing(helped, failures=always(failure)), trials=4, strategy="rules")
    trial = trial_of(result)
    assert trial.state is TrialState.LOST
    assert "from outside" in trial.message
    runs = [e for e in result.runs if e.role is RunRole.TRIAL and e.trial_number == trial.number]
    assert len(runs) == 3


@pytest.mark.parametrize(
    ("failures", "state"),
    [
        ({0: OWN, 1: OWN | {"exit_code": 4}, 2: OWN}, TrialState.FAILED),
        ({0: OWN, 1: KILLED, 2: OWN}, TrialState.FAILED),
        ({0: OWN, 1: KILLED, 2: KILLED}, TrialState.LOST),
        ({0: OWN, 1: OWN | {"exit_code": 4}}, TrialState.COMPLETE),
    ],
)
def test_mixed_failures(run_fake, no_fsync, failures, state):
    result = run_fake(Failing(helped, failures=failures), trials=4, strategy="rules")
    assert trial_of(result).state is state


def test_nothing_is_learned_of_a_lost_trial(run_fake, no_fsync):
    from stripewise.learning.knowledge import StudiedCase
    from stripewise.learning.knowledge._memory import learn

    lost = run_fake(Failing(helped, failures=always(KILLED)), trials=4, strategy="rules")
    tried = learn(lost, StudiedCase(), "id").tried
    assert len(tried) == len(lost.trials) - 1
    assert not any(one.state.is_bad for one in tried)


def test_nothing_is_learned_of_a_pair_that_was_killed(run_fake, no_fsync):
    from stripewise.learning.knowledge import StudiedCase
    from stripewise.learning.knowledge._memory import learn

    failures = dict.fromkeys(range(2, 100), KILLED)
    result = run_fake(Failing(helped, failures=failures), trials=2, strategy="rules")
    assert any("given up" in d.text for d in result.decisions)
    assert not any(one.state.is_bad for one in learn(result, StudiedCase(), "id").tried)


@pytest.mark.parametrize("failure", OUTSIDE)
def test_the_unchanged_program_may_be_ended_from_outside_twice(run_fake, no_fsync, failure):
    at = {0: failure, 2: failure, 3: failure}
    launcher = Failing(helped, failures=at, of=lambda settings: not settings)
    assert run_fake(launcher, trials=3, strategy="rules").improved


def test_the_unchanged_program_that_fails_for_itself_ends_the_study(run_fake, no_fsync):
    launcher = Failing(helped, failures={0: OWN}, of=lambda settings: not settings)
    with pytest.raises(ProgramError, match="fails unchanged"):
        run_fake(launcher, trials=3)
    launcher = Failing(helped, failures={1: OWN, 2: OWN}, of=lambda settings: not settings)
    with pytest.raises(ProgramError, match="twice in a row"):
        run_fake(launcher, trials=3)


def test_a_cause_survives_the_journal(run_fake, no_fsync):
    first = run_fake(Failing(helped, failures={0: KILLED}), trials=4, strategy="rules")
    again = run_fake(FakeLauncher(helped), trials=4, strategy="rules", resume=True)
    assert again == first
    assert FailureCause.SIGNAL in {e.measurement.cause for e in again.runs}


@pytest.mark.parametrize(
    ("given", "remedy"), [({}, "--allocation-time"), ({"timeout_seconds": 2.0}, "--timeout")]
)
def test_a_program_that_takes_all_the_time_there_is_ends_the_study(run_fake, given, remedy):
    """Without a limit of its own, it had the time of an allocation."""
    failures = always({**HANG, "elapsed_seconds": 90.0})
    with pytest.raises(ProgramError, match=f"did not end within 90 s; .* {remedy}$"):
        run_fake(Failing(helped, failures=failures, of=lambda _: True), **given)
