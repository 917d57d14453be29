# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Test programs of PnetCDF, netCDF and ADIOS2, for Debian's Open MPI, where these are."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from runtime_harness import PROGRAMS, checked, require, scratch

FAMILY = "openmpi"
_WRAPPERS = {".c": "mpicc", ".cpp": "mpicxx", ".F90": "mpif90"}
_ADIOS2 = {".c": "adios2_c", ".cpp": "adios2_cxx"}


@cache
def library_program(source: str) -> Path:
    """A program whose name begins with `pn` (PnetCDF), `nc` (netCDF) or `ad` (ADIOS2)."""
    suffix = Path(source).suffix
    wrapper = f"{_WRAPPERS[suffix]}.{FAMILY}"
    require(wrapper, f"mpiexec.{FAMILY}", "cmake")
    built = scratch() / source.replace(".", "-")
    flags = {"pn": _pnetcdf, "nc": _netcdf, "ad": _adios2}[source[:2]](suffix)
    checked([wrapper, "-O1", PROGRAMS / source, "-o", built, *flags])
    return built


def _pnetcdf(suffix: str) -> list[str]:
    if not Path("/usr/include/pnetcdf.h").exists():
        pytest.skip("no PnetCDF: libpnetcdf-dev")
    modules = [f"-I{d}" for d in Path("/usr/lib").glob("*/fortran/gfortran-mod-*")]
    return [*(modules if suffix == ".F90" else []), "-lpnetcdf"]


def _netcdf(suffix: str) -> list[str]:
    del suffix
    headers = sorted(Path("/usr/lib").glob("*/netcdf/mpi/include/netcdf_par.h"))
    if not headers:
        pytest.skip("no parallel netCDF: libnetcdf-mpi-dev")
    return [f"-I{headers[0].parent}", "-lnetcdf_mpi"]


def _adios2(suffix: str) -> list[str]:
    base = os.environ.get("STRIPEWISE_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "stripewise"
    )
    places = [Path(os.environ.get("ADIOS2_DIR", "/nowhere"))]
    places += sorted(Path(base).glob(f"adios2-*-{FAMILY}-4*"), reverse=True)
    place = next((p for p in places if (p / "include" / "adios2_c.h").exists()), None)
    if place is None:
        pytest.skip("no ADIOS2 for Open MPI: make adios2, or set ADIOS2_DIR")
    directory = place / "lib"
    names = [f"{_ADIOS2[suffix]}_mpi", _ADIOS2[suffix], "adios2_core_mpi", "adios2_core"]
    links = [f"-l{name}" for name in names]
    rpath = f"-Wl,-rpath,{directory}"
    return ["-DADIOS2_USE_MPI=1", f"-I{place / 'include'}", f"-L{directory}", *links, rpath]
