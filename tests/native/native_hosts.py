# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The core built once, small C programs compiled beside the test, containers read back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stripewise.evidence.containers import read_containers
from stripewise.evidence.trace import FileFlag, IoLayer, Op, ProcessFlag, RunProfile
from support.built import built

QUICK = "-DCMAKE_BUILD_TYPE=Debug"
"""For a further build: a third of the time."""

NATIVE = Path(__file__).resolve().parents[2] / "native"
PROGRAMS = Path(__file__).parent / "programs"


def run_checked(command: Sequence[str | Path]) -> None:
    """Run a build step; its output is the message of the failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def build_core(name: str, *options: str) -> Path:
    """Build libstripewise.so, whichever worker asks first."""
    for tool in ("cc", "cmake"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    directory = built(
        f"core-{name}",
        [NATIVE],
        ["cmake", "-S", NATIVE, "-B", ".", "-DSW_PART=core", *options],
        ["cmake", "--build", ".", "--parallel", "2"],
    )
    return directory / "libstripewise.so"


@pytest.fixture(scope="session")
def core() -> Path:
    """The library, warnings as errors."""
    return build_core("plain", "-DSW_WERROR=ON")


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """Compiles `programs/NAME.c` on first use."""
    return Programs(tmp_path_factory.mktemp("programs"))


class Programs:
    """Programs and libraries that the tests run, by the name of their source."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def executable(self, name: str, *options: str) -> Path:
        """Compile a program."""
        return self._compile(name, self.directory / name, *options)

    def shared(self, name: str, *options: str) -> Path:
        """Compile a shared library."""
        return self._compile(name, self.directory / f"lib{name}.so", "-shared", "-fPIC", *options)

    def _compile(self, name: str, output: Path, *options: str) -> Path:
        if not output.exists():
            source = PROGRAMS / f"{name}.c"
            flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
            run_checked(["cc", *flags, "-o", output, source, *options, "-ldl", "-lrt"])
        return output


@dataclass
class Host:
    """Runs programs under the library, in a directory of their own."""

    library: Path
    directory: Path
    containers: Path

    def environment(self, **variables: str) -> dict[str, str]:
        """Environment of a run; a variable set to "" is left out."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        environment = inherited | {
            "LD_PRELOAD": str(self.library),
            "STRIPEWISE_DIRECTORY": str(self.containers),
            "STRIPEWISE_RUN_ID": "test",
        }
        environment |= variables
        return {name: value for name, value in environment.items() if value != ""}

    def run(
        self, *command: str | Path, timeout: float = 60, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.directory,
            env=self.environment(**variables),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )

    def check(self, *command: str | Path, **variables: str) -> bytes:
        """Run a command that must succeed; its standard output."""
        done = self.run(*command, **variables)
        assert done.returncode == 0, done.stderr.decode(errors="replace") + f" {done.returncode}"
        return done.stdout

    @property
    def profile(self) -> RunProfile:
        """What was recorded until now."""
        return read_containers(sorted(self.containers.glob("*.sw")))

    def records(self, name: str, layer: IoLayer = IoLayer.POSIX) -> list[Any]:
        """Records of the files with this base name in a layer."""
        profile = self.profile
        return [
            record
            for record in profile.counters
            if record["layer"] == layer
            and os.path.basename(profile.paths[int(record["file"])]) == name
        ]

    def record(self, name: str, layer: IoLayer = IoLayer.POSIX) -> Any:
        """The one record of a file in a layer."""
        found = self.records(name, layer)
        assert len(found) == 1, f"{len(found)} records of {name}: {self.profile.paths}"
        return found[0]


def operations(record: Any, op: Op) -> int:
    """How often."""
    return int(record["count"][op])


def moved(record: Any, op: Op) -> int:
    """Bytes."""
    return int(record["bytes"][op])


def has(value: Mapping[str, Any] | np.void, flag: FileFlag | ProcessFlag) -> bool:
    """Whether a flag is set in a record or a process."""
    return bool(int(value["flags"]) & flag)


@pytest.fixture
def host(core: Path, tmp_path: Path) -> Host:
    """An empty working directory and an empty directory for the containers."""
    work = tmp_path / "work"
    containers = tmp_path / "containers"
    work.mkdir()
    containers.mkdir()
    return Host(core, work, containers)
