# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A directory of a user, and what a study of a job script leaves there."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.run.jobs import JobScript
from stripewise.run.launch import ScriptJobs
from stripewise.run.runtime import Runtime
from stripewise.run.tiers import StoragePool, TierRequest, find_tier
from stripewise.study.job_scripts._tuned_script import write_tuned_script
from stripewise.study.workspace import InputSnapshot
from stripewise.study.workspace._snapshot import SnapshotEntry

GIB = 1 << 30
POOL = StoragePool("wlm_pool", 2 * GIB, 16 * GIB, 16 * GIB)
SCRIPT = b"""\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --time=10
export OMP_NUM_THREADS=1
srun -n 4 ./solve big.dat
"""
HINTS = FileRule("*.dat", mpiio={"cb_nodes": 2}, override=True)
HYBRID = {"burst_buffer_nodes": 1, "burst_buffer_files": "b*"}
OWN_HINTS = SCRIPT.replace(b"export", b"export MPICH_MPIIO_HINTS='*:a=b'\nexport")
TASK = '#!/bin/sh\necho "task $1" >> "$RECORD"\nshift 2\nexec "$@"\n'
SRUN = (
    '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do [ "$1" = -n ] && shift; shift; done\n'
    'echo "$PWD|$MPICH_MPIIO_HINTS|$OMP_NUM_THREADS" >> "$RECORD"\nexec "$@"\n'
)


class Left:
    """A directory of a user, and what a study leaves there."""

    def __init__(self, top: Path, folder: str = "work", name: str = "run.sh") -> None:
        self.top, self.work, self.study = top, top / folder, top / "study"
        folders = (self.work, self.study, top / "rt" / "bin", top / "bin", top / "bb")
        for path in (*folders, top / "inputs"):
            path.mkdir(parents=True)
        self._program(top / "rt" / "bin" / "stripewise-task", TASK)
        self._program(top / "bin" / "srun", SRUN)
        self._program(self.work / "solve", "#!/bin/sh\n")
        self.script = self.work / name
        self.runtime = Runtime(top / "rt")
        self.entries = {
            "solve": SnapshotEntry("file"),
            "big.dat": SnapshotEntry("file"),
            name: SnapshotEntry("file"),
        }
        self.entries |= {"small.nml": SnapshotEntry("file"), "in": SnapshotEntry("directory")}
        self.entries["in/deep"] = SnapshotEntry("file")

    @staticmethod
    def _program(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def write(self, winner: Configuration, data: bytes = SCRIPT, tier: str = "datawarp", **given):
        self.script.write_bytes(data)
        self.script.chmod(0o750)
        script = JobScript.parse(data, self.script.name)
        jobs = ScriptJobs(script, 1, find_tier(tier), pool=POOL)
        jobs = replace(jobs, **given.pop("jobs", {}))
        return write_tuned_script(
            jobs,
            winner,
            runtime=self.runtime,
            script_path=self.script,
            study=self.study,
            snapshot=InputSnapshot(self.top / "inputs", self.work, self.entries),
            **given,
        )

    def run(self, path: Path) -> list[str]:
        """Run the script from its directory; return what srun and the tasks saw.

        The directory of the job on the burst buffer, of which nothing is left, is BB.
        """
        record = self.top / "record"
        record.unlink(missing_ok=True)
        environment = {
            "PATH": f"{self.top}/bin:/usr/bin:/bin",
            "RECORD": str(record),
            "DW_JOB_STRIPED": str(self.top / "bb"),
            "DW_PERSISTENT_STRIPED_mine": str(self.top / "bb"),
            "FAST": str(self.top / "bb"),
            "BB": "bb",
            "SLURM_SUBMIT_DIR": str(self.work),
        }
        done = subprocess.run(
            ["bash", path], cwd=self.work, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done
        assert not list(self.top.rglob("canary*"))
        assert not list((self.top / "bb").iterdir())
        said = record.read_text("utf-8", "surrogateescape")
        there = re.escape(f"{self.top}/bb") + r"/stripewise-0-[0-9]+/work\b"
        return re.sub(there, "BB", said).splitlines()


def job(**given) -> Configuration:
    return Configuration(job=JobSettings(**given))


def directives(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("#DW")]


def linked(*names: str) -> dict:
    return {"jobs": {"links": True, "seen": lambda: names}}


def on_fast(place: str = "$FAST", **given) -> dict:
    jobs = {"pool": None, "ask": TierRequest(directory=place), **given}
    return {"tier": "directory", "jobs": jobs}
