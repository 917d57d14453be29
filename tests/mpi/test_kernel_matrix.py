# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every pattern through posix, mpiio and hdf5, each byte against the formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import pytest
from kernel_drivers import Drivers
from numpy.typing import NDArray

DriversOf = Callable[[str], Drivers]

pytestmark = pytest.mark.mpi

STEPS = 2
PLANE = (11, 13)
LEVELS = (3, *PLANE)
WRF_3D = "U V W PH PHB T P PB QVAPOR QCLOUD QRAIN QICE QSNOW QGRAUP CLDFRA TKE_PBL".split()
WRF_2D = (
    "MU MUB Q2 T2 TH2 PSFC U10 V10 TSK SST SWDOWN GLW GRDFLX HFX QFX LH PBLH UST RAINC RAINNC "
    "SNOWNC GRAUPELNC SNOW SNOWH HGT XLAT XLONG LANDMASK"
).split()
TREE = (
    "refine_level node_type gid coordinates block_size bounding_box which_child bflags gsurr_blks "
    "processor_number"
).split()


@dataclass(frozen=True)
class Request:
    """What is written: extents that nothing divides."""

    words: str
    shapes: dict[str, tuple[int, ...]]
    dtype: type[np.generic] = np.int64
    few: bool = field(default=False, kw_only=True)  # also where ranks share processors


REQUESTS = {
    "array3d": Request("--pattern array3d --size 13,7,11", {"array": (13, 7, 11)}),
    "flash": Request(
        "--pattern flash --size 7,3,2,5", {f"unknown{n:02d}": (7, 3, 2, 5) for n in range(1, 25)}
    ),
    "flash-io": Request(
        "--pattern flash-io --size 7,3,2,5 --type int64",
        {f"unknown{n:02d}": (7, 3, 2, 5) for n in range(1, 25)} | dict.fromkeys(TREE, (7,)),
        few=True,
    ),
    "btio": Request("--pattern btio --size 13,11,17", {"solution": (13, 11, 17, 5)}, few=True),
    "vpic": Request(
        "--pattern vpic --size 1009",
        dict.fromkeys(["x", "y", "z", "px", "py", "pz", "id1", "id2"], (1009,)),
        np.float32,
    ),
    "vorpal": Request("--pattern vorpal --size 7,5,13", {"field": (7, 5, 13)}, np.float64),
    "gcrm": Request("--pattern gcrm --size 1,5,101", {"variable": (1, 5, 101)}, np.float64),
    "wrf": Request(
        "--pattern wrf --size 3,11,13",
        dict.fromkeys(WRF_3D, LEVELS) | dict.fromkeys(WRF_2D, PLANE),
        np.float32,
    ),
    "cyclic": Request(
        "--pattern array3d --size 13,7,11 --distribution cyclic(3),*,Cyclic --type double",
        {"array": (13, 7, 11)},
        np.float64,
        few=True,
    ),
    "levels": Request(  # variables without levels belong to the ranks of the first level
        "--pattern wrf --size 3,11,13 --distribution BLOCK,CYCLIC(2),* --type int64",
        dict.fromkeys(WRF_3D, LEVELS) | dict.fromkeys(WRF_2D, PLANE),
    ),
    "blocks": Request("--pattern blocks --size 1009", {"data": (1009,)}, few=True),
    "tiny": Request("--pattern vpic --size 2 --type int64", {}),  # ranks without elements
}

BACKENDS = {
    "shared": "--backend posix",
    "serial": "--backend posix --mode serial",
    "process": "--backend posix --layout per-process",
    "node": "--backend posix --layout per-node --node-ranks 2",
    "mpiio": "--backend mpiio",
    "no-view": "--backend mpiio --no-view",
    "collective": "--backend mpiio --mode collective",
    "hdf5": "--backend hdf5",
    "hdf5-collective": "--backend hdf5 --mode collective",
}
FEW = ("serial", "collective", "hdf5-collective")
# Ranks that share a processor spin under MPICH: few cases there.
PLACES = [
    ("mpich", "", 1),
    ("mpich", "", 2),
    ("mpich", "", 3),
    ("mpich", "", 4),
    ("openmpi", "ompio", 1),
    ("openmpi", "ompio", 2),
    ("openmpi", "ompio", 3),
    ("openmpi", "romio321", 2),
    ("openmpi", "romio321", 4),
]


