# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runtime library and test programs built once a session; programs run under it, and what
it recorded is read back."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_builds import PATIENCE_SECONDS
from stacks import allowances, family_of, hdf5_flags, is_openmpi, major_of, suite_of, there, tool

from stripewise.evidence.containers import read_containers
from stripewise.evidence.trace import IoLayer, Op, RunProfile, SettingsKind
from support import roots

NATIVE = Path(__file__).resolve().parents[2] / "native"
PROGRAMS = Path(__file__).parent / "programs"
FAMILIES = ("mpich", "openmpi")
PYTHON = "/usr/bin/python3"  # Debian's mpi4py and h5py are built for its Open MPI


def checked(command: Sequence[str | Path], **more: Any) -> str:
    """Run a build step; its output is the message of a failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@cache
def scratch() -> Path:
    """A directory for what is built; gone at the end of the session."""
    directory = Path(tempfile.mkdtemp(prefix="stripewise-tests-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def cmake(name: str, *options: str) -> Path:
    """Configure and build one part; its tree."""
    tree = scratch() / name
    checked(["cmake", "-S", NATIVE, "-B", tree, "-DSW_WERROR=ON", *options])
    return tree


@cache
def core() -> Path:
    """The runtime library."""
    tree = cmake("core", "-DSW_PART=core")
    checked(["cmake", "--build", tree, "--parallel", "2"])
    return tree / "libstripewise.so"


def library(stack: str) -> Path:
    """The runtime library for a stack's programs: in a root, the one that was built there."""
    suite = suite_of(stack)
    return roots.runtime(suite) / "lib" / "libstripewise.so" if suite else core()


@cache
def plugins(stack: str) -> Path:
    """Directory with the plug-in of a stack's MPI."""
    if suite := suite_of(stack):
        return roots.runtime(suite) / "lib" / "plugins"
    family, major = family_of(stack), major_of(stack)
    tree = cmake(
        f"plugin-{family}-{major}",
        "-DSW_PART=mpi",
        f"-DSW_MPI_FAMILY={family}",
        f"-DSW_MPI_MAJOR={major}",
        f"-DCMAKE_C_COMPILER={tool(stack, 'mpicc')}",
    )
    checked(["cmake", "--build", tree, "--parallel", "2", "--target", "stripewise-mpi"])
    return tree


@cache
def program(stack: str, source: str, *options: str) -> Path:
    """A test program, compiled with a stack."""
    label = "".join(c for c in "".join(options) if c.isalnum())
    built = scratch() / f"{Path(source).stem}-{stack}{label}"
    wrapper = tool(stack, "mpif90" if source.endswith(".F90") else "mpicc")
    flags = hdf5_flags(stack) if source.startswith("h5") else ()
    if source.startswith("h5") and not flags:
        pytest.skip(f"no parallel HDF5 for {stack}")
    words = [wrapper, "-O1", *options, PROGRAMS / source, "-o", built, *flags]
    checked(there(stack, words))
    return built


def flat(*lines: str) -> str:
    """A flat configuration; fields are separated by blanks here."""
    return "\n".join(["stripewise-flat 1", *(line.replace(" ", "\t") for line in lines)]) + "\n"


@dataclass(frozen=True)
class Ran:
    """A finished run."""

    code: int
    out: str
    err: str
    profile: RunProfile

    def ranks(self) -> list[int]:
        """Ranks that left a mark, sorted."""
        return sorted(int(rank) for rank in self.profile.processes["rank"] if rank >= 0)

    def state(self, field: str) -> set[int]:
        """Values of a field over the processes that saw MPI."""
        processes = self.profile.processes
        return {int(row[field]) for row in processes if row["mpi_family"] != 0}

    def records(self, layer: IoLayer, name: str) -> list[Any]:
        """Records of a layer for the files of that name, one per process."""
        return [
            record
            for record in self.profile.counters
            if record["layer"] == layer
            and Path(self.profile.paths[record["file"]]).name == name
            and self.profile.processes["mpi_family"][record["process"]] != 0
        ]

    def bytes(self, layer: IoLayer, name: str, *ops: Op) -> int:
        """Bytes of these operations, over all processes."""
        return sum(int(r["bytes"][list(ops)].sum()) for r in self.records(layer, name))

    def writers(self, name: str) -> set[int]:
        """Ranks that issued system writes."""
        return {
            int(self.profile.processes["rank"][record["process"]])
            for record in self.records(IoLayer.POSIX, name)
            if record["bytes"][Op.WRITE] > 0
        }

    def largest_write(self, name: str) -> int:
        """Largest system write."""
        return max(int(r["write_max"]) for r in self.records(IoLayer.POSIX, name))

    def aligned_writes(self, name: str, bits: int) -> int:
        """System writes whose offset, other than 0, is a multiple of 2**bits."""
        records = self.records(IoLayer.POSIX, name)
        return int(np.sum([record["write_alignment"][bits:-1].sum() for record in records]))

    def settings(self, kind: SettingsKind, layer: IoLayer) -> dict[str, set[str]]:
        """Key to the values that were recorded by any process."""
        found: dict[str, set[str]] = {}
        for settings in self.profile.settings:
            if settings.kind == kind and settings.layer == layer:
                for key, value in settings.values.items():
                    found.setdefault(key, set()).add(value)
        return found

    def applied(self, layer: IoLayer = IoLayer.MPIIO) -> dict[str, set[str]]:
        """What was applied."""
        return self.settings(SettingsKind.APPLIED, layer)


def environment(stack: str, io: str = "") -> dict[str, str]:
    """Without anything of Stripewise."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("STRIPEWISE_", "LD_PRE"))}
    plain.pop("MPICH_MPIIO_HINTS", None)
    plain |= allowances(stack)
    if io and is_openmpi(stack):
        plain["OMPI_MCA_io"] = io
    return plain


def launch(stack: str, n_ranks: int, variables: Mapping[str, str] | None = None) -> list[str]:
    """Words that start a program on so many ranks; in a root, with these variables."""
    words = [tool(stack, "mpiexec"), "-n", str(n_ranks)]
    if is_openmpi(stack):
        words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    return there(stack, words, variables)


def run_plain(
    stack: str,
    n_ranks: int,
    command: Sequence[str | Path],
    cwd: Path,
    io: str = "",
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run without the library, or with the variables that bring it."""
    ours = dict(variables or {})
    return subprocess.run(
        [*launch(stack, n_ranks, ours), *command],
        cwd=cwd,
        env=environment(stack, io) | ({} if suite_of(stack) else ours),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_SECONDS,
    )


def run(
    stack: str,
    n_ranks: int,
    command: Sequence[str | Path],
    cwd: Path,
    *,
    configuration: str = "",
    io: str = "",
    plugin_path: Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> Ran:
    """Run under the library."""
    directory = cwd / f"containers-{uuid.uuid4().hex}"
    directory.mkdir()
    variables = {
        "LD_PRELOAD": str(library(stack)),
        "STRIPEWISE_DIRECTORY": str(directory),
        "STRIPEWISE_RUN_ID": directory.name,
        "STRIPEWISE_PLUGIN_PATH": str(plugin_path or plugins(stack)),
        **(extra or {}),
    }
    if configuration:
        variables["STRIPEWISE_CONFIGURATION"] = configuration
    done = run_plain(stack, n_ranks, command, cwd, io, variables)
    profile = read_containers(sorted(directory.glob("*.sw")))
    return Ran(done.returncode, done.stdout, done.stderr, profile)


def require(*tools: str) -> None:
    """Skip the test if a tool is not installed."""
    for name in tools:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
