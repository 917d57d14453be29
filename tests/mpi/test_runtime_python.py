# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py and h5py, which load their MPI and HDF5 RTLD_LOCAL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from runtime_harness import PROGRAMS, PYTHON, checked, core, flat, require, run, run_plain

from stripewise.evidence.containers import read_containers
from stripewise.evidence.trace import IoLayer, Op

pytestmark = pytest.mark.mpi


@pytest.fixture(autouse=True)
def _packages() -> None:
    require("mpiexec.openmpi", "mpicc.openmpi", PYTHON, "cmake")
    found = subprocess.run([PYTHON, "-c", "import mpi4py, h5py"], capture_output=True)
    if found.returncode != 0:
        pytest.skip("python3-mpi4py or python3-h5py-mpi is not installed")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_mpi4py(n_ranks: int, tmp_path: Path) -> None:
    configuration = flat(
        "file *.dat 0",
        "mpiio cb_nodes 2",
        "mpiio cb_config_list *:*",
        "mpiio cb_buffer_size 65536",
        "mpiio romio_cb_write enable",
    )
    command = [PYTHON, PROGRAMS / "writer_mpi4py.py", "out.dat"]
    ran = run("openmpi", n_ranks, command, tmp_path, io="romio321", configuration=configuration)
    assert (ran.code, ran.err) == (0, "")
    assert ran.ranks() == list(range(n_ranks))
    share = 4096 * 64
    assert ran.bytes(IoLayer.MPIIO, "out.dat", Op.WRITE_COLLECTIVE) == n_ranks * share
    assert ran.writers("out.dat") == {*range(min(n_ranks, 2))}  # cb_nodes
    assert ran.largest_write("out.dat") == 65536
    expected = b"".join(bytes([rank + 1]) * 4096 for rank in range(n_ranks)) * 64
    assert (tmp_path / "out.dat").read_bytes() == expected


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_h5py(n_ranks: int, tmp_path: Path) -> None:
    configuration = flat("file *.h5 0", "hdf5 alignment 65536,1048576", "hdf5 chunk 32,512")
    command = [PYTHON, PROGRAMS / "writer_h5py.py", "out.h5"]
    plain = run_plain("openmpi", n_ranks, command, tmp_path)
    ran = run("openmpi", n_ranks, command, tmp_path, configuration=configuration)
    assert (ran.code, ran.err) == (plain.returncode, plain.stderr)
    assert ran.ranks() == list(range(n_ranks))
    assert ran.bytes(IoLayer.HDF5, "out.h5", Op.WRITE) == 64 * 512 * 8
    assert ran.profile.write_bytes == 64 * 512 * 8
    assert ran.applied(IoLayer.HDF5)["alignment"] == {"65536,1048576"}
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["steps/a"].chunks == (32, 512)
        assert file["steps/a"][0, 0] == 1.0


def test_a_wheel_that_brings_its_own_hdf5(tmp_path: Path) -> None:
    """The h5py of this very interpreter: private library, loaded RTLD_LOCAL, no MPI."""
    script = (
        "import h5py, numpy, sys\n"
        "with h5py.File(sys.argv[1], 'w') as f: f['x'] = numpy.arange(1000.0)\n"
        "with h5py.File(sys.argv[1]) as f: assert f['x'][999] == 999\n"
    )
    (tmp_path / "containers").mkdir()
    subprocess.run(
        [sys.executable, "-c", script, "out.h5"],
        cwd=tmp_path,
        check=True,
        env={
            "LD_PRELOAD": str(core()),
            "STRIPEWISE_DIRECTORY": str(tmp_path / "containers"),
            "STRIPEWISE_CONFIGURATION": flat("file *.h5 0", "hdf5 chunk 100"),
        },
    )
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].chunks == (100,)


def test_two_hdf5_in_one_process(tmp_path: Path) -> None:
    """Two wheels with an HDF5 each: every call goes to the caller's own."""
    libraries = []
    for flavour in ("serial", "openmpi", "mpich"):
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", f"hdf5-{flavour}"], capture_output=True, text=True
        )
        wrapper = "cc" if flavour == "serial" else f"mpicc.{flavour}"
        if flags.returncode == 0 and shutil.which(wrapper):
            library = tmp_path / f"lib{flavour}.so"
            source = PROGRAMS / "h5module.c"
            checked([wrapper, "-shared", "-fPIC", source, "-o", library, *flags.stdout.split()])
            libraries.append(library)
    if len(libraries) < 2:
        pytest.skip("only one HDF5 is installed")
    checked(["cc", PROGRAMS / "two_hdf5.c", "-o", tmp_path / "two", "-ldl"])
    (tmp_path / "containers").mkdir()
    done = subprocess.run(
        [tmp_path / "two", *libraries[:2]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={
            "LD_PRELOAD": str(core()),
            "STRIPEWISE_DIRECTORY": str(tmp_path / "containers"),
            "STRIPEWISE_CONFIGURATION": flat("file *.h5 0", "hdf5 chunk 10"),
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
    profile = read_containers(sorted((tmp_path / "containers").glob("*.sw")))
    for name in ("1.h5", "2.h5"):
        with h5py.File(tmp_path / name) as file:
            assert file["x"].chunks == (10,)
        assert any(Path(path).name == name for path in profile.paths)
    assert profile.write_bytes == 6 * 800
    for name in ("outer.h5", "inner.h5"):  # their identifiers are the same numbers
        written = [
            int(record["bytes"][Op.WRITE])
            for record in profile.counters
            if record["layer"] == IoLayer.HDF5
            and Path(profile.paths[int(record["file"])]).name == name
        ]
        assert written == [800]