def formula(request: Request) -> list[dict[str, NDArray[np.generic]]]:
    """Each step's variables as the kernel's description of its files has them."""
    modulus = {np.int64: 2**62, np.float64: 2**53, np.float32: 2**24}[request.dtype]
    steps = []
    next_value = 1
    for _ in range(STEPS):
        step = {}
        for name, shape in request.shapes.items():
            n = int(np.prod(shape))
            values = np.arange(next_value, next_value + n) % modulus
            step[name] = values.astype(request.dtype).reshape(shape)
            next_value += n
        steps.append(step)
    return steps


def check_file(request: Request, backend: str, n_ranks: int, path: Path) -> None:
    """What lies in the files is the global arrays, each element once."""
    steps = formula(request)
    whole = np.concatenate([array.ravel() for step in steps for array in step.values()])
    if backend.startswith("hdf5"):
        with h5py.File(path) as file:
            assert list(file) == [f"step_{step:06d}" for step in range(STEPS)]
            for number, step in enumerate(steps):
                group = file[f"step_{number:06d}"]
                assert set(group) == set(step)
                for name, array in step.items():
                    assert group[name].dtype == request.dtype
                    np.testing.assert_array_equal(group[name][...], array)
        return
    if backend in ("process", "node"):
        n_files = n_ranks if backend == "process" else -(-n_ranks // 2)
        parts = sorted(path.parent.glob(path.name + ".[0-9n]*[0-9]"))
        assert len(parts) == n_files
        found = np.concatenate([np.fromfile(part, request.dtype) for part in parts])
        np.testing.assert_array_equal(np.sort(found), np.sort(whole))
        return
    assert path.read_bytes() == whole.tobytes()


def lines_of(drivers: Drivers, few: bool) -> Iterator[tuple[str, str, str]]:
    """Request, back end and the line for the program."""
    for name, request in REQUESTS.items():
        for backend, words in BACKENDS.items():
            if backend.startswith("hdf5") and not drivers.hdf5:
                continue
            if few and (backend not in FEW or not request.few):
                continue
            line = f"{request.words} {words} --steps {STEPS} --op write-read --verify --keep"
            yield name, backend, f"{line} --read-shift 1 --file {name}-{backend}"


@pytest.mark.extended(keep="mpich--2")
@pytest.mark.parametrize(("family", "io", "n_ranks"), PLACES)
def test_every_element_arrives(
    family: str, io: str, n_ranks: int, drivers_of: DriversOf, tmp_path: Path
) -> None:
    drivers = drivers_of(family)
    few = family == "mpich" and n_ranks > 2
    cases = list(lines_of(drivers, few))
    told = drivers.batch(n_ranks, [line for _, _, line in cases], cwd=tmp_path, io=io)
    assert {line: "0 right" for _, _, line in cases} == told
    for name, backend, _ in cases:
        if REQUESTS[name].shapes:
            check_file(REQUESTS[name], backend, n_ranks, tmp_path / f"{name}-{backend}")


@pytest.mark.extended
def test_a_file_per_node_holds_its_ranks_in_order(drivers_of: DriversOf, tmp_path: Path) -> None:
    drivers = drivers_of("openmpi")
    line = "--pattern gcrm --size 1,2,10 --type int64 --backend posix --keep --file out --steps 2"
    told = drivers.batch(
        3,
        [
            f"{line} --layout per-node --node-ranks 2",
            f"{line} --layout per-node --file one",  # all ranks of this machine
            f"{line} --layout per-process --file each",
        ],
        cwd=tmp_path,
    )
    assert list(told.values()) == ["0 unproved"] * 3
    levels = np.arange(1, 41).reshape(2, 2, 10)  # step, level, cell
    share = [levels[:, :, 0:4], levels[:, :, 4:7], levels[:, :, 7:10]]
    packed = [part.reshape(2, -1) for part in share]
    expected = {
        "out.node000000": np.hstack(packed[:2]),
        "out.node000001": packed[2],
        "one.node000000": np.hstack(packed),
        "each.000002": packed[2],
    }
    for name, array in expected.items():
        assert np.fromfile(tmp_path / name, np.int64).tolist() == array.ravel().tolist()


def test_serial_passes_in_several_windows(drivers_of: DriversOf, tmp_path: Path) -> None:
    """12 MB of a variable, cut so that pieces lie across the windows of 4 MiB."""
    line = "--pattern gcrm --size 1,3,500000 --distribution *,*,CYCLIC(99991) --backend posix"
    line += " --op write-read --verify --read-shift 1 --keep"
    told = drivers_of("openmpi").batch(
        3, [f"{line} --mode serial --file serial", f"{line} --file shared"], cwd=tmp_path
    )
    assert list(told.values()) == ["0 right"] * 2
    assert (tmp_path / "serial").read_bytes() == (tmp_path / "shared").read_bytes()
