# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A replay makes the requests of the program: same number, sizes, offsets, selections."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from capture_harness import captured
from kernel_builds import Kernel
from replay_harness import prepare, replay_program, replayed
from runtime_harness import FAMILIES, program, require, run_plain

from stripewise.evidence.replay import build_plan, plan_text

pytestmark = pytest.mark.mpi

KERNELS = {
    "flash": "--pattern flash --backend hdf5 --size 8,4,4,4 --steps 2",
    "vpic": "--pattern vpic --backend hdf5 --mode collective --size 4096 --op write-read",
    "vorpal": "--pattern vorpal --backend hdf5 --size 12,10,8 --steps 2",
    "gcrm": "--pattern gcrm --backend hdf5 --local 1,26,512",
    "btio": "--pattern btio --backend mpiio --mode collective --size 12,12,12 --steps 3",
    "array3d": "--pattern array3d --backend mpiio --no-view --size 12,12,12 --steps 2",
    "wrf": "--pattern wrf --backend posix --size 8,10,12 --steps 2",
    "wrf-serial": "--pattern wrf --backend posix --mode serial --size 8,10,12",
    "shifted": "--pattern array3d --backend posix --layout per-process --size 12,12,12 "
    "--op write-read --read-shift 1",
}


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}")
    return str(request.param)


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(
    name: str, family: str, kernel_of: Callable[[str], Kernel], tmp_path: Path
) -> None:
    kernel = kernel_of(family)
    if "hdf5" in KERNELS[name] and not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    words = [kernel.program, *KERNELS[name].split(), "--file", "out"]
    found = replayed(family, words, tmp_path)
    assert not found.differences, found.differences.texts
    assert found.differences.calls > 0
    assert found.result["failures"] == 0
    moved = found.result["read_bytes"] + found.result["write_bytes"]
    assert moved == found.differences.bytes == found.plan.read_bytes + found.plan.write_bytes


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["independent", "collective", "nonblocking", "split", "ordered"])
def test_ways_of_mpi_io(mode: str, family: str, tmp_path: Path) -> None:
    words = [program(family, "strided.c"), "out.dat", mode, "512", "16", "cb_nodes=1"]
    found = replayed(family, words, tmp_path)
    assert not found.differences, found.differences.texts
    assert found.differences.calls == 4


@pytest.mark.extended(keep=1)
def test_views_and_pointers(family: str, tmp_path: Path) -> None:
    found = replayed(family, [program(family, "views.c"), "out.dat"], tmp_path)
    assert not found.differences, found.differences.texts
    assert found.differences.calls == 26


@pytest.mark.extended(keep=1)
def test_selections_of_hdf5(family: str, tmp_path: Path) -> None:
    found = replayed(family, [program(family, "h5selections.c"), "out.h5"], tmp_path)
    assert not found.differences, found.differences.texts
    assert found.differences.calls == 36
    assert found.result["failures"] == 0


