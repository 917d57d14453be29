# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A user's directory with a job script, on a cluster whose jobs are processes of this host."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stripewise.cli import main
from stripewise.core import Measurement
from stripewise.run.launch import SlurmLauncher
from stripewise.run.launch import _slurm_pool as pool
from stripewise.run.slurm import RateLimiter
from stripewise.study.runs._looking import look
from support.fake_slurm import FakeSlurm

BURST = """\
Name=datawarp DefaultPool=wlm_pool Granularity=2GiB TotalSpace=16GiB FreeSpace=8GiB UsedSpace=4GiB
  PoolName[0]=small Granularity=1GiB TotalSpace=4GiB FreeSpace=4GiB UsedSpace=0
"""
"""8 nodes, of which 4 are free, 2 used, and 2 drained."""
PERSISTENT = """\
  Allocated Buffers:
    Name=mine CreateTime=2026-01-01T00:00:00 Pool=wlm_pool Size=6GiB State=allocated UserID=me(7)
"""
"""Behind the others: one of 3 nodes."""
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=solve
#SBATCH --nodes=1
#SBATCH --time=10
srun -n 1 ./writer out.dat input.txt
"""
HEAD = "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
OWN = "#DW jobdw type=scratch access_mode=striped capacity=2GiB\n"
LAUNCH = "srun -n 1 ./writer out.dat\n"
_START_SECONDS = 0.1
NOTE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(long us)
{
    const char *run = getenv("STRIPEWISE_RUN_ID");
    char text[4096];
    if (run == NULL)
        return;
    snprintf(text, sizeof text, "%s/%s", TIMES, run);
    int file = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int length = snprintf(text, sizeof text, "%ld\n", us);
    syscall(SYS_write, file, text, length);
    syscall(SYS_close, file);
}
"""
"""Notes for the run how long something would have taken, by calls that no guard sees."""
_SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "note.h"

ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    const char *bytes = getenv("FAKE_BB_CAPACITY");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    int is_there = bytes != NULL && strstr(path, "/bb-") != NULL;
    if (size >= 65536)
        note(is_there ? 120000 / (1 + atoi(bytes) / 2) : 240000);
    return next(fd, data, size);
}
"""
"""The file system: a burst buffer is faster, more so with more nodes.

Nobody waits: it notes for each run how long its writes would have taken, and studies take that
for their time (`timed_by`).
"""
_WRITER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char data[65536];
    int file = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0644);
    FILE *input = argc > 2 ? fopen(argv[2], "r") : NULL;
    if (file < 0 || (argc > 2 && input == NULL))
        return 3;
    data[7] = input ? (char)fgetc(input) : 'x';
    for (int i = 0; i < 4; i++)
        if (write(file, data, sizeof data) != (ssize_t)sizeof data)
            return 4;
    return close(file);
}
"""


def build_writer(directory: Path) -> Path:
    """Compile the program; how long the storage takes for its writes is noted in `times`."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on PATH")
    (directory / "times").mkdir()
    times = f'-DTIMES="{directory}/times"'
    (directory / "note.h").write_text(NOTE)
    (directory / "slow.c").write_text(_SLOW)
    (directory / "writer.c").write_text(_WRITER)
    library, program = directory / "libslow.so", directory / "writer"
    words = ["cc", "-O1", "-fPIC", "-shared", times, "-o", library, directory / "slow.c", "-ldl"]
    subprocess.run(words, check=True)
    words = ["cc", "-O1", "-o", program, directory / "writer.c", "-Wl,--no-as-needed", library]
    subprocess.run([*words, f"-Wl,-rpath,{directory}"], check=True)
    return program


def timed_by(cluster: JobCluster, times: Path) -> None:
    """Let runs take as long as they have noted in a directory, however busy this host is."""

    def timed(run_id: str, *given: Any, **more: Any) -> Measurement:
        measured = look(run_id, *given, **more)
        noted = times / run_id
        if not measured.ok or not noted.exists():
            return measured
        seconds = sum(map(int, noted.read_text().split())) / 1e6
        return replace(measured, io_seconds=seconds, elapsed_seconds=seconds + _START_SECONDS)

    cluster.monkeypatch.setattr("stripewise.study.runs._local_tools.look", timed)


def prepared(cluster: JobCluster, writer: Path) -> JobCluster:
    """Put the program into the user's directory; its runs take what the storage would."""
    shutil.copy(writer, cluster.work / "writer")
    timed_by(cluster, writer.parent / "times")
    return cluster


