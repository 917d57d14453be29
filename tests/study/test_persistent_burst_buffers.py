# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of job scripts on persistent burst buffers: what these hold is the user's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.job_cluster import BURST, PERSISTENT, SCRIPT, JobCluster

pytestmark = pytest.mark.extended

OWN = """\
#!/bin/bash
#SBATCH --nodes=1 --time=10
#DW persistentdw name=mine
cd $DW_PERSISTENT_STRIPED_mine
srun -n 1 ./writer out.dat data/input.txt
echo more >> data/input.txt
"""
WORDS = ("--strategy", "exhaustive", "--threads", "2", "--trials", "1", "--no-memory")


@pytest.fixture
def instance(cluster: JobCluster) -> Path:
    """A persistent burst buffer of 3 nodes, which holds the job's program and input."""
    place = cluster.work.parent / "bb-mine"
    (place / "data").mkdir(parents=True)
    (cluster.work / "writer").rename(place / "writer")
    (cluster.work / "input.txt").rename(place / "data" / "input.txt")
    (place / "link").symlink_to(place / "data")
    environment = {"DW_PERSISTENT_STRIPED_mine": f"{place}/", "FAKE_BB_CAPACITY": "6"}
    cluster.set(burst=BURST + PERSISTENT, environment=environment)
    return place


def contents(top: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(top)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in top.rglob("*")
        if path.is_file()
    }


def test_a_script_with_lines_of_its_own(cluster, instance) -> None:
    cluster.write(OWN)
    before = contents(instance)
    said = cluster.tune("run.sh", *WORDS)
    assert said.code == 0, said
    assert contents(instance) == before
    assert sorted(path.name for path in instance.iterdir()) == ["data", "link", "writer"]
    result = json.loads((cluster.work / "run.stripewise" / "result.json").read_text())
    assert {one["nodes"] for one in result["job"]["runs"]} == {3}
    assert {tuple(one["settings"]) for one in result["trials"]} == {("job.threads",)}
    assert all(one["stage_in_seconds"] > 0 for one in result["job"]["runs"])
    for job in cluster.fake.jobs:
        lines = Path(job["script"]).read_text().splitlines()
        assert [line for line in lines if line.startswith("#DW")] == ["#DW persistentdw name=mine"]


def test_what_is_copied_instead_of_all_that_it_holds(cluster, instance) -> None:
    cluster.write(OWN)
    some = cluster.work / "some"
    (some / "data").mkdir(parents=True)
    (some / "writer").write_bytes((instance / "writer").read_bytes())
    (some / "writer").chmod(0o700)
    (some / "data" / "input.txt").write_text("s")
    with open(instance / "large", "wb") as stream:
        stream.truncate(1 << 43)
    cluster.tune("run.sh", *WORDS).error("holds 8192.0 GiB", "--stage-in DIR")
    said = cluster.tune("run.sh", *WORDS, "--force", "--stage-in", str(some))
    assert said.code == 0, said
    assert (some / "data" / "input.txt").read_text() == "s"


def test_a_script_without_lines_on_a_chosen_one(cluster, instance) -> None:
    for name in ("writer", "data/input.txt"):
        (cluster.work / Path(name).name).write_bytes((instance / name).read_bytes())
    (cluster.work / "writer").chmod(0o700)
    before = contents(instance)
    words = ("--persistent", "mine", "--strategy", "random", "--trials", "1")
    said = cluster.tune("run.sh", *words)
    assert said.code == 0, said
    assert contents(instance) == before
    made = (cluster.work / "run.tuned.sh").read_text()
    assert "\n#DW persistentdw name=mine\n" in made
    assert "/run.stripewise/tuned.copies " in made
    result = json.loads((cluster.work / "run.stripewise" / "result.json").read_text())
    assert result["configuration"]["job"]["burst_buffer_nodes"] == 3
    assert cluster.run("settings", "script", "--revert", "run.tuned.sh", "--print").out == SCRIPT
    said = cluster.tune("run.sh", "--resume")
    assert said.code == 0, said
