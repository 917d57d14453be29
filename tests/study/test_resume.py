# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A kill between any two operations of the journal loses no finished run.

None is repeated either, but for a half of a pair: its other half would come a restart later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from stripewise.core import Verification, VerificationStatus
from stripewise.core.errors import ProgramError, StudyError, UsageError
from stripewise.settings.tunables import Dimension, Space, find_space, get
from stripewise.study.plan import Journal, StudyOptions, parse_journal
from stripewise.study.procedure import run_study
from stripewise.study.training import Surface, SurfaceRun
from support.journal_checks import check_runs, encode
from support.replayed import ReplayedLauncher
from support.strategy_suite import romio_facts
from support.study_fakes import FakeLauncher, fake_tools, helped, lognormal


class Kill(BaseException):
    """As kill -9: nothing catches it."""


class RecordingLauncher(ReplayedLauncher):
    """Notes which runs were submitted, and which were cancelled."""

    def __init__(self, surface, seed):
        super().__init__(surface, seed)
        self.submitted = []
        self.cancelled = []

    def submit(self, request):
        self.submitted.append(request.run_id)
        return super().submit(request)

    def cancel(self, handle):
        self.cancelled.append(handle.run_id)


def surface() -> Surface:
    """Record all points of the small space, four repeats each."""
    space = find_space(romio_facts())
    points = [{}]
    for dimension in space.dimensions:
        name = dimension.tunable.name
        points += [{**p, name: v} for p in points for v in dimension.values]
    runs = [
        SurfaceRun(point, 2.0 + t, 1.0 + t, 0, 1 << 20)
        for point in points
        for repeat in range(4)
        for t in [0.01 * repeat + (1.0 if "mpiio.romio_ds_write" not in point else 0.0)]
    ]
    knobs = {d.tunable.name: d.values for d in space.dimensions}
    return Surface(("prog",), romio_facts(), {}, knobs, tuple(runs))


@pytest.fixture
def session(tmp_path, monkeypatch, no_fsync):
    """Run a session of the study that is killed at its n-th operation of the journal."""
    launcher = RecordingLauncher(surface(), seed=1)
    count = {"left": 0}
    append = Journal.append

    def counted(self, kind, **data):
        if count["left"] == 0:
            raise Kill
        count["left"] -= 1
        if count["left"] == 0 and count["after"]:
            append(self, kind, **data)
            count["left"] = -1
            raise Kill
        return append(self, kind, **data)

    def run(kill_at, *, after=False, resume=False, trials=4):
        count.update(left=kill_at if kill_at is not None else -1, after=after)
        options = StudyOptions(
            ("prog",), tmp_path / "study", origin=tmp_path, trials=trials, resume=resume
        )
        tools = fake_tools(launcher)
        return run_study(options, None, lambda o, ledger: tools), launcher

    def counted_or_dead(self, kind, **data):
        if count["left"] == -1 and count.get("dead"):
            raise Kill
        return counted(self, kind, **data)

    monkeypatch.setattr(Journal, "append", counted_or_dead)
    run.launcher = launcher
    run.path = tmp_path / "study" / "journal.jsonl"
    return run


def finished(path):
    records, *_ = parse_journal(path.read_bytes(), path)
    return [r["run_id"] for r in records if r["kind"] == "run-finished"]


def operations(tmp_path_factory_session):
    session = tmp_path_factory_session
    session(None)
    return len(parse_journal(session.path.read_bytes(), session.path)[0])


def test_counts_of_a_whole_study(session):
    assert operations(session) > 60


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_kill_between_every_two_operations(session, after):
    """Kill after every few operations; one study is carried on through all of the kills.

    A session holds more than a pair, so that the study goes on; the kills come at all places.
    """
    step, sessions = 11, 0
    before: list[str] = []
    begun = False
    while True:
        sessions += 1
        assert sessions < 200
        try:
            result, launcher = session(step, after=after, resume=begun)
        except Kill:
            begun = session.path.exists() and bool(
                parse_journal(session.path.read_bytes(), session.path)[0]
            )
            now = finished(session.path)
            assert now[: len(before)] == before, "a finished run was lost"
            before = now
            continue
        break
    done = finished(session.path)
    assert done[: len(before)] == before
    assert max(Counter(done).values()) == 1
    records, *_ = parse_journal(session.path.read_bytes(), session.path)
    assert 0 < check_runs(records) < sessions
    assert set(done) <= set(launcher.submitted)
    assert max(Counter(launcher.submitted).values()) == 1
    assert result.improved


