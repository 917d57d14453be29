# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whole studies of job scripts on a fake Slurm, whose jobs are processes of this host."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from stripewise.learning.knowledge import Store
from stripewise.run.jobs import revert
from stripewise.study.plan import Journal
from support.job_cluster import SCRIPT, JobCluster, Said, as_datawarp, job_cluster, prepared

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "result.schema.json"
SHORT = ("--strategy", "random", "--trials", "2", "--bb-nodes", "2")
"""One candidate: 2 nodes."""


class Kill(BaseException):
    """As kill -9: nothing catches it."""


class Study:
    """A study that has ended."""

    def __init__(self, cluster: JobCluster, said: Said) -> None:
        self.cluster, self.said = cluster, said
        self.folder = cluster.work / "run.stripewise"
        self.tuned = cluster.work / "run.tuned.sh"

    @property
    def result(self) -> dict:
        return json.loads((self.folder / "result.json").read_text())


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, writer: Path) -> Iterator[Study]:
    """A study that finds a burst buffer of 2 nodes faster."""
    patch = pytest.MonkeyPatch()
    with job_cluster(tmp_path_factory.mktemp("ended"), patch) as made:
        said = prepared(made, writer).tune("run.sh", *SHORT, "--budget", "40node-hours")
        assert said.code == 0, said
        yield Study(made, said)
    patch.undo()


# ---- what a study leaves --------------------------------------------------------------------


@pytest.mark.extended
def test_the_winner_is_found_and_proved(ended) -> None:
    result = ended.result
    assert result["speedup"]["low"] > 1
    jsonschema.validate(result, json.loads(SCHEMA.read_text()))
    assert result["configuration"]["job"]["burst_buffer_nodes"] == 2
    assert "wrote           " + str(ended.tuned) in ended.said.out
    assert f"sbatch {ended.tuned}" in ended.said.out


@pytest.mark.extended
def test_the_tuned_script_reverts_and_keeps_the_mode(ended) -> None:
    data = ended.tuned.read_bytes()
    assert revert(data) == SCRIPT.encode() == ended.cluster.script.read_bytes()
    assert stat.S_IMODE(ended.tuned.stat().st_mode) == 0o750
    assert b"capacity=3GiB" in data
    assert b"stripewise-task" not in data
    assert b"\nsrun -n 1 ./writer out.dat input.txt\n" in data
    done = ended.cluster.run("settings", "script", "--revert", "run.tuned.sh", "--print")
    assert done.out == SCRIPT


@pytest.mark.extended
def test_the_tuned_script_runs(ended, tmp_path) -> None:
    names = ended.cluster.names
    done = as_datawarp(ended.tuned, tmp_path)
    assert done.returncode == 0, done
    assert ended.cluster.names == {*names, "out.dat"}
    out = ended.cluster.work / "out.dat"
    assert out.stat().st_size == 4 * 65536
    assert out.read_bytes()[7:8] == b"i"
    out.unlink()


@pytest.mark.extended
def test_everything_is_private(ended) -> None:
    for path in [ended.folder, *ended.folder.rglob("*")]:
        if not path.is_relative_to(ended.folder / "inputs"):
            assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    assert stat.S_IMODE(ended.folder.stat().st_mode) == 0o700
    assert (ended.folder / "jobs").is_dir()
    for job in ended.cluster.fake.jobs:
        assert Path(job["output"]).is_relative_to(ended.folder)


@pytest.mark.extended
def test_what_the_result_says_of_the_jobs(ended) -> None:
    said = json.dumps(ended.result)
    assert "run.sh" in said
    assert 1 <= len(ended.cluster.fake.jobs) <= 3
    rungs = (ended.folder / "rungs.txt").read_text()
    assert "job script run.sh, step 1" in rungs
    assert "burst" in rungs


