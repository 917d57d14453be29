# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and threads are put into the launcher's own options, and nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.runtime import _launch_lines as _dialects
from stripewise.run.runtime import command_with_resources, launcher_line, resource_environment

HYDRA = "mpiexec.mpich"
OPENMPI = "mpiexec.openmpi"
pytestmark = pytest.mark.skipif(
    not (shutil.which(HYDRA) and shutil.which(OPENMPI)), reason="needs both MPIs"
)


@pytest.mark.parametrize(
    ("command", "job", "expected"),
    [
        (f"{HYDRA} -n 4 ./a -n 9", {"ranks": 2}, f"{HYDRA} -n 2 ./a -n 9"),
        (f"{HYDRA} -np 4 ./a", {"ranks": 2}, f"{HYDRA} -np 2 ./a"),
        (f"{HYDRA} --np=4 ./a", {"ranks": 2}, f"{HYDRA} --np=2 ./a"),
        (f"{HYDRA} ./a", {"ranks": 2}, f"{HYDRA} -n 2 ./a"),
        (
            f"{HYDRA} -genv OMP_NUM_THREADS 8 -n 4 ./a",
            {"threads": 2, "ranks_per_node": 3},
            f"{HYDRA} -ppn 3 -genv OMP_NUM_THREADS 2 -n 4 ./a",
        ),
        (f"{HYDRA} -ppn 8 -n 4 ./a", {"ranks_per_node": 3}, f"{HYDRA} -ppn 3 -n 4 ./a"),
        (
            f"{OPENMPI} --oversubscribe --mca io romio321 -np 4 ./a -np 1",
            {"ranks": 2, "threads": 3},
            f"{OPENMPI} -x OMP_NUM_THREADS --oversubscribe --mca io romio321 -np 2 ./a -np 1",
        ),
        (
            f"{OPENMPI} -x OMP_NUM_THREADS=8 -n 4 ./a",
            {"threads": 2},
            f"{OPENMPI} -x OMP_NUM_THREADS=2 -n 4 ./a",
        ),
        (f"{OPENMPI} ./a", {"ranks": 4}, f"{OPENMPI} -n 4 ./a"),
        (
            f"{OPENMPI} -n 4 ./a",
            {"ranks_per_node": 2},
            f"{OPENMPI} --map-by ppr:2:node -n 4 ./a",
        ),
        (
            f"{OPENMPI} --map-by ppr:4:node:PE=2 ./a",
            {"ranks_per_node": 2},
            f"{OPENMPI} --map-by ppr:2:node:PE=2 ./a",
        ),
        (f"{OPENMPI} -N 4 ./a", {"ranks_per_node": 2}, f"{OPENMPI} -N 2 ./a"),
        ("srun -n4 ./a", {"ranks": 2}, "srun -n2 ./a"),
        (
            "srun --ntasks=4 -c 1 --mpi=pmi2 ./a -n 4",
            {"ranks": 8, "threads": 2, "ranks_per_node": 4},
            "srun --ntasks-per-node=4 --ntasks=8 -c 2 --mpi=pmi2 ./a -n 4",
        ),
        ("srun ./a", {"threads": 2}, "srun --cpus-per-task=2 ./a"),
        ("srun --exclusive=user -n 2 ./a", {"ranks": 1}, "srun --exclusive=user -n 1 ./a"),
        (f"env A=1 {HYDRA} -n 4 ./a", {"ranks": 2}, f"env A=1 {HYDRA} -n 2 ./a"),
        ("./a -n 4", {"threads": 2}, "./a -n 4"),
        (
            f"{OPENMPI} --report-state-on-timeout ./app -n 100",
            {"ranks": 2},
            f"{OPENMPI} -n 2 --report-state-on-timeout ./app -n 100",
        ),
        (
            f"{OPENMPI} --report-pid + ./app",
            {"ranks": 2},
            f"{OPENMPI} -n 2 --report-pid + ./app",
        ),
        (f"{HYDRA} -pmi-port ./a -n 9", {"ranks": 2}, f"{HYDRA} -n 2 -pmi-port ./a -n 9"),
        (f"{HYDRA} -genv A=1 -n 4 ./a", {"ranks": 2}, f"{HYDRA} -genv A=1 -n 2 ./a"),
        (
            f"{HYDRA} -env OMP_NUM_THREADS=8 -n 4 ./a",
            {"threads": 2},
            f"{HYDRA} -env OMP_NUM_THREADS=2 -n 4 ./a",
        ),
        (
            f"{HYDRA} -genvlist PATH,HOME -n 4 ./a",
            {"threads": 2},
            f"{HYDRA} -genv OMP_NUM_THREADS 2 -genvlist PATH,HOME -n 4 ./a",
        ),
        (
            f"{HYDRA} -envnone -env OMP_NUM_THREADS 8 ./a",
            {"threads": 2},
            f"{HYDRA} -envnone -env OMP_NUM_THREADS 2 ./a",
        ),
        (
            f"env OMP_NUM_THREADS=1 A=2 {HYDRA} ./a",
            {"threads": 2},
            f"env OMP_NUM_THREADS=2 A=2 {HYDRA} ./a",
        ),
        (
            f"{HYDRA} -n 2 env OMP_NUM_THREADS=1 ./a OMP_NUM_THREADS=7",
            {"threads": 2},
            f"{HYDRA} -n 2 env OMP_NUM_THREADS=2 ./a OMP_NUM_THREADS=7",
        ),
        ("env OMP_NUM_THREADS=1 ./a", {"threads": 2}, "env OMP_NUM_THREADS=2 ./a"),
        (
            "env OMP_NUM_THREADS=1 srun ./a",
            {"ranks": 2},
            "env OMP_NUM_THREADS=1 srun --ntasks=2 ./a",
        ),
        (
            "srun -c 1 --export=ALL,OMP_NUM_THREADS=1 ./a",
            {"threads": 2},
            "srun -c 2 --export=ALL,OMP_NUM_THREADS=2 ./a",
        ),
        (
            "srun -c 1 --export PATH,A=1 ./a",
            {"threads": 2},
            "srun -c 2 --export PATH,A=1,OMP_NUM_THREADS=2 ./a",
        ),
        ("srun -c 1 --export=ALL ./a", {"threads": 2}, "srun -c 2 --export=ALL ./a"),
        ("srun -n 4 -- ./a -n 9", {"ranks": 2}, "srun -n 2 -- ./a -n 9"),
    ],
)
def test_the_line_is_rewritten(command: str, job: dict[str, int], expected: str):
    assert " ".join(command_with_resources(command.split(), JobSettings(**job))) == expected


