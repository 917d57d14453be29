# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""NetCDF, PnetCDF and ADIOS2: found for the MPI that they link, and for no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stripewise.core import hdf5_names_in_file, mpi_family_of_file
from stripewise.run.runtime import _mpi as libraries
from stripewise.run.runtime import describe_mpi
from stripewise.run.runtime._mpi import IoLibrary, find_hdf5, find_libraries
from stripewise.run.site import _doctor

HEADERS = {
    "adios2_c.h": "",
    "adios2/common/ADIOSConfig.h": '#define ADIOS2_VERSION_STR "2.99.0"\n',
    "netcdf.h": "",
    "netcdf_par.h": "",
    "netcdf_meta.h": '#define NC_VERSION "4.99.1"\n#define NC_HAS_PARALLEL4 1\n',
}


@pytest.fixture(autouse=True)
def nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variables, tools or system libraries of this machine."""
    for name in ("NETCDF", "PNETCDF", "ADIOS2"):
        monkeypatch.delenv(f"{name}_DIR", raising=False)
        monkeypatch.delenv(f"{name}_ROOT", raising=False)
    for name in ("HDF5_DIR", "HDF5_ROOT", "HDF5_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(libraries, "SYSTEM_PREFIXES", (tmp_path / "system",))
    monkeypatch.setenv("PATH", str(tmp_path))


def install(prefix: Path, needed: str = "libmpi.so.40") -> Path:
    """A prefix with the headers, and libraries that name what they need as ELF files do."""
    for name, text in HEADERS.items():
        (prefix / "include" / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / "include" / name).write_text(text)
    (prefix / "lib").mkdir(exist_ok=True)
    names = ("libadios2_c_mpi.so", "libadios2_c.so", "libadios2_core_mpi.so", "libnetcdf.so")
    for name in names:
        library(prefix / "lib" / name, needed)
    return prefix


def library(path: Path, needed: str) -> Path:
    """A file that names what it needs as libraries do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF\0" + needed.encode() + b"\0")
    return path


def command(path: Path, *lines: str) -> Path:
    """A command of one case a line: `WORDS) ANSWER`."""
    cases = "".join(f"{words}) echo '{answer}' ;;\n" for words, answer in map(_parts, lines))
    path.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 1 ;;\nesac\n')
    path.chmod(0o755)
    return path


def _parts(line: str) -> tuple[str, str]:
    words, _, answer = line.partition(") ")
    return words.replace(" ", "\\ "), answer


def find(family: str = "openmpi", hdf5: IoLibrary | None = None) -> dict[str, IoLibrary]:
    found = find_libraries(Path("no-mpicc"), family, hdf5)
    return {library.name: library for library in found}


def test_an_installation_is_found_for_its_mpi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find() == {}
    prefix = install(tmp_path / "own")
    monkeypatch.setenv("ADIOS2_DIR", str(prefix))
    library = find()["ADIOS2"]
    assert library.version == "2.99.0"
    assert library.includes == (prefix / "include",)
    assert [path.name for path in library.libraries] == ["libadios2_c_mpi.so", "libadios2_c.so"]
    assert find("mpich") == {}


def test_half_an_installation_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = install(tmp_path / "own")
    monkeypatch.setenv("ADIOS2_DIR", str(prefix))
    (prefix / "lib/libadios2_c.so").unlink()
    assert find() == {}


def test_adios2_as_debian_13_lays_it_out(tmp_path: Path) -> None:
    """In the system's place, its names with the variant within, one header beside the others."""
    system, place = tmp_path / "system", tmp_path / "system/lib/x86_64-linux-gnu"
    config = system / "include/adios2/build/mpi/adios2/common/ADIOSConfig.h"
    config.parent.mkdir(parents=True)
    config.write_text('#define ADIOS2_VERSION_STR "2.10.2"\n')
    (system / "include/adios2_c.h").write_text("")
    for name in ("c_mpi", "c"):
        library(place / f"libadios2_mpi_{name}.so", "libadios2_mpi_core.so.2.10")
    assert find() == {}  # whose MPI it is, cannot be told
    library(place / "libadios2_mpi_core_mpi.so", "libmpi.so.40")
    found = find()["ADIOS2"]
    assert found.version == "2.10.2"
    assert found.includes == (system / "include", system / "include/adios2/build/mpi")
    assert [path.name for path in found.libraries] == [
        "libadios2_mpi_c_mpi.so",
        "libadios2_mpi_c.so",
    ]
    assert find("mpich") == {}


def test_a_library_whose_tools_name_a_place_that_is_not_there(tmp_path: Path) -> None:
    """As Debian 13's pnetcdf.pc does."""
    (tmp_path / "system/include").mkdir(parents=True)
    (tmp_path / "system/include/pnetcdf.h").write_text('#define PNETCDF_VERSION "1.14.0"\n')
    library(tmp_path / "system/lib/libpnetcdf.so", "libmpi.so.40")
    command(tmp_path / "pkg-config", "--variable=prefix pnetcdf) /build/pnetcdf/tmp/usr")
    assert find()["PNETCDF"].version == "1.14.0"
    assert find("mpich") == {}


@pytest.mark.parametrize("asked", ["pkg-config", "h5pcc"])
@pytest.mark.parametrize("flags", ["-lhdf5_mpich", "-lhdf5_mpich_hl -lhdf5_mpich", "-lhdf5"])
def test_an_hdf5_that_the_compiler_finds_by_itself(flags: str, asked: str, tmp_path: Path) -> None:
    """As Debian 14 has it: no -L, and the MPI in the library's name."""
    core = library(tmp_path / "usr" / f"lib{flags.split('-l')[-1]}.so", "libmpich.so.12")
    include = tmp_path / "include"
    include.mkdir()
    (include / "hdf5.h").write_text("")
    (include / "H5pubconf.h").write_text("#define H5_HAVE_PARALLEL 1\n")
    (include / "H5public.h").write_text(
        "#define H5_VERS_MAJOR 2\n#define H5_VERS_MINOR 2\n#define H5_VERS_RELEASE 0\n"
    )
    mpicc = command(
        tmp_path / "mpicc.mpich",
        "-show) gcc -I/mpich/include -L/mpich/lib -lmpich",
        f"-print-file-name={core.name}) {core}",
        "-print-file-name=libhdf5.so) libhdf5.so",  # gcc's answer for what it does not find
    )
    words = f"-I{include} -I/mpich/include {flags} -L/mpich/lib -lmpich"
    if asked == "pkg-config":
        command(tmp_path / asked, f"--cflags --libs hdf5-mpich) {words}")
    else:
        command(tmp_path / "h5pcc.mpich", f"-show) mpicc.mpich {words}")
    found = find_hdf5(mpicc, "mpich")
    assert found == IoLibrary("HDF5", "HDF5", "2.2.0", include, (core,))


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
    assert "ADIOS2 (set ADIOS2_DIR (Debian 13, Open MPI only: libadios2-mpi-c-dev))" in said
