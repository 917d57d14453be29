# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""stripewise-task: a program started in the environment that a file describes."""

from __future__ import annotations

import os
import pty
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from native_hosts import QUICK, build_core

from stripewise.run.runtime import write_task_file
from stripewise.run.runtime._environment import MOST_BYTES

ENV = "/usr/bin/env"
NAMES = st.text(
    st.characters(min_codepoint=1, max_codepoint=0x17F, blacklist_characters="=@+"),
    min_size=1,
    max_size=8,
)
VALUES = st.binary(max_size=40).map(lambda data: os.fsdecode(data.replace(b"\0", b"")))
NASTY = {
    "QUOTES": "a 'b' \"c\" `d` $(e) ${HOME} \\ ;|&",
    "LINES": "one\ntwo\r\n\tthree",
    "BYTES": os.fsdecode(b"\xff\xfe latin-\xe9"),
    "EMPTY": "",
    "EQUALS": "a=b=c",
    "PERCENT": "%{HOME}",
}


@pytest.fixture(scope="session", params=["plain", "sanitized"])
def task(request: pytest.FixtureRequest) -> Path:
    """The program, also with both sanitizers."""
    plain = request.param == "plain"
    options = ("-DSW_WERROR=ON",) if plain else (QUICK, "-DSW_SANITIZE=ON")
    return build_core(request.param, *options).parent / "stripewise-task"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "task"


def run(
    task: Path, *words: str | Path, environment: Mapping[str, str] | None = None, **more: object
) -> subprocess.CompletedProcess[bytes]:
    """Run it in a small environment."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [task, *words],
        env={"PATH": os.environ["PATH"], **(environment or {})},
        capture_output=True,
        timeout=60,
        check=False,
        **more,
    )


def after(
    task: Path, file: Path, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, str], bytes]:
    """What the program's environment is, and what was said."""
    done = run(task, file, ENV, "-0", environment=environment)
    assert done.returncode == 0, done.stderr
    entries = [os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry]
    pairs = [entry.split("=", 1) for entry in entries]
    assert len(pairs) == len({name for name, _ in pairs}), "a variable is there twice"
    return {name: value for name, value in pairs if name != "PATH"}, done.stderr


def test_values_come_through_as_they_are(task: Path, file: Path) -> None:
    write_task_file(file, NASTY)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert after(task, file) == (NASTY, b"")


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    wanted=st.dictionaries(NAMES, st.none() | VALUES, max_size=6),
    present=st.dictionaries(NAMES, VALUES, max_size=6),
)
@example(wanted={"A": None, "B": "x"}, present={"A": "1", "B": "2", "AB": "3"})
def test_what_is_written_is_what_the_program_gets(
    task: Path, file: Path, wanted: dict[str, str | None], present: dict[str, str]
) -> None:
    wanted.pop("PATH", None)
    write_task_file(file, wanted)
    kept = {name: value for name, value in present.items() if name not in {"PATH", *wanted}}
    made = {name: value for name, value in wanted.items() if value is not None}
    assert after(task, file, kept | {n: "old" for n in wanted}) == (kept | made, b"")


def test_variables_of_the_task_itself_are_expanded_where_that_is_asked(
    task: Path, file: Path
) -> None:
    write_task_file(
        file,
        {"SLURM_PROCID": "changed", "PLAIN": "%{RANK}"},
        expanded={
            "PLACE": "%{BB}/out.%{SLURM_PROCID}",
            "NOTHING": "<%{UNSET}>",
            "TEXT": "100 % {x} 'y' $RANK",
        },
    )
    found, _ = after(task, file, {"BB": "/bb/job 1\n", "SLURM_PROCID": "3", "RANK": "9"})
    assert found["PLACE"] == "/bb/job 1\n/out.3"
    assert (found["NOTHING"], found["TEXT"]) == ("<>", "100 % {x} 'y' $RANK")
    assert (found["PLAIN"], found["SLURM_PROCID"]) == ("%{RANK}", "changed")


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        (None, "/sw/libx.so"),
        ("", "/sw/libx.so"),
        ("/usr/liby.so", "/sw/libx.so:/usr/liby.so"),
        ("/usr/liby.so libz.so", "/sw/libx.so:/usr/liby.so:libz.so"),
        ("/old/libx.so", "/sw/libx.so"),
        ("/usr/liby.so:/old/libx.so:libz.so:libx.so", "/usr/liby.so:/sw/libx.so:libz.so"),
        ("/usr/otherlibx.so", "/sw/libx.so:/usr/otherlibx.so"),
    ],
)
def test_what_is_preloaded_already_stays(
    task: Path, file: Path, present: str | None, expected: str
) -> None:
    write_task_file(file, {}, preload=Path("/sw/libx.so"))
    # The loader says that it does not find these: not in what is compared.
    script = "import os; print(os.environ['LD_PRELOAD'])"
    environment = {} if present is None else {"LD_PRELOAD": present}
    if "sanitized" in str(task) and present:
        pytest.skip("AddressSanitizer wants to be the first that is loaded")
    done = run(task, file, "--", sys.executable, "-S", "-c", script, environment=environment)
    assert done.stdout.decode().strip() == expected


