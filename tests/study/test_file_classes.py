# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of a program with two classes of files, on which the best settings are opposite."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import jsonschema
import pytest

from stripewise.core import FileClass, Measurement, ObservedFile, ProgramFacts, TrialState
from stripewise.learning.knowledge import Memory, Store
from stripewise.learning.knowledge._memory import describe_machine
from stripewise.run.launch import Handle, Outcome, RunRequest
from stripewise.settings.tunables import Space, find_space, get, scopes, settings_on
from stripewise.study.plan import Observer, StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.report import render_html, result_to_json, summary_lines, write_outputs
from stripewise.study.workspace import RunLocation
from support.strategy_suite import romio_facts
from support.study_fakes import FakeLauncher, fake_tools, lognormal, look, no_noise

KNOB = "mpiio.romio_ds_write"
CHECK, PLOT = "chk*.dat", "plt*.dat"
CLASSES = (
    FileClass(PLOT, 2, ("mpiio",), writes=True, shared=True, call_bytes=640 << 10, io_share=0.6),
    FileClass(CHECK, 2, ("mpiio",), writes=True, shared=True, call_bytes=64, io_share=0.4),
)
FACTS = replace(romio_facts(), file_classes=CLASSES)
SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "result.schema.json"
Settings = Mapping[str, object]


def seconds(match: str, settings: Settings) -> float:
    off = settings_on(settings, match).get(KNOB) == "disable"
    if match == PLOT:
        return 0.6 if off else 2.4
    return 6.4 if off else 1.6


@dataclass
class TwoClasses(FakeLauncher):
    """Says what each class took as well."""

    of_run: dict[str, Settings] = field(default_factory=dict)

    def submit(self, request: RunRequest) -> Handle:
        self.of_run[request.run_id] = dict(request.settings)
        return super().submit(request)

    def look(self, run_id: str, place: RunLocation, outcome: Outcome) -> Measurement:
        settings = self.of_run[run_id]
        factor = (outcome.io_seconds or 0.0) / whole(settings)
        times = {m: seconds(m, settings) * factor / 2 for m in (CHECK, PLOT)}
        files = tuple(
            ObservedFile(
                match.replace("*", str(n)),
                write_bytes=1 << 20,
                io_seconds=time,
                interface="mpiio",
                system_writes=len(settings_on(settings, match)),
            )
            for match, time in times.items()
            for n in range(2)
        )
        return replace(look(run_id, place, outcome), files=files)


def whole(settings: Settings) -> float:
    return seconds(CHECK, settings) + seconds(PLOT, settings)


def only_sieving(facts: ProgramFacts) -> Space:
    return find_space(facts, only=(KNOB,))


@pytest.fixture
def launcher() -> TwoClasses:
    return TwoClasses(whole, lognormal(0.03))


@pytest.fixture
def tune(run_fake, launcher, no_fsync):
    def run(**given):
        given.setdefault("facts", FACTS)
        given.setdefault("trials", 8)
        given.setdefault("space", only_sieving)
        return run_fake(launcher, look=launcher.look, **given)

    return run


def test_the_winner_sets_it_for_one_class_only(tune):
    result = tune()
    assert result.improved
    assert result.winner.settings == {f"{KNOB}@{PLOT}": "disable"}
    assert 1.7 < result.speedup.median < 1.95
    (rule,) = result.winner.configuration.files
    assert (rule.match, dict(rule.mpiio)) == (PLOT, {"romio_ds_write": "disable"})
    first = result.trials[0]
    assert first.state is TrialState.HOPELESS
    assert first.class_ratios[PLOT] < 0.4 < 3 < first.class_ratios[CHECK]


@pytest.mark.parametrize("given", [{"per_file": False}, {"strategy": "random"}])
def test_one_setting_for_all_files_finds_nothing_there(tune, given):
    result = tune(**given)
    assert not result.improved
    assert not any(scopes(trial.settings) for trial in result.trials)
    assert not result.facts.file_classes


def test_expbb_is_told_of_classes(tune):
    result = tune(strategy="expbb")
    assert {one.match for one in result.facts.file_classes} == {CHECK, PLOT}
    assert any("may get settings of their own" in d.text for d in result.decisions)


def test_classes_without_a_name_of_their_own_are_said(tune):
    named, other = CLASSES
    result = tune(facts=replace(FACTS, file_classes=(named, replace(other, match=""))))
    assert not any(scopes(trial.settings) for trial in result.trials)
    assert any("do not tell them apart" in d.text for d in result.decisions)


