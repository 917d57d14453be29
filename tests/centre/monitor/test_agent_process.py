# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent as a process: it runs, hears signals, ends in time."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from support.monitor_parts import wait_until
from support.monitor_process import run, running


def configuration(tmp_path: Path, more: str = "") -> Path:
    path = tmp_path / "monitor.toml"
    path.write_text(
        f'[agent]\nserver = "oss1"\nuser = "root"\ninterval_seconds = 1\n'
        f'[sinks.file]\npath = "{tmp_path}/rounds"\n{more}'
    )
    return path


def rounds(tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "rounds"
    text = path.read_text() if path.exists() else ""
    lines = text[: text.rfind("\n") + 1].splitlines()  # the last may be half written
    return [json.loads(line) for line in lines]


def of(tmp_path: Path, collector: str) -> list[dict[str, Any]]:
    return [one for one in rounds(tmp_path) if one["collector"] == collector]


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_until_it_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "log"
    with running("--config", configuration(tmp_path), log=log) as process:
        wait_until(lambda: len(of(tmp_path, "counts")) >= 2 and of(tmp_path, "monitor"), 60)
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "restart to change it" in log.read_text())
        process.send_signal(number)
        assert process.wait(60) == 0
    assert rounds(tmp_path)[-1]["collector"] == "stopped"
    assert of(tmp_path, "counts")[0]["server"] == "oss1"
    said = log.read_text()
    assert "runs as root, since agent.user says so" in said
    assert "the agent has ended" in said
    assert said.count("collector counts works") == 1
    assert "absent" not in said


@pytest.mark.extended
def test_it_ends_in_time_though_a_collector_hangs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running("--config", configuration(tmp_path), log=log, STRIPEWISE_TEST_HANG=1) as process:
        wait_until(lambda: of(tmp_path, "counts"), 60)
        process.terminate()
        assert process.wait(60) == 0
    assert "without waiting for hangs" in log.read_text()
    assert rounds(tmp_path)[-1]["collector"] == "stopped"


def test_it_tells_systemd(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(address)
        heard.settimeout(60)
        with running(
            "--config", configuration(tmp_path), log=tmp_path / "log", NOTIFY_SOCKET=address
        ) as process:
            assert heard.recv(100) == b"READY=1"
            process.terminate()
            while heard.recv(100) != b"STOPPING=1":
                pass
            assert process.wait(60) == 0


@pytest.mark.extended
def test_it_does_not_stay_root(open_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    state = open_path / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    path = configuration(state)
    path.write_text(path.read_text().replace('"root"', '"nobody"'))
    log = open_path / "log"
    with running("--config", path, log=log) as process:
        wait_until(lambda: of(state, "counts"), 60)
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.terminate()
        assert process.wait(60) == 0
    assert "\nUid:\t65534\t65534\t65534\t65534\n" in status
    assert "\nCapEff:\t0000000000000004\n" in status
    assert "\nNoNewPrivs:\t1\n" in status
    assert "runs as nobody with CAP_DAC_READ_SEARCH" in log.read_text()
    assert (state / "rounds").stat().st_uid == 65534


def test_a_sink_that_cannot_begin_is_one_line(tmp_path: Path) -> None:
    done = run("--config", configuration(tmp_path, "is_down = true\n"))
    assert done.returncode == 8
    last = done.stderr.splitlines()[-1]
    assert last == f"stripewise: error: {tmp_path}/rounds: nobody listens: start it"


def test_check_tells_what_would_be(tmp_path: Path) -> None:
    done = run("check", "--config", configuration(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "server oss1: runs as root, since agent.user says so"
    assert lines[1].startswith("counts          works    1 reading in ")
    assert lines[1].endswith("; 4 jobs on targets")
    assert lines[2] == "absent          nothing  nothing of it is here: install it"
    assert "to file         works" in lines
    assert lines[-1] == "the agent can work here"


@pytest.mark.extended
def test_check_says_that_everything_is_switched_off(tmp_path: Path) -> None:
    off = "".join(
        f"[collectors.{name}]\nenabled = false\n"
        for name in ("counts", "absent", "reads", "hangs")
    )
    done = run("check", "--config", configuration(tmp_path, off))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert (
        lines[1]
        == "collectors      none     all have enabled = false: remove that line for those that "
        "are to be read"
    )
    assert lines[-1] == "action is needed: see above"


def test_check_fails_if_something_does(tmp_path: Path) -> None:
    down = run("check", "--config", configuration(tmp_path, "is_down = true\n"), "--json")
    assert down.returncode == 1
    found = json.loads(down.stdout)
    assert found["good"] is False
    assert found["sinks"] == [
        {"name": "file", "state": "failed", "why": f"{tmp_path}/rounds: nobody listens: start it"}
    ]
    wanted = configuration(tmp_path, "[collectors.absent]\nenabled = true\n")
    done = run("check", "--config", wanted)
    assert done.returncode == 1
    assert "absent          failed   nothing of it is here: install it" in done.stdout


def test_once_prints_one_round_as_json(tmp_path: Path) -> None:
    done = run("--config", configuration(tmp_path), "once", "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["server"] == "oss1"
    assert [one["collector"] for one in found["rounds"]] == ["counts", "monitor"]
    assert found["rounds"][0]["jobs"] == [{"fs": "scratch", "target": "OST0000", "jobs": 4}]
    assert not (tmp_path / "rounds").exists()


@pytest.mark.extended
def test_once_fails_if_nothing_was_read(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    done = run("once", "--config", path, "--format", "json", "--collector", "absent")
    assert done.returncode == 1
    assert done.stderr == ("stripewise: warning: absent: nothing of it is here: install it\n")


WRONG = [
    (["chek"], 2, "No such command 'chek'"),
    (["--config"], 2, "requires an argument"),
    (["--config", "/none.toml"], 3, "/none.toml cannot be read (No such file or directory)"),
    (["--config", "/etc"], 3, "/etc"),
    (["--interval", "3"], 2, "No such option"),
    (["check", "now"], 2, "unexpected extra argument"),
    (["check", "--config", "/none.toml", "--json"], 3, "/none.toml cannot be read"),
    (["once", "--format", "xml"], 2, "'xml' is not one of"),
    (["once", "--collector", "x"], 2, "no collector 'x'"),
    (["once", "--json"], 2, "No such option"),
    (["metrics", "--format", "x"], 2, "No such option"),
    (["metrics", "all"], 2, "unexpected extra argument"),
]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("words", "code", "said"), WRONG, ids=lambda one: str(one)[:40])
def test_wrong_command_lines_are_one_line(words: list[str], code: int, said: str) -> None:
    done = run(*words)
    assert done.returncode == code, done.stderr
    (line,) = done.stderr.splitlines()
    assert said in line


@pytest.mark.extended
def test_metrics_are_listed() -> None:
    done = run("metrics", "--json")
    found = {one["prometheus"]: one for one in json.loads(done.stdout)}
    assert found["lustre_target_read_bytes_total"]["labels"] == ["fs", "target"]
    assert found["lustre_target_read_bytes_total"]["series"] == "read_bytes"
    assert "lustre_target_read_bytes_total{fs,target}" in run("metrics").stdout
