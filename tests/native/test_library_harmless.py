# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What happens to the container, and what a program gives up, never ends the program."""

from __future__ import annotations

import os
import signal

import pytest
from native_hosts import Host, Programs, operations

from stripewise.evidence.trace import Op


@pytest.mark.parametrize("capture", ["", "all"])
@pytest.mark.parametrize(
    ("how", "code"), [("", 0), ("own", 0), ("sent", -signal.SIGBUS), ("fault", -signal.SIGBUS)]
)
def test_a_container_that_is_truncated(
    host: Host, programs: Programs, how: str, code: int, capture: str
) -> None:
    container = host.containers / f"{os.uname().nodename}.sw"
    program = programs.executable("truncated")
    done = host.run(program, container, how, STRIPEWISE_CAPTURE=capture)
    assert (done.returncode, done.stderr) == (code, b"")
    assert (host.directory / "after-299").read_bytes() == b"data"


@pytest.mark.parametrize("capture", ["", "fold"])
@pytest.mark.parametrize("how", ["filter", "raw", "strict", "child"])
def test_a_program_that_gives_up_system_calls(
    host: Host, programs: Programs, how: str, capture: str
) -> None:
    done = host.run(programs.executable("sandboxed"), how, STRIPEWISE_CAPTURE=capture)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (host.directory / "out").stat().st_size == 4 * (6 if how == "child" else 5)
    writes = sum(operations(record, Op.WRITE) for record in host.records("out"))
    assert writes == (4 if how == "child" else 3)
    assert any("seccomp" in text for text in host.profile.troubles) or how == "child"