@pytest.mark.extended
def test_a_finished_study_is_told_again(ended) -> None:
    jobs, tuned = ended.cluster.submitted, ended.tuned.read_bytes()
    ended.cluster.set(burst="Name=datawarp DefaultPool=wlm_pool Granularity=2GiB TotalSpace=16GiB "
                      "FreeSpace=0GiB UsedSpace=16GiB\n")  # fmt: skip
    for words in (("run.sh", "--resume"), ("--resume", "--study-dir", "run.stripewise")):
        said = ended.cluster.tune(*words)
        assert said.code == 0, said
        assert "3 paired" in said.out or "paired runs" in said.out
    assert ended.cluster.submitted == jobs
    assert ended.tuned.read_bytes() == tuned
    ended.cluster.set()
    ended.cluster.tune("run.sh").error("--resume")


@pytest.mark.extended
def test_a_changed_script_is_not_gone_on_with(ended) -> None:
    ended.cluster.write(SCRIPT + "# changed\n")
    try:
        words = ("--resume", "--study-dir", "run.stripewise")
        ended.cluster.tune(*words).error("run.sh has changed", "--force")
        ended.cluster.tune("run.sh", "--resume").error("run.sh has changed")
        ended.cluster.script.unlink()
        ended.cluster.tune(*words).error("No such file")
    finally:
        ended.cluster.write(SCRIPT)


# ---- other ends -----------------------------------------------------------------------------


@pytest.mark.extended
def test_an_interrupted_study_goes_on(cluster, monkeypatch) -> None:
    append, left = Journal.append, [12]

    def counted(self, kind, **data):
        left[0] -= 1
        if not left[0]:
            raise Kill
        return append(self, kind, **data)

    monkeypatch.setattr(Journal, "append", counted)
    with pytest.raises(Kill):
        cluster.tune("run.sh", *SHORT)
    assert not (cluster.work / "run.tuned.sh").exists()
    monkeypatch.setattr(Journal, "append", append)
    said = cluster.tune("--resume", "--study-dir", "run.stripewise")
    assert said.code == 0, said
    made = cluster.work / "run.tuned.sh"
    assert revert(made.read_bytes()) == SCRIPT.encode()


@pytest.mark.extended
def test_the_budget_in_node_hours_ends_the_study(cluster, monkeypatch) -> None:
    """These jobs take less than any of Slurm's."""
    monkeypatch.setattr("stripewise.study.plan._budget.LEAST_RUN_SECONDS", 0.01)
    monkeypatch.setattr("stripewise.study.plan._budget.ENDING_SECONDS", 0.0)
    said = cluster.tune("run.sh", "--bb-nodes", "1,2,3,4", "--budget", "0.0003")
    assert said.code == 0, said
    assert " result          nothing tried. node-hour budget: " in said.out
    assert "of 0.0003 node-hours used; the rest of a study of one trial" in said.out
    result = json.loads((cluster.work / "run.stripewise" / "result.json").read_text())
    assert result["result"] == "nothing tried"
    text = " ".join(said.out.split())
    assert "Nothing was decided: node-hour budget: " in text
    assert "It decided nothing, so its cost cannot be recovered." in text
    assert "(failed)" not in text
    assert len(result["runs"]) < 4


@pytest.mark.extended
def test_rungs_that_the_trials_did_not_reach(cluster) -> None:
    words = ("--strategy", "expbb", "--trials", "1", "--bb-nodes", "1,2,4")
    said = cluster.tune("run.sh", *words)
    assert said.code == 0, said
    assert "1 trial is likely to reach 1 of 3 rungs (1, 2, 4 burst-buffer nodes)" in said.out
    text = " ".join(said.out.split())
    assert "Rungs not reached: 2, 4 burst-buffer nodes (1 of 1 trials used)." in text
    assert "Reaching the last of them takes 2 more trials" in text
    folder = cluster.work / "run.stripewise"
    conclusions = json.loads((folder / "result.json").read_text())["job"]["conclusions"]
    assert any("Rungs not reached: 2, 4" in one for one in conclusions)
    assert "Rungs not reached: 2, 4" in (folder / "decisions.txt").read_text()
    said = cluster.tune("run.sh", "--resume", "--trials", "3")
    assert said.code == 0, said
    assert "3 trials are likely to reach all 3 rungs" in said.out
    assert "Rungs not reached" not in " ".join(said.out.split())