@pytest.mark.parametrize("kill_at", range(4, 75))
def test_one_kill_anywhere_then_resume(session, kill_at):
    with pytest.raises(Kill):
        session(kill_at)
    before = finished(session.path)
    runs_before = len(session.launcher.submitted)
    result, launcher = session(None, resume=True)
    done = finished(session.path)
    assert done[: len(before)] == before
    assert result.improved
    assert check_runs(parse_journal(session.path.read_bytes(), session.path)[0]) <= 1
    lost = runs_before - len(before)
    assert lost <= 1
    assert len(launcher.submitted) <= len(done) + 1


def test_a_run_that_ended_unseen_is_taken_in(session):
    """Killed after the submission was recorded: the result is collected, not repeated."""
    for kill_at in range(3, 12):
        try:
            session(kill_at)
        except Kill:
            records, *_ = parse_journal(session.path.read_bytes(), session.path)
            if records and records[-1]["kind"] == "run-submitted":
                break
        session.path.unlink(missing_ok=True)
    run_id = records[-1]["run_id"]
    session(None, resume=True)
    assert run_id in finished(session.path)


def test_torn_tail_then_resume(session):
    with pytest.raises(Kill):
        session(30)
    with session.path.open("ab") as stream:
        stream.write(b'{"crc":"0000')
    result, _ = session(None, resume=True)
    assert result.improved


def test_resuming_a_finished_study_shows_its_result_again(session):
    first, launcher = session(None)
    runs = len(launcher.submitted)
    again, _ = session(None, resume=True)
    assert len(launcher.submitted) == runs
    assert again == first


def test_another_command_is_refused(run_fake):
    run_fake(FakeLauncher(lambda _: 4.0), trials=1)
    with pytest.raises(StudyError, match="study of `prog`"):
        run_fake(FakeLauncher(lambda _: 4.0), command=("other",), resume=True)


def test_other_options_are_not_ignored_silently(run_fake):
    run_fake(FakeLauncher(lambda _: 4.0), trials=3, seed=3)
    again = run_fake(
        FakeLauncher(lambda _: 4.0), trials=2, time_seconds=60.0, strategy="random", resume=True
    )
    said = [text for text in again.warnings if "not changed by --resume" in text]
    for part, text in zip(
        ("trials 2 (it has 3)", "time 60.0", "strategy random"), said, strict=True
    ):
        assert part in text
    assert len(again.trials) == 3


def test_a_larger_budget_goes_on_where_a_finished_study_ended(run_fake):
    first = run_fake(FakeLauncher(helped), trials=1, strategy="random", seed=1)
    launcher = FakeLauncher(helped)
    more = run_fake(launcher, trials=4, resume=True)
    assert more.trials[:1] == first.trials
    assert len(more.trials) == 4
    assert more.runs[: len(first.runs)] == first.runs
    assert any("budget extended by --resume: trials 4" in d.text for d in more.decisions)
    assert not any("not changed" in text for text in more.warnings)
    again = run_fake(launcher, resume=True)
    assert again == more


def test_outputs_are_compared_with_baselines_that_are_still_there(run_fake):
    """Those of a study that ended were removed; more trials get two new ones."""
    asked = []

    def compare(baselines, candidate, layout, traced):
        asked.append(tuple(baselines))
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    run_fake(FakeLauncher(helped), trials=1, compare=compare)
    run_fake(FakeLauncher(helped), trials=5, compare=compare, resume=True)
    assert len(set(asked)) == 2


def test_a_larger_budget_after_a_kill_is_kept(session):
    with pytest.raises(Kill):
        session(30, trials=1)
    result, _ = session(None, resume=True, trials=3)
    assert len(result.trials) == 3
    assert session(None, resume=True, trials=3)[0] == result


def test_a_mistyped_request_leaves_no_directory(run_fake, tmp_path):
    class NotThere(FakeLauncher):
        def submit(self, request):
            raise ProgramError("cannot start ./nowhere")

    with pytest.raises(ProgramError):
        run_fake(NotThere(helped))
    assert not (tmp_path / "study").exists()


def test_a_clock_that_jumps_spends_no_budget(run_fake, monkeypatch):
    jumps = iter(range(10**6))
    monkeypatch.setattr("stripewise.core._journal.time.time", lambda: 1e9 + 86400.0 * next(jumps))
    assert run_fake(FakeLauncher(lambda _: 4.0), trials=1, time_seconds=3600.0).trials


