# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise settings` and `stripewise settings tunables`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stripewise.cli import main
from stripewise.settings.formats import format_names
from stripewise.settings.tunables import all_tunables

TOML = """
version = 1
[[file]]
match = "*"
mpiio = { cb_nodes = 4, cb_config_list = "*:*" }
override = true
[[file]]
match = "*.h5"
mpiio = { cb_nodes = 2 }
hdf5 = { alignment = [1048576, 1048576] }
[[file.dataset]]
match = "/x"
chunk = [4, 7]
[job]
mca = { io = "romio321" }
"""


@pytest.fixture(autouse=True)
def no_policy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user's policy of one's own, none at first."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setattr("stripewise.settings._policy.SITE_POLICY", tmp_path / "none.toml")
    return home / "stripewise" / "policy.toml"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "best.toml"
    file.write_text(TOML)
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_show(path: Path):
    result = run("settings", "show", path)
    assert result.exit_code == 0
    for word in ("mpiio.cb_nodes", "1048576,1048576", "layout", "dataset /x", "romio321"):
        assert word in result.output


def test_show_json(path: Path):
    data = json.loads(run("settings", "show", path, "--json").stdout)
    assert data["class"] == "layout"
    assert data["file"][1]["hdf5"] == {"alignment": [1048576, 1048576]}
    assert data["file"][1]["dataset"] == [{"match": "/x", "chunk": [4, 7]}]
    assert data["job"]["mca"] == {"io": "romio321"}


def test_show_what_acts_on_a_file(path: Path):
    data = json.loads(run("settings", "show", path, "--file", "/a/out.h5", "--json").stdout)
    assert data["mpiio"]["cb_nodes"] == {"value": 2, "from": "*.h5", "override": False}
    assert data["mpiio"]["cb_config_list"]["from"] == "*"
    assert "gives way" in run("settings", "show", path, "--file", "out.h5").output
    assert "nothing" not in run("settings", "show", path, "--file", "out.nc").output


@pytest.mark.parametrize("name", format_names())
def test_convert(path: Path, tmp_path: Path, name: str):
    output = tmp_path / "out"
    result = run("settings", "convert", path, "--to", name, "-o", output)
    assert result.exit_code == 0, result.output
    again = run("settings", "convert", output, "--from", name, "--to", "toml")
    assert again.exit_code == 0, again.output
    if name == "toml":
        assert run("settings", "convert", path, "--to", "toml").stdout == output.read_text()
    else:
        assert "lost" in result.stderr


def test_convert_strict_writes_nothing(path: Path, tmp_path: Path):
    output = tmp_path / "out"
    result = run("settings", "convert", path, "--to", "mca", "-o", output, "--strict")
    assert result.exit_code == 3
    assert not output.exists()


def test_convert_json(path: Path):
    data = json.loads(run("settings", "convert", path, "--to", "mca", "--json").stdout)
    assert data["text"] == "io = romio321\n"
    assert len(data["lost"]) == 2


def test_convert_to_a_place_that_cannot_be_written(path: Path):
    result = run("settings", "convert", path, "--to", "mca", "-o", "/nonexistent/x")
    assert result.exit_code == 8
    assert len(result.stderr.strip().splitlines()) == 1


def test_nothing_left_to_convert(tmp_path: Path):
    path = tmp_path / "mca.conf"
    path.write_text("io = ompio\n")
    result = run("settings", "convert", path, "--to", "romio-hints")
    assert result.exit_code == 3
    assert "nothing in it" in result.stderr


def test_check_good(path: Path):
    result = run("settings", "check", path)
    assert result.exit_code == 0
    assert "can be applied, class layout" in result.output


def test_check_lists_every_problem(tmp_path: Path):
    path = tmp_path / "bad.toml"
    path.write_text(
        'version = 1\n[[file]]\nmatch = "*"\n'
        'mpiio = { cb_nodes = "x", romio_no_indep_rw = true, romio_cb_write = "disable" }\n'
        "hdf5 = { nonsense = 1 }\n"
    )
    result = run("settings", "check", path)
    assert result.exit_code == 3
    assert result.output.count("problem  ") == 3
    data = json.loads(run("settings", "check", path, "--json").stdout)
    assert data["valid"] is False
    assert len(data["problems"]) == 3


def test_check_asks_the_policy(path: Path, no_policy: Path):
    no_policy.parent.mkdir(parents=True)
    no_policy.write_text("lock_layout = true\n")
    result = run("settings", "check", path)
    assert result.exit_code == 3
    assert str(no_policy) in result.output
    assert "[forbidden by policy]" in run("settings", "tunables").output


def test_broken_files_are_one_line(tmp_path: Path):
    path = tmp_path / "bad.xml"
    path.write_text('<!DOCTYPE x [<!ENTITY a "b">]><P>&a;</P>')
    for words in (("show", path), ("check", path), ("convert", path, "--to", "toml")):
        result = run("settings", *words)
        assert result.exit_code == 3
        assert len(result.stderr.strip().splitlines()) == 1
        assert "refused" in result.stderr


def test_tunables_lists_all():
    output = run("settings", "tunables").output
    assert all(knob.name in output for knob in all_tunables())
    data = json.loads(run("settings", "tunables", "--json").stdout)
    assert [row["name"] for row in data] == [knob.name for knob in all_tunables()]
    assert {
        row["layer"]
        for row in json.loads(run("settings", "tunables", "--layer", "mca", "--json").stdout)
    } == {"mca"}


def test_one_tunable():
    output = run("settings", "tunables", "cb_nodes").output
    assert "aggregators" in output
    assert (
        json.loads(run("settings", "tunables", "mpiio.cb_nodes", "--json").stdout)["class"]
        == "safe"
    )
    result = run("settings", "tunables", "cb_node")
    assert result.exit_code == 2
    assert "cb_nodes" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("settings",),
        ("settings", "show"),
        ("settings", "convert"),
        ("settings", "check"),
        ("settings", "tunables"),
    ],
)
def test_help_has_examples(words: tuple[str, ...]):
    assert "Examples:" in run(*words, "--help").output
