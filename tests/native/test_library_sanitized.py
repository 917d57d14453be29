# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The core under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from native_hosts import Host, Programs, build_core


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library with both sanitizers."""
    return build_core(tmp_path_factory.mktemp("sanitized"), "-DSW_SANITIZE=ON")


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
    assert len(host.profile.records) > 0
