# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies that begin with what others found: they say so, and are never misled by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core import RunRole, TrialState, Verification, VerificationStatus
from stripewise.learning.adoption import answer
from stripewise.learning.knowledge import Machine, Memory, Store
from stripewise.study.plan import Journal, Observer, StudyOptions
from stripewise.study.procedure import run_study
from support.strategy_suite import romio_facts
from support.study_fakes import KNOB, FakeLauncher, fake_tools, helped, lognormal

LAST = "hdf5.meta_block_size"
RICH = replace(romio_facts(), uses_hdf5=True, uses_parallel_hdf5=True, collective_bytes=1 << 25)
MACHINE = Machine("x86_64", "CPU", 8, 1 << 34, "6.1.0", "ext4", "virtual")


class Watching(Observer):
    def __init__(self):
        self.memory = []
        self.warnings = []

    def remembered(self, text):
        self.memory.append(text)

    def warned(self, text):
        self.warnings.append(text)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "knowledge.sqlite")


@pytest.fixture
def study(tmp_path, store, no_fsync):
    """Run one study after another, each in a directory of its own."""
    count = iter(range(1000))

    def run(formula, *, noise=0.03, machine=MACHINE, compare=None, stores=None, **given):
        observer = given.pop("observer", None) or Watching()
        given.setdefault("directory", tmp_path / f"study-{next(count)}")
        launcher = given.pop("launcher", None)
        launcher = launcher or FakeLauncher(formula, lognormal(noise), given.get("seed", 0))
        memory = stores or Memory(store, (), machine)
        more = {"compare": compare} if compare else {}
        more["facts"] = given.pop("facts", RICH)
        tools = fake_tools(launcher, memory=memory, **more)
        options = StudyOptions(("prog",), origin=tmp_path, **given)
        return run_study(options, observer, lambda o, ledger: tools)

    return run


def late(settings) -> float:
    """Only a tunable helps that is tried late."""
    return 2.0 if LAST in settings else 4.0


def nothing(settings) -> float:
    return 4.0


def runs_until(result, ratio):
    """Number of runs after which the best trial was within 5 % of the optimum."""
    good = {t.number for t in result.trials if t.io_ratio < ratio * 1.25}
    for number, entry in enumerate(result.runs, start=1):
        if entry.role is RunRole.TRIAL and entry.trial_number in good:
            return number
    return len(result.runs) + 1


def test_the_first_study_says_nothing_and_leaves_a_lesson(study, store):
    observer = Watching()
    result = study(helped, observer=observer, trials=6)
    assert observer.memory == []
    (kept,) = store.lessons()
    assert kept.improved
    assert kept.candidate == result.winner.settings
    assert kept.effect.low == result.speedup.low
    assert kept.n_runs == len(result.runs)


def test_the_next_one_begins_there_and_says_so(study):
    first = study(helped, trials=8)
    observer = Watching()
    second = study(helped, trials=8, seed=1, observer=observer)
    assert second.trials[0].settings == first.winner.settings
    (said,) = observer.memory
    assert said.startswith("1 study like this one (")
    assert "starts with" in said
    assert any(decision.text == f"memory: {said}" for decision in second.decisions)
    assert second.improved


def test_what_a_run_would_be_given_is_asked_for_within_the_studys_space(study, monkeypatch):
    asked = []

    def seen(question, *rest):
        asked.append(question)
        return answer(question, *rest)

    monkeypatch.setattr("stripewise.study.procedure._memory.answer", seen)
    study(helped, trials=6)
    study(helped, trials=2)
    (question,) = asked
    assert question.only_rungs


def test_right_memory_reduces_the_runs_to_the_optimum(study):
    without = study(late, trials=20, strategy="rules", patience=30)
    assert without.improved
    remembered = study(late, trials=20, strategy="rules", patience=30, seed=1)
    assert remembered.improved
    assert runs_until(remembered, 0.5) < runs_until(without, 0.5) / 2


@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_right_memory_helps_every_strategy(study, strategy):
    study(late, trials=20, strategy="rules", patience=30)
    remembered = study(late, trials=4, strategy=strategy, seed=1)
    assert remembered.trials[0].settings.get(LAST)
    assert remembered.improved


def test_wrong_memory_makes_no_false_improvement(study, store):
    """A/A: memory of a great gain, of a program that no tunable affects."""
    study(helped, trials=6)
    (kept,) = store.lessons()
    false = 0
    for seed in range(10):
        store.forget([lesson.study_id for lesson in store.lessons()])
        store.add([replace(kept, study_id=f"{seed:032x}")])
        result = study(nothing, noise=0.1, trials=6, seed=seed)
        assert result.trials[0].settings == kept.candidate
        false += result.improved
    assert false <= 1


def test_wrong_memory_costs_few_runs(study, store):
    """What memory names is slower now; the search finds the other tunable all the same."""
    study(helped, trials=6)
    (kept,) = store.lessons()
    store.forget([kept.study_id])
    store.add([replace(kept, candidate={KNOB: "disable"}, tried=())])

    def other(settings):
        return (6.0 if settings.get(KNOB) == "disable" else 4.0) * (
            0.5 if "mpiio.ind_wr_buffer_size" in settings else 1.0
        )

    result = study(other, trials=12, seed=3)
    assert result.trials[0].state is TrialState.HOPELESS
    assert len(result.trials[0].measurements) == 1
    assert result.improved
    assert KNOB not in result.winner.settings


