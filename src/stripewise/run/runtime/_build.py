# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the runtime library, the MPI plug-ins, the kernels and the replay program with CMake."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import filelock

from stripewise.core.errors import RuntimeMissingError, StorageError, UsageError
from stripewise.present import text_of
from stripewise.run._ask import ask
from stripewise.run.runtime._environment import (
    CORE_NAME,
    KERNEL_PREFIX,
    METADATA_PREFIX,
    PLUGIN_PREFIX,
    REPLAY_PREFIX,
    TASK_NAME,
    Runtime,
    build_directory,
    native_sources,
)
from stripewise.run.runtime._mpi import MpiInstallation, describe_mpi, detect_mpis

Progress = Callable[[str], None]
_TAIL_LINES = 12
_BUILD_SECONDS = 900.0
_STAMP = "stripewise-stamp"
"""File in a finished build tree with the stamp of its part."""


@dataclass(frozen=True)
class Component:
    """One CMake build: the core, or the part for one MPI.

    Attributes:
        identity: Name of its build tree.
        label: Name of the part for people.
        compiler: C compiler or MPI wrapper.
        options: CMake cache variables.
        outputs: Files that it must install, relative to the runtime's directory.
    """

    identity: str
    label: str
    compiler: Path
    options: dict[str, str]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class BuildResult:
    """Result of a build.

    Attributes:
        runtime: The runtime after the build.
        built / current: Labels of parts that were built, and of those that were up to date.
        failed: Label of each MPI whose build failed to the reason.
    """

    runtime: Runtime
    built: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)


class BuildError(RuntimeMissingError):
    """An error of CMake or the compiler."""


def build_runtime(
    progress: Progress | None = None,
    *,
    mpicc: Sequence[str] = (),
    force: bool = False,
    directory: Path | None = None,
) -> BuildResult:
    """Build the parts that are out of date: the core, and plug-in and kernel for each MPI.

    Args:
        progress: Function that is called with one line per step.
        mpicc: Compiler wrappers to build for; all on PATH if not given.
        force: Whether to build also parts that are up to date.
        directory: Directory of the runtime; `build_directory()` if not given.

    Raises:
        UsageError: A wrapper does not exist.
        BuildError: The core, or an explicitly requested MPI, cannot be built.
        StorageError: The directory cannot be written.
    """
    say = progress or (lambda line: None)
    target = (directory or build_directory()).absolute()
    mpis, failed = _wanted(mpicc)
    sources = native_sources()
    _check_tools()
    built: list[str] = []
    current: list[str] = []
    with _locked(target):
        digest = _digest(sources)
        for part in [_core_part(), *map(_mpi_part, mpis)]:
            try:
                fresh = _build_part(part, sources, target, digest, force, say)
                (built if fresh else current).append(part.label)
            except BuildError as error:
                if part.identity == "core" or mpicc:
                    raise
                failed[part.label] = str(error)
    return BuildResult(Runtime(target), tuple(built), tuple(current), failed)


def _wanted(mpicc: Sequence[str]) -> tuple[list[MpiInstallation], dict[str, str]]:
    """Return the MPIs to build for, one per family and major version, and those that fail."""
    found = []
    for name in mpicc:
        mpi = describe_mpi(name)
        if mpi is None:
            raise UsageError(f"{name}: no such compiler wrapper; give the path of an mpicc")
        if mpi.problem:
            raise BuildError(mpi.problem)
        found.append(mpi)
    mpis = found or detect_mpis()
    failed = {str(mpi.mpicc): mpi.problem for mpi in mpis if mpi.problem}
    unique: dict[tuple[str, str], MpiInstallation] = {}
    for mpi in mpis:
        if not mpi.problem:
            unique.setdefault((mpi.family, mpi.major), mpi)
    return list(unique.values()), failed


def _check_tools() -> None:
    for tool, package in (("cmake", "cmake"), ("cc", "gcc")):
        if not shutil.which(tool):
            raise BuildError(f"{tool} is not on PATH; install it (Debian package {package})")


def _core_part() -> Component:
    compiler = Path(shutil.which(os.environ.get("CC", "") or "cc") or "cc")
    outputs = (f"lib/{CORE_NAME}", f"bin/{TASK_NAME}")
    return Component("core", "core", compiler, {"SW_PART": "core"}, outputs)


def kernel_name(mpi: MpiInstallation) -> str:
    """Return the last part of a kernel's file name: the family, for its first MPI on PATH.

    For another major version of the same family, the version is appended to keep both kernels.
    """
    usual = next((other for other in detect_mpis() if other.family == mpi.family), mpi)
    return mpi.family if usual.major == mpi.major else f"{mpi.family}-{mpi.major}"


