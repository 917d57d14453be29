# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core import OwnedDirectory
from stripewise.core.errors import UsageError
from stripewise.study.plan import StudyCase, StudyOptions, expand_cases, read_cases
from stripewise.study.plan._cases import case_directory
from stripewise.study.runs._local_tools import open_workspace

WHOLE = """
[[case]]
name = "small"
command = ["mpiexec", "-n", "2", "./app", "small file.nml"]

[[case]]
name = "large"
command = ["./other", "$(rm -rf x)"]
weight = 2
inputs = ["large.nml"]
"""


def test_a_value_is_data_in_each_argument():
    cases = expand_cases(("./app", "--in={case}", "{case}"), ("a b;c", "{case}"))
    assert [case.name for case in cases] == ["a b;c", "{case}"]
    assert cases[0].command == ("./app", "--in=a b;c", "a b;c")
    assert expand_cases(("./app",), ()) == ()


@pytest.mark.parametrize(
    ("command", "values", "said"),
    [
        (("./app",), ("x",), "write {case} where it belongs"),
        (("./app", "{case}"), (), "no --case"),
        ((), ("x",), "no command for --case x"),
        (("./app", "{case}"), ("x", "x"), "two cases are called x"),
        (("./app", "{case}"), ("",), "needs a name"),
    ],
)
def test_values_and_command_belong_together(command, values, said):
    with pytest.raises(UsageError) as caught:
        expand_cases(command, values)
    assert said in str(caught.value)


def test_a_file_of_cases(tmp_path):
    (tmp_path / "cases.toml").write_text(WHOLE)
    small, large = read_cases(tmp_path / "cases.toml")
    assert small == StudyCase("small", ("mpiexec", "-n", "2", "./app", "small file.nml"))
    assert large == StudyCase("large", ("./other", "$(rm -rf x)"), 2.0, (Path("large.nml"),))


ONE = '[[case]]\nname = "a"\ncommand = ["./a"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no case"),
        ("x = 1\n", "unknown key 'x'"),
        ("case = 3\n", "names no case"),
        ("case = [3]\n", "case 1 is not a table"),
        ("[[case]\n", "is not TOML"),
        ('[[case]]\ncommand = ["./a"]\n', "case 1 needs a name"),
        ('[[case]]\nname = "a"\n', "case 1 (a): command must be a list"),
        ('[[case]]\nname = "a"\ncommand = "./a b"\n', "must be a list"),
        ('[[case]]\nname = "a"\ncommand = []\n', "the case a has no command"),
        (ONE + "weight = -1\n", "weight above 0, not -1"),
        (ONE + "weight = inf\n", "weight above 0, not inf"),
        (ONE + 'weight = "x"\n', "weight must be a number"),
        (ONE + "wieght = 1\n", "unknown key 'wieght'"),
        (ONE + ONE, "two cases are called a"),
        (ONE + "inputs = [3]\n", "inputs must be a list"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_one_line(tmp_path, text, said):
    path = tmp_path / "cases.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_cases(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read_cases(tmp_path / "nowhere.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_cases(tmp_path / "bytes.toml")


@pytest.mark.parametrize("name", ["../..", "a/b", "ü ?", ".", "x" * 300])
def test_the_directory_of_a_case_stays_in_the_study(name):
    path = case_directory(3, name)
    assert path.parts[0] == "cases"
    assert len(path.parts) == 2
    assert path.parts[1].startswith("3")
    assert case_directory(1, "") == Path()


def test_cases_share_the_copy_of_the_inputs(tmp_path):
    for name in ("in.txt", "own.txt"):
        (tmp_path / name).write_text(name)
    cases = (
        StudyCase("a", ("./p", "a")),
        StudyCase("b", ("./p", "b")),
        StudyCase("c", ("./p", "c"), inputs=(Path("own.txt"),)),
    )
    options = StudyOptions((), origin=tmp_path, directory=Path("s.stripewise"), cases=cases)
    OwnedDirectory.take(tmp_path / "s.stripewise", "study")
    places = [open_workspace(options.of_case(case)).prepare("run") for case in cases]
    assert len({place.directory for place in places}) == 3
    assert sorted(p.name for p in places[0].directory.iterdir()) == ["in.txt", "own.txt"]
    assert sorted(p.name for p in places[2].directory.iterdir()) == ["own.txt"]
    study = tmp_path / "s.stripewise"
    assert (study / "inputs" / "in.txt").exists()
    assert (study / "cases" / "3-c" / "inputs" / "own.txt").exists()
    assert not (study / "cases" / "1-a" / "inputs").exists()
    assert places[1].record_directory.parent == study / "cases" / "2-b" / "runs"
