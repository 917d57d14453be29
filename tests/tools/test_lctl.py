# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The stand-in for lctl answers as the real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lctl
import pytest

from stripewise.storage.emulation import EmulatedStorage, EmulationOptions, make_clocks
from support.served import Served

OST = "obdfilter.archer2h-OST0001"


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    storage = EmulatedStorage.find(EmulationOptions("archer2-hdd@1/64"))
    make_clocks(storage, tmp_path, tmp_path / "clocks")
    Served(tmp_path / "clocks").transfers(b"17", 1, writes=True, requests=[(4096, 1000)])
    return tmp_path / "clocks"


def ask(mapping: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = lctl.main([str(mapping), "2.15", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_parameters_are_shown_with_and_without_names(
    mapping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(mapping, capsys, "get_param", "version", f"{OST}.stats")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["version=2.15.5", f"{OST}.stats="]
    assert lines[2].startswith("snapshot_time")
    assert lines[-1].startswith("write ")
    assert ask(mapping, capsys, "get_param", "-n", "version") == (0, "2.15.5\n", "")
    empty = "obdfilter.archer2h-OST0000.job_stats"
    assert ask(mapping, capsys, "get_param", empty) == (0, f"{empty}=job_stats:\n", "")


def test_patterns_match_within_a_word(mapping: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(mapping, capsys, "get_param", "-N", "*.*.num_exports")
    assert code == 0
    assert out.splitlines() == [
        "mdt.archer2h-MDT0000.num_exports",
        *[f"obdfilter.archer2h-OST{number:04x}.num_exports" for number in range(12)],
    ]
    _, out, _ = ask(mapping, capsys, "get_param", "-N", f"{OST}.{{stats,job_stats}}", "jobid_*")
    assert out.split() == [f"{OST}.job_stats", f"{OST}.stats", "jobid_name", "jobid_var"]
    assert ask(mapping, capsys, "list_param", "obdfilter/*OST000[12]/stats")[1].split() == [
        f"{OST}.stats",
        "obdfilter.archer2h-OST0002.stats",
    ]
    assert ask(mapping, capsys, "get_param", "-N", "obdfilter.*1") == (0, f"{OST}\n", "")
    assert ask(mapping, capsys, "get_param", "-NF", "obdfilter.*1") == (0, f"{OST}/\n", "")
    below = ask(mapping, capsys, "list_param", "-R", OST)[1].split()
    assert below[0] == OST
    assert f"{OST}.stats" in below


def test_what_matches_nothing_is_said_and_the_rest_is_shown(
    mapping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(mapping, capsys, "get_param", "-n", "llite.*.stats", "health_check")
    assert (code, out) == (2, "healthy\n")
    assert err == "error: get_param: param_path 'llite/*/stats': No such file or directory\n"


def test_job_names_can_be_set_and_counters_not(
    mapping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(mapping, capsys, "set_param", "jobid_var=procname_uid") == (
        0, "jobid_var=procname_uid\n", "")  # fmt: skip
    assert ask(mapping, capsys, "set_param", "-n", "jobid_name=%j.%H") == (0, "", "")
    assert ask(mapping, capsys, "get_param", "-n", "jobid_var", "jobid_name")[1] == (
        "procname_uid\n%j.%H\n"
    )
    code, out, err = ask(mapping, capsys, "set_param", f"{OST}.stats=0")
    assert (code, out) == (13, "")
    assert err.startswith("error: set_param: setting obdfilter/archer2h-OST0001/stats=0: Perm")
    assert ask(mapping, capsys, "set_param", "no.such=1")[0] == 2
    assert ask(mapping, capsys, "set_param", f"jobid_name={'x' * 40}")[0] == 22


@pytest.mark.parametrize(
    "words", [[], ["get_param"], ["dl"], ["get_param", "-n"], ["set_param", "x"]]
)
def test_questions_that_it_does_not_know_get_its_usage(
    mapping: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, err = ask(mapping, capsys, *words)
    assert (code, out) == (22, "")
    assert err.startswith("usage: lctl get_param")


def test_the_command_is_a_command(mapping: Path, tmp_path: Path) -> None:
    path = tmp_path / "with blank" / "lctl"
    path.parent.mkdir()
    lctl.write_lctl(path, mapping, "2.16")
    done = subprocess.run(
        [path, "get_param", "-n", f"{OST}.job_stats"], capture_output=True, text=True, check=True
    )
    assert "- job_id:          17\n" in done.stdout
    mapping.unlink()
    done = subprocess.run(
        [path, "get_param", "version"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 22
    assert done.stderr.startswith("error: get_param: cannot read ")
    assert done.stderr.count("\n") == 1


def test_it_loads_little(mapping: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(lctl.__file__).parent)!r}); import lctl\n"
        "sys.stdout.write('\\n'.join(sys.modules))"
    )
    words = [sys.executable, "-c", script]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "pydantic", "argparse", "dataclasses", "inspect", "subprocess", "json"}
    assert not heavy & set(loaded)
    assert not [name for name in loaded if name.startswith("stripewise.storage.machines")]
