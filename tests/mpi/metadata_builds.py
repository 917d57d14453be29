# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Build and start the metadata kernel for the MPIs that are on this machine."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kernel_builds import KERNELS, PATIENCE_SECONDS, WARNINGS

METADATA = KERNELS.parent / "metadata"
_SHARED = tuple(KERNELS / f"{name}.c" for name in ("command", "json", "meeting", "program"))
_CHECKED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")


@dataclass(frozen=True)
class MetadataKernel:
    """The program of one MPI."""

    family: str
    program: Path

    @property
    def environment(self) -> dict[str, str]:
        """With what Open MPI needs of root."""
        return {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def words(self, ranks: int, arguments: Sequence[str]) -> list[str]:
        """Of a job; Open MPI may have more ranks than there are processors."""
        many = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        more = many if self.family == "openmpi" else []
        launcher = [f"mpiexec.{self.family}", "-n", str(ranks), *more]
        return [*launcher, str(self.program), *arguments]

    def run(
        self, ranks: int, *arguments: str, cwd: Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return subprocess.run(
            self.words(ranks, arguments),
            cwd=cwd,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def told(self, ranks: int, *arguments: str, cwd: Path, **environment: str) -> dict[str, Any]:
        """Return the JSON of a run that ends well."""
        done = self.run(ranks, *arguments, "--json", "-", cwd=cwd, **environment)
        assert (done.returncode, done.stderr) == (0, "")
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def alone(self, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
        """Start as one rank without a launcher."""
        return subprocess.Popen(
            [str(self.program), *arguments],
            cwd=cwd,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_usual_signals,
        )


def _usual_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@cache
def metadata_kernel(family: str) -> MetadataKernel:
    """The program, compiled once a session; skips where that MPI is not installed."""
    if not shutil.which(f"mpicc.{family}") or not shutil.which(f"mpiexec.{family}"):
        pytest.skip(f"no mpicc.{family} or mpiexec.{family}")
    directory = Path(tempfile.mkdtemp(prefix="stripewise-metadata-tests-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    program = directory / f"stripewise-metadata-{family}"
    sources = [str(path) for path in (*sorted(METADATA.glob("*.c")), *_SHARED)]
    include = f"-I{KERNELS.parent / 'include'}"
    words = [f"mpicc.{family}", *WARNINGS, *_CHECKED, include, f"-I{KERNELS}", *sources]
    words += ["-o", str(program), "-lm"]
    subprocess.run(words, check=True)
    return MetadataKernel(family, program)
