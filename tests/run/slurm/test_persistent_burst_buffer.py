# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A persistent burst buffer of a real Slurm: made, tuned on, found as it was, and destroyed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.slurm_study import SlurmStudy, until

pytestmark = [pytest.mark.slurm, pytest.mark.mpi, pytest.mark.timeout(600)]

MAKE = "#!/bin/sh\n#SBATCH -N 1 -t 1\n#BB create_persistent name=mine capacity=2GiB " \
    "access=striped type=scratch\ntrue\n"  # fmt: skip
FILL = """#!/bin/sh
#SBATCH -N 1 -t 1
#DW persistentdw name=mine
cd $DW_PERSISTENT_STRIPED_mine && mkdir data && echo precious > data/in && echo old > btio.dat
"""
DESTROY = "#!/bin/sh\n#SBATCH -N 1 -t 1\n#BB destroy_persistent name=mine\ntrue\n"
OPTIONS = (
    "--tier", "datawarp", "--strategy", "random", "--trials", "2", "--runs", "14",
    "--only", "job.burst_buffer_nodes", "--only", "mpiio.cb_nodes",
)  # fmt: skip


def submit(cluster, text: str) -> None:
    script = cluster.scratch / "persistent.sh"
    script.write_text(text)
    os.chown(script, cluster.user.uid, cluster.user.gid)
    done = cluster.run("sbatch", "--wait", f"--output={cluster.scratch}/said-%j", str(script))
    assert done.returncode == 0, done


def shown(cluster) -> str:
    return cluster.run("scontrol", "show", "burst").stdout


@pytest.fixture
def instance(cluster) -> Iterator[Path]:
    """The directory of a persistent burst buffer of 2 nodes, with files of the user."""
    submit(cluster, MAKE)
    until(lambda: "Name=mine" in shown(cluster), 30, lambda: shown(cluster))
    submit(cluster, FILL)
    place = cluster.directory / "bb" / "mine"
    yield place
    submit(cluster, DESTROY)
    until(lambda: "Name=mine" not in shown(cluster), 30, lambda: shown(cluster))
    assert not place.exists()


def contents(top: Path) -> dict[str, bytes]:
    paths = (path for path in top.rglob("*") if path.is_file())
    return {str(path.relative_to(top)): path.read_bytes() for path in paths}


def result_of(study: SlurmStudy) -> dict:
    assert study.end(400) == 0, study.said[-3000:]
    study.check_nothing_is_left()
    return json.loads((study.folder / "study" / "result.json").read_text())


@pytest.mark.extended
def test_a_script_with_lines_of_its_own(cluster, instance):
    before = contents(instance)
    lines = "#DW persistentdw name=mine\ncat $DW_PERSISTENT_STRIPED_mine/data/in\n" \
        "cd $DW_PERSISTENT_STRIPED_mine"  # fmt: skip
    study = SlurmStudy(cluster, *OPTIONS, before=lines)
    study.start()
    result = result_of(study)
    assert contents(instance) == before == {"btio.dat": b"old\n", "data/in": b"precious\n"}
    runs = result["job"]["runs"]
    assert all(run["nodes"] == 2 and run["stage_in_seconds"] > 0 for run in runs), runs
    said = [path.read_text() for path in (study.folder / "study").rglob("stdout")]
    assert any(text.startswith("precious\n") for text in said)


@pytest.mark.extended
def test_a_script_that_is_given_one(cluster, instance):
    before = contents(instance)
    study = SlurmStudy(cluster, *OPTIONS, "--persistent", "mine")
    study.start()
    result = result_of(study)
    assert contents(instance) == before
    assert {run["nodes"] for run in result["job"]["runs"]} >= {2}


@pytest.mark.extended
def test_a_converted_script_leaves_the_rest_as_it_was(cluster, instance):
    folder = cluster.scratch / "converted"
    cluster.run("mkdir", str(folder), check=True)
    (folder / "name").write_text("input\n")
    script = folder / "run.sh"
    script.write_text("#!/bin/sh\n#SBATCH -N 1 -t 1\nsrun -n 1 sh -c 'cat name; pwd; echo x >out'")
    for path in (folder / "name", script):
        os.chown(path, cluster.user.uid, cluster.user.gid)
    main = "from stripewise.cli import main; main()"
    words = ("settings", "script", "run.sh", "--persistent", "mine", "-o", "run.tuned.sh")
    before = contents(instance)
    done = cluster.run(sys.executable, "-c", main, *words, cwd=folder)
    assert done.returncode == 0, done
    out = folder / "tuned.out"
    done = cluster.run("sbatch", "--wait", f"--output={out}", "run.tuned.sh", cwd=folder)
    assert done.returncode == 0, (done, out.read_text())
    said, place = out.read_text().splitlines()
    assert said == "input"
    assert place.startswith(f"{instance}/stripewise-")
    assert (folder / "out").read_text() == "x\n"
    assert contents(instance) == before
