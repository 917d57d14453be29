#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tunes programs of others and then runs them: tests and examples of the I/O libraries.

    apt-get source netcdf pnetcdf hdf5 mpich  # in some directory SOURCES, with deb-src enabled
    pip download --no-binary :all: --no-deps adios2 && tar xf adios2-*.tar.gz      # beside them
    ADIOS2_DIR=PREFIX benchmarks/other_programs.py SOURCES [--only TEXT]

The sources are compiled unchanged, except for what the table below lists (a size, the removal of
the output at the end).  Then each is run with its best configuration, or those of
other_programs.toml if it has none, and its output is compared with that of two plain runs.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from applying import apply, markdown
from tuning import Case, table, tune_all

SETTINGS = Path(__file__).with_suffix(".toml")
HDF5 = "/usr/lib/x86_64-linux-gnu/hdf5"


@dataclass(frozen=True)
class Program:
    """One foreign program.

    Attributes:
        source: Glob below the sources' directory.
        compiler: Compiler wrapper; the flags follow the source.
        flags: Flags; a part behind "@" is a glob below the sources' directory, and
            "adios2:LANGUAGE" stands for the output of adios2-config.
        changes: Pairs (regular expression, replacement) applied to a copy.
        arguments: Arguments of the program, such as a relative output name.
    """

    name: str
    library: str
    language: str
    mpi: str
    source: str
    compiler: str
    flags: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()


NETCDF = (
    "-I@netcdf*/include", "-include", "mpi.h", "-DUSE_PARALLEL", '-DTEMP_LARGE="."',
    "-lnetcdf_mpi",
)  # fmt: skip
HEAT = "adios2*/examples/simulations/heatTransfer/write"
ROMIO = "mpich*/src/mpi/romio/test"

# Values that ROMIO's configure inserts into its Fortran tests.
CONFIGURED = (
    ("@F77MPIOINC@", ""),
    ("@FORTRAN_MPI_OFFSET@", "integer(kind=MPI_OFFSET_KIND)"),
    ("@F77IARGC@", "iargc()"),
    ("@F77GETARG@", "call getarg(i, str)"),
)

PROGRAMS = (
    *(
        Program(
            name, "MPI-IO", "Fortran", mpi, f"{ROMIO}/{name}.f.in", f"mpif90.{mpi}",
            ("-std=legacy",), ("-fname", "out.dat"), changes=CONFIGURED,
        )
        for name in ("fcoll_test", "fperf")
        for mpi in ("openmpi", "mpich")
    ),
    *(
        Program(
            name, "MPI-IO", "C", mpi, f"{ROMIO}/{name}.c", f"mpicc.{mpi}", (),
            ("-fname", "out.dat"), changes=changes,
        )
        for name, changes in (
            ("coll_perf", ((r"= 128 \* \d+;", "= 160;"),)),
            ("noncontig_coll", ()),  # Open MPI no longer has the calls that it makes
        )
        for mpi in ("openmpi", "mpich")
        if (name, mpi) != ("noncontig_coll", "openmpi")
    ),
    Program(
        "write_block_read_column", "PnetCDF", "C", "openmpi",
        "pnetcdf*/benchmarks/C/write_block_read_column.c", "mpicc.openmpi", ("-lpnetcdf",),
        ("-q", "-l", "384", "out.nc"),
    ),
    Program(
        "aggregation", "PnetCDF", "C", "openmpi", "pnetcdf*/benchmarks/C/aggregation.c",
        "mpicc.openmpi", ("-lpnetcdf",), ("-q", "-l", "512", "out.nc"),
    ),
    Program(
        "collective_write", "PnetCDF", "C", "openmpi", "pnetcdf*/examples/C/collective_write.c",
        "mpicc.openmpi", ("-lpnetcdf",), ("-q", "-l", "64", "out.nc"),
    ),
    Program(
        "block_cyclic", "PnetCDF", "Fortran", "openmpi",
        "pnetcdf*/examples/F90/block_cyclic.f90", "mpif90.openmpi",
        ("-I/usr/lib/x86_64-linux-gnu/fortran/gfortran-mod-15", "-I/usr/include",
         "@pnetcdf*/examples/F90/utils.F90", "-lpnetcdf"),
        ("-q", "out.nc"),
    ),
    Program(
        "tst_parallel4", "NetCDF-4", "C", "openmpi", "netcdf*/nc_test4/tst_parallel4.c",
        "mpicc.openmpi", NETCDF,
        changes=((r"#define NUM_SLABS 1024", "#define NUM_SLABS 32"),
                 (r"remove\(file_name\);", "")),
    ),
    Program(
        "parallel_vara", "NetCDF-4", "C", "openmpi", "netcdf*/examples/C/parallel_vara.c",
        "mpicc.openmpi", NETCDF, # as it is it needs a netCDF with PnetCDF inside
        changes=((r"cmode = NC_CLOBBER;", "cmode = NC_CLOBBER | NC_NETCDF4;"),),
    ),
    Program(
        "heatTransfer", "ADIOS2", "C++", "openmpi", f"{HEAT}/main.cpp", "mpicxx.openmpi",
        ("-std=c++17", f"-I@{HEAT}", f"@{HEAT}/HeatTransfer.cpp", f"@{HEAT}/Settings.cpp",
         f"@{HEAT}/IO_adios2.cpp", "adios2:cxx"),
        ("heat_bp4.xml", "heat.bp", "2", "1", "512", "512", "10", "2"),
        inputs=("adios2*/examples/simulations/heatTransfer/heat_bp4.xml",),
    ),
    Program(
        "bpWriter", "ADIOS2", "C", "openmpi", "adios2*/examples/hello/bpWriter/bpWriter.c",
        "mpicc.openmpi", ("-DADIOS2_USE_MPI=1", "adios2:c"),
    ),
    Program(
        "tst_parallel3", "NetCDF-4", "C", "openmpi", "netcdf*/nc_test4/tst_parallel3.c",
        "mpicc.openmpi", NETCDF,
    ),
    *(
        Program(
            "ph5example", "HDF5", "C", mpi, "hdf5*/examples/ph5example.c", f"mpicc.{mpi}",
            (f"-I/usr/include/hdf5/{mpi}", f"-L{HDF5}/{mpi}", "-lhdf5"), ("-c",),
            changes=((r"#define SPACE1_DIM1\s+\S+", "#define SPACE1_DIM1 512"),
                     (r"#define SPACE1_DIM2\s+\S+", "#define SPACE1_DIM2 512")),
        )
        for mpi in ("mpich", "openmpi")
    ),
    *(
        Program(
            "ph5example", "HDF5", "Fortran", mpi, "hdf5*/fortran/examples/ph5example.f90",
            f"mpif90.{mpi}",
            (f"-I/usr/include/hdf5/{mpi}", f"-L{HDF5}/{mpi}", "-lhdf5_fortran", "-lhdf5"),
        )
        for mpi in ("mpich", "openmpi")
    ),
)  # fmt: skip


