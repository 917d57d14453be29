# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One array, six libraries: what they write is the same, read by programs of others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_builds import KERNELS, Kernel, compile_kernel, kernel_in_root
from kernel_readers import Shapes, Steps, read_steps
from stacks import ADIOS2_2_12

KernelOf = Callable[[str], Kernel]

pytestmark = pytest.mark.mpi

NEEDS = {"netcdf4": "NETCDF4", "pnetcdf": "PNETCDF", "adios2": "ADIOS2"}
PACKAGES = {"netcdf4": "libnetcdf-mpi-dev", "pnetcdf": "libpnetcdf-dev"}
BACKENDS = {
    "posix": ["--backend", "posix"],
    "mpiio": ["--backend", "mpiio", "--mode", "collective"],
    "hdf5": ["--backend", "hdf5", "--mode", "collective"],
    "netcdf4": ["--backend", "netcdf4"],
    "netcdf4-collective": ["--backend", "netcdf4", "--mode", "collective"],
    "pnetcdf": ["--backend", "pnetcdf"],
    "pnetcdf-collective": ["--backend", "pnetcdf", "--mode", "collective"],
    "adios2-bp5": ["--backend", "adios2", "--open-once"],
    "adios2-bp4": ["--backend", "adios2", "--engine", "BP4", "--parameter", "NumAggregators=1"],
}
NEW = [name for name in BACKENDS if name.partition("-")[0] in NEEDS]


@dataclass(frozen=True)
class Request:
    """What is written, for 1 to 4 ranks; extents that nothing divides."""

    words: str
    shapes: Shapes
    dtype: str = "int64"
    n_steps: int = 2


def shapes_of_wrf() -> Shapes:
    """16 variables of the volume and 28 of the plane, as the pattern's table has them."""
    table = re.search(
        r"wrf_variables\[\] = {(.*?)};", (KERNELS / "patterns.c").read_text(), re.DOTALL
    )
    assert table is not None
    names = re.findall(r'"(\w+)"', table[1])
    assert len(names) == 44
    return {name: (3, 11, 13) if n < 16 else (11, 13) for n, name in enumerate(names)}


FLASH = {f"unknown{n:02d}": (7, 3, 2, 5) for n in range(1, 25)}
CUBE = {"array": (13, 7, 11)}
REQUESTS = {
    "blocks": Request("--size 13,7,11 --steps 2", CUBE),
    "cyclic": Request(
        "--size 13,7,11 --distribution CYCLIC(2),*,BLOCK --type double --steps 2", CUBE, "float64"
    ),
    # Of two ranks one has two blocks, the other one; with `sparse` two of four have none.
    "uneven": Request(
        "--size 10,4,4 --distribution CYCLIC(4),*,*", {"array": (10, 4, 4)}, n_steps=1
    ),
    "sparse": Request(
        "--size 10,1,4 --distribution CYCLIC(4),BLOCK,* --grid 2,2,1",
        {"array": (10, 1, 4)},
        n_steps=1,
    ),
    "strided": Request(
        "--size 13,7,11 --distribution *,CYCLIC,CYCLIC(3) --halo 0 --type float --steps 2",
        CUBE,
        "float32",
    ),
    "flash": Request("--pattern flash --size 7,3,2,5", FLASH, n_steps=1),
    "wrf": Request("--pattern wrf --size 3,11,13 --type float", shapes_of_wrf(), "float32", 1),
    "btio": Request("--pattern btio --size 13,11,17", {"solution": (13, 11, 17, 5)}, n_steps=1),
}


OF_RANKS = {
    1: tuple(name for name in REQUESTS if name != "sparse"),
    2: ("blocks", "cyclic", "uneven"),
    3: ("strided", "flash", "btio"),
    4: ("cyclic", "sparse", "wrf"),
}


def cases(*backends: str) -> list[Any]:
    """Parameters; where there is ADIOS2 with MPI, is a root."""
    return [
        pytest.param(name, marks=pytest.mark.roots) if name.startswith("adios2") else name
        for name in backends
    ]


@pytest.fixture(scope="module")
def own_kernel() -> Kernel:
    """Open MPI's, with every library that is here."""
    made = compile_kernel("openmpi", libraries=True)
    if made is None:
        pytest.skip("no mpicc.openmpi or mpiexec.openmpi")
    return made


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """This machine's, or that of a root."""
    if request.node.get_closest_marker("roots"):
        return kernel_in_root(ADIOS2_2_12)
    own: Kernel = request.getfixturevalue("own_kernel")
    return own


def need(kernel: Kernel, backend: str) -> None:
    library = backend.partition("-")[0]
    if library in NEEDS and NEEDS[library] not in kernel.libraries:
        pytest.skip(f"no {library} for Open MPI here; Debian: {PACKAGES[library]}")
    if library == "hdf5" and not kernel.hdf5:
        pytest.skip("no parallel HDF5 for Open MPI")


