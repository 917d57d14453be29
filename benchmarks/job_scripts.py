# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies job scripts on the test cluster, and submits the scripts that result.

    python benchmarks/job_scripts.py                       # all; half an hour on an idle machine
    python benchmarks/job_scripts.py btio-auto wrf-expbb

Each study has its own cluster (tools/cluster): a real Slurm with its DataWarp plugin, and
Shaheen II's Lustre and DataWarp emulated in slow motion.  Afterwards the user's script and
run.tuned.sh are submitted alternately, as a user would, and the kernel's own times are compared.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from stripewise.run.runtime import find_runtime

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools" / "cluster"))
from cluster import Cluster

MAIN = "from stripewise.cli import main; main()"
STRATEGIES = ("expbb", "auto")
PAIRS = 3
STUDY_SECONDS, JOB_SECONDS = 2400, 300
SCRIPT = """#!/bin/bash
#SBATCH --job-name={name} --nodes={nodes} --ntasks={ranks} --ntasks-per-node=2 --time=5
cd $SLURM_SUBMIT_DIR
export OMPI_MCA_io={io}
srun {kernel} {arguments} --mode collective --fsync --keep ${{CLOCK:+--json "$CLOCK"}}
"""


@dataclass(frozen=True)
class Program:
    """Job to be tuned, and the cluster on which it is tuned."""

    name: str
    arguments: str
    ranks: int
    io: str
    slowdown: int
    pool: int
    options: tuple[str, ...] = ()


PROGRAMS = (
    Program("btio", "--pattern btio --size 64,64,64 --steps 2 --file btio.dat", 4, "ompio", 64, 8),
    Program(
        "wrf",
        "--pattern wrf --steps 2 --file wrfout.dat",
        8,
        "romio321",
        32,
        16,
        ("--bb-nodes", "8,16"),
    ),
)


def main() -> int:
    """Run the studies, and print their results."""
    given = _arguments()
    for program in PROGRAMS:
        for strategy in STRATEGIES:
            name = f"{program.name}-{strategy}"
            if not given.names or name in given.names:
                found = measure(program, strategy)
                print(f"\n{name}", *(f"  {k}: {v}" for k, v in found.items()), sep="\n")
    return 0


def measure(program: Program, strategy: str) -> dict[str, str]:
    """Tune a program on its own cluster; return the results by name."""
    top = Path(tempfile.mkdtemp(prefix="sw-jobs-"))
    top.chmod(0o755)
    options: dict[str, int | bool] = {"slowdown": program.slowdown, "bb_nodes": program.pool}
    cluster = Cluster(top / "c", options=options)
    cluster.start()
    try:
        work = cluster.scratch / program.name
        cluster.run("mkdir", str(work), check=True)
        kernel = find_runtime().core.parents[1] / "bin" / "stripewise-kernel-openmpi"
        nodes = program.ranks // 2
        words = {"name": program.name, "nodes": nodes, "ranks": program.ranks, "io": program.io}
        text = SCRIPT.format(**words, kernel=kernel, arguments=program.arguments)
        (work / "run.sh").write_text(text)
        tune = (sys.executable, "-c", MAIN, "tune", "run.sh", "--strategy", strategy)
        done = cluster.run(*tune, "--no-memory", *program.options, timeout=STUDY_SECONDS, cwd=work)
        print(done.stdout, done.stderr, flush=True)
        result = json.loads((work / "run.stripewise" / "result.json").read_text())
        return {**_study_rows(result), "submitted": _submitted(cluster, work)}
    finally:
        cluster.stop()
        shutil.rmtree(top, ignore_errors=True)


def _study_rows(result: Mapping[str, Any]) -> dict[str, str]:
    against = result["job"]["speedups"]
    plain = [found for name, found in against.items() if name.startswith("burst buffer")]
    settings = ", ".join(f"{name.partition('.')[2]}={v}" for name, v in result["settings"].items())
    return {
        "result": result["result"],
        "the winner": settings or "–",
        "I/O against the script": _interval(result["speedup"]),
        "I/O against a burst buffer at its defaults": _interval(plain[0]) if plain else "–",
        "whole run against the script": _interval(result["whole_program_speedup"]),
        "trials; runs in all": f"{len(result['trials'])}; {result['price']['n_runs']}",
        "node-seconds of the study": f"{result['job']['node_seconds']['spent']:.0f}",
    }


def _interval(found: Mapping[str, Any]) -> str:
    if not found.get("n_pairs"):
        return f"{found['median']:.2f}x, single runs"
    return f"{found['median']:.2f}x [{found['low']:.2f}–{found['high']:.2f}]"


def _submitted(cluster: Cluster, work: Path) -> str:
    """Submit both scripts alternately; return the kernel's own seconds of each."""
    seconds: dict[str, list[float]] = {"run.sh": [], "run.tuned.sh": []}
    for number in range(PAIRS if (work / "run.tuned.sh").exists() else 0):
        for script, found in seconds.items():
            clock = work.parent / f"{script}.{number}.json"
            export = f"--export=ALL,CLOCK={clock}"
            done = cluster.run("sbatch", "--wait", export, script, timeout=JOB_SECONDS, cwd=work)
            if done.returncode:
                return f"{script} failed: {done.stderr.strip()[-200:]}"
            steps = json.loads(clock.read_text())["steps"]
            found.append(sum(step["seconds"] for step in steps))
    if not all(seconds.values()):
        return "–"
    before, after = (median(found) for found in seconds.values())
    return f"{before:.2f} s, {after:.2f} s: {before / after:.2f}x"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="STUDY", help="of btio and wrf, -expbb and -auto"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
