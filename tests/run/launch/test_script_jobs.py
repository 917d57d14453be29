# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the runs of a job script become jobs."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import Configuration, JobSettings
from stripewise.core.errors import RuntimeMissingError
from stripewise.run.jobs import JobScript
from stripewise.run.launch import (
    HINTS_VARIABLE,
    RunRequest,
    ScriptJobs,
    cray_variables,
    redirect_pair,
)
from stripewise.run.launch._slurm import make_order
from stripewise.run.runtime import find_runtime
from stripewise.run.tiers import StoragePool, TierRequest, find_tier
from stripewise.settings.tunables import build_configuration

GIB = 1 << 30
POOL = StoragePool("wlm_pool", 2 * GIB, 16 * GIB, 16 * GIB)
SCRIPT = b"""\
#!/bin/bash
#SBATCH --job-name=solve --account=k01 --array=1-9 --hold --begin=now+1hour
#SBATCH --output=out.%j --error=err --mail-type=ALL --dependency=afterok:1
#SBATCH --nodes=2 --ntasks=8 --ntasks-per-node=4
#SBATCH --time=10
srun -n 8 ./solve
"""


def plan(data: bytes = SCRIPT, **given) -> ScriptJobs:
    script = JobScript.parse(data, "run.sh")
    given = {"pool": POOL, "nodes": 2, "wall_seconds": 600.0, **given}
    return ScriptJobs(script, 1, find_tier("datawarp"), **given)


def request(**settings) -> RunRequest:
    configuration = Configuration(job=JobSettings(**settings))
    return RunRequest("id", ("x",), Path("/w"), Path("/r"), configuration=configuration)


def test_an_allocation_is_what_the_script_asks_for() -> None:
    made = plan(allocation_seconds=7200.0).allocation(request())
    words = list(made.arguments)
    assert "--account=k01" in words
    assert words[-1] == "--time=0-02:00:00"
    said = {word.partition("=")[0] for word in words}
    assert not said & {
        "--array", "--hold", "--begin", "--output", "--error", "--mail-type", "--dependency",
    }  # fmt: skip
    assert made.directives == ()
    assert (made.nodes, made.wall_seconds, made.name) == (2, 7200, "solve")


def test_no_run_is_longer_than_its_job_would_be(tmp_path) -> None:
    """An allocation of many runs is longer than the script's limit, which bounds each of them."""
    for given, asked, expected in (
        ({"allocation_seconds": 7200.0}, None, 600.0),
        ({"allocation_seconds": 7200.0}, 30.0, 30.0),
        ({"allocation_seconds": 7200.0}, 1000.0, 600.0),
        ({"allocation_seconds": 300.0}, None, 205.0),  # Slurm may end that one 95 s early
        ({"wall_seconds": None, "allocation_seconds": 7200.0}, None, None),
    ):
        jobs = plan(**given)
        run = replace(request(), timeout_seconds=asked, directory=tmp_path)
        order = make_order(None, jobs, run, jobs.allocation(run), tmp_path / "record")
        assert order["timeout_seconds"] == expected, (given, asked)


def test_variables_of_sbatch_count_more_than_the_script(monkeypatch) -> None:
    monkeypatch.setenv("SBATCH_ACCOUNT", "k02")
    monkeypatch.setenv("SBATCH_TIMELIMIT", "5")
    words = plan().allocation(request()).arguments
    assert not [word for word in words if word.startswith("--account")]
    assert words[-1].startswith("--time=")


@pytest.mark.parametrize(
    ("data", "name"), [(SCRIPT, "solve"), (b"#!/bin/sh\nsrun ./a\n", "run.sh")]
)
def test_a_run_sees_the_name_that_its_job_would_have(data, name, monkeypatch) -> None:
    assert plan(data).allocation(request()).name == name
    monkeypatch.setenv("SBATCH_JOB_NAME", "mine")
    assert plan(data).allocation(request()).name == "mine"


def test_a_burst_buffer_has_an_allocation_of_its_own() -> None:
    jobs = plan(ask=TierRequest(stage_in=Path("/in"), stage_out=Path("/out")))
    one, two = (jobs.allocation(request(burst_buffer_nodes=n)) for n in (1, 2))
    assert one.key != two.key
    assert re.findall(r"capacity=(\S+)", " ".join(one.directives + two.directives)) == [
        "1GiB",
        "3GiB",
    ]
    assert len(one.directives) == 1, "runs are copied by the agent"


def test_the_baseline_runs_beside_its_candidate() -> None:
    jobs = plan()
    first = jobs.allocation(request())
    assert first.directives == ()
    with_buffer = jobs.allocation(request(burst_buffer_nodes=2))
    assert jobs.allocation(request()) is with_buffer
    assert jobs.allocation(request(burst_buffer_nodes=0)) is with_buffer
    assert jobs.allocation(request(ranks=4)).key != with_buffer.key