def build(program: Program, sources: Path, place: Path) -> Path | str:
    """Compile a program; return its path, or why it could not be compiled."""
    found = sorted(sources.glob(program.source))
    if not found:
        return f"{program.source} is not below {sources}"
    text = found[0].read_text(encoding="utf-8", errors="surrogateescape")
    for pattern, replacement in program.changes:
        text, n = re.subn(pattern, replacement, text)
        if n == 0:
            return f"{pattern} does not occur in {found[0].name}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.h").touch()
    copy = place / f"{program.mpi}-{found[0].name.removesuffix('.in')}"
    copy.write_text(text, encoding="utf-8", errors="surrogateescape")
    target = place / f"{program.mpi}-{program.language.lower()}-{found[0].stem}"
    flags = [word for flag in program.flags for word in _flags(flag, sources)]
    words = [program.compiler, "-O2", "-w", f"-I{place}", str(copy), *flags, "-o", str(target)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=place, check=False)
    return target if done.returncode == 0 else done.stderr.strip().splitlines()[0]


def _flags(flag: str, sources: Path) -> list[str]:
    if flag.startswith("adios2:"):
        return _adios2_flags(flag.removeprefix("adios2:"))
    before, at, glob = flag.partition("@")
    return [before + str(next(iter(sorted(sources.glob(glob))), "")) if at else flag]


def _adios2_flags(language: str) -> list[str]:
    """Return the flags of $ADIOS2_DIR's adios2-config, and where the libraries are at run time."""
    prefix = Path(os.environ.get("ADIOS2_DIR", "/usr"))
    tool = prefix / "bin" / "adios2-config"
    try:
        words = [
            subprocess.run([tool, f"--{language}-{kind}"], capture_output=True, text=True,
                           check=True).stdout.split()
            for kind in ("flags", "libs")
        ]  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ["-ladios2_is_not_installed"]
    return [*words[0], *words[1], f"-Wl,-rpath,{prefix}/lib"]


def cases(programs: Sequence[Program], sources: Path, place: Path) -> list[Case]:
    """Build the programs; print and leave out those that cannot be built."""
    found = []
    for program in programs:
        built = build(program, sources, place)
        if isinstance(built, str):
            print(f"left out: {program.name} ({program.mpi}): {built}", file=sys.stderr)
            continue
        labels = {
            "program": program.name, "library": program.library, "language": program.language,
            "MPI": {"mpich": "MPICH", "openmpi": "Open MPI"}[program.mpi],
        }  # fmt: skip
        words = (f"mpiexec.{program.mpi}", "-n", "2", str(built), *program.arguments)
        inputs = tuple(path for glob in program.inputs for path in sources.glob(glob))
        found.append(Case(labels, words, inputs))
    return found


def main() -> None:
    """Build, tune, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name has TEXT")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1, help="studies of each program")
    parser.add_argument("--directory", type=Path, default=Path("build/other-programs"))
    options = parser.parse_args()
    place = options.directory.absolute()
    chosen = [p for p in PROGRAMS if options.only in f"{p.name} {p.library} {p.mpi}"]
    found = cases(chosen, options.sources.absolute(), place / "bin")
    if not found:
        parser.error("no program could be built; the sources that are wanted: --help")
    os.makedirs(place, exist_ok=True)
    rows, *repeats = (
        tune_all(
            found, place / f"work{n}", place / f"rows{n}.jsonl", trials=options.trials,
            limit_seconds=900,
        )
        for n in range(options.repeats)
    )  # fmt: skip
    print(table(rows, repeats))
    applied = []
    for case in found:
        best = sorted((place / "work0" / case.name).glob("*.stripewise/best.toml"))
        applied.append(apply(case, place / "runs", best[0] if best else SETTINGS))
    print(markdown(applied))


if __name__ == "__main__":
    main()
