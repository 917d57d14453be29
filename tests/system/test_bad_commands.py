# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Commands that cannot be tuned: one line with the remedy, an exit code, nothing touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from system_cli import (
    SHORT,
    as_words,
    mpiexec,
    planned,
    processes_of,
    require_mpi,
    run,
    start,
    stripewise,
    tree,
    tune,
    wait_until,
)

from stripewise.run.runtime import find_runtime

pytestmark = pytest.mark.mpi


@pytest.fixture
def blocks(compiled, mpich) -> list[str]:
    return as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8")


def refused(work: Path, code: int, *words: str, expect: tuple[str, ...], **more: str) -> None:
    """`tune` ends with this code and says these words in its one line."""
    before = tree(work)
    done = stripewise("tune", *words, cwd=work, more=more)
    done.only_error(code, *expect)
    assert tree(work) == before
    for study in work.glob("*.stripewise"):
        assert not (study / "best.toml").exists()
        assert not list(study.glob("work/*/*/out.dat"))
        assert processes_of(planned(study)) == {}


@pytest.mark.extended
def test_no_such_program(work):
    refused(work, 6, "--", "./nowhere", "out.dat", expect=("./nowhere", "path"))


@pytest.mark.extended
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_no_such_program_under_mpiexec(work, name):
    words = mpiexec(require_mpi(name))
    refused(work, 6, "--", *words, "./nowhere", expect=("there is no ./nowhere",))


@pytest.mark.extended
def test_no_such_launcher(work, compiled, mpich):
    program = str(compiled("blocks.c", mpich))
    refused(work, 6, "--", "mpiexec.nobody", "-n", "2", program, expect=("mpiexec.nobody",))


@pytest.mark.extended
def test_a_program_that_fails(work, blocks, family, compiled):
    command = as_words(
        mpiexec(family), compiled("blocks.c", family), "out.dat", "4096", "8", "gone.txt"
    )
    refused(work, 6, "--", *command, expect=("fails unchanged", "runs/", "stderr"))
    said = next(work.glob("*.stripewise/runs/*/stderr")).read_text()
    assert "gone.txt" in said


@pytest.mark.extended
def test_a_program_that_fails_works_when_mended(work, compiled, mpich, losing):
    """The failed attempt is not in the way."""
    command = as_words(
        mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8", "in.txt"
    )
    words = (*SHORT, "--")
    refused(work, 6, *words, *command, expect=("fails unchanged",))
    (work / "in.txt").write_text("x")
    assert tune(*words, *command, cwd=work, more=losing)["result"]


@pytest.mark.extended
@pytest.mark.parametrize("case", ["true", "mpi"])
def test_a_program_that_writes_nothing(work, compiled, mpich, case):
    command = ["true"] if case == "true" else as_words(mpiexec(mpich), compiled("idle.c", mpich))
    refused(work, 6, "--", *command, expect=("no I/O", "right command"))


@pytest.mark.extended
def test_no_mpi_in_the_program(work):
    """Nothing that Stripewise can set: an answer, not an error."""
    before = tree(work)
    script = "dd if=/dev/zero of=out.dat bs=65536 count=16 2>/dev/null"
    document = tune("--", "sh", "-c", script, cwd=work)
    assert document["result"] == "no improvement"
    assert "no tunable acts" in document["stopped_because"]
    assert document["baseline"]["bytes"] >= 1 << 20
    assert tree(work) == before


