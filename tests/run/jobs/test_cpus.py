# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""CPUs that the job asks for, and srun does not pass on to its tasks."""

from __future__ import annotations

import pytest

from stripewise.run.jobs import JobScript, missing_cpus

HEAD = "#!/bin/bash\n#SBATCH -N 2 -n 8 --cpus-per-task=4\n"


def warned(text: str, environment: dict[str, str] | None = None, **given) -> list[str]:
    return list(missing_cpus(JobScript.parse(text.encode(), "run.sh"), environment or {}, **given))


def test_srun_is_not_told() -> None:
    (line,) = warned(HEAD + "export OMP_NUM_THREADS=4\nsrun -n 8 ./a -c 4\n")
    assert line.startswith("run.sh, line 4: tasks of srun do not get the 4 CPUs each")
    assert line.endswith("write srun --cpus-per-task=4, or export SRUN_CPUS_PER_TASK=4 before it")


def test_each_launch_line_or_the_one_that_is_tuned() -> None:
    text = HEAD + "srun ./a\nsrun -c 4 ./b\nsrun ./c\n"
    assert [line.split(":")[0] for line in warned(text)] == ["run.sh, line 3", "run.sh, line 5"]
    assert warned(text, step=2) == []
    assert len(warned(text, step=3)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "srun -c4 ./a",
        "srun --cpus-per-task 2 ./a",
        "srun --cpus-per-task=$SLURM_CPUS_PER_TASK ./a",
        "srun -c ${SLURM_CPUS_PER_TASK} ./a",
        "SRUN_CPUS_PER_TASK=4 srun ./a",
        "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\nsrun ./a",
        "OPTIONS='-n 8 -c 4'\nsrun $OPTIONS ./a",
        "mpirun -n 8 ./a",
        "srun $UNKNOWN ./a",
    ],
)
def test_what_needs_no_warning(line: str) -> None:
    assert warned(f"{HEAD}{line}\n") == []


def test_a_variable_in_a_comment_sets_nothing() -> None:
    assert len(warned(HEAD + "# export SRUN_CPUS_PER_TASK=4\nsrun ./a\n")) == 1


def test_the_variable_in_the_environment() -> None:
    assert warned(HEAD + "srun ./a\n", {"SRUN_CPUS_PER_TASK": "4"}) == []


@pytest.mark.parametrize("head", ["-n 8", "-n 8 -c 1", "-n 8 -c 4\n#SBATCH hetjob\n#SBATCH -n 2"])
def test_jobs_whose_srun_needs_no_number(head: str) -> None:
    assert warned(f"#!/bin/bash\n#SBATCH {head}\nsrun ./a\n") == []
