# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Building, on a tiny tree of C sources with the layout of the real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stripewise.core.errors import RuntimeMissingError, StorageError, UsageError
from stripewise.run.runtime import _build, build_runtime
from stripewise.run.runtime._mpi import MpiInstallation

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(tiny C)
include(GNUInstallDirs)
if(SW_PART STREQUAL "core")
  add_library(stripewise SHARED core.c)
  install(TARGETS stripewise LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_executable(stripewise-task kernel.c)
  install(TARGETS stripewise-task RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
else()
  set(name stripewise-mpi-${SW_MPI_FAMILY}-${SW_MPI_MAJOR})
  add_library(${name} SHARED plugin.c)
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/plugins)
  add_executable(stripewise-kernel-${SW_KERNEL_NAME} kernel.c)
  add_executable(stripewise-replay-${SW_KERNEL_NAME} kernel.c)
  add_executable(stripewise-metadata-${SW_KERNEL_NAME} kernel.c)
  install(TARGETS stripewise-kernel-${SW_KERNEL_NAME} stripewise-replay-${SW_KERNEL_NAME}
          stripewise-metadata-${SW_KERNEL_NAME} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
"""

pytestmark = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("cc")), reason="no CMake or no C compiler"
)


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "native"
    root.mkdir()
    (root / "CMakeLists.txt").write_text(CMAKE)
    (root / "core.c").write_text("int core(void);\nint core(void) { return 1; }\n")
    (root / "plugin.c").write_text("int plugin(void);\nint plugin(void) { return 1; }\n")
    (root / "kernel.c").write_text("int main(void) { return 0; }\n")
    compiler = Path(shutil.which("cc") or "cc")
    monkeypatch.setattr(_build, "native_sources", lambda: root)
    monkeypatch.setattr(
        _build, "detect_mpis", lambda: [MpiInstallation("mpich", "4.0.2", compiler)]
    )
    return root


@pytest.mark.extended
def test_builds_once_and_again_when_a_source_changes(sources: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    said: list[str] = []
    first = build_runtime(said.append, directory=target)
    assert first.built == ("core", "mpich 4.0.2")
    assert {*first.runtime.plugins} == {"mpich-4"}
    assert {*first.runtime.kernels} == {*first.runtime.replays} == {"mpich"}
    assert {*first.runtime.metadata_programs} == {"mpich"}
    assert any("building" in line for line in said)
    assert build_runtime(directory=target).current == ("core", "mpich 4.0.2")
    with (sources / "core.c").open("a") as stream:
        stream.write("int more;\n")
    assert "core" in build_runtime(directory=target).built


def test_another_major_version_has_its_own_kernel(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Path(shutil.which("cc") or "cc")
    both = [MpiInstallation("mpich", version, compiler) for version in ("4.0.2", "5.0.2")]
    monkeypatch.setattr(_build, "detect_mpis", lambda: both)
    built = build_runtime(directory=tmp_path / "out").runtime
    assert {*built.plugins} == {"mpich-4", "mpich-5"}
    assert {*built.kernels} == {*built.replays} == {"mpich", "mpich-5"}


@pytest.mark.extended
def test_force(sources: Path, tmp_path: Path) -> None:
    build_runtime(directory=tmp_path / "out")
    assert build_runtime(directory=tmp_path / "out", force=True).current == ()


def test_a_compiler_error_shows_its_last_lines(sources: Path, tmp_path: Path) -> None:
    (sources / "core.c").write_text("int core( { broken\n")
    with pytest.raises(RuntimeMissingError, match=r"(?s)cannot build core.*core\.c:1.*error"):
        build_runtime(directory=tmp_path / "out")


@pytest.mark.extended
def test_one_broken_mpi_leaves_the_rest(sources: Path, tmp_path: Path) -> None:
    (sources / "plugin.c").write_text("#error no such MPI\n")
    result = build_runtime(directory=tmp_path / "out")
    assert result.built == ("core",)
    assert "no such MPI" in result.failed["mpich 4.0.2"]


def test_a_wrapper_that_does_not_exist(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such compiler wrapper"):
        build_runtime(directory=tmp_path / "out", mpicc=["/nowhere/mpicc"])


def test_a_place_that_cannot_be_written(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="STRIPEWISE_RUNTIME_DIR"):
        build_runtime(directory=tmp_path / "file" / "out")
