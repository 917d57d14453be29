# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What libc does for streams is derived from their buffers: it must be what strace sees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from native_hosts import Host, Programs, moved

from stripewise.evidence.trace import IoLayer, Op

FILES = ("lines", "unlocked", "sought")


def seen_by_strace(program: Path, directory: Path) -> Counter[tuple[str, str, bool]]:
    """Count reads and writes (name, call, True) and their bytes (name, call, False)."""
    log = directory / "log"
    command = ["strace", "-y", "-s", "0", "-e", "trace=read,write", "-o", log, program]
    subprocess.run(command, cwd=directory, check=True)
    seen: Counter[tuple[str, str, bool]] = Counter()
    for call, path, size in re.findall(r"^(\w+)\(\d+<([^>]+)>.* = (\d+)$", log.read_text(), re.M):
        if int(size) > 0:
            seen[Path(path).name, call, True] += 1
            seen[Path(path).name, call, False] += int(size)
    return seen


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_libc_writes_and_reads_as_strace_sees_it(
    host: Host, programs: Programs, tmp_path: Path
) -> None:
    program = programs.executable("flushed")
    seen = seen_by_strace(program, tmp_path)
    host.check(program)
    profile = host.profile
    for name in FILES:
        number = next(i for i, path in enumerate(profile.paths) if path.endswith(f"/{name}"))
        rows = profile.issued[profile.issued["file"] == number]
        for op, call in ((Op.WRITE, "write"), (Op.READ, "read")):
            assert int(rows["count"][:, op].sum()) == seen[name, call, True], (name, call)
            assert int(rows["bytes"][:, op].sum()) == seen[name, call, False], (name, call)


def test_outputs_of_programs_in_files_are_counted(host: Host) -> None:
    """Unless they are those of the run itself, or nobody says which these are."""
    command = "sha256sum given > sums; cat sums; echo trouble >&2"
    (host.directory / "given").write_text("text")
    with (host.directory / "log").open("wb") as log:
        status = os.fstat(log.fileno())
        environment = host.environment(STRIPEWISE_OUTPUTS=f"{status.st_dev}:{status.st_ino}")
        subprocess.run(
            ["sh", "-c", command],
            cwd=host.directory,
            env=environment,
            stdout=log,
            stderr=log,
            check=True,
        )
    sums = host.record("sums", IoLayer.STDIO)
    assert moved(sums, Op.WRITE) == (host.directory / "sums").stat().st_size
    assert not [path for path in host.profile.paths if path.endswith("/log")]
