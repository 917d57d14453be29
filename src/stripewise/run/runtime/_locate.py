# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the built runtime lives, and where its sources are."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from stripewise.core.errors import RuntimeMissingError

ENV_RUNTIME_DIR = "STRIPEWISE_RUNTIME_DIR"
CORE_NAME = "libstripewise.so"
TASK_NAME = "stripewise-task"
PLUGIN_PREFIX = "libstripewise-mpi-"
KERNEL_PREFIX = "stripewise-kernel-"
REPLAY_PREFIX = "stripewise-replay-"
METADATA_PREFIX = "stripewise-metadata-"


@dataclass(frozen=True)
class Runtime:
    """A built runtime library.

    Attributes:
        directory: Root of its layout (`lib`, `lib/plugins`, `bin`, `build`).
    """

    directory: Path

    @property
    def core(self) -> Path:
        """The library that is preloaded."""
        return self.directory / "lib" / CORE_NAME

    @property
    def task(self) -> Path:
        """The program that starts a task in the environment that a file describes."""
        return self.directory / "bin" / TASK_NAME

    @property
    def plugin_directory(self) -> Path:
        """Where MPI plug-ins are looked for."""
        return self.directory / "lib" / "plugins"

    @property
    def plugins(self) -> dict[str, Path]:
        """`<family>-<major>` to the plug-in."""
        return _built(self.plugin_directory, PLUGIN_PREFIX)

    @property
    def kernels(self) -> dict[str, Path]:
        """MPI family to its benchmark kernel."""
        return _built(self.directory / "bin", KERNEL_PREFIX)

    @property
    def replays(self) -> dict[str, Path]:
        """MPI family to the program that replays traces."""
        return _built(self.directory / "bin", REPLAY_PREFIX)

    @property
    def metadata_programs(self) -> dict[str, Path]:
        """MPI family to the program that times operations of metadata."""
        return _built(self.directory / "bin", METADATA_PREFIX)


def _built(folder: Path, prefix: str) -> dict[str, Path]:
    """What stands behind the prefix to the file."""
    found = sorted(folder.glob(prefix + "*"))
    return {path.name.removeprefix(prefix).removesuffix(".so"): path for path in found}


def candidate_directories() -> list[Path]:
    """Directories in which a runtime may live, in order of preference."""
    named = os.environ.get(ENV_RUNTIME_DIR)
    if named:
        return [Path(named).absolute()]
    return [
        Path(sys.prefix) / "lib" / "stripewise",
        Path.home() / ".local" / "share" / "stripewise",
    ]


def build_directory() -> Path:
    """The first candidate that can be written to (the last one if none can)."""
    candidates = candidate_directories()
    for path in candidates:
        existing = next(p for p in (path, *path.parents) if p.exists())
        if os.access(existing, os.W_OK | os.X_OK):
            return path
    return candidates[-1]


def find_runtime() -> Runtime:
    """Find the built runtime.

    Raises:
        RuntimeMissingError: It is not built.
    """
    candidates = candidate_directories()
    for directory in candidates:
        if (runtime := Runtime(directory)).core.is_file():
            return runtime
    looked = ", ".join(str(path) for path in candidates)
    raise RuntimeMissingError(
        f"the runtime library is not built (looked in {looked}); run: stripewise runtime build"
    )


def native_sources() -> Path:
    """Directory of the C sources: of the checkout, or in the installed package.

    Raises:
        RuntimeMissingError: They are not there.
    """
    package = Path(__file__).resolve().parents[2]
    candidates = (package / "_native", package.parents[1] / "native")
    for path in candidates:
        if (path / "CMakeLists.txt").is_file():
            return path
    looked = " and ".join(map(str, candidates))
    raise RuntimeMissingError(
        f"the C sources are missing (looked in {looked}); install Stripewise again"
    )