def formula(request: Request) -> Steps:
    """What the kernel's description of its files says."""
    most = {"int64": 2**62, "float64": 2**53, "float32": 2**24}[request.dtype]
    steps: Steps = []
    number = 0
    for _ in range(request.n_steps):
        step = {}
        for name, shape in request.shapes.items():
            size = int(np.prod(shape))
            values = (np.arange(number, number + size, dtype=np.int64) + 1) % most
            step[name] = values.astype(request.dtype).reshape(shape)
            number += size
        steps.append(step)
    return steps


def write(
    kernel: Kernel, backend: str, request: Request, n_ranks: int, directory: Path
) -> tuple[Path, Steps]:
    """Write, let the kernel check it as other ranks, and read it with another program."""
    path = directory / f"{backend}.out"
    words = [*BACKENDS[backend], *request.words.split(), "--op", "write-read", "--verify"]
    words += ["--read-shift", "1", "--keep", "--file", str(path)]
    run = kernel.alone if n_ranks == 1 else lambda w, cwd: kernel.run(n_ranks, w, cwd=cwd)
    done = run(words, cwd=directory)
    assert done.returncode == 0, done.stderr
    assert "every element is right" in done.stdout
    library = backend.partition("-")[0]
    return path, read_steps(library, path, request.shapes, request.n_steps, request.dtype)


def assert_same(found: Steps, expected: Steps) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert list(one) == list(other)
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize("n_ranks", OF_RANKS)
@pytest.mark.parametrize("backend", cases(*NEW))
def test_every_element_arrives(backend: str, n_ranks: int, kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, backend)
    for name in OF_RANKS[n_ranks]:
        (tmp_path / name).mkdir()
        _, found = write(kernel, backend, REQUESTS[name], n_ranks, tmp_path / name)
        assert_same(found, formula(REQUESTS[name]))


@pytest.mark.roots
@pytest.mark.parametrize("name", ["cyclic", "strided", "btio"])
def test_one_array_is_equal_through_all_libraries(
    name: str, kernel: Kernel, tmp_path: Path
) -> None:
    written = {}
    backends = ("posix", "mpiio", "hdf5", "netcdf4", "pnetcdf-collective", "adios2-bp5")
    for backend in backends:
        need(kernel, backend)
    for backend in backends:
        _, written[backend] = write(kernel, backend, REQUESTS[name], 3, tmp_path)
    for steps in written.values():
        assert_same(steps, written["posix"])


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", cases("netcdf4", "pnetcdf", "adios2-bp5", "adios2-bp4"))
def test_nothing_stays_without_keep(backend: str, kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, backend)
    words = [*BACKENDS[backend], "--size", "5,6,7", "--steps", "3", "--fsync", "--verify"]
    assert kernel.run(2, words, cwd=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", cases("netcdf4", "pnetcdf", "adios2-bp5", "adios2-bp4"))
def test_old_output_is_replaced(backend: str, kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, backend)
    (tmp_path / "out").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("out")
    name = "out" if backend.startswith("adios2") else "link"  # no directory comes of a link
    words = [*BACKENDS[backend], "--file", name, "--keep", "--verify"]
    assert kernel.alone([*words, "--size", "9,9,9"], cwd=tmp_path).returncode == 0
    assert kernel.alone([*words, "--size", "5,6,7"], cwd=tmp_path).returncode == 0


@pytest.mark.roots
def test_a_bp_output_is_not_made_through_a_link(kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, "adios2")
    (tmp_path / "out").symlink_to("nothing")
    done = kernel.alone(["--backend", "adios2", "--size", "5,6,7", "--file", "out"], cwd=tmp_path)
    assert done.returncode == 1
    assert "adios2_open(out): File exists" in done.stderr


@pytest.mark.roots
@pytest.mark.parametrize("stranger", ["notes.txt", "data.0.bak", "data.x", "sub"])
def test_a_directory_with_anything_else_in_it_is_left_alone(
    stranger: str, kernel: Kernel, tmp_path: Path
) -> None:
    need(kernel, "adios2")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "md.idx").write_text("")
    place = tmp_path / "out" / stranger
    place.mkdir() if stranger == "sub" else place.write_text("mine")
    done = kernel.alone(["--backend", "adios2", "--size", "5,6,7", "--file", "out"], cwd=tmp_path)
    assert done.returncode == 1
    assert f"holds '{stranger}'" in done.stderr
    assert "give another --file" in done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        ["md.idx", stranger]
    )


