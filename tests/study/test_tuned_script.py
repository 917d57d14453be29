# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""run.tuned.sh for every kind of winner, and what of it a shell really runs."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from stripewise.errors import UsageError
from stripewise.jobs import JobScript, revert
from stripewise.launch import NullLauncher, ScriptJobs
from stripewise.model import Configuration, FileRule, JobSettings
from stripewise.runtime import Runtime
from stripewise.study import JobOptions, StudyOptions
from stripewise.study._job_tools import leave_script
from stripewise.study._prepared_job import PreparedJob
from stripewise.study._tuned_script import (
    COPIES_FILE,
    LINKS_FILE,
    TASK_FILE,
    write_tuned_script,
)
from stripewise.testing.strategy_suite import romio_facts
from stripewise.tiers import Pool, TierRequest, find_tier
from stripewise.workspace import InputSnapshot
from stripewise.workspace._snapshot import Entry
from support.job_scripts import HOSTILE_NAMES

GIB = 1 << 30
POOL = Pool("wlm_pool", 2 * GIB, 16 * GIB, 16 * GIB)
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
        for path in (self.work, self.study, top / "rt" / "bin", top / "bin", top / "bb"):
            path.mkdir(parents=True)
        self._program(top / "rt" / "bin" / "stripewise-task", TASK)
        self._program(top / "bin" / "srun", SRUN)
        self._program(self.work / "solve", "#!/bin/sh\n")
        self.script = self.work / name
        self.runtime = Runtime(top / "rt")
        self.entries = {"solve": Entry("file"), "big.dat": Entry("file"), name: Entry("file")}
        self.entries |= {"small.nml": Entry("file"), "in": Entry("directory")}
        self.entries["in/deep"] = Entry("file")

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
            snapshot=InputSnapshot(self.study, self.work, self.entries),
            **given,
        )

    def run(self, path: Path) -> list[str]:
        """Run the script from its directory; return what srun and the tasks saw."""
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
        if not (self.top / "bb" / "solve").exists():
            (self.top / "bb" / "solve").symlink_to(self.work / "solve")
        done = subprocess.run(
            ["bash", path], cwd=self.work, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done
        assert not list(self.top.rglob("canary*"))
        return record.read_text("utf-8", "surrogateescape").splitlines()


def job(**given) -> Configuration:
    return Configuration(job=JobSettings(**given))


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


def directives(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("#DW")]


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


def linked(*names: str) -> dict:
    return {"jobs": {"links": True, "seen": lambda: names}}


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


def persistent(**given) -> dict:
    return {"jobs": {"pool": None, "ask": TierRequest(persistent="mine", nodes=4), **given}}


def test_lines_for_a_persistent_burst_buffer_stay_as_they_are(left) -> None:
    own = b"#DW persistentdw name=mine\n#DW  stage_out type=file source=$X/a destination=/b/a\n"
    data = SCRIPT.replace(b"export", own + b"cd $DW_PERSISTENT_STRIPED_mine\nexport")
    request = TierRequest(persistent="mine", nodes=4)
    made = left.write(Configuration((HINTS,)), data, **persistent(own=request, ask=request))
    text = made.path.read_bytes()
    assert own in text
    assert text.count(b"persistentdw") == 1
    assert b"stays" not in text
    assert revert(text) == data


def test_a_persistent_burst_buffer(left) -> None:
    made = left.write(job(burst_buffer_nodes=4), **persistent())
    first, *staged, out = directives(made.path)
    assert first == "#DW persistentdw name=mine"
    place = out.partition("source=")[2].partition(" ")[0]
    assert place.startswith("$DW_PERSISTENT_STRIPED_mine/run-")
    assert staged[0].endswith(f"source={left.work}/solve destination={place}/solve")
    assert out.endswith(f" destination={left.work}/run.results")
    assert f"\n# files stay in {place} after the job: " in made.path.read_text()
    there = left.top / "bb" / place.partition("/")[2]
    there.mkdir()
    (there / "solve").symlink_to(left.work / "solve")
    assert left.run(made.path) == [f"{there}||1"]
    assert revert(made.path.read_bytes()) == SCRIPT
    other = Left(left.top / "other").write(job(burst_buffer_nodes=4), **persistent())
    assert f"{place}\n" not in other.path.read_text(), "another script of this name"


def test_a_hybrid_job_on_a_persistent_burst_buffer(left) -> None:
    winner = job(burst_buffer_nodes=4, burst_buffer_files="big*")
    made = left.write(winner, **persistent())
    assert "\ncd " not in made.path.read_text()
    assert left.run(made.path)[0] == f"{left.work}||1"
    (there,) = (path for path in (left.top / "bb").iterdir() if path.is_dir())
    pair = f"%{{SLURM_SUBMIT_DIR}}/big*=%{{DW_PERSISTENT_STRIPED_mine}}/{there.name}"
    assert f"@STRIPEWISE_REDIRECT={pair}\0".encode() in (left.study / TASK_FILE).read_bytes()
    made = left.write(winner, **persistent(links=True, seen=lambda: ("big.out",)))
    left._program(left.work / "solve", "#!/bin/sh\necho x > big.out\n")
    left.run(made.path)
    assert (there / "big.out").read_text() == "x\n"


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


def on_fast(place: str = "$FAST", **given) -> dict:
    jobs = {"pool": None, "ask": TierRequest(directory=place), **given}
    return {"tier": "directory", "jobs": jobs}


def test_a_directory_of_the_nodes(left) -> None:
    made = left.write(job(burst_buffer_nodes=1), **on_fast())
    assert made.path == left.work / "run.tuned.sh"
    program = left.study / COPIES_FILE
    assert stat.S_IMODE(program.stat().st_mode) == 0o600
    assert f"|| exec sh {program} " in made.path.read_text()
    for name in ("big.dat", "small.nml"):
        (left.work / name).write_text(name)
    (left.work / "in").mkdir()
    left._program(left.work / "solve", "#!/bin/sh\nls; cat big.dat > out\n")
    (seen,) = left.run(made.path)
    assert seen.startswith(f"{left.top}/bb/stripewise-0-"), seen
    results = left.work / "run.results"
    assert [path.name for path in results.iterdir()] == ["out"]
    assert (results / "out").read_text() == "big.dat"
    assert [path.name for path in (left.top / "bb").iterdir()] == ["solve"]
    assert revert(made.path.read_bytes()) == SCRIPT


def test_directories_that_the_user_names_for_the_nodes(left) -> None:
    for name in ("in a", "out a"):
        (left.work / name).mkdir()
    shutil.copy(left.work / "solve", left.work / "in a" / "solve")
    named = {"stage_in": f"{left.work}/in a", "stage_out": f"{left.work}/out a"}
    made = left.write(job(burst_buffer_nodes=1), **named, **on_fast(f"{left.top}/$BB"))
    left._program(left.work / "in a" / "solve", "#!/bin/sh\necho x > out\n")
    assert left.run(made.path)[0].startswith(f"{left.top}/bb/stripewise-0-")
    assert os.listdir(left.work / "out a") == ["out"]


def test_a_hybrid_job_on_a_directory_of_the_nodes(left) -> None:
    winner = job(burst_buffer_nodes=1, burst_buffer_files="big*")
    (left.work / "big.dat").write_text("big")
    left._program(left.work / "solve", "#!/bin/sh\ncat $STRIPEWISE_STAGE/big.dat\n")
    for place, variable in (("$FAST", "FAST"), (f"{left.top}/$BB", "STRIPEWISE_STAGE")):
        made = left.write(winner, **on_fast(place))
        assert left.run(made.path) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
        pair = f"@STRIPEWISE_REDIRECT=%{{SLURM_SUBMIT_DIR}}/big*=%{{{variable}}}\0"
        assert pair.encode() in (left.study / TASK_FILE).read_bytes()
    links = on_fast(f"{left.top}/$BB", links=True, seen=lambda: ("big.dat", "big.out"))
    made = left.write(winner, **links)
    left._program(left.work / "solve", "#!/bin/sh\necho x > big.out; echo y >> big.dat\n")
    assert left.run(made.path) == [f"{left.work}||1"]
    assert (left.work / "big.out").read_text() == "x\n"
    assert (left.work / "big.dat").read_text() == "bigy\n"
    assert not list(left.work.glob("*.stripewise*"))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_on_a_directory_of_the_nodes(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name, f"{name}.sh")
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    left.entries[name] = Entry("file")
    (left.work / name).write_text("in")
    left._program(left.work / "solve", '#!/bin/sh\nfor i in ./*; do cp "$i" "$i-new"; done\n')
    made = left.write(job(burst_buffer_nodes=1), **on_fast())
    assert left.run(made.path)
    (results,) = left.work.glob("*.results")
    assert (results / f"{name}-new").read_text() == "in"
    assert revert(made.path.read_bytes()) == SCRIPT


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
