# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of MPI programs that a pattern of names puts into another directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from io_libraries import library_program
from runtime_harness import FAMILIES, Ran, program, require, run, run_plain

from emulated_machine import LUSTRE, Machine, counters
from stripewise.evidence.trace import IoLayer, Op

pytestmark = pytest.mark.mpi

BLOCK, BLOCKS = 1 << 14, 8
SHARE = BLOCK * BLOCKS
STACKS = [("mpich", ""), ("openmpi", ""), ("openmpi", "romio321")]


@pytest.fixture(params=STACKS, ids=["mpich", "ompio", "openmpi-romio"])
def stack(request: pytest.FixtureRequest) -> tuple[str, str]:
    family, io = request.param
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    return family, io


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


@pytest.fixture
def here(there: Path) -> Path:
    return there.parent / "here"


def strided(
    stack: tuple[str, str], name: str, mode: str, here: Path, there: Path, **variables: str
) -> Ran:
    """Write and read interleaved blocks of a file with a relative name."""
    family, io = stack
    ran = run(
        family,
        2,
        [program(family, "strided.c"), name, mode, str(BLOCK), str(BLOCKS)],
        here,
        io=io,
        extra={"STRIPEWISE_REDIRECT": f"{here}/wrfout*={there}", **variables},
    )
    assert (ran.code, ran.err) == (0, "")
    return ran


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["independent", "collective", "nonblocking", "ordered"])
def test_a_file_that_matches_is_there_and_another_one_is_not(
    stack: tuple[str, str], here: Path, there: Path, mode: str
) -> None:
    ran = strided(stack, "wrfout_d01", mode, here, there)
    assert (there / "wrfout_d01").stat().st_size == 2 * SHARE
    assert not (here / "wrfout_d01").exists()
    assert ran.bytes(IoLayer.POSIX, "wrfout_d01", Op.WRITE) >= 2 * SHARE
    assert str(here / "wrfout_d01") in ran.profile.paths
    strided(stack, "wrfrst_d01", mode, here, there)
    assert (here / "wrfrst_d01").stat().st_size == 2 * SHARE
    assert not (there / "wrfrst_d01").exists()


@pytest.mark.extended(keep=1)
def test_what_an_earlier_run_left_here_does_not_keep_it_here(
    stack: tuple[str, str], here: Path, there: Path
) -> None:
    (here / "wrfout_d01").write_bytes(b"stale")
    strided(stack, "wrfout_d01", "collective", here, there)
    assert (there / "wrfout_d01").stat().st_size == 2 * SHARE
    assert (here / "wrfout_d01").read_bytes() == b"stale"


@pytest.mark.extended(keep=1)
def test_an_input_that_is_only_here_is_read_here(
    stack: tuple[str, str], here: Path, there: Path
) -> None:
    family, io = stack
    redirect = {"STRIPEWISE_REDIRECT": f"{here}/wrf*={there}"}
    for place, text in ((here, "h"), (there, "t")):
        (place / "wrfinput").write_text(text * 1000)
        command = [program(family, "reads.c"), "wrfinput"]
        ran = run(family, 2, command, here, io=io, extra=redirect)
        assert (ran.code, ran.out.strip(), ran.err) == (0, text, "")


@pytest.mark.extended(keep=1)
def test_the_emulated_storage_is_that_of_the_other_place(
    stack: tuple[str, str], here: Path, there: Path
) -> None:
    machines = {here: Machine({}, flags=LUSTRE), there: Machine({"servers.target_write": 0.5e6})}
    for root, machine in machines.items():
        machine.write(root.with_suffix(".clocks"), root)
    listed = ":".join(str(root.with_suffix(".clocks")) for root in machines)
    strided(stack, "wrfout_d01", "collective", here, there, STRIPEWISE_EMULATE=listed)
    assert counters(there.with_suffix(".clocks"))["written_bytes"] == 2 * SHARE
    assert counters(there.with_suffix(".clocks"))["held"] > 0
    assert counters(here.with_suffix(".clocks"))["written_bytes"] == 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_hdf5_makes_the_same_file_there(family: str, here: Path, there: Path) -> None:
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    command = [program(family, "h5writer.c"), "wrfout.h5", "collective"]
    assert run_plain(family, 2, command, here).returncode == 0
    expected = (here / "wrfout.h5").read_bytes()
    (here / "wrfout.h5").unlink()
    redirect = {"STRIPEWISE_REDIRECT": f"{here}/wrfout*={there}"}
    ran = run(family, 2, command, here, extra=redirect)
    assert (ran.code, ran.err) == (0, "")
    assert (there / "wrfout.h5").read_bytes() == expected
    assert not (here / "wrfout.h5").exists()


def test_pnetcdf_makes_the_same_file_there(here: Path, there: Path) -> None:
    command = [library_program("pnwriter.c"), "out.nc"]
    assert run_plain("openmpi", 2, command, here).returncode == 0
    expected = (here / "out.nc").read_bytes()
    redirect = {"STRIPEWISE_REDIRECT": f"{here}/*.nc={there}"}
    ran = run("openmpi", 2, command, here, extra=redirect)  # over the first one
    assert (ran.code, ran.err) == (0, "")
    assert (there / "out.nc").read_bytes() == expected