@pytest.mark.extended
def test_no_mpi_on_the_machine(work, tmp_path):
    """`mpiexec` is not there at all."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "env"):
        (tools / name).symlink_to(shutil.which(name))
    refused(work, 6, "--", "mpiexec", "-n", "2", "./a.out", expect=("mpiexec",), PATH=str(tools))


@pytest.fixture
def other_runtime(tmp_path):
    """A runtime with the plug-ins of chosen families only."""
    built = find_runtime()
    present = sorted(built.plugin_directory.glob("*.so"))

    def make(**plugins: str) -> str:
        root = tmp_path / "runtime"
        (root / "lib" / "plugins").mkdir(parents=True)
        shutil.copy(built.core, root / "lib")
        for family, taken_from in plugins.items():
            for path in present:
                if f"-{taken_from}-" in path.name:
                    name = path.name.replace(taken_from, family)
                    shutil.copy(path, root / "lib" / "plugins" / name)
        return str(root)

    return make


@pytest.mark.extended
def test_the_plugin_of_another_mpi_only(work, blocks, other_runtime):
    require_mpi("openmpi")
    root = other_runtime(openmpi="openmpi")
    expect = ("MPICH", "no plug-in", "stripewise doctor build")
    refused(work, 5, "--", *blocks, expect=expect, STRIPEWISE_RUNTIME_DIR=root)
    done = stripewise("run", "--", *blocks, cwd=work, more={"STRIPEWISE_RUNTIME_DIR": root})
    assert done.code == 0
    assert [w for w in done.warnings if "stripewise doctor build" in w], done.err
    assert (work / "out.dat").stat().st_size == 2 * 8 * 4096


@pytest.mark.extended
def test_a_plugin_under_a_wrong_name(work, blocks, other_runtime):
    require_mpi("openmpi")
    root = other_runtime(mpich="openmpi")
    refused(work, 5, "--", *blocks, expect=("plug-in",), STRIPEWISE_RUNTIME_DIR=root)


@pytest.mark.extended
def test_no_runtime(work, blocks, tmp_path):
    refused(
        work, 5, "--", *blocks,
        expect=("stripewise doctor build",), STRIPEWISE_RUNTIME_DIR=str(tmp_path / "none"),
    )  # fmt: skip


@pytest.mark.extended(keep=2)
@pytest.mark.parametrize(
    ("words", "expect"),
    [
        ((), ("no command",)),
        (("--only", "mpiio.cb_node"), ("mpiio.cb_node", "mpiio.cb_nodes")),
        (("--strategy", "magic"), ("magic", "random")),
        (("--trials", "0"), ("--trials",)),
        (("--runs", "3"), ("--runs", "14")),
        (("--timeout", "soon"), ("soon", "90s")),
        (("--resume",), ("no unfinished study",)),
        (("--input", "missing.txt"), ("missing.txt",)),
        (("--input", "/etc/passwd"), ("/etc/passwd", "outside")),
    ],
)
def test_usage(work, words, expect):
    command = [] if not words or words == ("--resume",) else ["--", "sh", "-c", "echo x > y"]
    refused(work, 2, *words, *command, expect=expect)


@pytest.mark.extended
def test_a_policy_forbids(work, blocks, tmp_path):
    (tmp_path / "stripewise").mkdir()
    (tmp_path / "stripewise" / "policy.toml").write_text("max_trials = many\n")
    refused(work, 3, "--", *blocks, expect=("policy.toml",), XDG_CONFIG_HOME=str(tmp_path))


@pytest.mark.extended
def test_outputs_outside_of_the_directory(work, compiled, mpich):
    """Runs would overwrite one another's, and the user's."""
    words = as_words(mpiexec(mpich), compiled("blocks.c", mpich))
    refused(work, 2, "--", *words, "../out.dat", "4096", "8", expect=("../out.dat", "{run_dir}"))
    assert not (work.parent / "out.dat").exists()


@pytest.mark.extended
def test_a_study_directory_in_use(work, blocks, planted, mpich):
    layer = {"LD_PRELOAD": str(planted(mpich)), "PLANTED_KEY": "romio_cb_write"}
    study = work / "blocks.stripewise"
    hang = layer | {"PLANTED_HANG": "automatic"}
    child = start("tune", "--", *blocks, cwd=work, more=hang)
    wait_until(lambda: planned(study), "the study to begin")
    for words in ((), ("--force",), ("--resume",)):
        done = stripewise("tune", *words, "--", *blocks, cwd=work)
        done.only_error(7, "in use", str(child.pid))
    child.terminate()
    assert child.wait(60) == 130


@pytest.mark.extended
def test_a_directory_that_is_not_a_study(work, blocks):
    (work / "data").mkdir()
    (work / "data" / "mine.txt").write_text("x")
    refused(work, 7, "--study-dir", "data", "--", *blocks, expect=("not a study", "--study-dir"))


@pytest.mark.extended
def test_names_that_are_not_utf8(work, compiled, mpich, losing):
    """Inputs, outputs, programs and the study's directory may be named by any bytes."""
    strange = os.fsdecode(b"in-\xff.txt")
    (work / strange).write_text("x")
    program = work / os.fsdecode(b"prog-\xe9")
    shutil.copy(compiled("blocks.c", mpich), program)
    words = as_words(mpiexec(mpich), f"./{program.name}")
    command = [*words, os.fsdecode(b"out-\xfe.dat"), "4096", "8", strange]
    before = tree(work)
    document = tune(*SHORT, "--", *command, cwd=work, more=losing)
    assert document["baseline"]["bytes"] == 2 * (8 * 4096 + 1)  # a byte of the input is read
    assert tree(work) == before
    assert run("--", *command, cwd=work)["files"]
    assert (work / os.fsdecode(b"out-\xfe.dat")).exists()
    gone = os.fsdecode(b"./gone-\xff")
    refused(work, 6, "--", gone, expect=("gone-\\xff",))
