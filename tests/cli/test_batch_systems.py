# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of other batch systems, and those that submit jobs: nothing is run or written."""

from __future__ import annotations

import os

import pytest

PBS = """#!/bin/bash
#PBS -N oceano
#PBS -l select=4:ncpus=64:mpiprocs=64
touch RAN
cd $PBS_O_WORKDIR
mpiexec -n 256 --ppn 64 ./solver in.nml
"""
LSF = PBS.replace("#PBS", "#BSUB").replace("select=", "")
DRIVER = '#!/bin/bash\ntouch RAN\nfor n in 1 2; do\n  sbatch --wrap "srun ./a $n"\ndone\n'
PYTHON = "import os\nopen('RAN', 'w')\nos.system('qsub x')\n"
PROGRAM = "#!/bin/bash\ntouch RAN\n"
FIRST = {
    "tune": ("tune",),
    "run": ("run",),
    "trace": ("run", "--trace", "t"),
}


@pytest.fixture
def place(cluster, monkeypatch):
    """A directory with scripts, each of which would leave RAN."""
    for name in list(os.environ):
        if name.endswith(("_JOB_ID", "_JOBID")):
            monkeypatch.delenv(name)
    for name, text in {"run.pbs": PBS, "run.lsf": LSF, "drive.sh": DRIVER, "drive.py": PYTHON,
                       "program.sh": PROGRAM}.items():  # fmt: skip
        cluster.write(text, name)
    cluster.made = cluster.names
    return cluster


def _refused(place, *words: str, says: tuple[str, ...]) -> None:
    place.run(*words).error(*says)
    assert place.names == place.made, words
    assert place.fake.calls == [], words


@pytest.mark.parametrize("command", FIRST)
def test_no_command_runs_them(place, command) -> None:
    first = FIRST[command]
    for words in (("./run.pbs",), ("--", "run.pbs"), ("--", "bash", "run.pbs"),
                  ("--", "nice", "sh", "-x", "./run.pbs"), ("--", "mpiexec", "-n2", "./run.pbs"),
                  ("--", "sh", "-c", "cd . && ./run.pbs"), ("--", "perl", "run.pbs"),
                  ("--", "bash", "-c", ". ./run.pbs"), ("--", "sh", "-c", "sh < run.pbs"),
                  ("--", "bash", "-c", "x=./run.pbs; $x"), ("--", "script", "-c", "sh run.pbs"),
                  ("./run.pbs", "--dry-run")):  # fmt: skip
        _refused(place, *first, *words, says=("run.pbs is a job script for PBS", "line 2"))
    _refused(place, *first, "--", "./run.lsf", says=("run.lsf is a job script for LSF",))
    for words in (("./drive.sh",), ("bash", "drive.sh"), ("env", "A=1", "./drive.sh")):
        _refused(place, *first, "--", *words, says=("drive.sh, line 4: sbatch submits a job",))
    _refused(place, *first, "--", "python3", "drive.py", says=("drive.py, line 3: qsub",))
    _refused(place, *first, "--", "sbatch", "run.sh", says=("sbatch submits a job",))
    _refused(place, *first, "--", "./run.sh", says=("./run.sh is a job script",))


def test_job_scripts_in_the_place_of_a_command(place) -> None:
    for words in (
        ("run.pbs",),
        ("run.pbs", "--dry-run"),
        ("--dry-run", "run.pbs"),
        ("run.pbs", "--budget", "1nh", "--json"),
        ("run.pbs", "--bb-nodes", "2"),
    ):
        _refused(place, "tune", *words, says=("run.pbs is a job script for PBS",))
    _refused(
        place,
        "settings",
        "script",
        "run.pbs",
        "--bb-nodes",
        "1",
        says=("run.pbs is a job script for",),
    )
    _refused(
        place, "settings", "script", "run.lsf", "--bb-nodes", "1", "--print", says=("for LSF",)
    )
    place.write(place.script.read_text() + "trap 'sbatch run.sh' USR1\n")
    _refused(
        place,
        "settings",
        "script",
        "run.sh",
        "--bb-nodes",
        "1",
        says=("submits jobs itself (sbatch, l",),
    )
    _refused(place, "tune", "run.sh", "--dry-run", says=("submits jobs itself", "line 6"))


def test_profile_runs_none_of_them(place) -> None:
    for words in (("./run.pbs",), ("bash", "run.pbs"), ("mpiexec", "-n2", "./run.pbs")):
        _refused(place, "profile", "--", *words, says=("run.pbs is a job script for PBS",))
    _refused(place, "profile", "--", "./drive.sh", says=("drive.sh, line 4: sbatch submits",))


def test_cases_and_a_script_in_the_place_of_the_case(place) -> None:
    _refused(place, "tune", "--case", "run.pbs", "--case", "run.lsf", "--", "bash", "{case}",
             says=("run.pbs is a job script for PBS",))  # fmt: skip


def test_in_a_job_a_script_may_be_run_once(place, monkeypatch) -> None:
    """There its directives are comments, and what it submits is submitted as often as before."""
    monkeypatch.setenv("PBS_JOBID", "7.server")
    _refused(place, "tune", "./run.pbs", says=("run.pbs is a job script for PBS",))
    monkeypatch.setenv("PATH", str(place.work))
    place.write("#!/no/such\n#PBS -l a\n", "run.pbs").chmod(0o700)
    place.run("run", "./run.pbs").error("no such program")


def test_a_dry_run_is_one_wherever_it_stands(place) -> None:
    behind = ("--dry-run comes after the program",)
    for words in (("./program.sh", "--dry-run"), ("--", "./program.sh", "--dry-run"),
                  ("--trials", "1", "./program.sh", "a", "--dry-run"),
                  ("run.sh", "--", "--dry-run")):  # fmt: skip
        _refused(place, "tune", *words, says=behind)
    _refused(place, "tune", "--dry-run", "./program.sh", says=("requires a job script",))
    _refused(place, "run", "./program.sh", "--dry-run", says=behind)
    _refused(place, "run", "--trace", "t", "./program.sh", "--dry-run", says=behind)
    _refused(place, "run", "--auto", "--", "./program.sh", "--dry-run", says=behind)


def test_a_launcher_that_would_not_run_the_script_is_refused(place) -> None:
    place.write(PROGRAM.replace("bash", "bash\n#SBATCH -n 1"), "job.sh")
    place.made = place.names
    says = ("--launcher local: runs of a job script are jobs of Slurm", "tune -- bash job.sh")
    _refused(place, "tune", "--launcher", "local", "job.sh", says=says)


def test_notes_on_a_script_for_two_systems(place) -> None:
    text = place.script.read_text().replace(
        "srun", "#PBS -l nodes=1\nmodule load x\n#SBATCH -n 9\nsrun"
    )
    place.write(text)
    said = place.tune("run.sh", "--dry-run")
    assert said.code == 0, said
    assert "its lines for PBS (line 5: #PBS -l nodes=1) are ignored" in said.out
    assert "line 7: #SBATCH after the first command is ignored" in said.out
    done = place.run("settings", "script", "run.sh", "--bb-nodes", "1", "--print")
    assert "treated as a Slurm script" in done.err
    assert done.out.index("#PBS -l") < done.out.index("# >>> stripewise")