def _mpi_part(mpi: MpiInstallation) -> Component:
    kernel = kernel_name(mpi)
    options = {
        "SW_PART": "mpi",
        "SW_MPI_FAMILY": mpi.family,
        "SW_MPI_MAJOR": mpi.major,
        "SW_KERNEL_NAME": kernel,
    }
    found = [library for library in (mpi.hdf5, *mpi.libraries) if library]
    for library in found:
        options[f"SW_{library.name}_INCLUDE"] = ";".join(map(str, library.includes))
        options[f"SW_{library.name}_LIBRARIES"] = ";".join(map(str, library.libraries))
    titles = ", ".join(f"{library.title} {library.version}" for library in found)
    label = f"{mpi.label} with {titles}" if titles else mpi.label
    outputs = (
        f"lib/plugins/{PLUGIN_PREFIX}{mpi.family}-{mpi.major}.so",
        f"bin/{KERNEL_PREFIX}{kernel}",
        f"bin/{REPLAY_PREFIX}{kernel}",
        f"bin/{METADATA_PREFIX}{kernel}",
    )
    identity = f"{mpi.family}-{mpi.version or mpi.major}".replace("/", "_")
    return Component(identity, label, mpi.mpicc, options, outputs)


def _build_part(
    part: Component, sources: Path, target: Path, digest: str, force: bool, say: Progress
) -> bool:
    """Build one part; return False if it was up to date."""
    tree = target / "build" / part.identity
    stamp = _stamp(part, digest)
    missing = [name for name in part.outputs if not (target / name).exists()]
    if not force and not missing and text_of(tree / _STAMP) == stamp:
        say(f"{part.label}: up to date")
        return False
    say(f"{part.label}: building with {part.compiler}")
    shutil.rmtree(tree, ignore_errors=True)
    for step in _steps(part, sources, target, tree):
        answer = ask(step, timeout_seconds=_BUILD_SECONDS)
        if not answer.ok:
            raise BuildError(_failure(part, answer.text + answer.error + answer.problem, step))
    missing = [name for name in part.outputs if not (target / name).exists()]
    if missing:
        raise BuildError(f"{part.label}: the build installed no {', '.join(missing)}")
    (tree / _STAMP).write_text(stamp)
    return True


def _digest(sources: Path) -> str:
    """Return SHA-256 over the names and contents of all sources."""
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(sources)).encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _stamp(part: Component, digest: str) -> str:
    """Return SHA-256 over everything a part is built from: sources, compiler and options."""
    compiler = str(part.compiler)
    version = ask([compiler, "--version"]).text.partition("\n")[0]
    shown = ask([compiler, "-show"]).text.strip()
    text = json.dumps([digest, [compiler, version, shown], sorted(part.options.items())])
    return hashlib.sha256(text.encode()).hexdigest()


def _steps(part: Component, sources: Path, target: Path, tree: Path) -> list[list[str]]:
    variables = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_INSTALL_PREFIX": str(target),
        "CMAKE_INSTALL_LIBDIR": "lib",
        "CMAKE_INSTALL_BINDIR": "bin",
        "CMAKE_INSTALL_RPATH_USE_LINK_PATH": "ON",
        "CMAKE_C_COMPILER": str(part.compiler),
        **part.options,
    }
    defines = [f"-D{name}={value}" for name, value in variables.items()]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
    jobs = str(len(os.sched_getaffinity(0)))
    return [
        ["cmake", "-S", str(sources), "-B", str(tree), *generator, *defines],
        ["cmake", "--build", str(tree), "--parallel", jobs],
        ["cmake", "--install", str(tree)],
    ]


def _failure(part: Component, text: str, step: Sequence[str]) -> str:
    """Return the failed step, with the compiler's lines that explain it."""
    lines = [line for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    shown = "\n  ".join((telling or lines)[:2] + lines[-_TAIL_LINES:])
    return f"cannot build {part.label} with {part.compiler} ({' '.join(step[:2])}):\n  {shown}"


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Lock a directory, so that only one build at a time works in it."""
    try:
        (target / "build").mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(target / "build" / ".lock", timeout=_BUILD_SECONDS)
        lock.acquire()
    except (OSError, filelock.Timeout) as error:
        raise StorageError(
            f"cannot build in {target}: {error}; "
            "set STRIPEWISE_RUNTIME_DIR to a directory of yours"
        ) from error
    try:
        yield
    finally:
        lock.release()
