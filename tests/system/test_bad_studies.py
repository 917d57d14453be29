# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies whose files were touched in between: told, and never measured on."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from system_cli import (
    SHORT,
    Done,
    as_words,
    finished,
    mpiexec,
    start,
    stripewise,
    tree,
    wait_until,
)

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, compiled, losing) -> tuple[Path, list[str]]:
    """A user's directory with an unfinished study of a program that reads `in.txt`."""
    if not shutil.which("mpicc.mpich"):
        pytest.skip("no MPICH")
    work = tmp_path_factory.mktemp("interrupted") / "work"
    work.mkdir()
    (work / "in.txt").write_text("x")
    program = compiled("blocks.c", "mpich")
    command = as_words(mpiexec("mpich"), program, "out.dat", "4096", "8", "in.txt")
    child = start("tune", *SHORT, "--", *command, cwd=work, more=losing)
    wait_until(lambda: len(finished(work / "blocks.stripewise")) >= 3, "three runs")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    return work, command


@pytest.fixture
def again(interrupted, tmp_path) -> tuple[Path, list[str]]:
    """The same directory, put back as it was after the test."""
    work, command = interrupted
    kept = tmp_path / "kept"
    shutil.copytree(work, kept, symlinks=True)
    yield work, command
    shutil.rmtree(work)
    shutil.copytree(kept, work, symlinks=True)


@pytest.fixture
def resume(losing):
    """Go on with the study in a directory."""

    def go_on(work: Path, *words: str) -> Done:
        return stripewise("tune", "--resume", *words, cwd=work, more=losing)

    return go_on


@pytest.mark.extended
def test_the_users_inputs_are_gone(again, resume):
    """The study has its own copy."""
    work, _ = again
    known = finished(work / "blocks.stripewise")
    (work / "in.txt").unlink()
    before = tree(work)
    done = resume(work)
    assert done.code == 0, done
    assert finished(work / "blocks.stripewise")[: len(known)] == known
    assert tree(work) == before


@pytest.mark.extended
@pytest.mark.parametrize(
    "how",
    ["missing", *(pytest.param(how, marks=pytest.mark.long) for how in ("changed", "added"))],
)
def test_the_copy_of_the_inputs_was_touched(again, how, resume):
    work, _ = again
    study = work / "blocks.stripewise"
    copy, aside = study / "inputs" / "in.txt", work.parent / "aside"
    journal = (study / "journal.jsonl").read_bytes()
    shutil.copy2(copy, aside)
    if how == "missing":
        copy.unlink()
    elif how == "changed":
        copy.chmod(0o644)
        copy.write_text("another")
    else:
        (study / "inputs" / "new.txt").write_text("x")
    done = resume(work)
    done.only_error(7, "new.txt" if how == "added" else "in.txt", "--force")
    known = finished(study)
    assert (study / "journal.jsonl").read_bytes().startswith(journal)
    copy.unlink(missing_ok=True)
    shutil.copy2(aside, copy)
    (study / "inputs" / "new.txt").unlink(missing_ok=True)
    assert resume(work).code == 0
    assert finished(study)[: len(known)] == known


@pytest.mark.extended
@pytest.mark.parametrize("name", ["work", "runs"])
def test_a_part_of_the_study_was_linked_elsewhere(again, tmp_path, name, resume):
    work, _ = again
    study, precious = work / "blocks.stripewise", tmp_path / "precious"
    shutil.move(study / name, tmp_path / "moved")
    (precious / "a").mkdir(parents=True)
    (precious / "a" / "thesis.tex").write_text("years of work")
    (study / name).symlink_to(precious)
    resume(work).only_error(7, f"{name} is a link", "is left as it is")
    assert (precious / "a" / "thesis.tex").exists()


@pytest.mark.extended
def test_begun_again_where_inputs_are_gone(again):
    """--force makes a new copy; the program then fails, and says what is missing."""
    work, command = again
    (work / "in.txt").unlink()
    done = stripewise("tune", *SHORT, "--force", "--", *command, cwd=work)
    done.only_error(6, "fails unchanged", "stderr")
    assert finished(work / "blocks.1.stripewise"), "the old study was not set aside"


@pytest.mark.extended
def test_another_command(again, resume):
    work, command = again
    done = resume(work, "--study-dir", "blocks.stripewise", "--", *command[:-1])
    done.only_error(7, "blocks.stripewise", "in.txt", "--study-dir")


@pytest.mark.extended
def test_begun_twice(again):
    work, command = again
    before = (work / "blocks.stripewise" / "journal.jsonl").read_bytes()
    done = stripewise("tune", *SHORT, "--", *command, cwd=work)
    done.only_error(7, "--resume", "--force")
    assert (work / "blocks.stripewise" / "journal.jsonl").read_bytes() == before


@pytest.mark.extended
def test_a_torn_last_record(again, resume):
    work, _ = again
    path = work / "blocks.stripewise" / "journal.jsonl"
    known = finished(path.parent)
    path.write_bytes(path.read_bytes() + b'{"crc":"0000')
    assert resume(work).code == 0
    assert finished(path.parent)[: len(known)] == known


@pytest.mark.extended
def test_a_damaged_journal(again, resume):
    work, _ = again
    path = work / "blocks.stripewise" / "journal.jsonl"
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1].replace(b"a", b"b"), *lines[2:]]))
    damaged = path.read_bytes()
    resume(work).only_error(7, "journal.jsonl", "line 2", "--force")
    assert path.read_bytes() == damaged
    path.write_bytes(content)
    assert resume(work).code == 0


@pytest.mark.extended
def test_a_finished_study_shows_its_result_again(again, resume):
    work, command = again
    assert resume(work).code == 0
    study = work / "blocks.stripewise"
    known = finished(study)
    first = resume(work, "--study-dir", "blocks.stripewise", "--json").json()
    again_shown = resume(work, "--study-dir", "blocks.stripewise", "--json").json()
    assert first == again_shown
    assert finished(study) == known
    stripewise("tune", *SHORT, "--", *command, cwd=work).only_error(7, "finished study", "--force")
    resume(work).only_error(2, "no unfinished study", "--study-dir")
