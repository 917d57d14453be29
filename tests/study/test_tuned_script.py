# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""run.tuned.sh for every kind of winner, and what of it a shell really runs."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.jobs import JobScript, revert
from stripewise.run.launch import NullLauncher, ScriptJobs
from stripewise.run.tiers import TierRequest, find_tier
from stripewise.study.job_scripts._prepared import PreparedJob
from stripewise.study.job_scripts._tools import leave_script
from stripewise.study.job_scripts._tuned_script import COPIES_FILE, LINKS_FILE, TASK_FILE
from stripewise.study.plan import JobOptions, StudyOptions
from stripewise.study.workspace._snapshot import SnapshotEntry
from support.job_scripts import HOSTILE_NAMES
from support.strategy_suite import romio_facts
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
    line, saves = directives(made)
    assert saves.endswith(f"source=$DW_JOB_STRIPED/ destination={left.study}/unsaved")
    assert made == left.work / "run.tuned.sh"
    assert line.endswith("capacity=3GiB pool=wlm_pool")
    (left.work / "old.dat").write_text("old")
    left._program(left.work / "solve", "#!/bin/sh\nls; cat old.dat > out; echo x > run.log\n")
    assert left.run(made) == ["BB||1"]
    names = {path.name for path in left.work.iterdir()}
    assert names == {"out", "run.log", "old.dat", "run.sh", "run.tuned.sh", "solve"}
    assert (left.work / "out").read_text() == "old"
    assert revert(made.read_bytes()) == SCRIPT
    assert stat.S_IMODE(made.stat().st_mode) == 0o750
    assert stat.S_IMODE((left.study / COPIES_FILE).stat().st_mode) == 0o600
    assert not (left.study / TASK_FILE).exists()


def test_directories_that_the_user_names(left) -> None:
    for name in ("in", "out"):
        (left.work / name).mkdir()
    shutil.copy(left.work / "solve", left.work / "in" / "solve")
    left._program(left.work / "in" / "solve", "#!/bin/sh\nls > seen\n")
    named = {"stage_in": f"{left.work}/in", "stage_out": f"{left.work}/out"}
    made = left.write(job(burst_buffer_nodes=1), **named)
    assert left.run(made) == ["BB||1"]
    assert (left.work / "out" / "seen").read_text() == "seen\nsolve\n"
    assert os.listdir(left.work / "in") == ["solve"]
    with pytest.raises(UsageError, match="where results go"):
        left.write(job(burst_buffer_nodes=1), stage_in=f"{left.work}/in")
    probing = SCRIPT.replace(b"srun", b"[ -f rst ] && r=1\nsrun")
    with pytest.raises(UsageError, match=r"line 5, checks for .*same directory"):
        left.write(job(burst_buffer_nodes=1), probing, **named)


def test_what_the_user_left_out_stays_out(left) -> None:
    """What --input did not name the runs did without; what came since may be a restart."""
    (left.work / "huge").write_text("huge")
    (left.work / "small.nml").write_text("nml")
    began = (left.work / "huge").stat().st_ctime_ns + 1
    os.utime(left.top / "inputs", ns=(began, began))
    (left.work / "since").write_text("restart")
    while (left.work / "since").stat().st_ctime_ns < began:  # clocks of file systems are coarse
        (left.work / "since").touch()
    left._program(left.work / "solve", "#!/bin/sh\nls > seen\n")
    made = left.write(job(burst_buffer_nodes=1))
    left.run(made)
    seen = (left.work / "seen").read_text().split()
    assert seen == ["run.sh", "seen", "since", "small.nml", "solve"]
    assert (left.work / "huge").read_text() == "huge"


def test_settings_for_the_tasks_are_wrapped(left) -> None:
    made = left.write(Configuration((HINTS,), JobSettings(burst_buffer_nodes=1)))
    assert left.run(made) == ["BB||1", f"task {left.study / TASK_FILE}"]
    assert b"cb_nodes" in (left.study / TASK_FILE).read_bytes()
    assert stat.S_IMODE((left.study / TASK_FILE).stat().st_mode) == 0o600
    assert revert(made.read_bytes()) == SCRIPT


