# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launcher lines are read without the launchers being there."""

from __future__ import annotations

import pytest

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.runtime import change_launcher, read_launcher


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("srun ./a", 1),
        ("srun -lun4 --cpu_bind=cores -K1 -I60 ./a -n 4", 5),
        ("srun -G 4 -S 2 --het-group 0,1 -M x ./a", 9),
        ("srun -x nid1 -X -- ./a", 5),
        ("srun --tasks-per-node 4 --mail-u me --disable-perf=1 --environment=x ./a", 7),
        ("srun --container-image x#y --container-mounts=a:b --container-writable ./a", 5),
        ("aprun --env A=b --cc depth --pes-per-node 4 ./a", 7),
        ("mpirun -n 4 -gtool x -print-rank-map ./a", 6),
        ("aprun -n32 -N 16 -d 2 -cc cpu -ss -e A=b -b ./a -n 2", 12),
        ("mpirun -np 4 ./a", 3),
        ("mpiexec -n 4 -ppn 2 ./a", 5),
        ("mpirun --map-by node -x A ./a", 5),
        ("/opt/x/mpiexec.hydra -genv A b ./a", 4),
        ("mpirun.openmpi --mca a b ./a", 4),
    ],
)
def test_programs(line: str, program: int) -> None:
    assert read_launcher(line.split()).program == program


@pytest.mark.parametrize(
    "line",
    ["srun", "srun -n", "srun -ly4 ./a", "srun --nothing x ./a", "srun --ntasks-per=2 ./a",
     "srun --multi-prog conf", "aprun -y ./a", "ibrun ./a", "mpirun -frob ./a",
     "mpirun -env A=b ./a : ./b", "mpirun -genv A b -x C ./a"],
)  # fmt: skip
def test_what_is_not_certain(line: str) -> None:
    with pytest.raises(UsageError):
        read_launcher(line.split())


def test_changes_are_told_apart() -> None:
    change = change_launcher("srun -n4 ./a -n4".split(), JobSettings(ranks=2, ranks_per_node=1))
    assert dict(change.replaced) == {1: "-n2"}
    assert change.added == ("--ntasks-per-node=1",)
    change = change_launcher(
        "srun --tasks-per-node=4 --ntasks=8 --x=8 ./a".split(),
        JobSettings(ranks=2, ranks_per_node=1),
    )
    assert dict(change.replaced) == {1: "--tasks-per-node=1", 2: "--ntasks=2"}
    assert not change.added
    with pytest.raises(UsageError, match="does not show which one it is"):
        change_launcher("mpirun ./a".split(), JobSettings(ranks_per_node=2))
