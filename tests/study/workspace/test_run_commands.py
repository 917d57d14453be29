# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Commands of runs: paths that lead into the working directory, and out of it."""

from __future__ import annotations

import pytest

from stripewise.core.errors import UsageError
from stripewise.study.workspace import Workspace


def command_of(workspace, study, command):
    return Workspace(workspace.snapshot, study, command).find("1").command


def test_commands_follow_the_run(user, study, workspace):
    run = str(workspace.find("1").directory)
    command = ("mpiexec", "./a.out", "{run_dir}/x", "--in=../outside", "../outside", "/etc/hosts")
    outside = str(user.parent / "outside")
    assert command_of(workspace, study, command) == (
        "mpiexec", "./a.out", f"{run}/x", f"--in={outside}", outside, "/etc/hosts",
    )  # fmt: skip
    same = ("data/../input.nml", "../user/x", "a..b", "../no/where")
    assert command_of(workspace, study, same) == same


def test_an_output_outside_is_refused(study, workspace):
    with pytest.raises(UsageError, match=r"\.\./out\.h5 would be made outside"):
        command_of(workspace, study, ("./a.out", "../out.h5"))
