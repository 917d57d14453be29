# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one after another: observed, given settings, judged, and left alone where they lost."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from learning.adoption.questions import question, tuned
from learning.knowledge.lessons import lesson
from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.learning.adoption import Adoption, Seen
from stripewise.learning.adoption._consult import CASE, FACTS
from stripewise.learning.adoption._known import Timed
from stripewise.learning.knowledge import Profiles, Store, describe_machine

WIDE = {"mpiio.striping_factor": 64}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(tmp_path / "knowledge.sqlite"))
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "models"))
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    return tmp_path


@pytest.fixture
def store(home):
    return Store(home / "knowledge.sqlite")


def seen(seconds=4.0, exit_code=0, amount=1 << 30, **more):
    return Seen(exit_code, Timed(1.0, seconds, amount), **more)


def observed(seconds=4.0, amount=1 << 30):
    asked = question()
    return seen(
        seconds,
        amount=amount,
        facts=FACTS.dump_python(asked.facts, mode="json"),
        case=CASE.dump_python(asked.case, mode="json"),
        notation="<1D, (BLOCK), (1048576)>",
    )


def run(home, found, *arguments, ranks="8"):
    """Plan, begin and finish a run; return the plan and the line."""
    adoption = Adoption(home)
    plan = adoption.plan(("mpiexec", "-n", ranks, "./program", *arguments))
    assert not plan.warnings
    adoption.begin(plan)
    line, warnings = adoption.finish(plan, found)
    assert not warnings
    return plan, line