def test_hybrid(left) -> None:
    made = left.write(job(burst_buffer_nodes=2, burst_buffer_files="big*"))
    text = made.read_text()
    assert "cd " not in text
    assert "stage_in" not in text
    redirect = b"@STRIPEWISE_REDIRECT=%{SLURM_SUBMIT_DIR}/big*=%{DW_JOB_STRIPED}\0"
    assert redirect in (left.study / TASK_FILE).read_bytes()
    assert left.run(made) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]


def test_hybrid_by_links(left) -> None:
    winner = job(burst_buffer_nodes=2, burst_buffer_files="big*,d/o*")
    made = left.write(winner, **linked("big.dat", "big.out", "d/out", "small.nml"))
    text, program = made.read_text(), left.study / LINKS_FILE
    assert f"\nsh {program} srun -n 4 ./solve big.dat\n" in text
    assert "stripewise-task" not in text
    (left.work / "big.dat").write_text("in")
    left._program(
        left.work / "solve", "#!/bin/sh\nreadlink big.dat big.out > ln\necho x > big.out\n"
    )
    assert left.run(made) == [f"{left.work}||1"]
    assert (left.work / "ln").read_text().count(f"{left.top}/bb/stripewise-0-") == 2
    assert (left.work / "big.out").read_text() == "x\n"
    assert (left.work / "big.dat").read_text() == "in"
    assert not (left.work / "big.dat").is_symlink()
    assert revert(made.read_bytes()) == SCRIPT


def test_hybrid_by_links_with_hints(left) -> None:
    winner = Configuration((HINTS,), JobSettings(**HYBRID))
    made = left.write(winner, **linked("big.dat"))
    assert f"task {left.study / TASK_FILE}" in left.run(made)
    assert b"STRIPEWISE_REDIRECT" not in (left.study / TASK_FILE).read_bytes()
    made = left.write(winner, is_cray=True, **linked("big.dat"))
    assert left.run(made) == [f"{left.work}|*.dat:cb_nodes=2|1"]


def test_hybrid_with_files_in_directories(left) -> None:
    (left.work / "in").mkdir()
    (left.work / "in" / "d").write_text("in")
    made = left.write(job(burst_buffer_nodes=2, burst_buffer_files="out/a*,out/b*,o/p/q,in/d"))
    redirect = b"%{SLURM_SUBMIT_DIR}/out/b*=%{DW_JOB_STRIPED}/out:%{SLURM_SUBMIT_DIR}/o/p/q="
    assert redirect in (left.study / TASK_FILE).read_bytes()
    code = 'cd "$STRIPEWISE_STAGE"; echo x > out/a1; echo y > o/p/q; cat in/d\n'
    left._program(left.work / "solve", f"#!/bin/sh\n{code}")
    assert left.run(made) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
    assert (left.work / "out" / "a1").read_text() == "x\n"
    assert (left.work / "o" / "p" / "q").read_text() == "y\n"
    assert revert(made.read_bytes()) == SCRIPT


@pytest.mark.parametrize("globs", ["o*/a", "a/../../b", "../a", "[ab]/c"])
def test_hybrid_with_what_cannot_be_there_before_the_job(left, globs) -> None:
    with pytest.raises(UsageError):
        left.write(job(burst_buffer_nodes=2, burst_buffer_files=globs))
    assert not (left.work / "run.tuned.sh").exists()


def test_the_parallel_file_system(left) -> None:
    made = left.write(Configuration((HINTS,)), tier="none", jobs={"pool": None})
    assert not directives(made)
    assert left.run(made) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
    assert revert(made.read_bytes()) == SCRIPT


def test_ranks_and_threads_stand_in_the_launch_line(left) -> None:
    made = left.write(job(ranks=2, threads=2), tier="none", jobs={"pool": None})
    text = made.read_text()
    assert "stripewise-task" not in text
    assert "OMP_NUM_THREADS=2" in text
    assert "-n 2" in text
    assert left.run(made) == [f"{left.work}||2"]


def test_a_job_with_other_threads_asks_for_the_cpus_of_its_trial(left) -> None:
    data = SCRIPT.replace(b"--nodes=1", b"--nodes=2 --ntasks=8 --ntasks-per-node=4")
    given = {"tier": "none", "jobs": {"pool": None, "nodes": 2}}
    made = left.write(job(ranks=4, threads=2), data, **given)
    asked = " ".join(JobScript.parse(made.read_bytes(), "x").sbatch_arguments())
    for option in ("--cpus-per-task=2", "--ntasks=4", "--ntasks-per-node=2", "--nodes=2"):
        assert option in asked
    text = made.read_text()
    assert "OMP_NUM_THREADS=2 srun --ntasks-per-node=2 --cpus-per-task=2 -n 4 ./solve" in text
    assert revert(made.read_bytes()) == data
    made = left.write(Configuration((HINTS,)), data.replace(b"--ntasks=8", b"-n 8 -c 2"), **given)
    assert "\nsrun -n 4 " in made.read_text()


