# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""run.tuned.sh for every kind of winner, and what of it a shell really runs."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from stripewise.errors import UsageError
from stripewise.jobs import JobScript, revert
from stripewise.launch import NullLauncher, ScriptJobs
from stripewise.model import Configuration, FileRule, JobSettings
from stripewise.study import JobOptions, StudyOptions
from stripewise.study._job_tools import leave_script
from stripewise.study._prepared_job import PreparedJob
from stripewise.study._tuned_script import (
    LINKS_FILE,
    TASK_FILE,
)
from stripewise.testing.strategy_suite import romio_facts
from stripewise.tiers import TierRequest, find_tier
from stripewise.workspace._snapshot import Entry
from support.job_scripts import HOSTILE_NAMES
from support.tuned_scripts import (
    GIB,
    HINTS,
    HYBRID,
    OWN_HINTS,
    SCRIPT,
    Left,
    directives,
    job,
    linked,
)


def test_a_burst_buffer(left) -> None:
    made = left.write(job(burst_buffer_nodes=2))
    first, *staged, out = directives(made.path)
    assert made.path == left.work / "run.tuned.sh"
    assert first.endswith("capacity=3GiB pool=wlm_pool")
    assert staged == [
        f"#DW stage_in type={kind} source={left.work}/{name} destination=$DW_JOB_STRIPED/{name}"
        for kind, name in (
            ("file", "solve"), ("file", "big.dat"), ("file", "small.nml"), ("directory", "in"),
        )
    ]  # fmt: skip
    assert out.endswith(f"source=$DW_JOB_STRIPED/ destination={left.work}/run.results")  # no input
    assert left.run(made.path) == [f"{left.top}/bb||1"]
    assert revert(made.path.read_bytes()) == SCRIPT
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o750
    assert not (left.study / TASK_FILE).exists()


def test_directories_that_the_user_names(left) -> None:
    (left.work / "in").mkdir()
    made = left.write(job(burst_buffer_nodes=1), stage_in=f"{left.work}/in", stage_out="/res")
    _, into, out = directives(made.path)
    assert f"type=directory source={left.work}/in destination" in into
    assert out.endswith("destination=/res")


def test_what_links_lead_to_is_staged(left) -> None:
    (left.work / "in").mkdir()
    (left.work / "data").symlink_to("in")
    left.entries["data"] = Entry("link", target="in")
    made = left.write(job(burst_buffer_nodes=1))
    assert f"type=directory source={left.work}/data" in made.path.read_text()


def test_settings_for_the_tasks_are_wrapped(left) -> None:
    made = left.write(Configuration((HINTS,), JobSettings(burst_buffer_nodes=1)))
    assert left.run(made.path) == [f"{left.top}/bb||1", f"task {left.study / TASK_FILE}"]
    assert b"cb_nodes" in (left.study / TASK_FILE).read_bytes()
    assert stat.S_IMODE((left.study / TASK_FILE).stat().st_mode) == 0o600
    assert revert(made.path.read_bytes()) == SCRIPT


def test_hybrid(left) -> None:
    made = left.write(job(burst_buffer_nodes=2, burst_buffer_files="big*"))
    text = made.path.read_text()
    assert "cd " not in text
    assert [line for line in directives(made.path) if "stage_in" in line] == [
        f"#DW stage_in type=file source={left.work}/big.dat destination=$DW_JOB_STRIPED/big.dat"
    ]
    redirect = b"@STRIPEWISE_REDIRECT=%{SLURM_SUBMIT_DIR}/big*=%{DW_JOB_STRIPED}\0"
    assert redirect in (left.study / TASK_FILE).read_bytes()
    assert left.run(made.path) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]


def test_hybrid_by_links(left) -> None:
    winner = job(burst_buffer_nodes=2, burst_buffer_files="big*,d/o*")
    made = left.write(winner, **linked("big.dat", "big.out", "d/out", "small.nml"))
    text, program = made.path.read_text(), left.study / LINKS_FILE
    assert f"\nsh {program} srun -n 4 ./solve big.dat\n" in text
    assert "stripewise-task" not in text
    assert [line for line in directives(made.path) if "stage_in" in line] == [
        f"#DW stage_in type=file source={left.work}/big.dat destination=$DW_JOB_STRIPED/big.dat"
    ]
    assert directives(made.path)[-1].endswith(f"destination={left.work}")
    (left.work / "big.dat").write_text("in")
    left._program(left.work / "solve", "#!/bin/sh\nreadlink big.dat big.out\necho x > big.out\n")
    assert left.run(made.path) == [f"{left.work}||1"]
    assert (left.top / "bb" / "big.out").read_text() == "x\n"
    assert not (left.work / "big.out").exists()
    assert (left.work / "big.dat").read_text() == "in"
    assert not (left.work / "big.dat").is_symlink()
    assert revert(made.path.read_bytes()) == SCRIPT


