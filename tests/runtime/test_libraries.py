# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""NetCDF, PnetCDF and ADIOS2: found for the MPI that they link, and for no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stripewise.elf import hdf5_names_in_file, mpi_family_of_file
from stripewise.runtime import _doctor, describe_mpi
from stripewise.runtime._libraries import IoLibrary, cache_directory, find_libraries

HEADERS = {
    "adios2_c.h": "",
    "adios2/common/ADIOSConfig.h": '#define ADIOS2_VERSION_STR "2.99.0"\n',
    "netcdf.h": "",
    "netcdf_par.h": "",
    "netcdf_meta.h": '#define NC_VERSION "4.99.1"\n#define NC_HAS_PARALLEL4 1\n',
}


@pytest.fixture(autouse=True)
def nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variables, cache or tools of this machine."""
    for name in ("NETCDF", "PNETCDF", "ADIOS2"):
        monkeypatch.delenv(f"{name}_DIR", raising=False)
        monkeypatch.delenv(f"{name}_ROOT", raising=False)
    monkeypatch.setenv("STRIPEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))


def install(prefix: Path, needed: str = "libmpi.so.40") -> Path:
    """A prefix with the headers, and libraries that name what they need as ELF files do."""
    for name, text in HEADERS.items():
        (prefix / "include" / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / "include" / name).write_text(text)
    (prefix / "lib").mkdir(exist_ok=True)
    names = ("libadios2_c_mpi.so", "libadios2_c.so", "libadios2_core_mpi.so", "libnetcdf.so")
    for name in names:
        (prefix / "lib" / name).write_bytes(b"\x7fELF\0" + needed.encode() + b"\0")
    return prefix


def find(family: str = "openmpi", hdf5: IoLibrary | None = None) -> dict[str, IoLibrary]:
    found = find_libraries(Path("no-mpicc"), family, "4.1.4", hdf5)
    return {library.name: library for library in found}


def test_the_cache_is_looked_in(tmp_path: Path) -> None:
    assert find() == {}
    prefix = install(cache_directory() / "adios2-2.99.0-openmpi-4.1.4-gcc12")
    library = find()["ADIOS2"]
    assert library.version == "2.99.0"
    assert library.include == prefix / "include"
    assert [path.name for path in library.libraries] == ["libadios2_c_mpi.so", "libadios2_c.so"]
    assert find("mpich") == {}


def test_half_an_installation_is_none(tmp_path: Path) -> None:
    prefix = install(cache_directory() / "adios2-2.99.0-openmpi-4.1.4-gcc12")
    (prefix / "lib/libadios2_c.so").unlink()
    assert find() == {}


@pytest.mark.parametrize("below", ["", "lib/cmake/adios2", "lib"])
def test_a_variable_names_the_prefix_or_a_directory_in_it(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = install(tmp_path / "own")
    monkeypatch.setenv("ADIOS2_DIR", str(prefix / below))
    assert find()["ADIOS2"].include == prefix / "include"


def test_its_tool_on_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = install(tmp_path / "own")
    (prefix / "bin").mkdir()
    (prefix / "bin/adios2-config").write_text("#!/bin/sh\n")
    (prefix / "bin/adios2-config").chmod(0o755)
    monkeypatch.setenv("PATH", str(prefix / "bin"))
    assert find()["ADIOS2"].include == prefix / "include"


def test_a_serial_netcdf_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = install(tmp_path / "own")
    monkeypatch.setenv("NETCDF_DIR", str(prefix))
    assert find()["NETCDF4"].version == "4.99.1"
    (prefix / "include/netcdf_meta.h").write_text("#define NC_HAS_PARALLEL4 0\n")
    assert find() == {}


def test_a_netcdf_with_another_hdf5_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = install(tmp_path / "own", "libmpi.so.40\0libhdf5_openmpi.so.103")
    monkeypatch.setenv("NETCDF_DIR", str(prefix))
    kernels = {}
    for name in ("libhdf5_openmpi.so.103", "libhdf5.so.310"):
        path = tmp_path / name
        path.write_bytes(b"\x7fELF\0" + name.encode() + b"\0")
        kernels[name] = find(hdf5=IoLibrary("HDF5", "HDF5", "1", tmp_path, (path,)))
    assert list(kernels["libhdf5_openmpi.so.103"]) == ["NETCDF4"]
    assert kernels["libhdf5.so.310"] == {}


def test_names_in_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\x7fELF\0libhdf5_openmpi_hl.so.100\0libhdf5_openmpi.so.103\0libmpich.so.12")
    assert hdf5_names_in_file(path) == {"libhdf5_openmpi.so.103"}
    assert mpi_family_of_file(path) == "mpich"
    path.write_bytes(b"#!/bin/sh\n# libmpi.so.40\n")
    assert mpi_family_of_file(path) == ""
    assert mpi_family_of_file(tmp_path / "none") == ""


@pytest.mark.mpi
def test_debian_has_them_for_open_mpi_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if not shutil.which("mpicc.openmpi") or not Path("/usr/include/pnetcdf.h").exists():
        pytest.skip("not Debian's Open MPI with PnetCDF")
    mpi = describe_mpi("mpicc.openmpi")
    assert mpi is not None
    assert {"NETCDF4", "PNETCDF"} <= {library.name for library in mpi.libraries}
    other = describe_mpi("mpicc.mpich")
    assert other is None or other.libraries == ()
    said = _doctor._libraries(mpi).detail
    assert "PnetCDF 1." in said
    assert "ADIOS2 (set ADIOS2_DIR (built for Open MPI by: make adios2))" in said
