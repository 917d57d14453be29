# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recording a surface of a real program: killed, interrupted, gone on with."""

from __future__ import annotations

import signal
from collections import Counter

import pytest
from system_cli import as_words, mpiexec, start, stripewise, tree, wait_until

from stripewise.study.surfaces import Surface, SurfaceRole

pytestmark = pytest.mark.mpi
VARY = ("--vary", "mpiio.romio_cb_write=enable,disable", "--vary", "mpiio.cb_nodes=2")


@pytest.fixture
def command(compiled, mpich) -> list[str]:
    return as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8")


def points(path) -> list:
    if not path.exists() or not path.read_text().count("\n"):
        return []
    return [run for run in Surface.load(path).runs if run.role is not SurfaceRole.WARM_UP]


@pytest.mark.extended
def test_killed_and_gone_on_with(work, command):
    """Every finished run is kept, none is made twice, and nothing is left."""
    (work / "input.txt").write_text("an input")
    before = tree(work)
    path = work / "a.jsonl"
    record = ("bench", "surface", "record", "-o", path, "--control-every", "4")
    more = (*VARY, "--repeats", "3", "--", *command)

    child = start(*record, *more, cwd=work)
    wait_until(lambda: len(points(path)) >= 3, "three runs")
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=60)
    child.stdout.close()
    child.stderr.close()
    known = points(path)

    child = start("bench", "surface", "record", "-o", path, "--resume", cwd=work)
    wait_until(lambda: len(points(path)) >= len(known) + 2, "two runs")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "--resume" in err

    done = stripewise("bench", "surface", "record", "-o", path, "--resume", "--json", cwd=work)
    document = done.json()
    runs = points(path)
    assert runs[: len(known)] == known
    assert [run.sequence for run in runs] == list(range(1, len(runs) + 1))
    counts = Counter(str(r.settings) for r in runs if r.role is SurfaceRole.POINT)
    assert set(counts.values()) == {3}
    assert document["configurations"] == len(counts) == 5
    assert document["plan"]["impossible"] == 1
    assert all(run.io_seconds > 0 and run.write_bytes for run in runs)
    warm_ups = [r for r in Surface.load(path).runs if r.role is SurfaceRole.WARM_UP]
    assert len(warm_ups) == 3
    assert Surface.load(path).facts.patterns, "replays are to see what a study's first run shows"
    path.unlink()
    assert tree(work) == before


@pytest.mark.extended
def test_a_program_that_does_no_io_leaves_nothing(work):
    before = tree(work)
    done = stripewise("bench", "surface", "record", "-o", "a.jsonl", *VARY, "--", "true", cwd=work)
    done.only_error(6, "no I/O")
    assert tree(work) == before
    assert not (work / "a.jsonl.stripewise").exists()


@pytest.mark.extended
@pytest.mark.parametrize("known", [True, False], ids=["the user's", "new"])
def test_what_was_in_the_work_directory_stays(work, tmp_path, known):
    """The recording makes its own directory in it, and removes nothing else."""
    given = tmp_path / "given"
    if known:
        (given / "runs").mkdir(parents=True)
        (given / "runs" / "thesis.tex").write_text("years of work")
    before = tree(tmp_path)
    words = (
        "bench",
        "surface",
        "record",
        "-o",
        "a.jsonl",
        "--work-dir",
        given,
        *VARY,
        "--",
        "true",
    )
    stripewise(*words, cwd=work).only_error(6, "no I/O")
    assert tree(tmp_path) == before
    assert given.exists() == known


@pytest.mark.extended
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("[tunables]\ndenied = ['mpiio.cb_nodes']", "mpiio.cb_nodes may not be varied"),
        ("[caps]\nmax_runs = 20", "runs, and the policy allows 20"),
        ("[caps]\nmax_trials = 2", "configurations, and the policy allows 2"),
        ("[caps]\nmax_bytes = 10", "bytes written, and the policy allows 10"),
        ("[caps]\nmax_runs = 0", "max_runs is used up"),
    ],
)
def test_the_policy_holds(work, tmp_path, policy, said):
    (tmp_path / "stripewise").mkdir()
    (tmp_path / "stripewise" / "policy.toml").write_text(f"version = 1\n{policy}\n")
    before = tree(work)
    words = (
        "bench",
        "surface",
        "record",
        "-o",
        "a.jsonl",
        *VARY,
        "--",
        "sh",
        "-c",
        "echo x > out",
    )
    more = {"XDG_CONFIG_HOME": str(tmp_path)}
    stripewise(*words, cwd=work, more=more).only_error(4, said)
    assert tree(work) == before