@pytest.mark.roots
@pytest.mark.parametrize("names", [[], ["data.0"], ["data.0", "md.0"], ["md.idx"]])
def test_only_a_directory_with_its_index_is_an_output(
    names: list[str], kernel: Kernel, tmp_path: Path
) -> None:
    need(kernel, "adios2")
    (tmp_path / "out").mkdir()
    for name in names:
        (tmp_path / "out" / name).write_text("mine")
    done = kernel.alone(["--backend", "adios2", "--size", "5,6,7", "--file", "out"], cwd=tmp_path)
    if "md.idx" in names:
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "out").exists()
    else:
        assert done.returncode == 1
        assert "it has no md.idx" in done.stderr
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", ["posix", "pnetcdf"])
def test_old_output_stays_where_a_pass_cannot_begin(
    backend: str, kernel: Kernel, tmp_path: Path
) -> None:
    need(kernel, backend)
    (tmp_path / "out").write_text("mine")
    words = [*BACKENDS[backend], "--file", "out", "--size", "3000000,300000,100000"]
    done = kernel.alone(words, cwd=tmp_path)
    assert done.returncode == 1
    assert "out of memory" in done.stderr
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("case", ["no directory", "absent", "foreign"])
@pytest.mark.parametrize(
    "backend", cases("netcdf4-collective", "pnetcdf-collective", "adios2-bp5")
)
def test_failed_calls_are_told_and_end_all_ranks(
    backend: str, case: str, kernel: Kernel, tmp_path: Path
) -> None:
    need(kernel, backend)
    (tmp_path / "foreign").write_bytes(b"x" * 100)
    path, more = {
        "no directory": ("none/out", []),
        "absent": ("absent", ["--op", "read"]),
        "foreign": ("foreign", ["--op", "read"]),
    }[case]
    words = [*BACKENDS[backend], "--size", "5,6,7", "--file", path, *more]
    done = kernel.run(2, words, cwd=tmp_path)
    told = [line for line in done.stderr.splitlines() if line.startswith("stripewise-kernel: ")]
    assert done.returncode == 1
    assert told
    assert all(f"({path}): " in line for line in told)
    assert not (tmp_path / "none").exists()


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", cases("pnetcdf", "adios2-bp5"))
def test_a_full_disk_is_told_beforehand(backend: str, kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, backend)  # afterwards, the one would not tell and the other wait for ever
    words = [*BACKENDS[backend], "--size", "128,128,128", "--steps", "999999"]
    done = kernel.run(2, words, cwd=tmp_path)
    assert done.returncode == 1
    assert "no space left on device: 16777199" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", cases("netcdf4", "pnetcdf", "adios2-bp5", "adios2-bp4"))
def test_files_of_another_shape_are_not_read(backend: str, kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, backend)
    words = [*BACKENDS[backend], "--file", "out", "--keep", "--steps", "2", "--size", "5,6,7"]
    assert kernel.alone(words, cwd=tmp_path).returncode == 0
    for other in ("--size 5,6,8", "--type float", "--steps 3"):
        done = kernel.alone([*words, "--op", "read", *other.split()], cwd=tmp_path)
        assert done.returncode == 1, other
        assert "variable array has another shape" in done.stderr


def test_hints_reach_pnetcdf_and_are_reported(kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, "pnetcdf")
    words = ["--backend", "pnetcdf", "--hint", "nc_var_align_size=8192", "--size", "5,6,7"]
    done = kernel.run(2, [*words, "--json", "-"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["hints"]["reported"]["nc_var_align_size"] == "8192"
    assert result["provenance"]["io_library"].startswith("PnetCDF 1.")


@pytest.mark.roots
def test_engine_and_parameters_are_told(kernel: Kernel, tmp_path: Path) -> None:
    need(kernel, "adios2")
    words = ["--backend", "adios2", "--parameter", "AggregationType=EveryoneWrites", "--keep"]
    words += ["--parameter", "StatsLevel=0", "--size", "5,6,7", "--file", "out", "--json", "-"]
    done = kernel.run(3, words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["engine"] == {
        "name": "BP5",
        "parameters": {"AggregationType": "EveryoneWrites", "StatsLevel": "0"},
    }


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--backend netcdf4", "built without parallel NetCDF"),
        ("--backend pnetcdf", "built without PnetCDF"),
        ("--backend adios2", "built without ADIOS2; install it (Debian 13: libadios2-mpi-c-dev"),
        ("--backend posix --engine BP4", "it has no engines; leave out --engine"),
        ("--backend mpiio --parameter a=b", "it has no engines"),
        ("--engine HDF5", "--engine 'HDF5': give BP4 or BP5"),
        ("--parameter Threads", "--parameter 'Threads': give key=value, as NumAggregators=1"),
    ],
)
def test_what_a_build_lacks_is_told_in_one_line(
    words: str, said: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = kernel_of("mpich").alone(words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
