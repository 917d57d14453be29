# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.cli._options import Duration
from stripewise.cli._tune import resume_command
from stripewise.settings.formats import Written
from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.report import _outputs
from support.study_fakes import FakeLauncher, fake_tools, helped, lognormal


@pytest.fixture
def tune(tmp_path, monkeypatch):
    """Run `stripewise tune` on a program that is a formula."""
    monkeypatch.chdir(tmp_path)

    def run(*words, io_seconds=helped, launcher=None):
        tools = fake_tools(launcher or FakeLauncher(io_seconds, lognormal(0.02)))

        def run_fake(options, observer=None):
            return run_study(options, observer, lambda o, ledger: tools)

        monkeypatch.setattr("stripewise.study.procedure.run_study", run_fake)
        return CliRunner().invoke(main, ["tune", *words])

    return run


def test_tunes_and_writes(tune, tmp_path):
    done = tune("--trials", "3", "--", "./prog", "out.dat")
    assert done.exit_code == 0, done.output
    assert "result" in done.stdout
    folder = tmp_path / "prog.stripewise"
    for name in ("best.toml", "best.xml", "hints.txt", "report.html", "result.json"):
        assert (folder / name).stat().st_size, name
    assert "disable" in (folder / "best.toml").read_text()


def test_several_in_flight_only_where_the_launcher_has_places(tune, tmp_path):
    done = tune("--in-flight", "2", "--", "./prog")
    assert done.exit_code == 2
    assert "--in-flight 2: the launcher fake runs 1 at a time" in done.stderr
    launcher = FakeLauncher(helped, lognormal(0.02))
    launcher.max_in_flight = 2
    assert (
        tune("--in-flight", "2", "--trials", "3", "--", "./prog", launcher=launcher).exit_code == 0
    )


def test_a_launcher_that_there_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["tune", "--launcher", "slrum", "--", "/bin/true"])
    assert done.exit_code == 2
    assert "there is no launcher 'slrum'; there are local, null" in done.stderr


@pytest.mark.parametrize("words", [["nofile.sh"], ["--", "./nofile.sbatch", "a"]])
def test_a_script_that_does_not_exist(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["tune", *words])
    assert done.exit_code == 2
    assert "no such job script or program" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_form_that_can_hold_nothing_is_not_written(tune, tmp_path, monkeypatch):
    class Holds(NamedTuple):
        text: str

        def write(self, configuration):
            return Written(self.text, () if self.text else ("MCA parameters io",))

    monkeypatch.setattr(_outputs, "get", lambda name: Holds("x" if name == "toml" else ""))
    done = tune("--trials", "3", "--", "./prog", "out.dat")
    assert done.exit_code == 0, done.output
    assert "hints.txt is not written, as it cannot hold: MCA parameters io" in done.stderr
    assert (tmp_path / "prog.stripewise" / "best.toml").exists()
    assert not (tmp_path / "prog.stripewise" / "hints.txt").exists()


def test_json_is_all_that_standard_output_holds(tune):
    done = tune("--trials", "3", "--json", "--", "./prog")
    result = json.loads(done.stdout)
    for side in ("baseline", "best"):
        assert {"seconds", "io_seconds", "bytes", "bandwidth_bytes_per_second"} <= set(
            result[side]
        )
    assert {"median", "low", "high"} <= set(result["speedup"])
    assert result["verified"] is True
    assert result["trials"]
    assert result["stopped_because"]
    assert result["provenance"]
    assert "configuration" in result


def test_no_improvement_is_no_error(tune, tmp_path):
    done = tune("--trials", "2", "--", "./prog", io_seconds=lambda _: 4.0)
    assert done.exit_code == 0
    assert "no improvement" in done.stdout
    assert not (tmp_path / "prog.stripewise" / "best.toml").exists()
    assert (tmp_path / "prog.stripewise" / "report.html").exists()


def test_interrupt_says_how_to_go_on(tune):
    class Stops(FakeLauncher):
        def poll(self, handle):
            if len(self.settings) == 5:
                raise KeyboardInterrupt
            return True

    launcher = Stops(helped)
    done = tune("--trials", "2", "--", "./prog", launcher=launcher)
    assert done.exit_code == 130
    assert "stripewise tune --resume" in done.stderr
    assert len(launcher.cancelled) == 1
    launcher.settings.append({})
    done = tune("--resume", launcher=launcher)
    assert done.exit_code == 0, done.output
    assert "resumed" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--trials", "2"), 2, "no command"),
        (("--trials", "0", "--", "./p"), 2, "at least 1"),
        (("--runs", "3", "--", "./p"), 2, "too few"),
        (("--strategy", "magic", "--", "./p"), 2, "auto, model, rules, tpe"),
        (("--time", "soon", "--", "./p"), 2, "not a duration"),
        (("--resume",), 2, "no unfinished study"),
        (("--resume", "--", "./p"), 7, "no study"),
    ],
)
def test_bad_requests(tune, words, code, said):
    done = tune(*words)
    assert done.exit_code == code, done.output
    assert said in done.stderr
    assert done.stdout == ""


def test_a_second_study_is_refused(tune):
    assert tune("--trials", "1", "--", "./prog").exit_code == 0
    again = tune("--trials", "1", "--", "./prog")
    assert again.exit_code == 7
    assert "--force" in again.stderr
    assert tune("--trials", "1", "--force", "--", "./prog").exit_code == 0


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("15min", 900), ("2h", 7200), ("1.5 h", 5400)]
)
def test_durations(text, seconds):
    assert Duration().convert(text, None, None) == seconds


def test_resume_command_names_the_directory(tmp_path):
    assert resume_command(StudyOptions(("p",))) == "stripewise tune --resume"
    assert "--study-dir x" in resume_command(StudyOptions(("p",), directory="x"))


def test_help_has_examples():
    shown = CliRunner().invoke(main, ["tune", "--help"])
    assert "stripewise tune --resume" in shown.output


@pytest.mark.parametrize(("words", "memory"), [((), True), (("--no-memory",), False)])
def test_memory_is_used_unless_refused(words, memory, tmp_path, monkeypatch):
    seen = []

    def run_study(options, observer=None):
        seen.append(options)
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stripewise.study.procedure.run_study", run_study)
    CliRunner().invoke(main, ["tune", *words, "--", "./prog"])
    assert [options.memory for options in seen] == [memory]


def test_outputs_are_private_and_no_link_is_followed(tune, tmp_path):
    assert tune("--trials", "3", "--", "./prog").exit_code == 0
    folder = tmp_path / "prog.stripewise"
    assert {p.stat().st_mode & 0o777 for p in folder.iterdir() if p.is_file()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    precious = tmp_path / "precious"
    precious.write_text("x")
    for name in ("report.html", "result.json", "best.toml"):
        (folder / name).unlink()
        (folder / name).symlink_to(precious)
    again = tune("--resume", "--study-dir", "prog.stripewise")
    assert again.exit_code == 0, again.output
    assert precious.read_text() == "x"
    (folder / "journal.jsonl").rename(folder / "other")
    (folder / "journal.jsonl").symlink_to("other")
    again = tune("--resume", "--study-dir", "prog.stripewise")
    assert again.exit_code != 0