@pytest.mark.extended(keep=1)
def test_ranks_alone_and_in_groups(family: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(bytes(64 << 10))
    found = replayed(family, [program(family, "together.c")], tmp_path, n_ranks=3)
    assert not found.differences, found.differences.texts
    assert found.result["failures"] == 0
    assert found.plan.groups == ((1, 2),)
    needed = {found.plan.files[one.file].name: one for one in found.plan.inputs}
    assert {name: one.kind for name, one in needed.items()} == {"input": "bytes"}
    assert needed["input"].size_bytes == 9 * 4096 + 1000
    left = {path.name for path in found.directory.iterdir()}
    assert left == {"input", "all.dat", "own.0", "own.1", "own.2", "most.dat", "first.dat"}
    for name in ("all.dat", "own.2", "most.dat"):
        assert (found.directory / name).stat().st_size == (tmp_path / name).stat().st_size


@pytest.mark.extended
def test_variables_of_pnetcdf(tmp_path: Path, kernel_of: Callable[[str], Kernel]) -> None:
    require("mpicc.openmpi", "mpiexec.openmpi")
    from kernel_builds import compile_kernel

    kernel = compile_kernel("openmpi", libraries=True)
    assert kernel is not None
    if "PNETCDF" not in kernel.libraries:
        pytest.skip("no PnetCDF for Open MPI")
    words = "--pattern array3d --backend pnetcdf --size 12,12,12 --steps 2 --op write-read"
    found = replayed("openmpi", [kernel.program, *words.split(), "--file", "out.nc"], tmp_path)
    assert not found.differences, found.differences.texts


@pytest.mark.extended(keep=1)
def test_the_time_between_calls_scales(
    family: str, kernel_of: Callable[[str], Kernel], tmp_path: Path
) -> None:
    words = [kernel_of(family).program, "--steps", "4", "--compute", "0.2", "--size", "4,4,4"]
    again = [*prepare(family, build_plan(captured(family, 2, words, tmp_path)), tmp_path)]
    again += ["--json", "-", "--compute"]
    elapsed, computed = {}, {}
    for factor in ("keep", "0.1", "none"):
        done = run_plain(family, 2, [*again, factor], tmp_path)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        elapsed[factor] = result["elapsed_seconds"]  # without the start of the ranks
        computed[factor] = result["phases"]["compute"]["seconds"]
    assert elapsed["keep"] >= computed["keep"] > 0.55
    assert computed["none"] == 0.0
    assert 0.05 < computed["0.1"] < computed["keep"]  # six times the one on a quiet host


@pytest.mark.extended(keep=1)
def test_another_number_of_ranks_is_refused(
    family: str, kernel_of: Callable[[str], Kernel], tmp_path: Path
) -> None:
    words = [kernel_of(family).program, "--size", "4,4,4"]
    words = prepare(family, build_plan(captured(family, 2, words, tmp_path)), tmp_path)
    done = run_plain(family, 1, words, tmp_path)
    assert done.returncode == 2
    assert "the plan is for 2 ranks, and 1 were started; give mpiexec -n 2" in done.stderr


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("\nverb 0 ", "\nverb 99 "),
        lambda text: text.replace("\nfile 0 ", "\nfile 0 ../"),
        lambda text: re.sub(r"\nrank 1 \d", "\nrank 1 7", text),
        lambda text: text.replace("stripewise-replay 1", "stripewise-replay 9"),
        lambda text: "",
    ],
)
def test_a_damaged_plan_is_refused_in_one_line(
    damage: Callable[[str], str], kernel_of: Callable[[str], Kernel], tmp_path: Path
) -> None:
    require("mpicc.mpich", "mpiexec.mpich")
    text = _plan_of_a_kernel(kernel_of("mpich"), tmp_path)
    (tmp_path / "bad").write_text(damage(text))
    words = [replay_program("mpich"), "--plan", tmp_path / "bad", "--directory", tmp_path / "x"]
    done = run_plain("mpich", 2, words, tmp_path)
    assert done.returncode == 2
    assert "stripewise-replay: " in done.stderr
    assert not (tmp_path / "x").exists()


_plans: dict[str, str] = {}


def _plan_of_a_kernel(kernel: Kernel, where: Path) -> str:
    if "text" not in _plans:
        command = [kernel.program, "--size", "4,4,4", "--pattern", "btio", "--mode", "collective"]
        _plans["text"] = plan_text(build_plan(captured("mpich", 2, command, where)))
    return _plans["text"]


@pytest.mark.extended
def test_sanitizers_find_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("mpicc.mpich", "mpiexec.mpich")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # MPICH's own
    sane = replay_program("mpich", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    trace = captured("mpich", 2, [program("mpich", "views.c"), "out.dat"], tmp_path)
    words = prepare("mpich", build_plan(trace), tmp_path, sane)
    words += ["--compute", "none"]
    done = run_plain("mpich", 2, words, tmp_path)
    assert done.returncode == 0, done.stderr
