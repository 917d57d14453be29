# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of programs of whose I/O not all is known: no part counts as if it were the whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core import Amount, FailureCause, Gap, Measurement, ReportedPart, RunStatus
from stripewise.core.errors import PolicyError, ProgramError
from stripewise.evidence.trace import ProcessFlag, RunProfile
from stripewise.run.launch import Outcome
from stripewise.settings import Policy
from stripewise.study.plan._options import MINIMUM_RUNS
from stripewise.study.procedure._context import merge_facts
from stripewise.study.report._digest import baseline_figures
from stripewise.study.report._json import result_to_json
from stripewise.study.report._progress import run_line
from stripewise.study.report._summary import figures_phrase
from stripewise.study.runs._job_evidence import _missing
from stripewise.study.runs._looking import look
from stripewise.study.workspace import RunLocation
from support.containers import FakeFile, FakeProcess, build_container
from support.strategy_suite import romio_facts
from support.study_fakes import KNOB, FakeLauncher, helped
from support.study_fakes import look as whole_look

WHY = "I/O that is not counted"


def partly(*names: str, when=lambda number: True):
    """Look at runs so that of some of them, by their number, the named figures are not known."""

    def look_at(run_id, place, outcome: Outcome) -> Measurement:
        run = whole_look(run_id, place, outcome)
        hidden = when(int(outcome.started_unix_seconds))
        return replace(run, missing=dict.fromkeys(names, WHY)) if hidden else run

    return look_at


def test_a_trial_of_which_less_is_known_is_no_gain(run_fake):
    """What is known of its I/O time is a quarter of it, which nobody measured as a gain."""
    launcher = FakeLauncher(lambda settings: 1.0 if settings else 4.0)

    def of_trial(number: int) -> bool:
        return bool(launcher.settings[number])

    result = run_fake(launcher, look=partly("io_seconds", when=of_trial), trials=1, only=(KNOB,))
    assert not result.improved
    assert [trial.state.value for trial in result.trials] == ["failed"]
    assert "its I/O time is not known: " + WHY in result.trials[0].message


def test_a_program_of_which_a_part_is_known_is_compared_by_that_and_says_so(run_fake):
    facts = replace(romio_facts(), missing={"io_seconds": WHY})
    look_at = partly("io_seconds", "write_bytes")
    result = run_fake(FakeLauncher(helped), facts=facts, look=look_at, trials=1, only=(KNOB,))
    assert result.improved
    said = f"only a part of the I/O time is known, and runs are compared by that: {WHY}"
    assert said in result.warnings
    figures = baseline_figures(result)
    assert figures.amount("io_seconds").words(str) == "at least 4.0"
    phrase = figures_phrase(figures)
    assert "I/O at least 4 s" in phrase
    assert "bandwidth unknown" in phrase
    document = result_to_json(result)
    assert document["baseline"]["bandwidth_bytes_per_second"] is None
    assert document["baseline"]["missing"]["total_bytes"] == WHY
    assert document["runs"][0]["missing"] == {"io_seconds": WHY, "write_bytes": WHY}


def test_a_program_whose_time_is_not_known_is_not_studied(run_fake):
    facts = replace(romio_facts(), io_seconds=0.0, missing={"io_seconds": WHY})
    with pytest.raises(ProgramError, match=f"I/O time is not known.*{WHY}"):
        run_fake(FakeLauncher(helped), facts=facts)


def test_bytes_that_are_not_known_are_no_reason_to_refuse(run_fake):
    def look_at(run_id, place, outcome):
        run = whole_look(run_id, place, outcome)
        return replace(run, write_bytes=0, missing={"write_bytes": WHY})

    launcher = FakeLauncher(helped)
    result = run_fake(launcher, look=look_at, trials=1, only=(KNOB,))
    assert result.improved
    assert result_to_json(result)["baseline"]["bytes"] is None


def test_a_cap_on_bytes_is_not_held_by_what_is_not_known(run_fake):
    look_at = partly("write_bytes")
    with pytest.raises(PolicyError, match=f"how much this one writes is not known .{WHY}"):
        run_fake(FakeLauncher(helped), look=look_at, policy=Policy(max_bytes=1 << 40))


def test_a_run_that_was_not_seen_counts_as_the_largest(run_fake):
    """64 MiB each; of the trials' runs it is not known."""

    def look_at(run_id, place, outcome):
        run = whole_look(run_id, place, outcome)
        if not launcher.settings[int(outcome.started_unix_seconds)]:
            return run
        unseen = {"status": RunStatus.FAILED, "cause": FailureCause.PROGRAM}
        return replace(run, **unseen, write_bytes=0, missing={"write_bytes": WHY})

    launcher = FakeLauncher(helped)
    result = run_fake(launcher, look=look_at, policy=Policy(max_bytes=(MINIMUM_RUNS + 3) << 26))
    assert "may be written by a study" in result.stopped_because


def test_a_container_tells_what_is_missing(tmp_path):
    files = [FakeFile(str(tmp_path / "a"), outermost=(5, 0, 7))]
    mapped = FakeProcess({"flags": ProcessFlag.USES_SHARED_MMAP | ProcessFlag.EXITED}, files)
    container = tmp_path / "node.sw"
    container.write_bytes(build_container([mapped]))
    outcome = Outcome(RunStatus.OK, 0, 2.0, 1.0, containers=(container,))
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("/a",)), outcome)
    assert set(seen.missing) == {"io_seconds", "read_bytes", "write_bytes"}
    assert "mappings" in seen.missing["write_bytes"]
    assert seen.bandwidth == Amount(None, seen.missing["io_seconds"])
    assert "bandwidth unknown" in run_line(seen)


def test_nothing_is_known_of_a_run_that_left_nothing(tmp_path):
    outcome = Outcome(RunStatus.FAILED, 1, 2.0, 1.0)
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("/a",)), outcome)
    assert seen.total_amount.value is None
    assert seen.amount("io_seconds").value is None


def test_logs_add_up_with_what_each_of_them_lacks():
    one = RunProfile("log", gaps=(Gap(ReportedPart.SECONDS, "a"),))
    other = RunProfile("log", gaps=(Gap(ReportedPart.SECONDS | ReportedPart.READ_BYTES, "b"),))
    assert _missing([one, other]) == {"io_seconds": "a; b", "read_bytes": "b"}


def test_cases_together_lack_what_one_of_them_lacks():
    whole, part = romio_facts(), replace(romio_facts(), missing={"write_bytes": WHY})
    both = merge_facts([whole, part])
    assert both.amount("write_bytes") == Amount(2 * whole.write_bytes, WHY)
    assert both.amount("read_calls").is_exact
