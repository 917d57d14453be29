# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise machine`: descriptions listed, shown and checked."""

import json

import pytest
from click.testing import CliRunner

from storage.machines.descriptions import WHOLE, changed
from stripewise.cli import main
from stripewise.core import Interval, StorageCosts
from stripewise.storage.machines import (
    FIGURES,
    Mount,
    Storage,
    find_mount,
    load_description,
    preset_names,
)


@pytest.fixture
def cli():
    def run(*words, code=0):
        done = CliRunner().invoke(main, list(words))
        assert done.exit_code == code, done.stderr
        return done

    return run


def test_every_preset_is_listed(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = cli("machine", "list").stdout.splitlines()
    assert rows[0].startswith("STORAGE")
    assert [row.split()[0] for row in rows[1:]] == preset_names()
    listed = json.loads(cli("machine", "list", "--json").stdout)
    assert [one["name"] for one in listed] == preset_names()


@pytest.fixture
def site(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(WHOLE)
    return str(path)


def test_a_description_is_shown_whole(cli, site):
    text = cli("machine", "show", site).stdout
    for spec in FIGURES:
        assert spec.name in text
    assert "1.5 GiB/s 1 GiB/s 2 GiB/s measured IOR" in " ".join(text.split())
    assert "limits nothing" in text
    assert "transport slow: the default" in text
    assert "transport fast: chosen by NET=fast" in text
    assert "jobs of 32 nodes or more hang" in text


def test_slow_motion_is_said(cli, site):
    text = cli("machine", "show", f"{site}@1/64").stdout
    assert "every time is 64 times as long" in text
    assert "24 MiB/s" in text


def test_figures_as_json(cli, site):
    found = json.loads(cli("machine", "show", site, "--json").stdout)
    figure = found["figures"]["client.process_write"]
    assert figure["value"] == 1.5 * 2**30
    assert figure["unit"] == "bytes per second"
    assert (figure["kind"], figure["low"]) == ("measured", 2.0**30)
    absent = found["figures"]["servers.whole_write"]
    assert (absent["value"], absent["default"]) == (None, None)
    assert found["transports"][1]["hangs_from_nodes"] == 32


def test_a_description_is_checked(cli, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(changed("2 GiB/s", "1500 MiB/s").replace("1.5 GiB/s", "1400 MiB/s"))
    text = cli("machine", "check", str(path)).stdout
    assert text.startswith(
        "site: Scratch of a site. lustre, 12 targets of 2.79 GiB/s; figures: 2 m"
    )
    found = json.loads(cli("machine", "check", str(path), "--json").stdout)
    assert "1 of 10 figures is assumed" in found["warnings"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("stack = \"cray\"", "", "warning: no stack is named"),
        ("stack = \"cray\"", "stack = \"crai\"", "warning: stack 'crai' is not known"),
        ("[noise]", "[client.node_write]\nvalue = \"1 GB/s\"\nkind = \"assumed\"\n"
         "source = \"x\"\n[noise]", "client.process_write is more than client.node_write"),
    ],
)  # fmt: skip
def test_what_may_be_a_slip_is_a_warning(cli, tmp_path, old, new, said):
    path = tmp_path / "site.toml"
    path.write_text(changed(old, new))
    assert said in cli("machine", "check", str(path)).stdout


def test_a_problem_is_one_line_and_exit_code_3(cli, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(WHOLE.replace("3000 MB/s", "3000"))
    done = cli("machine", "check", str(path), code=3)
    assert done.stderr.count("\n") == 1
    assert "servers.target_write = '3000' has no unit: write it as" in done.stderr
    done = cli("machine", "show", "archer3", code=3)
    assert "did you mean archer" in done.stderr


@pytest.fixture
def probing(monkeypatch, tmp_path):
    """A probe that takes no time; the records are in a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    figures = load_description("archer").figures
    costs = StorageCosts(measured=1e9, write={1024: Interval(1e-6, 2e-6, 3e-6)})
    mount = Mount("ext4", "/dev/sda", "/")
    found = Storage("local", "ext4 on / of here", "local", "", figures, mount=mount, costs=costs)
    monkeypatch.setattr("stripewise.storage.machines.probe_storage", lambda *given: found)
    monkeypatch.setattr("stripewise.run.runtime.collective_stacks", list)


def test_a_probe_is_kept_and_shown_again(cli, tmp_path, monkeypatch, probing):
    told = cli("machine", "probe", str(tmp_path))
    assert "write of 1 KiB       2 µs (1 µs to 3 µs)" in told.stdout
    assert "kept in " in told.stderr
    shown = cli("machine", "show", "local", "--directory", str(tmp_path)).stdout
    assert shown == told.stdout
    monkeypatch.chdir(tmp_path)
    assert cli("machine", "list").stdout.splitlines()[-1].startswith("local ")
    slow = cli("machine", "show", "local@1/2", "--directory", str(tmp_path)).stdout
    assert "4 µs (2 µs to 6 µs)" in slow


def test_a_probe_as_json(cli, tmp_path, probing):
    found = json.loads(cli("machine", "probe", str(tmp_path), "--json").stdout)
    assert found["file"].endswith(".toml")
    assert found["storage"]["costs"]["write"] == {"1024": [1e-6, 2e-6, 3e-6]}
    assert found["storage"]["mount"]["source"] == "/dev/sda"


def test_a_local_storage_that_was_not_measured_is_exit_code_8(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = cli("machine", "show", "local", "--directory", str(tmp_path), code=8)
    assert "stripewise machine probe DIR" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return the user's own directory of descriptions."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place = tmp_path / "config/stripewise/machines"
    place.mkdir(parents=True)
    return place


def test_kept_descriptions_come_first_with_their_mounts(cli, own, tmp_path):
    point = find_mount(tmp_path).point
    text = changed('kind = "lustre"', f'kind = "local"\nmounts = ["{point}"]')
    (own / "site.toml").write_text(text)
    (own / "bad.toml").write_text("version = 1")
    done = cli("machine", "list")
    first = done.stdout.splitlines()[1]
    assert first.startswith("site ")
    assert f"  {point}  " in first
    assert "bad.toml: name is missing" in done.stderr
    (listed, *_) = json.loads(cli("machine", "list", "--json").stdout)
    assert (listed["name"], listed["mounts"]) == ("site", [point])
    assert f"mounted at {point}" in cli("machine", "show", "site").stdout
    checked = cli("machine", "check", code=3)
    assert checked.stdout.startswith("site: ")
    assert f"Mounted at {point}." in checked.stdout
    assert "bad.toml" in checked.stderr
    (own / "bad.toml").unlink()
    assert json.loads(cli("machine", "check", "--json").stdout)["problems"] == []
    (own / "site.toml").unlink()
    assert str(own) in cli("machine", "check").stderr


def test_a_description_is_printed_to_begin_one_of_your_own_with(cli):
    text = cli("machine", "show", "archer2-hdd", "--toml").stdout
    assert load_description(text) == load_description("archer2-hdd")
