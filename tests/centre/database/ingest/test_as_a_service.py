# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The service in deploy/ reads logs that are for their owners alone, and writes its own files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stripewise.core.errors import ConfigurationError, StorageError, UsageError
from support import fleet_inputs as inputs
from support.monitor_process import IS_OPEN

DEPLOY = Path(__file__).parents[4] / "deploy"
OWNER = 12345
_RUN = "from stripewise.cli import main; main()"


def words_of_cron() -> list[str]:
    """What the line of cron puts before its command, with a user that is on every host."""
    text = (DEPLOY / "cron" / "stripewise").read_text()
    found = re.search(r" root (setpriv .*--no-new-privs) ", text)
    assert found is not None
    words = found[1].replace("=stripewise", "=65534").replace("--init-groups", "--clear-groups")
    return words.split()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.skipif(not IS_OPEN, reason="other users cannot enter this checkout")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_logs_of_others_are_read_without_root(open_path: Path) -> None:
    log = next(one for one in inputs.darshan_logs() if one.name == "ior_hdf5_example.darshan")
    state = open_path / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    inputs.copied(log, open_path / "logs" / log.name)
    trace = inputs.write_trace(open_path / "logs", 1)
    for one in (open_path / "logs" / log.name, trace / "node1.sw"):
        os.chown(one, OWNER, OWNER)
        one.chmod(0o400)
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
           "HOME": str(state), "STRIPEWISE_DB": str(state / "fleet.sqlite")}  # fmt: skip
    said = [
        subprocess.run(
            [*words_of_cron(), sys.executable, "-c", _RUN, "centre", *words],
            env=own, capture_output=True, text=True, timeout=120, check=False, cwd="/",
        )
        for words in (["init"], ["ingest", str(open_path / "logs"), "--jobs", "1"])
    ]  # fmt: skip
    assert [one.returncode for one in said] == [0, 0], said
    assert "1 stored (1 trace)" in said[1].stdout
    assert "it describes a run of uid" in said[1].stderr  # it was read, and its owner is wrong
    assert "Permission denied" not in said[1].stderr
    assert {oct(one.stat().st_mode & 0o77) for one in state.glob("fleet*")} == {"0o0"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")))
def test_units_are_whole_and_shut_in(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/stripewise/bin/stripewise", "/bin/true"))
    verify = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    security = ["systemd-analyze", "security", "--offline=true", "--threshold=30", str(copy)]
    rated = subprocess.run(security, capture_output=True, text=True, timeout=60, check=False)
    assert rated.returncode == 0, rated.stdout[-200:]


def test_the_agent_is_not_started_again_with_settings_that_are_not_right() -> None:
    text = (DEPLOY / "systemd" / "stripewise-monitor.service").read_text()
    found = re.search(r"^RestartPreventExitStatus=(.*)$", text, re.MULTILINE)
    assert found is not None
    codes = {int(one) for one in found[1].split()}
    assert codes == {UsageError.exit_code, ConfigurationError.exit_code}
    assert StorageError.exit_code not in codes, "a database may come back"


def test_what_a_killed_agent_waited_for_ends_with_it() -> None:
    text = (DEPLOY / "systemd" / "stripewise-monitor.service").read_text()
    assert "\nKillMode=control-group\n" in text
