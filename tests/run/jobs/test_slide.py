# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The script of ExPBB's talk, and its conversion for the burst buffer.

Source: G. Markomanolis, ExPBB: A framework to explore the performance of Burst Buffer, Cray User
Group 2017, "Original script" and "Converted script".
"""

from __future__ import annotations

from stripewise.run.jobs import Changes, JobScript, revert, rewrite
from support.job_scripts import written_cases

DIRECTIVES = (
    "#DW jobdw type=scratch access_mode=striped capacity=200GiB",
    "#DW stage_in type=directory source=/project/k01/run destination=$DW_JOB_STRIPED",
    "#DW stage_out type=directory destination=/project/k01/back source=$DW_JOB_STRIPED",
)
CONVERTED = """#!/bin/bash -x

#SBATCH --partition=workq
# >>> stripewise: 1 line replaced by 1
#| #SBATCH -t 06
#SBATCH --time=384
# <<< stripewise
#SBATCH -A k01
#SBATCH --ntasks=256
#SBATCH --ntasks-per-node=32
#SBATCH --ntasks-per-socket=16
#SBATCH -J btio
#SBATCH -o btio_out_%j
#SBATCH -e btio_err_%j
# >>> stripewise: 6 lines added
#DW jobdw type=scratch access_mode=striped capacity=200GiB
#DW stage_in type=directory source=/project/k01/run destination=$DW_JOB_STRIPED
#DW stage_out type=directory destination=/project/k01/back source=$DW_JOB_STRIPED
# 1 burst buffer node
export MPICH_ENV_DISPLAY=1
export MPICH_MPIIO_HINTS='btio.nc:cb_nodes=64 *:x'
# <<< stripewise

echo $SLURM_SUBMIT_DIR >> inputbt1.data

# >>> stripewise: 3 lines replaced by 3
#| time srun --ntasks=256 --ntasks-per-node=32 \\
#| --threads-per-core=1 --hint=nomultithread \\
#| ./btio inputbt1.data
time srun --ntasks=256 --ntasks-per-node=32 \\
--threads-per-core=1 --hint=nomultithread \\
env LD_PRELOAD=libdarshan.so ./btio inputbt1.data
# <<< stripewise

exit 0
"""


def test_the_script_is_read() -> None:
    script = _script()
    found, launch = script.resources, script.launch()
    assert (found.partition, found.account, found.job_name) == ("workq", "k01", "btio")
    assert (found.ranks, found.ranks_per_node, found.wall_seconds) == (256, 32, 360)
    assert (launch.program, launch.arguments) == ("./btio", ("inputbt1.data",))
    assert (launch.ranks, launch.ranks_per_node, launch.is_plain) == (256, 32, True)
    assert (launch.first_line, launch.last_line) == (15, 17)
    assert script.sbatch_arguments(drop=("ntasks-per-socket", "partition")) == (
        "--time=06",
        "--account=k01",
        "--ntasks=256",
        "--ntasks-per-node=32",
        "--job-name=btio",
        "--output=btio_out_%j",
        "--error=btio_err_%j",
    )


def test_the_script_is_converted() -> None:
    script = _script()
    changes = Changes(
        wrap=("env", "LD_PRELOAD=libdarshan.so"),
        options={"time": "384"},
        directives=DIRECTIVES,
        exports={"MPICH_ENV_DISPLAY": "1", "MPICH_MPIIO_HINTS": "btio.nc:cb_nodes=64 *:x"},
        notes=("1 burst buffer node",),
    )
    changed = rewrite(script, changes)
    assert changed.decode() == CONVERTED
    assert [each.words[0] for each in JobScript.parse(changed).burst_buffer] == [
        "jobdw",
        "stage_in",
        "stage_out",
    ]
    assert revert(changed) == script.data


def _script() -> JobScript:
    case = next(case for case in written_cases() if case.name == "expbb-slide")
    return JobScript.parse(case.data)
