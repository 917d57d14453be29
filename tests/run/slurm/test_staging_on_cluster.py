# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays, chains, requeued and heterogeneous jobs of a real Slurm leave what they left before.

On a burst buffer, and on storage of the nodes: the same as without.
"""

from __future__ import annotations

import os
import sys

import pytest

from support.slurm_study import until

pytestmark = [pytest.mark.slurm, pytest.mark.extended(keep=1), pytest.mark.timeout(600)]

MAIN = "from stripewise.cli import main; main()"
ARRAY = r"""#!/bin/bash
#SBATCH --array=1-3 -N 2 -n 2 --ntasks-per-node=1 -t 2
n=$SLURM_ARRAY_TASK_ID
srun sh -c "[ \$SLURM_PROCID != 0 ] || echo NEW $n > result.$n"
srun -n 1 sleep $n
"""
CHAIN = """#!/bin/bash
#SBATCH -N 1 -n 1 -t 2
if [ -f rst.dat ]; then n=$(cat rst.dat); else n=0; fi
sed -i "s/start *= .*/start = $n/" in.nml
srun sh -c "seq $n $((n + 3)) > steps.$n; echo $((n + 3)) > rst.dat"
rm -f steps.$((n - 3))
"""
REQUEUED = """#!/bin/bash
#SBATCH -N 1 -n 1 -t 2 --requeue --open-mode=append --output=said.%j
trap 'echo stopped >> log; exit 9' TERM
echo "start $SLURM_RESTART_COUNT" >> log
[ -n "$SLURM_RESTART_COUNT" ] && exit 0
srun sleep 60 & wait
"""
HETEROGENEOUS = """#!/bin/bash
#SBATCH -N 1 -n 1 -t 2
#SBATCH hetjob
#SBATCH -N 1 -n 2
srun --het-group=0,1 sh -c 'cat name > part.$SLURM_NODEID.$SLURM_PROCID'
"""


class Place:
    """A directory of the cluster's user, and one on storage that its jobs find."""

    def __init__(self, cluster, way: str) -> None:
        self.cluster, self.way = cluster, way
        self.top = cluster.scratch / f"staged-{way}"
        self.work, self.fast = self.top / "work", self.top / "fast"
        cluster.run(
            "mkdir", "-p", str(self.work), str(self.fast), str(self.top / "bin"), check=True
        )
        stat = self.top / "bin" / "stat"  # the nodes of the cluster are one host, and share this
        stat.write_text("#!/bin/sh\necho nfs\n")
        stat.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.write_text(text)
        os.chown(path, self.cluster.user.uid, self.cluster.user.gid)

    def submit(self, name: str, text: str, *words: str, convert: bool = True) -> str:
        """Submit a script, converted at first; return the number of its job."""
        if convert:
            self.write(f"{name}.sh", text)
            way = ("--bb-nodes", "1")
            if self.way == "directory":
                way = ("--tier", "directory", "--place", "$FAST")
            given = (sys.executable, "-c", MAIN, "settings", "script", f"{name}.sh", *way)
            done = self.cluster.run(*given, cwd=self.work)
            assert done.returncode == 0, done
        path = f"{self.top}/bin:{self.cluster.environment['PATH']}"
        done = self.cluster.run(
            "sbatch", "--parsable", *words, f"{name}.bb.sh", cwd=self.work,
            environment={"FAST": str(self.fast), "PATH": path},
        )  # fmt: skip
        assert done.returncode == 0, done
        return done.stdout.strip()

    def wait(self, *jobs: str) -> None:
        """Wait for the end of jobs."""
        listed = f"--jobs={','.join(jobs)}"
        until(lambda: not self.cluster.in_queue(listed), 240,
              lambda: self.cluster.run("squeue").stdout)  # fmt: skip

    def text(self, name: str) -> str:
        """Return what a file holds."""
        return (self.work / name).read_text()


@pytest.fixture(params=["datawarp", "directory"])
def place(cluster, request) -> Place:
    return Place(cluster, request.param)


def test_jobs_leave_what_they_did_before(place):
    for number in (1, 2, 3):
        place.write(f"result.{number}", "OLD\n")
    place.write("in.nml", "start = 0\n")
    place.write("slurm-1.out", "a log that is gone when jobs begin\n")
    requeued = place.submit("requeued", REQUEUED)
    first = place.submit("chain", CHAIN)
    (place.work / "slurm-1.out").unlink()
    second = place.submit("chain", "", f"--dependency=afterany:{first}", convert=False)
    array = place.submit("array", ARRAY)
    until(lambda: "RUNNING" in _shown(place, requeued), 120, lambda: _shown(place, requeued))
    place.wait(first, second, array)
    assert [place.text(f"result.{n}") for n in (1, 2, 3)] == ["NEW 1\n", "NEW 2\n", "NEW 3\n"]
    assert place.text("rst.dat") == "6\n"
    assert place.text("in.nml") == "start = 3\n"
    assert place.text("steps.3") == "3\n4\n5\n6\n"
    assert not (place.work / "steps.0").exists()
    assert place.cluster.run("scontrol", "requeue", requeued).returncode == 0
    until(lambda: "Restarts=1" in _shown(place, requeued), 60, lambda: _shown(place, requeued))
    place.cluster.run("scontrol", "update", f"jobid={requeued}", "StartTime=now")
    place.wait(requeued)
    said = place.text(f"said.{requeued}")
    if place.way == "directory":
        assert place.text("log") == "start \nstopped\nstart 1\n", said
    else:  # Slurm takes the burst buffer of a job that it ends at once, and copies what is there
        assert place.text("log").endswith("start 1\n"), said
        unsaved = place.work / "requeued.bb.sh.unsaved"
        (left,) = unsaved.glob(f"stripewise-{requeued}-*/*/log")
        assert left.read_text().startswith("start \n")
        assert f"what it had not copied back is in {unsaved}/stripewise-{requeued}-" in said
    assert not list(place.fast.iterdir())
    assert not list(place.work.glob("result*stripewise*"))


def _shown(place: Place, job: str) -> str:
    return place.cluster.run("scontrol", "show", "job", job).stdout


def test_heterogeneous_jobs(cluster):
    place = Place(cluster, "directory")
    place.write("name", "input\n")
    job = place.submit("het", HETEROGENEOUS)
    place.wait(job)
    parts = sorted(path.name for path in place.work.glob("part.*"))
    said = f"{_shown(place, job)}\n{place.text(f'slurm-{job}.out')}"
    assert parts == ["part.0.0", "part.1.1", "part.1.2"], said
    assert {place.text(part) for part in parts} == {"input\n"}
    (place.top / "bin" / "stat").unlink()
    place.wait(place.submit("het", "", "--output=said", convert=False))
    said = place.text("said")
    assert "which the 2 nodes of the job cannot share" in said, said


def test_slurm_gives_no_burst_buffer_to_all_parts(cluster):
    place = Place(cluster, "datawarp")
    place.write("het.sh", HETEROGENEOUS)
    given = (sys.executable, "-c", MAIN, "settings", "script", "het.sh", "--bb-nodes", "1")
    done = cluster.run(*given, cwd=place.work)
    assert "het.sh is a heterogeneous job" in done.stderr
    assert not (place.work / "het.bb.sh").exists()