def test_exit_status_signals_input_and_place_are_the_programs(
    task: Path, file: Path, tmp_path: Path
) -> None:
    write_task_file(file, {"A": "1"})
    script = "cat; pwd; exit 37"
    done = run(task, file, "sh", "-c", script, input=b"given\n", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (37, f"given\n{tmp_path}\n".encode())
    assert run(task, file, "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    ignored = run(
        task,
        file,
        *("sh", "-c", "kill -INT $$; echo on"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert ignored.stdout == b"on\n"
    assert run(task, file, "sh", "-c", "ls /proc/$$/fd").stdout.split() == [b"0", b"1", b"2"]


def test_a_terminal_stays_one(task: Path, file: Path) -> None:
    write_task_file(file, {})
    main, side = pty.openpty()
    try:
        done = subprocess.run([task, file, "test", "-t", "0"], stdin=side, check=False, timeout=60)
        assert done.returncode == 0
    finally:
        os.close(main)
        os.close(side)


def test_words_are_not_looked_at(task: Path, file: Path) -> None:
    write_task_file(file, {})
    words = ["--", "-x", "a b", "", "$HOME", "--"]
    done = run(task, file, "--", sys.executable, "-S", "-c", "import sys; print(sys.argv)", *words)
    assert done.stdout.decode().strip() == str(["-c", *words])


def test_the_program_is_looked_for_along_the_path_that_it_gets(
    task: Path, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mine").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "bin/mine").chmod(0o700)
    write_task_file(file, {}, expanded={"PATH": f"{tmp_path}/bin:%{{PATH}}"})
    assert run(task, file, "mine").stdout == b"mine\n"


def test_a_program_in_the_working_directory_is_found_last_as_srun_does(
    task: Path, file: Path, tmp_path: Path
) -> None:
    write_task_file(file, {})
    for name in ("solve", "true"):
        (tmp_path / name).write_text('#!/bin/sh\necho "here: $*"\n')
        (tmp_path / name).chmod(0o700)
    assert run(task, file, "solve", "a b", cwd=tmp_path).stdout == b"here: a b\n"
    assert run(task, file, "true", cwd=tmp_path).stdout == b""
    (tmp_path / "solve").chmod(0o600)
    done = run(task, file, "solve", cwd=tmp_path)
    assert (done.returncode, done.stderr[:27]) == (126, b"stripewise-task: solve: Per")


# ---- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("rank", ["", "0", "1"])
@pytest.mark.parametrize(
    "variable", ["SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"]
)
def test_a_missing_file_is_said_once_and_the_program_runs(
    task: Path, file: Path, variable: str, rank: str
) -> None:
    environment = {"KEPT": "1"} | ({variable: rank} if rank else {})
    found, said = after(task, file, environment)
    assert found == environment
    assert said.count(b"\n") == (0 if rank == "1" else 1)
    if rank != "1":
        assert b"No such file" in said
        assert str(file).encode() in said


DAMAGED = [
    b"",
    b"A=1",
    b"A=1\0",
    b"A=1\0B",
    b"=1\0\0",
    b"A=1\0\0B=2\0\0",
    b"@A\0\0",
    b"@A=%{B\0\0",
    b"@\0\0",
    b"+PATH=/x\0\0",
    b"+LD_PRELOAD\0\0",
    b"+LD_PRELOAD=\0\0",
    b"+LD_PRELOAD=/a b\0\0",
    b"A=1\0" * (MOST_BYTES // 4 + 1) + b"\0",
]


@pytest.mark.parametrize("data", DAMAGED, ids=[str(data[:20]) for data in DAMAGED])
def test_of_a_damaged_file_nothing_is_used(task: Path, file: Path, data: bytes) -> None:
    file.write_bytes(data)
    file.chmod(0o600)
    found, said = after(task, file, {"A": "mine"})
    assert found == {"A": "mine"}
    assert said.count(b"\n") == 1
    assert b"the program runs without it" in said


@pytest.mark.extended(keep=1)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    records=st.lists(
        st.sampled_from([b"", b"@", b"+", b"+LD_PRELOAD"]).flatmap(
            lambda kind: st.binary(max_size=20).map(
                lambda rest: kind + rest.replace(b"/", b"%{").replace(b"!", b"=")
            )
        ),
        max_size=5,
    )
)
def test_the_program_runs_whatever_is_in_the_file(
    task: Path, file: Path, records: list[bytes]
) -> None:
    file.write_bytes(b"PATH=/usr/bin:/bin\0" + b"\0".join(records) + b"\0\0")
    file.chmod(0o600)
    assert run(task, file, "/bin/true").returncode == 0


def test_files_that_others_could_have_written_are_not_used(
    task: Path, file: Path, tmp_path: Path
) -> None:
    write_task_file(file, {"A": "1"})
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    for path, why in (("link", b"symbolic link"), ("pipe", b"regular"), (".", b"regular")):
        found, said = after(task, tmp_path / path)
        assert found == {}
        assert why in said
    for mode in (0o620, 0o602):
        file.chmod(mode)
        found, said = after(task, file)
        assert found == {}
        assert b"others can write" in said
    file.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(file, 12345, 0)
        assert b"another user" in after(task, file)[1]


def test_a_program_that_cannot_be_started_is_said_as_env_does(
    task: Path, file: Path, tmp_path: Path
) -> None:
    write_task_file(file, {})
    (tmp_path / "data").write_text("no program")
    for words, code, text in (
        (["no-such-program"], 127, b"no-such-program: No such file"),
        ([tmp_path / "data"], 126, b"Permission denied"),
        ([tmp_path], 126, b"Permission denied"),
    ):
        done = run(task, file, *words)
        assert (done.returncode, done.stderr.count(b"\n")) == (code, 1)
        assert text in done.stderr
        assert subprocess.run([ENV, *words], capture_output=True, check=False).returncode == code
    for words in ([], [file], [file, "--"]):
        done = run(task, *words)
        assert done.returncode == 125
        assert b"stripewise-task FILE" in done.stderr


def test_more_than_the_system_takes_does_not_keep_the_program_from_running(
    task: Path, file: Path
) -> None:
    file.write_bytes(b"A=" + b"x" * 200_000 + b"\0\0")
    file.chmod(0o600)
    found, said = after(task, file, {"A": "mine"})
    assert found == {"A": "mine"}
    assert b"too long" in said


def test_nobody_who_reads_its_message_is_no_harm(task: Path, file: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [task, file, "sh", "-c", "kill -PIPE $$"],
            stderr=writing,
            restore_signals=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == -signal.SIGPIPE  # not blocked in the program
    finally:
        os.close(writing)
    closed = subprocess.run(
        ["sh", "-c", 'exec 2>&- "$@"', "sh", task, file, "true"], check=False, timeout=60
    )
    assert closed.returncode == 0


def test_it_costs_little(task: Path, file: Path) -> None:
    """A variable costs no call of the system's."""
    if "sanitized" in str(task):
        pytest.skip("with sanitizers it costs more")
    log, calls = file.with_name("calls"), []
    for variables in (10, 1000):
        write_task_file(file, {f"NAME_{number}": "x" * 10 for number in range(variables)})
        done = run(Path("/usr/bin/env"), "strace", "-o", log, task, file, "true")
        if done.returncode != 0 and b"ptrace" in done.stderr.lower():
            pytest.skip("strace may not trace here")
        assert done.returncode == 0, done.stderr
        calls.append(len(log.read_text().splitlines()))
    assert calls[1] < calls[0] + 40