@pytest.mark.extended
def test_what_was_found_on_the_burst_buffer_is_kept_for_it_alone(cluster, knowledge_path) -> None:
    words = ("--strategy", "exhaustive", "--trials", "3", "--bb-nodes", "2", "--threads", "2")
    assert cluster.tune("run.sh", *words, "--no-memory").code == 0
    assert not knowledge_path.exists()
    said = cluster.tune("run.sh", *words, "--force")
    assert said.code == 0, said
    (kept,) = Store(knowledge_path).lessons()
    assert kept.case.machine.filesystem == "datawarp, 2 nodes"
    assert [one.settings for one in kept.tried] == [{"job.threads": 2}]


def test_an_exhausted_allocation(cluster) -> None:
    cluster.set(
        refuse="sbatch: error: AssocGrpCPUMinutesLimit\nsbatch: error: Batch job submission "
        "failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time "
        "limits)"
    )
    said = cluster.tune("run.sh", *SHORT)
    said.error("Slurm refuses the job", "time is used up", "another account")
    assert cluster.fake.jobs == []
    assert cluster.names == {"run.sh", "input.txt", "writer"}


@pytest.mark.extended
@pytest.mark.parametrize("text", ["$LOCAL", "{top}/$NAME"])
def test_a_directory_of_the_nodes(cluster, text) -> None:
    place = cluster.work.parent / "bb-local"
    place.mkdir()
    found = {"LOCAL": str(place), "NAME": "bb-local", "FAKE_BB_CAPACITY": "4"}
    cluster.set(environment=found)
    words = (
        "--tier",
        "directory",
        "--place",
        text.format(top=cluster.work.parent),
        "--strategy",
        "random",
        "--trials",
        "1",
    )
    said = cluster.tune("run.sh", *words)
    assert said.code == 0, said
    assert list(place.iterdir()) == []
    result = json.loads((cluster.work / "run.stripewise" / "result.json").read_text())
    (run,) = (one for one in result["job"]["runs"] if one["nodes"] == 1)
    assert run["stage_in_seconds"] > 0
    assert run["stage_out_seconds"] > 0
    made = cluster.work / "run.tuned.sh"
    assert revert(made.read_bytes()) == SCRIPT.encode()
    variables = {**os.environ, **found, "SLURM_JOB_ID": "9"}
    done = subprocess.run([made], cwd=cluster.work, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert (cluster.work / "out.dat").stat().st_size == 4 * 65536
    assert list(place.iterdir()) == []


@pytest.mark.extended
def test_a_place_that_several_nodes_cannot_share(cluster) -> None:
    place = cluster.work.parent / "bb-local"
    place.mkdir()
    cluster.set(environment={"LOCAL": str(place), "SLURM_JOB_NUM_NODES": "2"})
    words = ("--tier", "directory", "--place", "$LOCAL", "--strategy", "random", "--trials", "1")
    said = cluster.tune("run.sh", *words)
    assert "is storage of each node, which the 2 nodes of the job cannot share" in said.out, said
    assert not (cluster.work / "run.tuned.sh").exists()


def test_a_script_without_directives_is_a_program(cluster) -> None:
    cluster.write("#!/bin/bash\n./writer out.dat input.txt\n")
    said = cluster.tune("--trials", "1", "./run.sh")
    assert cluster.fake.calls == []
    assert "job script" not in said.out
    said = cluster.tune("--trials", "1", "--force", "--", "./run.sh", "--budget")
    assert cluster.fake.calls == []
    assert said.code != 70, said


def test_a_job_script_that_a_shell_is_given_is_a_program(cluster) -> None:
    cluster.tune("--trials", "1", "--", "./run.sh").error("./run.sh is a job script")
    assert cluster.names == {"run.sh", "input.txt", "writer"}
    said = cluster.tune("--trials", "1", "--", "bash", "run.sh")
    assert said.code == 0, said
    assert cluster.fake.calls == []


@pytest.mark.extended
def test_a_script_that_goes_to_its_own_burst_buffer(cluster, tmp_path) -> None:
    (cluster.work / "in").mkdir()
    for name in ("input.txt", "writer"):
        (cluster.work / name).rename(cluster.work / "in" / name)
    text = (
        "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
        "#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
        f"#DW stage_in type=directory source={cluster.work}/in destination=$DW_JOB_STRIPED/\n"
        f"#DW stage_out type=directory source=$DW_JOB_STRIPED/ destination={cluster.work}/res\n"
        "cd $DW_JOB_STRIPED\nsrun -n 1 ./writer out.dat input.txt\n"
    )
    cluster.write(text)
    said = cluster.tune("run.sh", "--strategy", "random", "--trials", "2", "--bb-nodes", "4")
    assert said.code == 0, said
    made = (cluster.work / "run.tuned.sh").read_text()
    assert revert(made.encode()) == text.encode()
    assert made.count("#DW jobdw") == 2  # the user's, as a comment, and the new one
    assert "capacity=7GiB" in made
    assert made.count("\ncd ") == 1


@pytest.mark.extended
def test_a_hostile_name_of_a_script(cluster) -> None:
    name = "-q'\"$(touch canary)\udce9.sh"
    cluster.script.unlink()
    path = cluster.write(SCRIPT.replace("solve", "a;$(touch$IFS-canary)"), name)
    said = cluster.tune(f"./{name}", *SHORT)
    assert said.code == 0, said
    made = path.with_name(f"{path.stem}.tuned.sh")
    assert revert(made.read_bytes()) == path.read_bytes()
    assert subprocess.run(["bash", "-n", made], capture_output=True).stderr == b""
    assert not list(cluster.work.rglob("canary*"))


@pytest.mark.extended
def test_a_script_that_goes_to_its_directory_by_name(cluster, tmp_path) -> None:
    """Its runs stay in their copies; the tuned script works on the burst buffer, as its trial."""
    head, launch = SCRIPT.rsplit("srun", 1)
    text = f"{head}cd {cluster.work}\nrm -f out.dat\nsrun{launch}cp out.dat kept.dat\n"
    cluster.write(text)
    for name in ("out.dat", "kept.dat"):
        (cluster.work / name).write_text("the user's")
    said = cluster.tune("run.sh", *SHORT)
    assert said.code == 0, said
    for name in ("out.dat", "kept.dat"):
        assert (cluster.work / name).read_text() == "the user's"
    tuned = cluster.work / "run.tuned.sh"
    assert revert(tuned.read_bytes()) == text.encode()
    done = as_datawarp(tuned, tmp_path)
    assert done.returncode == 0, done
    for name in ("out.dat", "kept.dat"):
        assert (cluster.work / name).stat().st_size == 4 * 65536, "as the job would have done"


@pytest.mark.extended
def test_a_script_that_works_beside_its_own_burst_buffer(cluster) -> None:
    """It names its output there; what it leaves in its directory stays on the file system."""
    text = (
        "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
        "#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
        f"#DW stage_out type=directory source=$DW_JOB_STRIPED/ destination={cluster.work}/res\n"
        "cd $SLURM_SUBMIT_DIR\n"
        "case $PWD in */bb-*) exit 9; esac\n[ -f input.txt ] || exit 8\n"
        '[ -z "$(ls -A $DW_JOB_STRIPED)" ] || exit 7\n'
        "srun -n 1 ./writer $DW_JOB_STRIPED/out.dat input.txt\n"
    )
    cluster.write(text)
    said = cluster.tune("run.sh", "--strategy", "random", "--trials", "2", "--bb-nodes", "4")
    assert said.code == 0, said
    result = json.loads((cluster.work / "run.stripewise" / "result.json").read_text())
    assert result["speedup"]["low"] > 1
    assert result["verification"]["compared"] == ["out.dat"]
    assert "capacity=7GiB" in (cluster.work / "run.tuned.sh").read_text()