def test_a_script_with_directives_of_its_own(left) -> None:
    own = b"#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
    out = b"#DW stage_out type=directory source=$DW_JOB_STRIPED/r destination=/res\n"
    data = SCRIPT.replace(b"export", own + out + b"cd $DW_JOB_STRIPED\nexport")
    request = TierRequest(capacity_bytes=GIB, stage_out=Path("/res"), place="r")
    jobs = {"own": request, "ask": request}
    made = left.write(job(burst_buffer_nodes=4), data, jobs=jobs)
    text = made.read_text()
    assert "capacity=7GiB" in text
    assert "stage_in" not in text
    assert text.count("\ncd ") == 1
    assert [line for line in directives(made) if "destination=/res" in line]
    assert revert(made.read_bytes()) == data
    made = left.write(Configuration((HINTS,)), data, jobs=jobs)
    assert "capacity=1GiB" in made.read_text()


def test_cray_takes_hints_by_itself(left) -> None:
    winner = Configuration((HINTS,), JobSettings(burst_buffer_nodes=1))
    made = left.write(winner, is_cray=True)
    assert left.run(made) == ["BB|*.dat:cb_nodes=2|1"]
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
    assert "stripewise-task" in made.read_text()
    assert "export MPICH_MPIIO_HINTS=\\*" not in made.read_text()


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
    assert made == left.study / "run.tuned.sh"
    assert revert(made.read_bytes()) == SCRIPT
    assert not (left.top / "nothing").exists()
    assert target.is_symlink() is (kind == "link")
    assert target.is_dir() is (kind == "directory")
    if kind == "file":
        assert target.read_text() == "mine\n"
        target.unlink()
        assert left.write(job(burst_buffer_nodes=1)) == target
        assert left.write(job(burst_buffer_nodes=2)) == target  # ours is replaced


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name, f"{name}.sh")
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    note = f"settings found by {left.script}"
    made = left.write(Configuration((HINTS,)), tier="none", jobs={"pool": None}, notes=(note,))
    assert "task " in "".join(left.run(made))
    assert revert(made.read_bytes()) == SCRIPT
    assert left.run(left.write(job(burst_buffer_nodes=1))) == ["BB||1"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_linked_outputs(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name)
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    left.entries = {}
    winner = job(burst_buffer_nodes=1, burst_buffer_files="*")
    made = left.write(winner, **linked(f"big{name}", name))
    code = '#!/bin/sh\nfor n in *; do [ -L "$n" ] && echo x > "$n"; done\n:\n'
    left._program(left.work / "solve", code)
    assert left.run(made)
    for one in (name, f"big{name}"):
        assert (left.work / one).read_text() == "x\n"
        assert not (left.work / one).is_symlink()
    assert revert(made.read_bytes()) == SCRIPT


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_inputs(left, name) -> None:
    left.entries[name] = SnapshotEntry("file")
    (left.work / name).write_text("in")
    (left.work / f"d{name}").mkdir()
    (left.work / f"d{name}" / name).write_text("deep")
    code = (
        'for i in ./*; do [ -d "$i" ] || cp "$i" "$i-new"; done; for i in d*/*; do echo x >> "$i"'
    )
    left._program(left.work / "solve", f"#!/bin/sh\n{code}; done\n")
    assert left.run(left.write(job(burst_buffer_nodes=1))) == ["BB||1"]
    assert (left.work / f"{name}-new").read_text() == "in"
    assert (left.work / f"d{name}" / name).read_text() == "deepx\n"


@pytest.mark.parametrize(
    ("version", "is_cray"), [("CRAY MPICH version 8.1.4", True), ("MPICH Version: 4.0.2", False)]
)
def test_cray_is_known_by_its_version(left, monkeypatch, version, is_cray) -> None:
    seen = {}

    def write(*_, **given):
        seen.update(given)
        raise UsageError("no")

    monkeypatch.setattr("stripewise.study.job_scripts._tools.write_tuned_script", write)
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