def test_a_denied_tunable_is_denied_for_classes_too(tune, launcher):
    result = tune(space=lambda f: find_space(f, lambda k: "denied" if k is get(KNOB) else ""))
    assert not any(KNOB in name for settings in launcher.settings for name in settings)
    assert result.left_out[KNOB] == "denied"


class _Killed(BaseException):
    pass


class _KillAfter(Observer):
    def __init__(self, n_runs: int) -> None:
        self.left = n_runs

    def run_finished(self, slot, measurement) -> None:
        self.left -= 1
        if not self.left:
            raise _Killed


@pytest.mark.parametrize("n_runs", [5, 7, 9, 12])
def test_a_study_goes_on_after_a_kill(tmp_path, launcher, no_fsync, n_runs):
    def make(_options, _ledger):
        return fake_tools(launcher, facts=FACTS, look=launcher.look, space=only_sieving)

    command = {"command": ("prog",), "origin": tmp_path, "directory": tmp_path / "study"}
    with pytest.raises(_Killed):
        run_study(StudyOptions(**command, trials=6), _KillAfter(n_runs), make)
    result = run_study(StudyOptions(**command, resume=True), None, make)
    assert result.winner.settings == {f"{KNOB}@{PLOT}": "disable"}
    again = run_study(StudyOptions(**command, resume=True), None, make)
    assert [t.settings for t in again.trials] == [t.settings for t in result.trials]
    assert [t.class_ratios for t in again.trials] == [t.class_ratios for t in result.trials]


def test_reports_name_the_class_and_its_settings(tune, tmp_path):
    result = tune()
    lines = "\n".join(summary_lines(result))
    assert "settings        for plt*.dat: romio_ds_write=disable" in lines
    assert "plt*.dat (2 files written through MPI-IO, independent, shared by ranks" in lines
    page = render_html(result)
    assert "mpiio.romio_ds_write for plt*.dat = disable" in page
    assert "Settings of their own: plt*.dat (2 files" in page
    document = result_to_json(result)
    jsonschema.validate(json.loads(json.dumps(document)), json.loads(SCHEMA.read_text()))
    assert document["settings"] == {f"{KNOB}@{PLOT}": "disable"}
    assert document["configuration"]["file"][0]["match"] == PLOT
    assert document["facts"]["file_classes"][0]["match"] == PLOT
    Path(result.directory).mkdir(exist_ok=True)
    write_outputs(result)
    best = tomllib.loads((Path(result.directory) / "best.toml").read_text())
    assert [rule["match"] for rule in best["file"]] == [PLOT]


def test_settings_for_files_are_learnt_and_tried_first_in_the_next_study(tune, tmp_path):
    store = Store(tmp_path / "memory" / "knowledge.db")
    memory = Memory(store, (), describe_machine(tmp_path))
    first = tune(memory=memory)
    (lesson,) = store.lessons()
    assert lesson.candidate == first.winner.settings == {f"{KNOB}@{PLOT}": "disable"}
    assert lesson.improved
    assert lesson.case.fingerprint.file_classes == CLASSES
    for tried in lesson.tried:
        assert (tried.class_ratios[PLOT] < 1) == (settings_on(tried.settings, PLOT) != {})
    again = tune(memory=memory, directory=tmp_path / "again")
    assert again.winner.settings == first.winner.settings
    assert again.trials[0].settings == first.winner.settings


def test_a_program_of_one_such_class_begins_with_what_was_found_for_it(tune, tmp_path):
    memory = Memory(Store(tmp_path / "knowledge.db"), (), describe_machine(tmp_path))
    tune(memory=memory)
    alone = replace(FACTS, file_classes=())
    again = tune(memory=memory, directory=tmp_path / "again", facts=alone)
    assert again.trials[0].settings == {KNOB: "disable"}


def test_without_noise_it_takes_one_trial_more_than_a_search_for_all_files(run_fake, no_fsync):
    quiet = TwoClasses(whole, no_noise)
    numbers = [
        len(run_fake(quiet, look=quiet.look, facts=FACTS, directory=name, per_file=own).trials)
        for name, own in ((Path("own"), True), (Path("all"), False))
    ]
    assert numbers[0] <= numbers[1] + 1
