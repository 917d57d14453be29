# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The test cluster: real jobs, real burst buffers of the DataWarp plugin, as an ordinary user."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from stripewise.run.runtime import find_runtime

pytestmark = [pytest.mark.slurm, pytest.mark.mpi]

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **v)
{
    int rank, size;
    MPI_Init(&n, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d on %s\n", rank, size, getenv("SLURMD_NODENAME"));
    MPI_Finalize();
    return 0;
}
"""


def job(cluster, text: str, name: str = "job.sh", **variables: str) -> str:
    """Run a job script; return what it said."""
    script = cluster.scratch / name
    script.write_text(text)
    out = cluster.scratch / f"{name}.out"
    done = cluster.run("sbatch", "--wait", f"--output={out}", str(script), environment=variables)
    assert "Submitted" in done.stdout, done.stderr
    return out.read_text() if out.exists() else done.stderr


def until(cluster, ask: str) -> str:
    """Ask the shell until it is true, a minute at most; return what it says then."""
    loop = f"for i in $(seq 300); do {ask} && exit; sleep 0.2; done"
    return str(cluster.run("sh", "-c", loop).stdout)


@pytest.mark.extended
@pytest.mark.parametrize(("mpi", "plugin"), [("openmpi", "pmix"), ("mpich", "pmi2")])
def test_srun_starts_ranks_of_both_mpis_on_two_nodes(cluster, tmp_path, mpi, plugin):
    source = cluster.scratch / f"hello-{mpi}.c"
    source.write_text(HELLO)
    program = source.with_suffix("")
    subprocess.run([f"mpicc.{mpi}", "-o", str(program), str(source)], check=True)
    said = job(
        cluster,
        f"#!/bin/sh\n#SBATCH -N 2 -n 4 --ntasks-per-node=2 -t 2\nsrun --mpi={plugin} {program}\n",
    )
    assert sorted(said.split("\n")[:4]) == [f"rank {i} of 4 on n{i // 2 + 1}" for i in range(4)]


@pytest.mark.extended
def test_the_servers_of_the_scratch_directory_know_the_jobs(cluster):
    text = (
        "#!/bin/sh\n#SBATCH -n 2 -t 2\necho id $SLURM_JOB_ID\n"
        "srun sh -c 'dd if=/dev/zero of=counted.$SLURM_PROCID bs={size} count=3 2>/dev/null'\n"
    )
    sizes = (1000, 70000)
    ids = [job(cluster, text.format(size=size)).split()[1] for size in sizes]
    lctl = str(cluster.directory / "bin" / "lctl")
    said = cluster.run(lctl, "get_param", "-n", "obdfilter.*.job_stats", check=True).stdout
    written = Counter()
    for entry in said.split("- job_id:")[1:]:
        sums = re.findall(r"  write_bytes: .* sum: +([0-9]+)", entry)
        written[entry.split()[0]] += int(sums[0])
    assert [written[name] for name in ids] == [2 * 3 * size for size in sizes]
    assert cluster.run(lctl, "get_param", "-n", "jobid_var").stdout == "SLURM_JOB_ID\n"


@pytest.mark.extended
def test_a_burst_buffer_has_the_nodes_that_its_capacity_asks_for(cluster):
    said = job(
        cluster,
        "#!/bin/sh\n#SBATCH -n 1 -t 2\n#DW jobdw type=scratch access_mode=striped "
        "capacity=3GiB pool=wlm_pool\nid -u; scontrol show burst | grep JobID; "
        "touch $DW_JOB_STRIPED/file; ls $DW_JOB_STRIPED; env | grep LD_PRELOAD; exit 0\n",
    )
    assert f"{cluster.user.uid}\n" in said
    assert "Size=3GiB State=" in said
    assert "file\n" in said
    assert "LD_PRELOAD" not in said  # the shell of the job is left alone
    until(cluster, f'[ -z "$(ls {cluster.directory}/bb)" ]')  # sbatch does not wait for that
    assert not list((cluster.directory / "bb").iterdir())


@pytest.mark.extended
def test_directories_and_files_are_staged_in_and_out(cluster):
    here = cluster.scratch / "staging"
    making = "mkdir -p staging/in/sub; echo 1 > staging/in/sub/a; echo 2 > b"
    done = cluster.run("sh", "-c", making)
    assert done.returncode == 0
    said = job(
        cluster,
        "#!/bin/sh\n#SBATCH -n 1 -t 2\n"
        "#DW jobdw type=scratch access_mode=striped capacity=1GiB pool=wlm_pool\n"
        f"#DW stage_in type=directory source={here}/in destination=$DW_JOB_STRIPED/in\n"
        f"#DW stage_in type=file source={cluster.scratch}/b destination=$DW_JOB_STRIPED/b\n"
        f"#DW stage_out type=directory source=$DW_JOB_STRIPED/out destination={here}/out\n"
        "cd $DW_JOB_STRIPED; mkdir out; cat in/sub/a b > out/c\n",
    )
    assert said == ""
    until(cluster, "[ -s staging/out/c ]")
    assert (here / "out" / "c").read_text() == "1\n2\n"


@pytest.mark.extended
def test_a_missing_stage_in_directory_is_the_reason_why_a_job_does_not_run(cluster):
    script = cluster.scratch / "missing.sh"
    script.write_text(
        "#!/bin/sh\n#SBATCH -n 1 -t 2\n"
        "#DW jobdw type=scratch access_mode=striped capacity=1GiB pool=wlm_pool\n"
        "#DW stage_in type=directory source=/not/there destination=$DW_JOB_STRIPED/\ntrue\n"
    )
    number = cluster.run("sbatch", "--parsable", str(script)).stdout.strip()
    ask = f"scontrol show job {number} | grep 'does not exist'"
    assert "source /not/there does not exist" in until(cluster, ask)
    cluster.run("scancel", "--hurry", number)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("nodes", [1, 4])
def test_a_kernel_runs_on_the_burst_buffer(cluster, nodes):
    kernel = find_runtime().core.parents[1] / "bin" / "stripewise-kernel-openmpi"
    if not Path(kernel).exists():
        pytest.skip("the kernels for Open MPI are not built")
    said = job(
        cluster,
        "#!/bin/sh\n#SBATCH -N 2 -n 4 --ntasks-per-node=2 -t 2\n#DW jobdw type=scratch "
        f"access_mode=striped capacity={nodes}GiB pool=wlm_pool\ncd $DW_JOB_STRIPED\n"
        f"srun {kernel} --pattern btio --mode collective --size 64,64,64 --file btio.dat\n",
    )
    assert "MiB/s" in said, said


@pytest.mark.extended
def test_ranks_leave_mpi_init_together(cluster):
    """With a fence by a tree some ranks of Open MPI were ahead of others, which crashed."""
    config = cluster.run("scontrol", "show", "config").stdout
    assert ["PMIxCollFence", "=", "ring"] in [line.split() for line in config.splitlines()]


@pytest.mark.extended
def test_accounting_knows_the_jobs(cluster):
    job(cluster, "#!/bin/sh\n#SBATCH -n 1 -t 2 -J counted\ntrue\n")
    assert until(cluster, "sacct -n -P -o JobName,State | grep 'counted|COMPLETED'")
