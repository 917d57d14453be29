# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Disks that are read-only or full: one line, and the study can go on afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from system_cli import (
    SHORT,
    as_words,
    finished,
    mpiexec,
    planned,
    processes_of,
    start,
    stripewise,
    tree,
    wait_until,
)

pytestmark = pytest.mark.mpi


class Disk:
    """A small file system of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.filler = directory / "filler"

    def read_only(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", self.directory], check=True)

    def fill(self) -> None:
        """Leave no block free."""
        with self.filler.open("wb", buffering=0) as stream:
            for size in (1 << 22, 1 << 16, 1 << 12, 1):
                self._fill_by(stream, size)

    def _fill_by(self, stream, size: int) -> None:
        while True:
            try:
                stream.write(bytes(size))
            except OSError:
                return

    def free(self) -> None:
        self.filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """100 MiB; as root only, since nobody else may mount."""
    directory = tmp_path / "disk"
    directory.mkdir()
    options = ["-t", "tmpfs", "-o", "size=100m", "tmpfs"]
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(["mount", *options, directory], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    (directory / "precious.txt").write_text("the user's own\n")
    yield Disk(directory)
    subprocess.run(["umount", "--lazy", directory], check=True)


@pytest.fixture
def command(compiled, mpich) -> list[str]:
    return as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "64")


@pytest.mark.extended
def test_read_only(disk, command, work, losing):
    disk.read_only()
    before = tree(disk.directory)
    done = stripewise("tune", *SHORT, "--", *command, cwd=disk.directory, more=losing)
    done.only_error(8, "Read-only", "--study-dir")
    assert tree(disk.directory) == before
    elsewhere = work / "study"
    done = stripewise(
        "tune", *SHORT, "--study-dir", elsewhere, "--", *command, cwd=disk.directory, more=losing
    )
    assert done.code == 0, done
    assert "another file system" in done.out
    kept = disk.directory / "containers"
    done = stripewise("run", "--keep-containers", kept, "--", *command, cwd=work)
    done.only_error(8, "Read-only")
    assert not (work / "out.dat").exists()


@pytest.mark.extended
def test_full_from_the_start(disk, command, losing):
    disk.fill()
    before = tree(disk.directory)
    done = stripewise("tune", *SHORT, "--", *command, cwd=disk.directory, more=losing)
    done.only_error(8)
    assert tree(disk.directory) == before
    disk.free()
    done = stripewise("tune", *SHORT, "--", *command, cwd=disk.directory, more=losing)
    assert done.code == 0, done


@pytest.mark.extended
@pytest.mark.parametrize("after", [pytest.param(1, marks=pytest.mark.long), 3])
def test_full_in_between(disk, command, after, losing):
    """Whatever fails first (a run, its record, the journal), no finished run is lost."""
    study = disk.directory / "blocks.stripewise"
    child = start("tune", *SHORT, "--", *command, cwd=disk.directory, more=losing)
    wait_until(lambda: len(finished(study)) >= after, "finished runs")
    disk.fill()
    out, err = child.communicate(timeout=100)
    assert child.returncode == 8, (out, err)
    said = [line for line in err.splitlines() if line.startswith("stripewise: error: ")]
    assert len(said) == 1, err
    assert "Traceback" not in err
    assert processes_of(planned(study)) == {}
    assert not (study / "result.json").exists()
    known = finished(study)
    disk.free()
    document = stripewise("tune", "--resume", "--json", cwd=disk.directory, more=losing).json()
    assert finished(study)[: len(known)] == known
    assert not [trial for trial in document["trials"] if trial["state"] == "failed"]
    assert {run["status"] for run in document["runs"]} == {"ok"}


@pytest.mark.extended
@pytest.mark.long
def test_full_when_the_report_is_written(disk, command, losing):
    """Files are whole or not there; the result is not lost."""
    words = ("tune", *SHORT, "--", *command)
    assert stripewise(*words, cwd=disk.directory, more=losing).code == 0
    study = disk.directory / "blocks.stripewise"
    before = {name: (study / name).read_bytes() for name in ("report.html", "result.json")}
    disk.fill()
    done = stripewise("tune", "--resume", "--study-dir", study, cwd=disk.directory, more=losing)
    assert done.code == 8, done
    for name, content in before.items():
        assert (study / name).read_bytes() == content
    disk.free()
    assert (
        stripewise("tune", "--resume", "--study-dir", study, cwd=disk.directory, more=losing).code
        == 0
    )


@pytest.mark.extended
def test_full_where_run_keeps_its_records(disk, command, work):
    """The program goes on; that nothing was seen is said."""
    kept = disk.directory / "containers"
    kept.mkdir()
    disk.fill()
    done = stripewise("run", "--keep-containers", kept, "--", *command, cwd=work)
    assert done.code == 0, done
    assert (work / "out.dat").stat().st_size == 2 * 64 * 4096
    assert len(done.warnings) == 1
    assert "full" in done.warnings[0]
    assert "Traceback" not in done.err
