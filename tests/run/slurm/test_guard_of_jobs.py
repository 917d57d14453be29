# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a real Slurm whose shell lines would change the user's files."""

from __future__ import annotations

import pytest

from support.slurm_study import SlurmStudy

pytestmark = [pytest.mark.slurm, pytest.mark.mpi, pytest.mark.timeout(300)]

BEFORE = """
date >> {here}.allowed/log
U=$(echo {here}).user
rm -rf $U/old
srun -n 1 cp run.sh $U/old
srun -o $U/log -n 1 hostname
echo x > $U/new || exit 7
"""


def test_what_is_not_allowed_is_refused_and_told(cluster):
    study = SlurmStudy(cluster, before=BEFORE)
    user, allowed = (study.folder.with_suffix(end) for end in (".user", ".allowed"))
    study.options = ("--step", "3", "--allow-outside", str(allowed))
    code = f"mkdir {user} {allowed} && echo precious > {user}/old"
    cluster.run("sh", "-c", code, check=True)
    study.start()
    assert study.end() == 6, study.said
    assert [(path.name, path.read_text()) for path in user.iterdir()] == [("old", "precious\n")]
    assert (allowed / "log").read_text().count("\n") == 1
    for text in (f"refused to change {user}/old", "other paths", "exit code 7", "--allow-outside"):
        assert text in study.said
    (run,) = study.finished.values()
    (record,) = (study.folder / "study" / "runs").iterdir()
    told = (record / "refused").read_bytes().split(b"\0")
    for entry in (f"c{user}/old", f"n{user}/log", f"n{user}/new"):
        assert entry.encode() in told, told
    assert run["status"] == "failed"