def test_nothing_to_resume(run_fake):
    with pytest.raises(StudyError, match="no study"):
        run_fake(FakeLauncher(lambda _: 4.0), resume=True)


def test_resume_finds_the_only_unfinished_study(tmp_path, no_fsync):
    class Stops(FakeLauncher):
        def submit(self, request):
            if len(self.settings) == 6:
                self.settings.append({})
                raise KeyboardInterrupt
            return super().submit(request)

    launcher = Stops(lambda _: 4.0, lognormal(0.02))
    tools = fake_tools(launcher)
    options = StudyOptions(("./prog",), origin=tmp_path, trials=2)
    with pytest.raises(KeyboardInterrupt):
        run_study(options, None, lambda o, ledger: tools)
    resumed = StudyOptions((), origin=tmp_path, resume=True)
    result = run_study(resumed, None, lambda o, ledger: tools)
    assert result.command == ("./prog",)
    assert len(result.trials) == 2
    with pytest.raises(UsageError, match=r"no unfinished study.*\(prog\.stripewise\)"):
        run_study(resumed, None, lambda o, ledger: tools)


def test_what_was_proven_stays_when_a_further_candidate_fails_the_proof(run_fake):
    """The second candidate looks better in its trial and gives nothing in its pairs."""

    class Dazzles(FakeLauncher):
        def submit(self, request):
            self.io_seconds = lambda settings: self.seconds(settings)
            return super().submit(request)

        def seconds(self, settings):
            if not settings or self.settings.count(dict(settings)) > 2:
                return 4.0
            return 1.0

    first = run_fake(FakeLauncher(helped), trials=1, strategy="rules")
    assert first.improved
    more = run_fake(Dazzles(helped), trials=4, resume=True)
    tried = {d.text.split()[1] for d in more.decisions if "is the candidate" in d.text}
    assert len(tried) >= 2
    assert more.improved
    assert more.winner.settings == first.winner.settings
    assert more.pairs == first.pairs
    assert any("proven earlier" in d.text for d in more.decisions)
    assert run_fake(FakeLauncher(helped), resume=True) == more


def test_settings_that_may_hang_keep_their_short_limit_in_the_proof(run_fake):
    limits = {}

    class Notes(FakeLauncher):
        def submit(self, request):
            kind = "contract" if "hdf5.transfer" in request.settings else "other"
            limits.setdefault(kind, []).append(request.timeout_seconds)
            return super().submit(request)

    def only_transfer(facts):
        return Space((Dimension(get("hdf5.transfer"), ("collective",)),), {})

    launcher = Notes(lambda s: 2.0 if s else 4.0)
    facts = replace(romio_facts(), uses_hdf5=True, uses_parallel_hdf5=True, matched_calls=True)
    result = run_fake(launcher, trials=1, facts=facts, space=only_transfer)
    assert result.improved
    assert result.unsynced is not None
    assert len(limits["contract"]) >= 6
    assert set(limits["contract"]) == {15.0}


def test_recorded_proposals_are_followed_where_a_later_version_proposes_others(run_fake, tmp_path):
    """Whatever the strategy would try now: what was tried stays, and is not tried again."""
    path = tmp_path / "study" / "journal.jsonl"
    first = run_fake(FakeLauncher(helped), trials=3, strategy="random", seed=1)
    for seed in range(2, 8):
        records, *_ = parse_journal(path.read_bytes(), path)
        records[0]["options"]["seed"] = seed
        path.write_bytes(encode(records))
        more = run_fake(FakeLauncher(helped), trials=seed + 2, resume=True)
        assert [t.settings for t in more.trials[:3]] == [t.settings for t in first.trials]
        assert len({str(sorted(t.settings.items())) for t in more.trials}) == len(more.trials)


def test_a_recorded_trial_of_an_unknown_tunable_is_refused(run_fake, tmp_path):
    path = tmp_path / "study" / "journal.jsonl"
    run_fake(FakeLauncher(helped), trials=3)
    records, *_ = parse_journal(path.read_bytes(), path)
    name = next(r for r in records if r.get("name") == "proposal/2")
    name["value"]["settings"] = {"mpiio.of_a_later_version": 1}
    path.write_bytes(encode(records))
    with pytest.raises(StudyError, match=r"trial 2 .*of_a_later_version.*--force"):
        run_fake(FakeLauncher(helped), resume=True)
