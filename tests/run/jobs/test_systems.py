# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of other batch systems are known by their directives, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, job_script_heading, rewrite

DIRECTIVES = {
    "#PBS -l select=4:ncpus=64": "PBS",
    "#PBS\t-A proj": "PBS",
    "#BSUB -nnodes 4": "LSF",
    "#flux: -N4 -n16": "Flux",
    "# flux: --nodes=2": "Flux",
    "# FLUX: -t 30m": "Flux",
    "#COBALT -n 128 -t 30": "Cobalt",
    '#PJM -L "node=4"': "PJM",
    "#PJM --mpi proc=16": "PJM",
    "#$ -pe mpi 16": "Grid Engine",
    "#$ -cwd": "Grid Engine",
    "#$-N name": "Grid Engine",
    "#OAR -l /nodes=2,walltime=1": "OAR",
    "#MSUB -l nodes=2": "Moab",
    "# @ job_type = parallel": "LoadLeveler",
    "#@ Class = large": "LoadLeveler",
    "# @ QUEUE": "LoadLeveler",
    "# @ output = $(jobid).out": "LoadLeveler",
    "#@ network.MPI = sn_all,not_shared,us": "LoadLeveler",
    "  #PBS -l a": "PBS",
    "#JSUB -n 64": "Unischeduler",
    "#CSUB -q c01": "AIP",
    "#CCS --res=rset=1:ncpus=1": "OpenCCS",
    "#XSUB -n 4": "a batch system that is not known here",
    "### flux: -N 1": "Flux",
}
NO_DIRECTIVES = (
    "# PBS -l nodes=1", "##PBS -l nodes=1", "#PBS scripts: see a", "echo '#PBS -l a'", "#PBSX -l",
    "# BSUB -n 4", "#$Id: run.sh 7 $", "#$HOME/bin must be on PATH", "#$ ls -l",
    "#$PBS_O_WORKDIR", "cat > x <<E\n#PBS -l a\n#SBATCH -n 1\nE", "x='\n#BSUB -n 1\n'",
    ": <<'C'\n#OAR -l a\nC", "# flux: see below", "# @param node = 1", "# @ author = me",
    "# @ comment = a", "# @node x", "#COBALT", "#",
    "#SUBMIT -n 4", "#SUB -n 4", "#CCS - a note", "flux: -N 1", "echo 'a\nflux: -N 1'",
)  # fmt: skip


def _heading(tmp_path: Path, data: bytes | str):
    path = tmp_path / "run"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    found = job_script_heading(path)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "first", ["#!/bin/bash\n", "#!/bin/csh\n", "#!/usr/bin/env python3\n", ""]
)
def test_directives_name_the_system(tmp_path, first) -> None:
    for line, system in DIRECTIVES.items():
        for text in (f"{first}{line}\n./a\n", f"\ufeff{first}# note\n\n{line}\n./a\n",
                     f"{first}{line}\n./a\n".replace("\n", "\r\n")):  # fmt: skip
            found = _heading(tmp_path, text)
            assert found.system.startswith(system), text
            assert found.is_foreign
            with pytest.raises(UsageError, match=rf"run\.x is a job script for {system}"):
                JobScript.parse(text.encode(), "run.x")


def test_what_is_no_directive(tmp_path) -> None:
    for line in NO_DIRECTIVES:
        found = _heading(tmp_path, f"#!/bin/bash\n{line}\n./a\n{line}\n")
        assert not found.system, line
        assert not found.is_slurm, line


def test_texts_of_python_are_no_directives(tmp_path) -> None:
    found = _heading(tmp_path, "#!/usr/bin/python3\nx = '''\n#PBS -l a\n#SBATCH -n 1\n'''\n")
    assert (found.system, found.is_slurm) == ("", False)
    assert _heading(tmp_path, "#!/usr/bin/python3\nx = 1\n#BSUB -n 1\n").system == "LSF"


def test_flux_reads_its_own_behind_any_marks(tmp_path) -> None:
    """The examples of RFC 36 in Lua and Python, and what is none."""
    lua = "#!/usr/bin/lua\n--\n-- flux: -N1 --exclusive\nlocal app = require 'app'\n"
    assert _heading(tmp_path, lua).system == "Flux"
    python = "#!/usr/bin/env python3\n"
    inner = 'def main():\n    """\n    flux: -N4\n    flux: --queue=batch\n    """\n    run()\n'
    for text in (inner, f"import a\n\n\n{inner}", '"""\nflux: --nodes=4\n"""\n'):
        assert _heading(tmp_path, python + text).system == "Flux", text
    others = (
        "x = '''\nflux: -N 4\n'''\n",
        '"""Like\n\n#PBS -l a\n"""\n',
        'f("""\nflux: -N1\n""")\n',
    )
    for text in others:
        assert not _heading(tmp_path, python + text).system, text


def test_directives_behind_the_first_command(tmp_path) -> None:
    """Grid Engine and LSF read the whole script."""
    assert _heading(tmp_path, "#!/bin/sh\nmodule load a\n#$ -cwd\n./a\n").is_foreign
    late = JobScript.parse(b"#!/bin/sh\nmodule load x\n#SBATCH -N 2\nsrun ./a\n", "run.sh")
    assert late.heading.is_slurm
    assert late.options == ()
    assert "run.sh, line 3: #SBATCH after the first command is ignored" in late.notes[0]
    assert _heading(tmp_path, "#!/bin/sh\n#PBS -l a\n./a\n#SBATCH -n 1\n").is_foreign


def test_a_script_for_two_systems_is_slurms() -> None:
    text = b"#!/bin/bash\n#SBATCH -n 1\n#PBS -l nodes=1\n#PBS -q a\nsrun ./a\n"
    script = JobScript.parse(text, "run.sh")
    assert (
        "treated as a Slurm script: its lines for PBS (line 3: #PBS -l nodes=1)" in script.notes[0]
    )
    assert "--ignore-pbs" in script.notes[0]
    changed = rewrite(script, Changes(exports={"A": "b"}))
    assert changed.index(b"#PBS -q a") < changed.index(b"export A")


def test_submit_files_of_htcondor(tmp_path) -> None:
    text = "# note\n\nUniverse = parallel\nExecutable = /bin/x\nqueue 4\n"
    found = _heading(tmp_path, text)
    assert (found.system, found.line, found.text) == ("HTCondor", 4, "Executable = /bin/x")
    with pytest.raises(UsageError, match="job script for HTCondor"):
        JobScript.parse(text.encode(), "run.sub")
    for other in (f"#!/bin/sh\n{text}", "executable = x\nqueue = 1\n", "queue\n"):
        assert not _heading(tmp_path, other).system


def test_what_is_no_script(tmp_path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\n#PBS -l a\n")
    (tmp_path / "empty").touch()
    for name in ("binary", "empty", "none", "."):
        assert job_script_heading(tmp_path / name) is None
