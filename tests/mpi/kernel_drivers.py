# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs around the kernel's parts: many cases in one start, instead of a start a case."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_builds import KERNELS, NATIVE, WARNINGS
from stacks import hdf5_flags

from support.built import built

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Drivers:
    """The kernel without its main(), compiled for one MPI."""

    family: str
    directory: Path
    hdf5: bool

    def program(self, source: str) -> Path:
        """A program of this directory, linked with the kernel's parts."""
        name = Path(source).stem
        objects = [str(path) for path in sorted(self.directory.glob("*.o"))]
        flags = hdf5_flags(self.family) if self.hdf5 else []
        words = [f"mpicc.{self.family}", *WARNINGS, "-fsanitize=undefined"]
        words += [str(HERE / source), *objects, "-o", name, *flags, "-lm"]
        return built(f"{name}-{self.family}", [NATIVE, HERE / source], words) / name

    def batch(
        self, n_ranks: int, lines: Sequence[str], *, cwd: Path, io: str = ""
    ) -> Mapping[str, str]:
        """Run the kernel once a line, all in one start; what is told about each line."""
        cases = cwd / "lines"
        cases.write_text("".join(line + "\n" for line in lines))
        words = [f"mpiexec.{self.family}", "-n", str(n_ranks)]
        environment = dict(os.environ)
        if self.family == "openmpi":
            words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
            environment |= {
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
            if io:
                environment["OMPI_MCA_io"] = io
        words += [str(self.program("kernel_batch.c")), str(cases)]
        done = subprocess.run(
            words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert "runtime error" not in done.stderr, done.stderr  # of the sanitizer
        return told(done.stdout)


def told(output: str) -> dict[str, str]:
    """From a line to "CODE VERDICT" and what went wrong."""
    found: dict[str, str] = {}
    line = ""
    for text in output.splitlines():
        if text.startswith("  "):
            found[line] += text
        else:
            code, verdict, line = text.split(" ", 2)
            found[line] = f"{code} {verdict}"
    return found


def compile_drivers(family: str) -> Drivers | None:
    """Compile the kernel's parts; None where that MPI is not installed."""
    wrapper = f"mpicc.{family}"
    if not shutil.which(wrapper) or not shutil.which(f"mpiexec.{family}"):
        return None
    flags = hdf5_flags(family)
    sources = [str(path) for path in sorted(KERNELS.rglob("*.c")) if path.name != "main.c"]
    define = ["-DSW_HAVE_HDF5"] if flags else []
    words = [wrapper, *WARNINGS, "-fsanitize=undefined", *define, f"-I{NATIVE / 'include'}"]
    words += ["-c", *sources]
    command = [*words, *(f for f in flags if not f.startswith("-l"))]
    return Drivers(family, built(f"drivers-{family}", [NATIVE], command), bool(flags))