def test_ranks_change_the_nodes() -> None:
    made = plan().allocation(request(ranks=2, threads=2))
    assert made.nodes == 1
    for word in ("--ntasks=2", "--cpus-per-task=2", "--nodes=1"):
        assert word in made.arguments
    assert "--ntasks=8" not in made.arguments
    assert plan().allocation(request(ranks=8, ranks_per_node=2)).nodes == 4


def test_each_part_of_a_heterogeneous_job_has_the_time_limit() -> None:
    data = (
        b"#!/bin/bash\n#SBATCH --nodes=1 --time=10\n#SBATCH hetjob\n#SBATCH --nodes=2 --time=10\n"
        b"srun ./solve\n"
    )
    words = plan(data).allocation(request()).arguments
    assert words.count("--time=0-00:10:00") == 2
    assert words.index("--time=0-00:10:00") < words.index(":")


def test_the_variant_of_the_script(tmp_path) -> None:
    data = SCRIPT.replace(b"srun", b"#DW jobdw type=scratch capacity=2GiB\nsrun")
    words = plan(data, words=("a b", "$c")).command(
        request(threads=3), tmp_path, ("task", "f", "--")
    )
    path = Path(words[0])
    assert words[1:] == ("a b", "$c")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    text = path.read_text()
    assert "task f -- ./solve" in text
    assert "export SLURM_ARRAY_TASK_ID=1\n" in text
    assert "\n#DW" not in text
    assert "OMP_NUM_THREADS=3" in text


def test_only_a_run_with_threads_of_its_own_tells_srun_of_cpus(tmp_path) -> None:
    jobs = plan(SCRIPT.replace(b"--time=10", b"--time=10 -c 4"))
    assert "--cpus-per-task=4" in jobs.allocation(request()).arguments
    (path, *_) = jobs.command(request(), tmp_path, ())
    assert Path(path).read_text().endswith("\nsrun -n 8 ./solve\n"), "the baseline is as it is"
    (path, *_) = jobs.command(request(ranks=4, threads=8), tmp_path, ())
    line = "env OMP_NUM_THREADS=8 srun --ntasks-per-node=2 --cpus-per-task=8 -n 4 ./solve\n"
    assert line in Path(path).read_text()
    assert "--cpus-per-task=8" in jobs.allocation(request(ranks=4, threads=8)).arguments


@pytest.mark.parametrize(
    ("said", "asked", "per_node", "nodes"),
    [
        (b"", {"ranks": 4}, None, 1),
        (b"", {"ranks": 4, "threads": 2}, 2, 2),
        (b"", {"ranks": 2, "threads": 4}, 1, 2),
        (b"", {"ranks": 1, "threads": 8}, 1, 1),
        (b" -c 2", {"ranks": 4, "threads": 2}, None, 1),
        (b"", {"ranks": 4, "threads": 2, "ranks_per_node": 4}, 4, 1),
        (b"", {"ranks": 8, "threads": 2}, None, 2),
    ],
)
def test_a_node_gets_no_more_threads_than_it_has_cpus(said, asked, per_node, nodes) -> None:
    jobs = plan(SCRIPT.replace(b"--time=10", b"--time=10" + said))
    assert jobs.of_launch(JobSettings(**asked)).ranks_per_node == per_node
    made = jobs.allocation(request(**asked))
    assert made.nodes == nodes
    assert [word for word in made.arguments if word.startswith("--nodes=")] == [f"--nodes={nodes}"]


def test_a_link_in_the_place_of_the_variant_is_not_followed(tmp_path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "job").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        plan().command(request(), tmp_path, ())
    assert precious.read_text() == "mine"


def test_what_lies_on_the_burst_buffer() -> None:
    jobs = plan()
    assert jobs.stage(request()) is None
    assert jobs.stage(request(burst_buffer_nodes=0)) is None
    whole = jobs.stage(request(burst_buffer_nodes=1))
    assert (whole.variable, whole.mode, whole.copies) == ("DW_JOB_STRIPED", "all", ())
    assert not whole.content
    some = jobs.stage(request(burst_buffer_nodes=1, burst_buffer_files="a*,b.dat"))
    assert (some.mode, some.globs) == ("files", ("a*", "b.dat"))
    own = TierRequest(capacity_bytes=GIB, stage_in=Path("/in"), place="here")
    staged = replace(jobs, own=own, ask=own).stage(request())
    assert staged.copies == (("/in", "here"),)


def test_what_runs_find_on_a_persistent_burst_buffer() -> None:
    """What the script's own lines name is copied; a chosen one only lends its room."""
    asked = TierRequest(persistent="mine", nodes=4, stage_in=Path("/in"))
    jobs = plan(pool=None, own=asked, ask=asked)
    stage = jobs.stage(request())
    assert stage.variable == "DW_PERSISTENT_STRIPED_mine"
    assert (stage.content, stage.copies) == (True, (("/in", ""),))
    assert jobs.allocation(request()).directives == ("#DW persistentdw name=mine",)
    named = replace(jobs, instead="/what").stage(request())
    assert (named.content, named.copies) == (False, (("/what", ""), ("/in", "")))
    chosen = plan(pool=None, ask=replace(asked, stage_in=None))
    stage = chosen.stage(request(burst_buffer_nodes=4))
    assert (stage.content, stage.copies) == (False, ())
    assert chosen.stage(request()) is None


