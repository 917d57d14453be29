# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from stripewise.core import MARK, temporary_directory

KILLED = """
import os, signal, sys
from pathlib import Path
from stripewise.core import temporary_directory
with temporary_directory("probe", Path(sys.argv[1])) as work:
    (work / "data").write_bytes(b"x" * 1000)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_killed_processes_left_goes_with_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    (tmp_path / ".stripewise-probe-mine").mkdir()  # was made by nobody
    os.utime(left, (1, 1))
    with temporary_directory("probe", tmp_path) as work:
        assert not left.exists()
        os.utime(work, (1, 1))
        with temporary_directory("probe", tmp_path):
            assert work.exists()  # of a living one
    assert [path.name for path in tmp_path.iterdir()] == [".stripewise-probe-mine"]


def test_what_another_host_made_stays(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    mark = left / MARK
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"host": "elsewhere"}))
    os.utime(left, (1, 1))
    with temporary_directory("probe", tmp_path):
        assert left.exists()


def test_a_probe_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    code = "from stripewise.cli import main; main()"
    command = [sys.executable, "-c", code, "machine", "probe", str(tmp_path)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(command, env=environment, **quiet) as probe:  # type: ignore[call-overload]
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".stripewise-probe-*/[!.]*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        probe.terminate()
        assert probe.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob(".stripewise-probe-*"))
