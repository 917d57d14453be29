# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The real command line in a process of its own, and what it left behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

STRIPEWISE = (sys.executable, "-c", "from stripewise.cli import main; main()")
SHORT = ("--only", "mpiio.romio_cb_write", "--trials", "1")
"""A study of one setting; without pairs where the environment is `losing`."""
LIMIT_SECONDS = 270.0
HOST_ATTEMPTS = 5
"""Of a rehearsal: other programs of this host can make it slower than the storage for a moment."""


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """Lines of error."""
        return [x for x in self.err.splitlines() if x.startswith("stripewise: error: ")]

    @property
    def warnings(self) -> list[str]:
        """Lines of warning of `run`."""
        return [x for x in self.err.splitlines() if x.startswith("stripewise: warning: ")]

    def json(self) -> Any:
        """Its one document; of `run` the last line of standard output."""
        assert self.code == 0, self
        return json.loads(self.out)

    def only_error(self, code: int, *words: str) -> str:
        """The one line of error, after checking that it is the one that is expected."""
        assert self.code == code, self
        assert len(self.errors) == 1, self
        assert "Traceback" not in self.err, self
        assert "bug in Stripewise" not in self.err, self
        last = self.err.splitlines()[-1]
        assert last == self.errors[0], f"something follows the line of error: {self}"
        for word in words:
            assert word in last, (word, last)
        return last


def plain_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would steer Stripewise or a preload."""
    names = ("RUNTIME_DIR", "NATIVE_DIR", "KNOWLEDGE", "SITE_PACKS")
    keep = tuple(f"STRIPEWISE_{name}" for name in names)
    found = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_") or k in keep}
    found.pop("LD_PRELOAD", None)
    return found | {"NO_COLOR": "1"} | dict(more or {})


def stripewise(
    *words: str | bytes | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> Done:
    """Run a command of Stripewise to its end."""
    done = subprocess.run(
        [*STRIPEWISE, *words],
        cwd=cwd,
        env=plain_environment(more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=LIMIT_SECONDS,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def start(
    *words: str | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a command of Stripewise."""
    return subprocess.Popen(
        [*STRIPEWISE, *map(str, words)],
        cwd=cwd,
        env=plain_environment(more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )


def tune(
    *words: str | bytes | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """`stripewise tune --json`, which must succeed; its document."""
    document: dict[str, Any] = stripewise("tune", "--json", *words, cwd=cwd, more=more).json()
    return document


def run(
    *words: str | bytes | Path, cwd: Path, more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """`stripewise run --json`, which must succeed; the line behind the program's output."""
    done = stripewise("run", "--json", *words, cwd=cwd, more=more)
    assert done.code == 0, done
    document: dict[str, Any] = json.loads(done.out.splitlines()[-1])
    return document


def counted(rehearse: Callable[[], T], documents: Callable[[T], Iterable[Mapping[str, Any]]]) -> T:
    """Rehearse until every run counts, which one does not where this host was slower.

    Args:
        rehearse: Makes one run on emulated storage, or several that belong together.
        documents: What it returns -> of each run what `run --json` tells.
    """
    said = set()
    for _ in range(HOST_ATTEMPTS):
        done = rehearse()
        problems = {document["emulated"]["problem"] for document in documents(done)} - {""}
        if not problems:
            return done
        said |= problems
    raise AssertionError(said)


def file_of(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What `run --json` tells of the file of that name."""
    found = [file for file in document["files"] if Path(file["path"]).name == name]
    assert len(found) == 1, [file["path"] for file in document["files"]]
    return dict(found[0])


def tree(directory: Path) -> dict[bytes, str]:
    """Every name below a directory with what lies there; studies are left out."""
    found = {}
    for folder, folders, names in os.walk(os.fsencode(directory)):
        folders[:] = [name for name in folders if not name.endswith(b".stripewise")]
        for name in (*names, *folders):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            text = f"{status.st_mode:o} {status.st_mtime_ns}"
            if os.path.isfile(path) and not os.path.islink(path):
                text += " " + hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).hexdigest()
            found[path] = text if name in names else f"{status.st_mode:o}"
    return found


def journal(study: Path) -> list[dict[str, Any]]:
    """Whole records of a study's journal."""
    path = study / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line)["record"] for line in lines if line.endswith("\n")]


def finished(study: Path) -> list[str]:
    """Ids of the finished runs, in order."""
    return [r["run_id"] for r in journal(study) if r["kind"] == "run-finished"]


def planned(study: Path) -> list[str]:
    """Ids of all runs that were begun."""
    return [r["run_id"] for r in journal(study) if r["kind"] == "run-planned"]


def processes_of(run_ids: Iterable[str]) -> dict[int, str]:
    """Living processes that carry the id of such a run in their environment."""
    marks = [f"STRIPEWISE_RUN_ID={run_id}".encode() for run_id in run_ids]
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path("/proc", name, "environ").read_bytes().split(b"\0")
            state = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[0]
            words = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        if state != "Z" and any(mark in environment for mark in marks):
            found[int(name)] = words.decode(errors="replace")
    return found


def wait_until(condition: Any, what: str, seconds: float = 60.0) -> None:
    """Poll until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.02)


def mpiexec(family: str, n_ranks: int = 2) -> list[str]:
    """Words that start a program on so many ranks; Open MPI may take more than there are."""
    words = [f"mpiexec.{family}", "-n", str(n_ranks)]
    if family == "openmpi":
        words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    return words


def require_mpi(family: str) -> str:
    """The family, if it can compile and run; otherwise the test is skipped."""
    for tool in (f"mpicc.{family}", f"mpiexec.{family}"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    return family


def as_words(*parts: str | Path | Sequence[str]) -> list[str]:
    """Flatten a command line."""
    words: list[str] = []
    for part in parts:
        words += [str(part)] if isinstance(part, str | Path) else part
    return words