def test_memory_of_another_machine_is_not_used(study):
    study(helped, trials=6)
    observer = Watching()
    elsewhere = replace(MACHINE, filesystem="lustre", device="network", storage="0" * 16, cpu="B")
    result = study(nothing, trials=3, machine=elsewhere, observer=observer)
    assert observer.memory == ["1 study kept, none like this one"]
    assert not any("memory" in trial.message for trial in result.trials)


def test_changed_output_is_not_proposed_first_again(study, store):
    by_run = {}
    launcher = FakeLauncher(helped, lognormal(0.02))
    submit = launcher.submit

    def noted(request):
        by_run[request.run_id] = request.settings
        return submit(request)

    launcher.submit = noted

    def compare(baselines, candidate, layout, traced):
        if by_run[candidate].get(KNOB) == "disable":
            return Verification(VerificationStatus.DIFFERENT, differences={"o": "offset 7"})
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    first = study(None, launcher=launcher, compare=compare, trials=6, strategy="rules")
    assert first.rejected
    assert store.lessons()[0].bad
    observer = Watching()
    launcher.settings.clear()
    second = study(None, launcher=launcher, compare=compare, trials=6, seed=1, observer=observer)
    assert first.rejected
    assert {KNOB: "disable"} not in [dict(t.settings) for t in second.trials[:3]]
    assert any("changed the output" in w and "tried last" in w for w in observer.warnings)
    assert any("changed the output" in w for w in second.warnings)


def test_without_memory_nothing_is_read_or_kept(tmp_path, no_fsync):
    tools = fake_tools(FakeLauncher(helped))
    result = run_study(
        StudyOptions(("p",), tmp_path / "s", origin=tmp_path, trials=3, memory=False),
        None,
        lambda o, ledger: tools,
    )
    assert result.trials
    assert not any("memory" in decision.text for decision in result.decisions)


@pytest.mark.parametrize("trouble", ["damaged", "a directory", "not writable"])
def test_a_store_in_trouble_costs_a_warning_never_a_study(study, tmp_path, trouble):
    path = tmp_path / "bad" / "k.sqlite"
    path.parent.mkdir()
    if trouble == "damaged":
        path.write_bytes(b"rubbish" * 1000)
    elif trouble == "a directory":
        path.mkdir()
    else:
        path = tmp_path / "file" / "k.sqlite"
        path.parent.write_text("in the way")
    result = study(helped, trials=4, stores=Memory(Store(path), (), MACHINE))
    assert result.improved
    assert any("STRIPEWISE_KNOWLEDGE" in warning for warning in result.warnings)


def test_the_sites_store_is_read_too(study, store, tmp_path):
    study(helped, trials=6)
    own = Store(tmp_path / "own.sqlite")
    site = Store(store.path, read_only=True)
    observer = Watching()
    study(helped, trials=3, stores=Memory(own, (site,), MACHINE), observer=observer)
    assert "starts with" in observer.memory[0]
    assert len(own.lessons()) == 1
    assert len(site.lessons()) == 1


class Kill(BaseException):
    """As kill -9: nothing catches it."""


@pytest.mark.parametrize("records", [14, 22, 30, 40, 60])
def test_a_resumed_study_does_not_mind_a_store_that_changed(
    study, store, tmp_path, monkeypatch, records
):
    study(helped, trials=6)
    straight = study(helped, trials=5, seed=7)
    store.forget([store.lessons()[0].study_id])
    append, left = Journal.append, iter(range(records))

    def counted(self, kind, **data):
        if next(left, None) is None:
            raise Kill
        return append(self, kind, **data)

    launcher = FakeLauncher(helped, lognormal(0.03), 7)
    place = {"directory": tmp_path / "killed", "seed": 7, "trials": 5, "launcher": launcher}
    monkeypatch.setattr(Journal, "append", counted)
    with pytest.raises(Kill):
        study(None, **place)
    monkeypatch.setattr(Journal, "append", append)
    began = '"found"' in (tmp_path / "killed/journal.jsonl").read_text()
    if began:
        store.path.unlink()
    result = study(None, resume=True, **place)
    if began:
        assert [t.settings for t in result.trials] == [t.settings for t in straight.trials]
    assert len(store.lessons()) == (1 if began else 2)


def test_a_finished_study_is_kept_once_and_stays_forgotten(study, store, tmp_path):
    place = {"directory": tmp_path / "s", "trials": 4}
    study(helped, **place)
    study(helped, resume=True, **place)
    assert len(store.lessons()) == 1
    store.forget([store.lessons()[0].study_id])
    study(helped, resume=True, **place)
    assert store.lessons() == []


def test_a_study_begun_before_there_was_memory_goes_on_without(
    study, store, tmp_path, monkeypatch
):
    study(helped, trials=6)
    launcher = FakeLauncher(helped, lognormal(0.03))
    place = {"directory": tmp_path / "old", "trials": 4, "launcher": launcher}
    options = StudyOptions(("prog",), origin=tmp_path, trials=4, directory=tmp_path / "old")
    run_study(options, None, lambda o, ledger: fake_tools(launcher))
    result = study(None, resume=True, **place)
    assert not any("memory" in trial.message for trial in result.trials)
    assert len(store.lessons()) == 1


def test_a_journal_of_other_seeds_is_followed(study, tmp_path, monkeypatch):
    study(helped, trials=6)
    place = {"directory": tmp_path / "s", "trials": 4}
    first = study(helped, **place)
    monkeypatch.setattr(
        "stripewise.study.procedure._memory.SeededStrategy", lambda inner, *rest: inner
    )
    assert study(helped, resume=True, **place).trials == first.trials