def test_hybrid_by_links_with_hints(left) -> None:
    winner = Configuration((HINTS,), JobSettings(**HYBRID))
    made = left.write(winner, **linked("big.dat"))
    assert f"task {left.study / TASK_FILE}" in left.run(made.path)
    assert b"STRIPEWISE_REDIRECT" not in (left.study / TASK_FILE).read_bytes()
    made = left.write(winner, is_cray=True, **linked("big.dat"))
    assert left.run(made.path) == [f"{left.work}|*.dat:cb_nodes=2|1"]


def test_hybrid_with_outputs_in_directories(left) -> None:
    made = left.write(job(burst_buffer_nodes=2, burst_buffer_files="out/a*,out/b*,o/p/q"))
    redirect = b"%{SLURM_SUBMIT_DIR}/out/b*=%{DW_JOB_STRIPED}/out:%{SLURM_SUBMIT_DIR}/o/p/q="
    assert redirect in (left.study / TASK_FILE).read_bytes()
    assert left.run(made.path) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
    assert (left.top / "bb" / "out").is_dir()
    assert (left.top / "bb" / "o" / "p").is_dir()
    assert directives(made.path)[-1].endswith(f"destination={left.work}")
    assert revert(made.path.read_bytes()) == SCRIPT


@pytest.mark.parametrize("globs", ["in/d*", "o*/a", "$(touch canary)/a", "../a", "a b/c"])
def test_hybrid_with_what_cannot_be_there_before_the_job(left, globs) -> None:
    with pytest.raises(UsageError):
        left.write(job(burst_buffer_nodes=2, burst_buffer_files=globs))
    assert not (left.work / "run.tuned.sh").exists()


def test_the_parallel_file_system(left) -> None:
    made = left.write(Configuration((HINTS,)), tier="none", jobs={"pool": None})
    assert not directives(made.path)
    assert left.run(made.path) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
    assert revert(made.path.read_bytes()) == SCRIPT


def test_ranks_and_threads_stand_in_the_launch_line(left) -> None:
    made = left.write(job(ranks=2, threads=2), tier="none", jobs={"pool": None})
    text = made.path.read_text()
    assert "stripewise-task" not in text
    assert "OMP_NUM_THREADS=2" in text
    assert "-n 2" in text
    assert left.run(made.path) == [f"{left.work}||2"]


def test_a_job_with_other_threads_asks_for_the_cpus_of_its_trial(left) -> None:
    data = SCRIPT.replace(b"--nodes=1", b"--nodes=2 --ntasks=8 --ntasks-per-node=4")
    given = {"tier": "none", "jobs": {"pool": None, "nodes": 2}}
    made = left.write(job(ranks=4, threads=2), data, **given)
    asked = " ".join(JobScript.parse(made.path.read_bytes(), "x").sbatch_arguments())
    for option in ("--cpus-per-task=2", "--ntasks=4", "--ntasks-per-node=2", "--nodes=2"):
        assert option in asked
    text = made.path.read_text()
    assert "OMP_NUM_THREADS=2 srun --ntasks-per-node=2 --cpus-per-task=2 -n 4 ./solve" in text
    assert revert(made.path.read_bytes()) == data
    made = left.write(Configuration((HINTS,)), data.replace(b"--ntasks=8", b"-n 8 -c 2"), **given)
    assert "\nsrun -n 4 " in made.path.read_text()


def test_a_script_with_directives_of_its_own(left) -> None:
    own = b"#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
    out = b"#DW stage_out type=directory source=$DW_JOB_STRIPED/r destination=/res\n"
    data = SCRIPT.replace(b"export", own + out + b"cd $DW_JOB_STRIPED\nexport")
    request = TierRequest(capacity_bytes=GIB, stage_out=Path("/res"), place="r")
    jobs = {"own": request, "ask": request}
    made = left.write(job(burst_buffer_nodes=4), data, jobs=jobs)
    text = made.path.read_text()
    assert "capacity=7GiB" in text
    assert "stage_in" not in text
    assert text.count("\ncd ") == 1
    assert [line for line in directives(made.path) if "destination=/res" in line]
    assert revert(made.path.read_bytes()) == data
    made = left.write(Configuration((HINTS,)), data, jobs=jobs)
    assert "capacity=1GiB" in made.path.read_text()


def test_cray_takes_hints_by_itself(left) -> None:
    winner = Configuration((HINTS,), JobSettings(burst_buffer_nodes=1))
    made = left.write(winner, is_cray=True)
    assert left.run(made.path) == [f"{left.top}/bb|*.dat:cb_nodes=2|1"]
    assert "*.dat:cb_nodes=2" in made.hints
    assert not (left.study / TASK_FILE).exists()


