# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Test programs of PnetCDF, netCDF and ADIOS2, for the Open MPI of a Debian that has them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from runtime_harness import PROGRAMS, checked, require, scratch
from stacks import ADIOS2_2_10, there, tool

FAMILY = "openmpi"
_WRAPPERS = {".c": "mpicc", ".cpp": "mpicxx", ".F90": "mpif90"}


@cache
def library_program(source: str, stack: str = FAMILY) -> Path:
    """A program of PnetCDF (`pn`), netCDF (`nc`), or, in a root, ADIOS2 (`ad`), by its name."""
    suffix = Path(source).suffix
    wrapper = tool(stack, _WRAPPERS[suffix])
    built = scratch() / f"{source.replace('.', '-')}-{stack}"
    if source.startswith("ad"):
        flags = _adios2(stack, suffix)
    else:
        require(f"mpiexec.{FAMILY}", "cmake")
        flags = {"pn": _pnetcdf, "nc": _netcdf}[source[:2]](suffix)
    checked(there(stack, [wrapper, "-O1", PROGRAMS / source, "-o", built, *flags]))
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


def _adios2(stack: str, suffix: str) -> list[str]:
    """Debian 13 and later: names with the variant within, one header beside the others."""
    language = "c" if suffix == ".c" else ("cxx11" if stack == ADIOS2_2_10 else "cxx")
    names = [f"{language}_mpi", language, "core_mpi", "core"]
    links = [f"-ladios2_mpi_{name}" for name in names]
    return ["-DADIOS2_USE_MPI=1", "-I/usr/include/adios2/build/mpi", *links]
