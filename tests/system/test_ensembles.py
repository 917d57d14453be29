# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several inputs and commands under real MPI: one configuration, a figure for each."""

from __future__ import annotations

import json
import signal
from collections import Counter

import pytest
from system_cli import (
    SHORT,
    as_words,
    finished,
    journal,
    mpiexec,
    planned,
    processes_of,
    start,
    stripewise,
    tree,
    tune,
    wait_until,
)

from stripewise.run.runtime import find_runtime
from support.journal_checks import check_runs

pytestmark = pytest.mark.mpi

KNOB = "mpiio.romio_cb_write"


@pytest.fixture
def kernel(mpich) -> list[str]:
    """The benchmark program with a size in place of {case}."""
    program = find_runtime().kernels[mpich]
    words = ["--pattern", "array3d", "--mode", "collective", "--size", "{case}", "--keep"]
    return as_words(mpiexec(mpich), program, words, "--file", "out.dat")


@pytest.mark.extended
def test_two_sizes_of_the_kernel(work, kernel, mpich, steady):
    before = tree(work)
    words = ("--case", "16,16,16", "--case", "64,32,32", *SHORT)
    document = tune(*words, "--", *kernel, cwd=work, more=steady(mpich))
    small, large = document["cases"]
    assert [small["name"], large["name"]] == ["16,16,16", "64,32,32"]
    assert small["command"] == [word.replace("{case}", "16,16,16") for word in kernel]
    assert large["baseline"]["bytes"] == 16 * small["baseline"]["bytes"]
    assert document["baseline"]["bytes"] == 17 * small["baseline"]["bytes"]
    for case in document["cases"]:
        roles = Counter(r["role"] for r in document["runs"] if r["case"] == case["name"])
        assert roles["warm-up"] == 1
        assert roles["baseline"] >= 3
        assert case["facts"]["n_ranks"] == 2
        assert case["tunables"]
    assert len(document["trials"]) == 1
    assert set(document["trials"][0]["case_speedups"]) <= {"16,16,16", "64,32,32"}
    assert tree(work) == before
    study = next(work.glob("*.stripewise"))
    assert sorted(path.name for path in (study / "cases").iterdir()) == [
        "1-16_16_16",
        "2-64_32_32",
    ]
    assert "64,32,32" in (study / "report.html").read_text()


@pytest.fixture
def two(compiled, planted, mpich, work) -> dict[str, str]:
    """A file of two commands; the environment makes the setting of `SHORT` win in both."""
    program = str(compiled("blocks.c", mpich))
    text = "".join(
        f"[[case]]\nname = {json.dumps(name)}\n"
        f"command = {json.dumps([*mpiexec(mpich), program, f'{name}.dat', '4096', blocks])}\n"
        for name, blocks in (("few", "4"), ("many", "16"))
    )
    (work / "cases.toml").write_text(text)
    return {
        "LD_PRELOAD": str(planted(mpich)),
        "PLANTED_KEY": "romio_cb_write",
        "PLANTED_SLEEP": "enable=0,=800",
    }


ONLY = (*SHORT, "--no-sync", "--cases", "cases.toml")


@pytest.mark.extended
def test_a_gain_is_shown_for_each_command(work, two):
    done = stripewise("tune", *ONLY, cwd=work, more=two)
    assert done.code == 0, done
    study = work / "cases.stripewise"
    document = json.loads((study / "result.json").read_text())
    assert document["result"] == "improved", done
    assert document["settings"] == {KNOB: "enable"}
    assert document["verified"] is True
    for case, name in zip(document["cases"], ("few", "many"), strict=True):
        assert case["outcome"] != "slower"
        assert case["speedup"]["median"] > 1.2
        assert case["speedup"]["n_pairs"] == document["speedup"]["n_pairs"] >= 4
        assert case["verification"]["compared"] == [f"{name}.dat"]
        assert f"{name}: I/O" in done.out
    assert "enable" in (study / "best.toml").read_text()
    for case in (study / "cases").iterdir():
        assert not list((case / "work").glob("*"))


@pytest.mark.extended
@pytest.mark.usefixtures("two")
def test_killed_in_the_middle_and_gone_on_with(work, losing):
    """As for one command: nothing finished is lost, at most half a pair repeated."""
    study = work / "cases.stripewise"
    child = start("tune", *ONLY, cwd=work, more=losing)
    wait_until(lambda: len(finished(study)) >= 7, "seven runs")
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    known = finished(study)
    wait_until(lambda: not processes_of(planned(study)), "the end of the last run")
    document = stripewise("tune", "--resume", "--json", cwd=work, more=losing).json()
    ids = finished(study)
    assert ids[: len(known)] == known
    assert [run["run_id"] for run in document["runs"]] == ids
    slots = {r["run_id"]: r["slot"] for r in journal(study) if r["kind"] == "run-planned"}
    assert check_runs(journal(study)) <= 1
    assert {slots[i].partition(":")[0] for i in ids} == {"few", "many"}
    assert [case["name"] for case in document["cases"]] == ["few", "many"]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--case", "x", "--", "./app"), "write {case}"),
        (("--", "./app", "{case}"), "no --case"),
        (("--cases", "cases.toml", "--", "./app"), "leave out the one after --"),
        (("--cases", "nowhere.toml"), "cannot read"),
        (("--cases", "precious.txt"), "is not TOML"),
    ],
)
def test_bad_requests_leave_nothing(work, words, said):
    before = tree(work)
    stripewise("tune", *words, cwd=work).only_error(2, said)
    assert tree(work) == before
    assert not list(work.glob("*.stripewise"))


@pytest.mark.extended
def test_a_mistyped_program_leaves_no_study(work, mpich):
    for command in (("./nowhere", "out.dat"), (*mpiexec(mpich), "./nowhere", "out.dat")):
        done = stripewise("tune", *SHORT, "--", *command, cwd=work)
        done.only_error(6, "./nowhere")
        assert not list(work.glob("*.stripewise"))
