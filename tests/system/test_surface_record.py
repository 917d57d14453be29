# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recording a surface of a real program: what it leaves, and the site's policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_cli import tree

from stripewise.core.errors import PolicyError, ProgramError
from stripewise.study.training import RecordingOptions, record_surface

pytestmark = [pytest.mark.mpi, pytest.mark.extended]
VARY = {"mpiio.romio_cb_write": ("enable", "disable"), "mpiio.cb_nodes": (2,)}


def options(work: Path, *command: str) -> RecordingOptions:
    return RecordingOptions(command, work / "a.jsonl", VARY, origin=work, work_directory=work)


def test_a_program_that_does_no_io_leaves_nothing(work):
    before = tree(work)
    with pytest.raises(ProgramError, match="no I/O"):
        record_surface(options(work, "true"))
    assert tree(work) == before
    assert not (work / "a.jsonl.stripewise").exists()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("[tunables]\ndenied = ['mpiio.cb_nodes']", "mpiio.cb_nodes may not be varied"),
        ("[caps]\nmax_runs = 20", "runs, and the policy allows 20"),
        ("[caps]\nmax_trials = 2", "configurations, and the policy allows 2"),
        ("[caps]\nmax_bytes = 10", "bytes written, and the policy allows 10"),
        ("[caps]\nmax_runs = 0", "max_runs is used up"),
    ],
)
def test_the_policy_holds(work, tmp_path, monkeypatch, policy, said):
    (tmp_path / "stripewise").mkdir()
    (tmp_path / "stripewise" / "policy.toml").write_text(f"version = 1\n{policy}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    before = tree(work)
    with pytest.raises(PolicyError, match=said):
        record_surface(options(work, "sh", "-c", "echo x > out"))
    assert tree(work) == before
