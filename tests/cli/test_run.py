# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise run` leaves the program's streams, signals and exit code alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

RUN = [sys.executable, "-c", "from stripewise.cli import main; main()", "run"]


def stripewise(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    settings = {"capture_output": True, "text": True, "check": False, "timeout": 60, **options}
    return subprocess.run([*RUN, *arguments], **settings)  # type: ignore[call-overload,no-any-return]


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("stripewise: error")]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blind: Path) -> Path:
    """Where temporary containers would be."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_streams_are_the_programs_own(scratch: Path) -> None:
    done = stripewise("--", "sh", "-c", "cat; echo err >&2", input="in\n")
    assert done.stdout == "in\n"
    assert done.stderr.startswith("err\n")
    assert done.returncode == 0


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_programs(scratch: Path, script: str, code: int) -> None:
    assert stripewise("--", "sh", "-c", script).returncode == code


def test_options_behind_the_command_are_its_own(scratch: Path) -> None:
    done = stripewise("echo", "--json", "--config", "x")
    assert done.stdout == "--json --config x\n"


def test_a_misspelt_option_is_not_a_program(scratch: Path) -> None:
    done = stripewise("--snyc", "--", "true")
    assert done.returncode == 2
    assert "--snyc" in done.stderr


def test_nothing_is_left(scratch: Path) -> None:
    stripewise("--", "true")
    assert list(scratch.iterdir()) == []


def test_unseen_is_said_once_and_harms_nothing(scratch: Path) -> None:
    done = stripewise("--", "true")
    assert done.returncode == 0
    assert len([x for x in done.stderr.splitlines() if "warning" in x]) == 1
    assert "doctor" in done.stderr


def test_a_command_that_failed_is_not_blamed_on_a_wrapper_alone(scratch: Path) -> None:
    done = stripewise("--", "sh", "-c", "exit 3")
    assert "the command failed with exit code 3, perhaps before the program began" in done.stderr
    assert "failed" not in stripewise("--", "sh", "-c", "exit 0").stderr


def test_json_is_the_last_line(scratch: Path) -> None:
    done = stripewise("--json", "--", "echo", "hello")
    lines = done.stdout.splitlines()
    assert lines[0] == "hello"
    found = json.loads(lines[-1])
    assert (found["exit_code"], found["seen"], found["state"]) == (0, False, "dropped")
    for name in ("io_seconds", "read_bytes", "write_bytes"):
        assert found[name] is found["facts"][name] is None  # nothing was seen: it is not zero
        assert "no process" in found["missing"][name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signals_are_passed_on(scratch: Path, number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 3' {number.name[3:]}; echo ready; while :; do sleep 0.1; done"
    child = subprocess.Popen(
        [*RUN, "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(number)
    out, _ = child.communicate(timeout=30)
    assert (out, child.returncode) == ("got\n", 3)


def test_the_program_starts_with_an_ordinary_signal_mask(scratch: Path) -> None:
    done = stripewise("--", "grep", "SigBlk", "/proc/self/status")
    assert done.stdout.split() == ["SigBlk:", "0000000000000000"]


def test_a_command_that_does_not_exist(scratch: Path) -> None:
    done = stripewise("--", "./no-such-program")
    assert done.returncode == 6
    assert len(errors(done.stderr)) == 1
    assert list(scratch.iterdir()) == []


def test_no_command(scratch: Path) -> None:
    done = stripewise("--sync")
    assert done.returncode == 2
    assert "stripewise run -- mpiexec" in done.stderr


def test_not_executable(scratch: Path) -> None:
    (scratch / "data").write_text("x")
    done = stripewise("--", "./data")
    assert done.returncode == 6
    assert len(errors(done.stderr)) == 1


def test_no_runtime(scratch: Path) -> None:
    done = stripewise("--", "true", env={**os.environ, "STRIPEWISE_RUNTIME_DIR": "/nonexistent"})
    assert done.returncode == 5
    assert "stripewise doctor build" in done.stderr


def test_a_configuration_that_is_not_there(scratch: Path) -> None:
    done = stripewise("--config", "gone.toml", "--", "echo", "ran")
    assert done.returncode in (2, 3)
    assert done.stdout == ""
    assert len(errors(done.stderr)) == 1


def test_a_configuration_is_in_the_environment(scratch: Path) -> None:
    (scratch / "c.toml").write_text(
        'version = 1\n[[file]]\nmatch = "*.dat"\nmpiio = { cb_nodes = 2 }\n'
        '[job]\nmca = { io = "ompio" }\n'
    )
    done = stripewise("--config", "c.toml", "--sync", "--", "env")
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert found["OMPI_MCA_io"] == "ompio"
    assert found["STRIPEWISE_SYNC"] == "1"
    assert "STRIPEWISE_CONFIGURATION" in found


def test_interrupting_a_program_that_ignores_it(scratch: Path) -> None:
    child = subprocess.Popen(
        [*RUN, "--", "sh", "-c", "trap '' TERM; echo ready; sleep 0.5; exit 4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.terminate()
    assert child.wait(timeout=60) == 4


@pytest.mark.skipif(not shutil.which("script"), reason="no script(1)")
def test_control_c_reaches_the_program_once(scratch: Path) -> None:
    counter = scratch / "count.sh"
    counter.write_text(
        "n=0\ntrap 'n=$((n+1))' INT\necho ready\n"
        "i=0; while [ $n = 0 ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done\n"
        "i=0; while [ $i -lt 15 ]; do sleep 0.1; i=$((i+1)); done\necho interrupts=$n\n"
    )
    words = " ".join(f"'{w}'" for w in [*RUN, "--", "sh", str(counter)])
    child = subprocess.Popen(
        ["script", "-qec", words, "/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    seen = " "
    while seen and "ready" not in seen:
        seen = child.stdout.readline()
    child.stdin.write("\x03")
    child.stdin.flush()
    while seen and "interrupts=" not in seen:  # before its input is closed
        seen = child.stdout.readline()
    child.communicate(timeout=60)
    assert "interrupts=1" in seen


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("job", "name"),
    [
        ('environment = { LD_AUDIT = "/tmp/x.so" }', "LD_AUDIT"),
        ('mca = { plm_rsh_agent = "/tmp/x" }', "OMPI_MCA_plm_rsh_agent"),
    ],
)
def test_a_configuration_that_carries_code_is_refused(scratch: Path, job: str, name: str) -> None:
    (scratch / "c.toml").write_text(f"version = 1\n[job]\n{job}\n")
    words = ("--config", "c.toml", "--", "sh", "-c", "echo ran > out; env")
    done = stripewise(*words)
    assert done.returncode == 3
    assert f"--allow-environment {name}" in errors(done.stderr)[0]
    assert [path.name for path in scratch.iterdir() if path.is_file()] == ["c.toml"]
    assert f"{name}=/tmp/x" in stripewise("--allow-environment", name, *words).stdout
    check = [*RUN[:-1], "settings", "check", "c.toml"]
    checked = subprocess.run(check, capture_output=True, text=True)
    assert checked.returncode == 3
    assert f"{name} can run code" in checked.stdout
