# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The core under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from emulated_hosts import Emulation
from native_hosts import PROGRAMS, QUICK, Host, Op, Programs, build_core

from emulated_machine import LUSTRE, Machine
from stripewise.evidence.containers import handshake

pytestmark = pytest.mark.extended


@pytest.fixture(scope="session")
def sanitized() -> Path:
    """The library with both sanitizers."""
    return build_core("sanitized", QUICK, "-DSW_SANITIZE=ON")


def sanitizer_runtime() -> str:
    """The sanitizer library has to be the first one that is loaded."""
    done = subprocess.run(
        ["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        pytest.skip("the compiler brings no libasan.so")
    return str(path.resolve())


COMMANDS = (
    *("transfers", "streams", "threads", "forks", "vforks", "descriptors", "asynchronous"),
    *("names", "many_threads", "jumps"),
)


@pytest.mark.parametrize("capture", ["", "fold"])
@pytest.mark.parametrize("command", COMMANDS)
def test_clean(
    host: Host, programs: Programs, sanitized: Path, command: str, capture: str
) -> None:
    done = host.run(
        programs.executable(command),
        LD_PRELOAD=f"{sanitizer_runtime()}:{sanitized}",
        ASAN_OPTIONS="detect_leaks=0",
        UBSAN_OPTIONS="print_stacktrace=1",
        STRIPEWISE_SYNC="1",
        STRIPEWISE_CAPTURE=capture,
    )
    assert b"runtime error" not in done.stderr
    assert done.returncode == 0, done.stderr.decode()
    assert len(host.profile.counters) > 0


def test_emulation_is_clean(host: Host, programs: Programs, sanitized: Path) -> None:
    figures = {"servers.target_write": 1e9, "locks.revoke": 1e-4, "servers.jitter": 0.5}
    machine = Machine(figures, stripe_count=3, flags=LUSTRE)
    storage = Emulation(host, machine, programs.executable("requests"))
    done = host.run(
        storage.program,
        *("0", "mkdir:d", "exclusive:a", "statfs:a", "pwrite:77:3000000", "aio:0:5000", "sync"),
        *("seek:5", "writev:9999", "read:77", "close", "open:a", "pread:0:99", "rename:a:b"),
        *("stat:b", "fopen:c", "fwrite:100000", "copy:c:1000", "unlink:b", "!open:b"),
        STRIPEWISE_EMULATE=str(storage.file),
        LD_PRELOAD=f"{sanitizer_runtime()}:{sanitized}",
        ASAN_OPTIONS="detect_leaks=0",
    )
    assert b"runtime error" not in done.stderr
    assert done.returncode == 0, done.stderr.decode()
    assert storage.counters["writes"] >= 4


def test_several_storages_and_patterns_are_clean(
    host: Host, programs: Programs, sanitized: Path, tmp_path: Path
) -> None:
    roots = [host.directory, host.directory / "inner", tmp_path / "there"]
    for number, root in enumerate(roots):
        root.mkdir(exist_ok=True)
        Machine({"locks.revoke": 1e-4}, stripe_count=3).write(tmp_path / f"clocks{number}", root)
    done = host.run(
        programs.executable("patterned"),
        *("create:out1", "fopen:out2", "append:in1", "stat:out1", "rename:in1:out3"),
        *("unlink:out1", "create:inner/x", "rename:inner/x:y", "open:out3", "read:y"),
        STRIPEWISE_EMULATE=":".join(str(tmp_path / f"clocks{n}") for n in (0, 1, 2, 3)),
        STRIPEWISE_REDIRECT=f"{host.directory}/out*={roots[2]}:/no/?*={roots[2]}",
        LD_PRELOAD=f"{sanitizer_runtime()}:{sanitized}",
        ASAN_OPTIONS="detect_leaks=0",
    )
    assert b"runtime error" not in done.stderr
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(path.name for path in roots[2].iterdir()) == ["out2", "out3"]


@pytest.mark.parametrize("kind", ["address", "thread", "undefined", "leak"])
def test_programs_with_a_sanitizer_of_their_own_run_and_are_seen(
    host: Host, programs: Programs, kind: str
) -> None:
    program = programs.directory / f"plain-{kind}"
    build = ["cc", f"-fsanitize={kind}", "-o", program, PROGRAMS / "plain.c"]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"the compiler brings no -fsanitize={kind}")
    done = host.run(program)
    assert (done.returncode, done.stderr) == (0, b"")
    assert host.record("plain")["bytes"][Op.WRITE] == 1000


def test_address_sanitizer_that_lets_nothing_before_it_is_named(
    host: Host, programs: Programs, tmp_path: Path
) -> None:
    strict = tmp_path / "strict.c"
    strict.write_text(
        "const char *__asan_default_options(void);\n"
        'const char *__asan_default_options(void) { return "verify_asan_link_order=1"; }\n'
    )
    program = programs.directory / "strict"
    build = ["cc", "-fsanitize=address", "-o", program, PROGRAMS / "plain.c", strict]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        pytest.skip("the compiler brings no -fsanitize=address")
    assert host.run(program).returncode != 0
    assert (
        "ASAN_OPTIONS=verify_asan_link_order=0" in handshake(host.profile, [str(program)]).message
    )
    host.check(program, ASAN_OPTIONS="verify_asan_link_order=0")
    assert host.record("plain")["bytes"][Op.WRITE] == 1000
