# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The metadata kernel in trouble: one line that helps, and nothing of others is touched."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from metadata_builds import MetadataKernel, metadata_kernel

from stripewise.core import MARK
from support.small_disk import small_file_system

pytestmark = pytest.mark.mpi

ENDLESS = ("--files", "100000000", "--stonewall", "60")


@pytest.fixture
def mpich() -> MetadataKernel:
    return metadata_kernel("mpich")


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--files", "0"], "--files '0'"),
        (["--file-bytes", "4 furlongs"], "4 KiB"),
        (["--file-bytes", "-1"], "--file-bytes '-1'"),
        (["--file-bytes", "0.3"], "give a size"),
        (["--stonewall", "soon"], "2.5 s"),
        (["--stonewall", "nan"], "give seconds"),
        (["--phases", "stat"], "stat needs create"),
        (["--phases", "create,remove-directory"], "needs create-directory"),
        (["--phases", "create,,stat"], "give some of"),
        (["--phases", "create-tree"], "give some of"),
        (["--width", "3"], "--depth"),
        (["--depth", "90", "--width", "9"], "more than 1000000"),
        (["--sharing", "some"], "shared or own"),
        (["--bogus"], "--help"),
        (["word"], "not an option"),
        (["--directory"], "needs a value"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_an_impossible_request_is_said_in_a_line(
    mpich: MetadataKernel, words: list[str], text: str, tmp_path: Path
) -> None:
    process = mpich.alone(*words, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert text in err


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_all_ranks_end_when_there_is_no_directory(family: str, tmp_path: Path) -> None:
    done = metadata_kernel(family).run(2, "--directory", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    told = [line for line in done.stderr.splitlines() if line.startswith("stripewise-metadata")]
    assert told == [
        "stripewise-metadata: rank 0: stat(nowhere): there is no such directory; make it, or give "
        "another --directory"
    ]


def test_a_file_is_no_directory(mpich: MetadataKernel, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "make it" in mpich.run(1, "--directory", "file", cwd=tmp_path).stderr


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("words", [["--file-bytes", "4 KiB"], ["--phases", "create-directory"]])
def test_a_full_file_system_is_named_and_emptied(
    mpich: MetadataKernel, words: list[str], tmp_path: Path
) -> None:
    with small_file_system(tmp_path / "small", "256k,nr_inodes=1000") as small:
        (small / "theirs").write_text("x")
        done = mpich.run(
            2, "--directory", str(small), "--files", "100000", *words, "--json",
            str(tmp_path / "told.json"), cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 1
        assert "No space left on device; free some space" in done.stderr
        assert [path.name for path in small.iterdir()] == ["theirs"]
    told = json.loads((tmp_path / "told.json").read_text())
    assert 1 <= told["n_failures"] <= 2
    assert "No space left" in told["failures"][0]
    assert told["left"] is None


def job_directory(tmp_path: Path) -> Path:
    """The directory that a job has just made, with files in it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for found in tmp_path.glob("stripewise-metadata-*"):
            if next(found.glob("*/file.*"), None):
                return found
        time.sleep(0.01)
    pytest.fail("no file was made")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_nothing_stays(
    mpich: MetadataKernel, number: signal.Signals, tmp_path: Path
) -> None:
    process = mpich.alone(*ENDLESS, "--phases", "create", cwd=tmp_path)
    job_directory(tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    assert f"ended by signal {int(number)}" in err
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_job_leaves_bears_a_mark(mpich: MetadataKernel, tmp_path: Path) -> None:
    process = mpich.alone(*ENDLESS, "--phases", "create", cwd=tmp_path)
    left = job_directory(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    mark = json.loads((left / MARK).read_text())
    assert (mark["kind"], len(mark["identity"])) == ("metadata", 32)
    assert {path.name for path in left.iterdir()} == {MARK, "shared"}


def test_files_of_others_in_its_directory_stay(mpich: MetadataKernel, tmp_path: Path) -> None:
    process = mpich.alone(
        "--files", "100000000", "--stonewall", "2", "--phases", "create", cwd=tmp_path
    )
    theirs = job_directory(tmp_path) / "shared" / "theirs"
    theirs.write_text("x")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Directory not empty; something else put files there" in err
    assert f"files are left in ./{theirs.parents[1].name}" in err
    assert list(theirs.parent.iterdir()) == [theirs]


def test_json_that_cannot_be_written_is_said_before_anything_is_made(
    mpich: MetadataKernel, tmp_path: Path
) -> None:
    done = mpich.run(1, "--json", "/no/such/place", cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot write /no/such/place" in done.stderr
    assert list(tmp_path.iterdir()) == []