def test_a_program_is_observed_once_and_then_gets_settings_that_are_judged(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    first, said = run(home, observed())
    assert first.capture
    assert (first.is_default, said) == (True, "")
    assert "this one is recorded" in first.prepared.sentence
    second, said = run(home, seen(2.0))
    assert (second.prepared.level, second.prepared.settings) == ("pattern", WIDE)
    assert not second.capture
    assert said == "the settings made its I/O 2.0x as fast"
    third, _ = run(home, seen(2.0))
    assert third.prepared.settings == WIDE
    assert third.configuration == Configuration(
        (FileRule("*", {"striping_factor": 64}, override=True),), JobSettings()
    )


def test_a_program_that_was_tuned_gets_its_settings_in_the_first_run(home, store):
    case = replace(
        question().case,
        machine=describe_machine(home),
        fingerprint=replace(
            question().case.fingerprint,
            program="program",
            executable_sha256=Profiles(store.path).digest_of(home / "program"),
        ),
    )
    store.add([lesson({**WIDE, "hdf5.alignment": (1, 1 << 20)}, of=case)])
    plan, said = run(home, seen(2.0))
    assert (plan.prepared.level, plan.prepared.settings) == ("program", WIDE)
    assert plan.prepared.refused[0].startswith("alignment=1,1048576: class layout")
    assert "no run without settings" in said
    assert run(home, seen(2.0))[0].prepared.settings == WIDE
    assert run(home, observed(), ranks="16")[0].is_default, "it was tuned on 8 ranks"


def test_a_loss_means_defaults_at_the_next_run_until_a_study_knows_better(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    _, said = run(home, seen(8.0))
    assert said == "the settings made its I/O 2.0x slower; the next run has none"
    third, _ = run(home, seen(4.0))
    assert third.is_default
    assert "striping_factor=64 made its I/O 2.0x slower on " in third.prepared.sentence
    newer = {"mpiio.romio_cb_write": "disable"}
    store.add([lesson(newer, of=tuned(question()), at=3e9)])
    assert run(home, seen(2.0))[0].prepared.settings == newer


def test_a_gain_that_does_not_come_is_forgotten_after_two_runs(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    assert run(home, seen(4.0))[1] == "the settings brought no gain in 1 run"
    assert run(home, seen(4.0))[1].endswith("in 2 runs; the next run has none")
    assert run(home, seen(4.0))[0].is_default


def test_a_failure_and_a_run_that_never_ended_mean_defaults(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    _, said = run(home, seen(exit_code=3))
    assert said == "the settings were set when it failed with exit code 3; the next run has none"
    assert run(home, seen())[0].is_default
    Profiles(store.path).forget()
    run(home, observed())
    adoption = Adoption(home)
    lost = adoption.plan(("mpiexec", "-n", "8", "./program"))
    adoption.begin(lost)
    assert not Adoption(home).plan(("mpiexec", "-n", "8", "./program")).is_default, "it still runs"
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE profile SET document = json_set(document, '$.pending', 'nowhere 1 1')"
        )
    assert "in a run that did not end" in run(home, seen())[0].prepared.sentence


def test_settings_that_could_not_act_are_forgotten(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    assert run(home, seen(4.0, idle=True))[1].startswith("the settings could not act")
    assert run(home, seen(4.0))[0].is_default


def test_another_amount_of_data_is_observed_anew(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    _, said = run(home, seen(2.0, amount=1 << 33))
    assert "no run without settings that moved as much data is known" in said
    again, _ = run(home, observed(amount=1 << 33))
    assert again.is_default
    assert again.capture


def test_a_run_whose_later_files_had_settings_is_no_measure(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, replace(observed(2.0), others_set=True))
    plan, said = run(home, seen(2.0))
    assert plan.prepared.settings == WIDE, "what the program does is known all the same"
    assert "no run without settings" in said


def test_other_ranks_and_other_arguments(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed(), "one.h5")
    other, _ = run(home, seen(2.0), "two.h5")
    assert other.prepared.settings == WIDE, "all its runs did the same, whatever the arguments"
    assert run(home, observed(), ranks="16")[0].is_default


def test_what_is_kept_is_computed_anew_only_when_something_changed(home, store, monkeypatch):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    plan = Adoption(home).plan(("mpiexec", "-n", "8", "./program"))
    monkeypatch.setattr(Adoption, "_consult", lambda *_: pytest.fail("nothing has changed"))
    assert Adoption(home).plan(("mpiexec", "-n", "8", "./program")) == plan
    monkeypatch.undo()


def test_a_store_that_was_tampered_with_sets_nothing_dangerous(home, store):
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    for path, value in (
        ("$.prepared.configuration.files[0].hdf5.transfer", "collective"),
        ("$.prepared.configuration.files[0].mpiio.no_such_hint", "1"),
        ("$.prepared.configuration.job.mca.plm_rsh_agent", "/bin/evil"),
        ("$.prepared.configuration.job.environment.LD_PRELOAD", "/bin/evil"),
        ("$.prepared.configuration.job.ranks", 2),
        ("$.prepared.configuration.files", 7),
        ("$.facts", "x"),
    ):
        with sqlite3.connect(store.path) as connection:
            before = connection.execute("SELECT document FROM profile").fetchone()[0]
            connection.execute(
                "UPDATE profile SET document = json_set(document, ?, ?)", (path, value)
            )
        plan = Adoption(home).plan(("mpiexec", "-n", "8", "./program"))
        assert plan.is_default, path
        assert plan.warnings, path
        with sqlite3.connect(store.path) as connection:
            connection.execute("UPDATE profile SET document = ?", (before,))


def test_a_store_that_cannot_be_used_is_said_and_nothing_is_set(home, store):
    store.path.write_bytes(b"garbage" * 100)
    adoption = Adoption(home)
    plan = adoption.plan(("mpiexec", "-n", "8", "./program"))
    assert plan.is_default
    assert "file is not a database" in plan.warnings[0]
    assert adoption.finish(plan, seen()) == ("", ())


def test_a_program_whose_file_is_not_found_is_not_recognised(home):
    plan = Adoption(home).plan(("mpiexec", "-n", "8", "./none"))
    assert plan.prepared.sentence == (
        "nothing is set: the file of none cannot be read, so it is not recognised"
    )


def test_a_run_of_which_not_all_is_known_judges_nothing(home, store):
    """Half of its I/O time is not known: what is known of it would be a gain."""
    store.add([lesson(WIDE, of=tuned(question()))])
    run(home, observed())
    partly = replace(seen(2.0), run=None, unknown="io_uring is not counted")
    _, said = run(home, partly)
    assert said == (
        "the settings cannot be judged: not all of the I/O is known: io_uring is not counted"
    )
    second, _ = run(home, seen(2.0))
    assert second.prepared.settings == WIDE


def test_a_run_that_is_slower_than_its_history_says_so(home):
    run(home, observed())
    said = [run(home, seen(seconds))[1] for seconds in (4.1, 3.9, 4.0, 4.2)]
    assert said == [""] * 4
    assert run(home, seen(37.6))[1].startswith(
        "its I/O took 9.4x its usual time: 37.6 s instead of 4 s, the median of the last 5 runs"
    )
    assert run(home, seen(4.1))[1] == ""
    assert run(home, seen(40.0, amount=10 << 30))[1] == ""  # it moved ten times as much
    assert run(home, seen(40.0, exit_code=1))[1] == ""