def test_links_lead_to_the_files_that_runs_showed(tmp_path) -> None:
    seen = ("big.dat", "/abs/big.dat", "small", "../big.dat", "d/big.dat", "big$(x)", "big.dat")
    jobs = plan(links=True, seen=lambda: seen)
    settings = {"burst_buffer_nodes": 1, "burst_buffer_files": "big*"}
    assert jobs.stage(request(**settings)).mode == "links"
    (path,) = jobs.command(request(**settings), tmp_path, ())
    assert f"\nsh {tmp_path}/links srun -n 8 ./solve\n" in Path(path).read_text()
    text = (tmp_path / "links").read_text()
    assert 'names() {\n:\n"$1" 1 big.dat\n"$1" 2 \'big$(x)\'\n}\n' in text
    assert "place=${DW_JOB_STRIPED:?" in text


def test_runs_without_links(tmp_path) -> None:
    jobs = plan(links=True, seen=lambda: ("big.dat",))
    settings = {"burst_buffer_nodes": 1, "burst_buffer_files": "big*"}
    on_disk = settings | {"burst_buffer_nodes": 0}
    others = settings | {"burst_buffer_files": "small*"}
    for one, given in ((jobs, {}), (jobs, on_disk), (jobs, others), (plan(), settings)):
        one.command(request(**given), tmp_path, ())
        assert not (tmp_path / "links").exists()


def test_a_directory_of_the_nodes() -> None:
    jobs = replace(plan(ask=TierRequest(directory="${TMPDIR}")), tier=find_tier("directory"))
    stage = jobs.stage(request(burst_buffer_nodes=1))
    assert (stage.variable, stage.directory, stage.may_be_local) == ("TMPDIR", "${TMPDIR}", True)
    assert not plan().stage(request(burst_buffer_nodes=1)).may_be_local
    jobs = replace(jobs, ask=TierRequest(directory="/flash/$USER"))
    stage = jobs.stage(request(burst_buffer_nodes=1, burst_buffer_files="a*"))
    assert (stage.variable, stage.directory, stage.mode) == ("", "/flash/$USER", "files")


@pytest.mark.parametrize(
    ("glob", "pair"),
    [
        ("out*", "/w/out*=/bb"),
        ("big.dat", "/w/big.dat=/bb/big.dat"),
        ("d/out*", "/w/d/out*=/bb/d"),
        ("d/big.dat", "/w/d/big.dat=/bb/d/big.dat"),
        ("out[0-9]*.nc", "/w/out?*.nc=/bb"),
        ("a[*]b", "/w/a?b=/bb"),
        ("a[[]b", "/w/a?b=/bb"),
    ],
)
def test_globs_as_the_redirect_reads_them(glob, pair) -> None:
    assert redirect_pair(glob, "/w", "/bb") == pair


@pytest.mark.parametrize("glob", ["big.dat", "bi*", "big.[cd]at"])
def test_the_library_leads_the_files_of_a_glob_elsewhere(tmp_path, glob) -> None:
    try:
        core = find_runtime().core
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built")
    here, there = tmp_path / "here", tmp_path / "there"
    for path in (here, there):
        path.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "LD_PRELOAD": str(core),
        "STRIPEWISE_REDIRECT": redirect_pair(glob, str(here), str(there)),
    }
    script = "echo new > big.dat; echo more >> big.dat; echo small > small.dat; cat big.dat"
    done = subprocess.run(
        ["sh", "-c", script], cwd=here, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "new\nmore\n", done
    assert os.listdir(there) == ["big.dat"]
    assert os.listdir(here) == ["small.dat"]


HINTED = build_configuration({"mpiio.striping_unit@out*": 65536, "job.burst_buffer_nodes": 2})


def variables(data: bytes = SCRIPT, **given) -> dict[str, str]:
    asked = replace(request(), configuration=HINTED, **{"mpi_prints": True, **given})
    return dict(plan(data).variables(asked))


def test_tasks_let_mpi_print_what_the_user_says_nothing_of(monkeypatch) -> None:
    for name in cray_variables():
        monkeypatch.delenv(name, raising=False)
    assert variables() == dict(cray_variables())
    assert variables(mpi_prints=False) == {}
    monkeypatch.setenv("MPICH_MPIIO_TIMERS", "0")
    in_script = variables(SCRIPT.replace(b"srun", b"export MPICH_MPIIO_STATS=2\nsrun"))
    assert cray_variables().keys() - in_script == {"MPICH_MPIIO_TIMERS", "MPICH_MPIIO_STATS"}


def test_cray_mpich_gets_its_hints_where_the_library_cannot_go() -> None:
    assert HINTS_VARIABLE not in variables()
    assert variables(in_reach=False)[HINTS_VARIABLE] == "out*:striping_unit=65536"
    own = SCRIPT.replace(b"srun", b"export MPICH_MPIIO_HINTS='*:a=b'\nsrun")
    assert HINTS_VARIABLE not in variables(own, in_reach=False)