def as_datawarp(script: Path, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as Slurm would: stage in, run it in its directory, stage out."""
    place = directory / "bb-run"
    place.mkdir(0o700)
    lines = [line.split() for line in script.read_text().splitlines() if line.startswith("#DW")]
    stages = [dict(word.partition("=")[::2] for word in line) for line in lines]

    def real(text: str) -> Path:
        return Path(text.replace("$DW_JOB_STRIPED", str(place)))

    for line, stage in zip(lines, stages, strict=True):
        if line[1] == "stage_in":
            copy = shutil.copytree if stage["type"] == "directory" else shutil.copy2
            copy(stage["source"], real(stage["destination"]))
    environment = {**os.environ, "DW_JOB_STRIPED": str(place)}
    environment["SLURM_SUBMIT_DIR"] = str(script.parent)
    done = subprocess.run(
        [str(script)], cwd=script.parent, env=environment, capture_output=True, text=True
    )
    for line, stage in zip(lines, stages, strict=True):
        if line[1] == "stage_out":
            shutil.copytree(real(stage["source"]), stage["destination"], dirs_exist_ok=True)
    return done


class Said:
    """What a command answered."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def __repr__(self) -> str:
        return f"code {self.code}\n{self.out}\n{self.err}"

    @property
    def json(self) -> Any:
        """The document on standard output."""
        assert self.code == 0, self
        return json.loads(self.out)

    def error(self, *words: str) -> str:
        """Return the one line of error, after checking that it is one and holds the words."""
        lines = [x for x in self.err.splitlines() if x.startswith("stripewise: error: ")]
        assert len(lines) == 1, self
        assert self.code not in (0, 70), self
        assert "bug in Stripewise" not in self.err, self
        for word in words:
            assert word in lines[0], (word, lines[0])
        return lines[0]


class JobCluster:
    """The directory, the cluster, and Stripewise's command line in it."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.fake = FakeSlurm(directory / "slurm")
        self.work = directory / "work"
        self.work.mkdir()
        self.script = self.work / "run.sh"
        self.write(SCRIPT)
        (self.work / "input.txt").write_text("input\n")
        self.set()
        for name in ("PATH", "FAKE_SLURM", "FAKE_SLURM_PROCESSES"):
            monkeypatch.setenv(name, self.fake.environment[name])
        monkeypatch.chdir(self.work)
        limiter = RateLimiter(poll_seconds=0.05, status_per_minute=6000, actions_per_minute=6000)
        monkeypatch.setattr("stripewise.run.slurm._client.SHARED", limiter)
        monkeypatch.setattr(SlurmLauncher, "poll_seconds", 0.02)

    def set(self, **settings: object) -> None:
        """Say how the cluster behaves; it has burst buffers unless `burst` says otherwise."""
        self.fake.set(**{"burst": BURST, **settings})

    def write(self, text: str | bytes, name: str = "run.sh") -> Path:
        """Write a job script."""
        path = self.work / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o750)
        return path

    def run(self, *words: str) -> Said:
        """Run a command line."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        code = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main(list(words))
            except SystemExit as end:
                code = int(end.code or 0)
        out.flush()
        buffer = out.buffer
        assert isinstance(buffer, io.BytesIO)
        return Said(code, buffer.getvalue().decode("utf-8", "replace"), err.getvalue())

    def tune(self, *words: str) -> Said:
        """Run `stripewise tune`."""
        return self.run("tune", *words)

    @property
    def submitted(self) -> int:
        """How often sbatch was called."""
        return sum(call[1] == "sbatch" for call in self.fake.calls)

    @property
    def names(self) -> set[str]:
        """What is in the directory."""
        return {os.fsencode(name).decode("utf-8", "replace") for name in os.listdir(self.work)}


@contextmanager
def job_cluster(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobCluster]:
    """Yield a cluster; nothing of it is left."""
    pool.forget_all()
    made = JobCluster(directory, monkeypatch)
    try:
        yield made
    finally:
        pool.forget_all()
        made.fake.end()
    assert made.fake.processes() == []


def refused(cluster: JobCluster, said: Said, *words: str) -> str:
    """Return the error; nothing was made or submitted."""
    line = said.error(*words)
    assert not [name for name in cluster.names if name.endswith(".stripewise")]
    assert not (cluster.work / "run.tuned.sh").exists()
    assert cluster.submitted == 0
    assert "canary" not in cluster.names
    return line