@pytest.mark.parametrize(
    ("winner", "data"),
    [
        (Configuration((HINTS,), JobSettings(**HYBRID)), SCRIPT),
        (Configuration((HINTS, FileRule("*", hdf5={"alignment": 4096}))), SCRIPT),
        (Configuration((HINTS,)), OWN_HINTS),
        (job(**HYBRID), SCRIPT),
    ],
)  # fmt: skip
def test_cray_needs_tasks_where_hints_are_not_all(left, winner, data) -> None:
    made = left.write(winner, data, is_cray=True)
    assert "stripewise-task" in made.path.read_text()
    assert "export MPICH_MPIIO_HINTS=\\*" not in made.path.read_text()


@pytest.mark.parametrize("kind", ["file", "link", "directory"])
def test_nothing_of_the_users_is_replaced(left, kind) -> None:
    target = left.work / "run.tuned.sh"
    if kind == "file":
        target.write_text("mine\n")
    elif kind == "link":
        target.symlink_to(left.top / "nothing")
    else:
        target.mkdir()
    made = left.write(job(burst_buffer_nodes=1))
    assert made.path == left.study / "run.tuned.sh"
    assert revert(made.path.read_bytes()) == SCRIPT
    assert not (left.top / "nothing").exists()
    assert target.is_symlink() is (kind == "link")
    assert target.is_dir() is (kind == "directory")
    if kind == "file":
        assert target.read_text() == "mine\n"
        target.unlink()
        assert left.write(job(burst_buffer_nodes=1)).path == target
        assert left.write(job(burst_buffer_nodes=2)).path == target  # ours is replaced


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name, f"{name}.sh")
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    note = f"settings found by {left.script}"
    made = left.write(Configuration((HINTS,)), tier="none", jobs={"pool": None}, notes=(note,))
    assert "task " in "".join(left.run(made.path))
    assert revert(made.path.read_bytes()) == SCRIPT
    if name == "-dash":
        return
    with pytest.raises(UsageError, match="cannot be staged") as refused:
        left.write(job(burst_buffer_nodes=1))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_linked_outputs(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name)
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    left.entries = {}
    winner = job(burst_buffer_nodes=1, burst_buffer_files="*")
    given = {**linked(f"big{name}", name), "stage_out": "/results"}
    made = left.write(winner, **given)
    code = '#!/bin/sh\nfor n in *; do [ -L "$n" ] && echo x > "$n"; done\n:\n'
    left._program(left.work / "solve", code)
    assert left.run(made.path)
    for one in (name, f"big{name}"):
        assert (left.top / "bb" / one).read_text() == "x\n"
        assert not os.path.lexists(left.work / one)
    assert revert(made.path.read_bytes()) == SCRIPT


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_scripts_whose_results_are_copied_back(tmp_path, name) -> None:
    left = Left(tmp_path, name=f"{name}.sh")
    if name == "-dash":
        assert left.run(left.write(job(burst_buffer_nodes=1)).path)
        return
    with pytest.raises(UsageError, match=r"results' cannot be staged.*--stage-out"):
        left.write(job(burst_buffer_nodes=1))
    assert not list(left.work.glob("*.tuned.sh"))
    made = left.write(job(burst_buffer_nodes=1), stage_out=f"{left.work}/out")
    assert b"destination=%s/out\n" % os.fsencode(left.work) in made.path.read_bytes()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_inputs(left, name) -> None:
    left.entries[name] = Entry("file")
    path = os.fsencode(left.work) + b"/" + os.fsencode(name)
    with open(path, "w"):
        pass
    if name == "-dash":
        assert left.run(left.write(job(burst_buffer_nodes=1)).path)
        return
    with pytest.raises(UsageError, match="cannot be staged"):
        left.write(job(burst_buffer_nodes=1))
    assert not (left.work / "run.tuned.sh").exists()


@pytest.mark.parametrize(
    ("version", "is_cray"), [("CRAY MPICH version 8.1.4", True), ("MPICH Version: 4.0.2", False)]
)
def test_cray_is_known_by_its_version(left, monkeypatch, version, is_cray) -> None:
    seen = {}

    def write(*_, **given):
        seen.update(given)
        raise UsageError("no")

    monkeypatch.setattr("stripewise.study._job_tools.write_tuned_script", write)
    data = SCRIPT.replace(b"--nodes=1", b"--nodes=2 --ntasks-per-node=2")
    script = JobScript.parse(data, "run.sh")
    prepared = PreparedJob(ScriptJobs(script, 1, find_tier("none"), nodes=2), script.launch())
    options = StudyOptions(("x",), job=JobOptions("run.sh"))
    result = SimpleNamespace(
        winner=SimpleNamespace(configuration=Configuration((HINTS,), job=JobSettings(ranks=2))),
        improved=True,
        speedup=None,
        facts=replace(romio_facts(), mpi_version=version),
    )
    figures = leave_script(options, prepared, left.runtime, None, NullLauncher(), result)
    assert seen["is_cray"] is is_cray
    assert (figures.no_script, figures.tuned_script, figures.n_jobs) == ("no", "", 0)
    assert (figures.compute_nodes, figures.winner_nodes) == (2, 1)
