# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the built runtime lives, and where its sources are."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.errors import RuntimeMissingError

ENV_RUNTIME_DIR = "STRIPEWISE_RUNTIME_DIR"
CORE_NAME = "libstripewise.so"
PLUGIN_PREFIX = "libstripewise-mpi-"
KERNEL_PREFIX = "stripewise-kernel-"
REPLAY_PREFIX = "stripewise-replay-"


@dataclass(frozen=True)
class Runtime:
    """A built runtime library.

    Attributes:
        directory: Root of its layout (`lib`, `lib/plugins`, `bin`, `build`).
        core: The library that is preloaded.
        plugin_directories: Where MPI plug-ins are looked for.
        kernels: MPI family to its benchmark kernel.
        replays: MPI family to the program that replays traces.
    """

    directory: Path
    core: Path
    plugin_directories: tuple[Path, ...] = ()
    kernels: Mapping[str, Path] = field(default_factory=dict)
    replays: Mapping[str, Path] = field(default_factory=dict)

    @property
    def plugins(self) -> dict[str, Path]:
        """`<family>-<major>` to the plug-in."""
        found = (
            p for d in self.plugin_directories for p in sorted(d.glob(PLUGIN_PREFIX + "*.so"))
        )
        return {path.stem.removeprefix(PLUGIN_PREFIX): path for path in found}


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


def runtime_in(directory: Path) -> Runtime | None:
    """The runtime that is built in a directory, if there is one."""
    core = directory / "lib" / CORE_NAME
    if not core.is_file():
        return None
    plugins = directory / "lib" / "plugins"
    kernels, replays = (_programs(directory, prefix) for prefix in (KERNEL_PREFIX, REPLAY_PREFIX))
    return Runtime(directory, core, (plugins,) if plugins.is_dir() else (), kernels, replays)


def _programs(directory: Path, prefix: str) -> dict[str, Path]:
    """What stands behind the prefix to the program."""
    found = sorted((directory / "bin").glob(prefix + "*"))
    return {path.name.removeprefix(prefix): path for path in found}


def find_runtime() -> Runtime:
    """Find the built runtime.

    Raises:
        RuntimeMissingError: It is not built.
    """
    candidates = candidate_directories()
    for directory in candidates:
        if runtime := runtime_in(directory):
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
    package = Path(__file__).resolve().parents[1]
    for path in (package / "_native", package.parents[1] / "native"):
        if (path / "CMakeLists.txt").is_file():
            return path
    raise RuntimeMissingError(
        f"the C sources are missing (looked in {package / '_native'} and "
        f"{package.parents[1] / 'native'}); install Stripewise again"
    )
