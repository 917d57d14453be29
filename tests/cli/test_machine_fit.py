# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.storage.machines import find_mount, kind_of, known_storage, load_description

RESULTS = Path(__file__).parents[1] / "storage/fit" / "readers"


def fit(*words):
    return CliRunner().invoke(main, ["machine", "fit", *map(str, words)])


def test_a_description_is_written_that_check_accepts(tmp_path):
    site = tmp_path / "site.toml"
    run = fit(RESULTS / "ior-posix-fpp.txt", RESULTS / "mdtest-unique.txt",
              "--targets", 1, "-o", site)  # fmt: skip
    assert run.exit_code == 0, run.output
    assert "metadata.create" in run.output
    assert "unknown" in run.output
    checked = CliRunner().invoke(main, ["machine", "check", str(site)])
    assert checked.exit_code == 0, checked.output
    words = ["simulate", "--on", str(site), "--pattern", "vpic", "--ranks-per-node", "2"]
    assert CliRunner().invoke(main, words).exit_code == 0


def test_json_has_intervals(tmp_path):
    run = fit(RESULTS / "mdtest-unique.txt", "--like", "archer2-hdd", "-o", tmp_path / "a.toml",
              "--json")  # fmt: skip
    assert run.exit_code == 0, run.output
    one = json.loads(run.stdout)["figures"]["metadata.create"]
    assert one["low"] < one["value"] < one["high"]


def test_targets_are_needed(tmp_path):
    run = fit(RESULTS / "ior-posix-fpp.txt", "-o", tmp_path / "a.toml")
    assert run.exit_code == 2
    assert "--targets" in run.output
    assert not (tmp_path / "a.toml").exists()


def test_what_is_fitted_can_stand_for_a_file_system(tmp_path, monkeypatch):
    site, results = tmp_path / "site.toml", RESULTS / "ior-posix-fpp.txt"
    run = fit(results, "--targets", 1, "--for", tmp_path, "--for", "/", "-o", site)
    assert run.exit_code == 0, run.output
    mount = find_mount(tmp_path)
    assert load_description(site).mounts == tuple(dict.fromkeys([mount.point, "/"]))
    assert load_description(site).kind == kind_of(mount)
    assert "stripewise/machines" in run.stderr
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    kept = tmp_path / "config/stripewise/machines/mine.toml"
    run = fit(results, "--targets", 1, "--for", tmp_path, "-o", kept)
    assert run.stderr.endswith(f"`tune` uses it on {mount.point}\n")
    assert known_storage(tmp_path)[0].file == kept
    gone = fit(results, "--targets", 1, "--for", tmp_path / "gone", "-o", site)
    assert gone.exit_code == 2
    assert "is not on this host" in gone.stderr


@pytest.mark.parametrize(
    ("file", "name"),
    [("our site.toml", "our-site"), ("a\nb@2.toml", "a-b-2"), ("local.toml", "site"),
     (".toml", "site"), ("é.toml", "site")],
)  # fmt: skip
def test_the_name_comes_from_the_file_and_is_one(tmp_path, file, name):
    run = fit(RESULTS / "ior-posix-fpp.txt", "--targets", 1, "-o", tmp_path / file)
    assert run.exit_code == 0, run.output
    assert load_description(tmp_path / file).name == name


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--targets", 1, "--stack", "romeo"], "no software stack is called 'romeo'"),
     (["--targets", 10**12], "--targets"), (["--targets", 1, "--for", ""], "--for"),
     (["--like", "archer", "--targets", 1], "more than servers.targets")],
)  # fmt: skip
def test_nothing_is_written_that_check_refuses(tmp_path, words, says):
    run = fit(RESULTS / "ior-posix-fpp.txt", *words, "-o", tmp_path / "a.toml")
    assert run.exit_code in (2, 3), run.output
    assert says in run.stderr
    assert not (tmp_path / "a.toml").exists()