@pytest.mark.parametrize(
    ("command", "job", "message"),
    [
        ("./a -n 4", {"ranks": 2}, "not a known launcher"),
        ("bash -c 'mpiexec -n 4 ./a'", {"ranks": 2}, "not a known launcher"),
        ("ibrun -n 4 ./a", {"ranks": 2}, "not known here"),
        (f"{HYDRA} -strange -n 4 ./a", {"ranks": 2}, "-strange is not a known option"),
        (f"{HYDRA} -n 1 ./a : -n 2 ./b", {"ranks": 2}, "several programs"),
        (f"{HYDRA} -n", {"ranks": 2}, "lacks its value"),
        ("srun --multi-prog x.conf", {"ranks": 2}, "is not a known option"),
        (f"{OPENMPI} --map-by node -n 4 ./a", {"ranks_per_node": 2}, "maps ranks by 'node'"),
        (f"{OPENMPI} -pernode ./a", {"ranks_per_node": 2}, "ppr:N:node"),
        (
            f"{OPENMPI} --display-topo -n 4 ./a",
            {"ranks": 2},
            "--display-topo is not a known option",
        ),
        (f"{OPENMPI} --forward-signals -n 4 ./a", {"ranks": 2}, "should have a value"),
        (f"{OPENMPI} --report-bindings 1 ./a", {"ranks": 2}, "'1' is where the program"),
        (f"{OPENMPI} --mca=io romio321 ./a", {"ranks": 2}, "--mca=io is not a known option"),
        (f"{HYDRA} -configfile ranks.txt", {"ranks": 2}, "-configfile is not a known option"),
        (f"{HYDRA} -ppn -n 4 ./a", {"ranks": 2}, "-ppn .* should have a value, and -n follows"),
        ("srun --export=NONE ./a", {"threads": 2}, "--export=NONE keeps OMP_NUM_THREADS"),
        ("env -i ./a", {"threads": 2}, "-i of env may keep OMP_NUM_THREADS"),
        (f"env -u A {HYDRA} ./a", {"threads": 2}, "-u of env"),
        (f"{HYDRA} -n 2 env -i ./a", {"threads": 2}, "-i of env"),
    ],
)
def test_what_is_not_understood_is_refused(command: str, job: dict[str, int], message: str):
    with pytest.raises(UsageError, match=message):
        command_with_resources(command.split(), JobSettings(**job))


@pytest.mark.parametrize("dialect", [_dialects.HYDRA, _dialects.OPENMPI, _dialects.SRUN])
def test_an_option_takes_a_value_or_none(dialect: _dialects.Dialect):
    assert not set(dialect.values) & dialect.flags
    assert {*dialect.ranks, *dialect.ranks_per_node, *dialect.cpus} <= set(dialect.values)
    assert {*dialect.environment, *dialect.withheld} <= {*dialect.values, *dialect.flags}


def test_open_mpis_own_help_agrees():
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    said = subprocess.run(
        [OPENMPI, "--help", "full"],
        capture_output=True,
        text=True,
        env={**os.environ, **allowed},
        timeout=120,
        check=False,
    ).stdout
    lines = re.findall(r"^ *(-\S+)((?: <arg\d>)*)", said, re.MULTILINE)
    assert len(lines) > 50
    for names, values in lines:
        number = values.count("<arg")
        for name in names.split("|"):
            bare = name.lstrip("-")
            if bare in _dialects.OPENMPI.values:
                assert number == _dialects.OPENMPI.values[bare], name
            assert number == 0 or bare not in _dialects.OPENMPI.flags, name


def test_nothing_set_nothing_looked_at():
    assert command_with_resources(["strange", "--line"], JobSettings()) == ("strange", "--line")


def test_words_stay_words():
    command = [HYDRA, "-n", "4", "./a b", "x;y", "$(z)", "*"]
    assert command_with_resources(command, JobSettings(ranks=1))[3:] == tuple(command[3:])


def test_threads_are_a_variable():
    assert resource_environment(JobSettings(threads=3)) == {"OMP_NUM_THREADS": "3"}
    assert resource_environment(JobSettings(ranks=3)) == {}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{OPENMPI} --oversubscribe -np 4 ./a -n 9", f"{OPENMPI} --oversubscribe -np 2"),
        (f"{HYDRA} -bind-to none ./a", f"{HYDRA} -n 2 -bind-to none"),
        ("srun --mpi=pmi2 -n4 env X=1 ./a", "srun --mpi=pmi2 -n2 env X=1"),
        ("./a -n 4", None),
        (f"{HYDRA} -n 1 ./a : -n 3 ./b", None),
        (f"{HYDRA} --no-such-option 3 ./a", None),
    ],
)
def test_the_launcher_without_its_program(command: str, expected: str | None) -> None:
    found = launcher_line(command.split(), 2)
    assert found == (None if expected is None else tuple(expected.split()))
