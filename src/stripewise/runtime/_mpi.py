# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which MPIs there are on this machine, and which one a command uses."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stripewise.elf import mpi_family_of_file
from stripewise.readers import is_launcher, mpiio_components
from stripewise.runtime._libraries import IoLibrary, find_hdf5, find_libraries
from stripewise.runtime._process import ask

WRAPPERS = ("mpicc.mpich", "mpicc.openmpi", "mpicc", "mpiicx", "mpiicc", "mpicc_abi")
_HEADER_PROBE = """#include <mpi.h>
#ifdef OPEN_MPI
SW_FOUND openmpi OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
SW_FOUND mpich MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
SW_FOUND abi MPI_ABI_VERSION.MPI_ABI_SUBVERSION
#else
SW_FOUND other MPI_VERSION.MPI_SUBVERSION
#endif
"""


@dataclass(frozen=True)
class MpiInstallation:
    """One MPI.

    Attributes:
        family: "mpich" (its kin too: Cray, Intel, MVAPICH), "openmpi", "abi" (the standard's own
            ABI, MPI 5, whoever made the library) or "other".
        version: Of the library, e.g. "4.0.2"; of the ABI.
        mpicc: Compiler wrapper (absolute path).
        mpiexec: Launcher of the same installation, None if not found.
        hdf5: Parallel HDF5 for it, None if not found.
        mpiio: MPI-IO implementations to choose from ("ompio", "romio321"); empty if there
            is no choice.
        problem: Why nothing can be compiled with it; "" if it works.
        libraries: NetCDF, PnetCDF and ADIOS2 for it, as far as they were found.
    """

    family: str
    version: str
    mpicc: Path
    mpiexec: Path | None = None
    hdf5: IoLibrary | None = None
    mpiio: tuple[str, ...] = ()
    problem: str = ""
    libraries: tuple[IoLibrary, ...] = ()

    @property
    def major(self) -> str:
        """First number of the version; "0" if unknown."""
        found = re.match(r"\d+", self.version)
        return found.group() if found else "0"

    @property
    def label(self) -> str:
        """`<family> <version>`."""
        return f"{self.family} {self.version}".strip()


def detect_mpis() -> list[MpiInstallation]:
    """Every MPI whose compiler wrapper is on PATH, each once."""
    return list(_detect(os.environ.get("PATH", ""), os.environ.get("CRAY_MPICH_VERSION", "")))


def describe_mpi(mpicc: str) -> MpiInstallation | None:
    """The MPI behind a compiler wrapper (a name on PATH or a path); None if it is not there."""
    located = shutil.which(mpicc)
    return _describe(Path(located).absolute()) if located else None


def mpi_of_command(command: Sequence[str]) -> MpiInstallation | None:
    """The MPI that a command uses: by its launcher, otherwise by what its program links.

    None if it uses none, or if that cannot be told (srun of a Python program).
    """
    if not command or not (located := shutil.which(command[0])):
        return None
    name = Path(located).name
    launcher = Path(os.path.realpath(located))
    mpis = [mpi for mpi in detect_mpis() if not mpi.problem]
    if is_launcher(name):
        for mpi in mpis:
            if mpi.mpiexec and Path(os.path.realpath(mpi.mpiexec)) == launcher:
                return mpi
        family = launcher_family(launcher)
        if family:
            return next((mpi for mpi in mpis if mpi.family == family), None)
    for word in command:
        program = None if word.startswith("-") else shutil.which(word)
        if program and (family := mpi_family_of_file(Path(program))):
            return next((mpi for mpi in mpis if mpi.family == family), None)
    return None


@lru_cache(maxsize=8)
def _detect(path: str, cray_version: str) -> tuple[MpiInstallation, ...]:
    names = [*WRAPPERS, "cc"] if cray_version else list(WRAPPERS)
    found: dict[tuple[str, str, str], MpiInstallation] = {}
    for name in names:
        located = shutil.which(name, path=path)
        if located:
            mpi = _describe(Path(located).absolute())
            found.setdefault((mpi.family, mpi.version, os.path.realpath(located)), mpi)
    return tuple(found.values())


def parse_probe(text: str) -> tuple[str, str]:
    """Family and version in the preprocessed probe; ("", "") if it is not there."""
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and words[0] == "SW_FOUND":
            return words[1], "".join(words[2:]).replace('"', "")
    return "", ""


def _describe(mpicc: Path) -> MpiInstallation:
    answer = ask([str(mpicc), "-E", "-x", "c", "-"], text=_HEADER_PROBE)
    family, version = parse_probe(answer.stdout)
    if answer.returncode or not family:
        lines = (answer.stderr or "its mpi.h names no known MPI").strip().splitlines()
        reason = next((line for line in lines if "error" in line), lines[0])
        return MpiInstallation("", "", mpicc, problem=f"{mpicc} does not compile: {reason}")
    if family == "other":
        problem = f"{mpicc}: its mpi.h is neither MPICH's, Open MPI's nor MPI 5's: no plug-in fits"
        return MpiInstallation(family, version, mpicc, problem=problem)
    mpiexec = _launcher_beside(mpicc)
    near = [mpiexec] if mpiexec else []
    mpiio = mpiio_components(f"v{version},", near) if family == "openmpi" else ()
    hdf5 = find_hdf5(mpicc, family)
    libraries = find_libraries(mpicc, family, hdf5)
    return MpiInstallation(family, version, mpicc, mpiexec, hdf5, mpiio, libraries=libraries)


def _launcher_beside(mpicc: Path) -> Path | None:
    """Launcher beside a wrapper, with the same suffix (`mpicc.mpich` -> `mpiexec.mpich`)."""
    suffix = "".join(mpicc.name.partition(".")[1:])
    paths = [mpicc.with_name(name + suffix) for name in ("mpiexec", "mpirun")]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def launcher_family(launcher: Path) -> str:
    """Family by the launcher's real name, then by what it says of itself."""
    name = launcher.name
    if name.startswith(("orterun", "prterun", "prun")):
        return "openmpi"
    if "hydra" in name:
        return "mpich"
    if name.startswith(("srun", "aprun", "jsrun")):
        return ""
    said = ask([str(launcher), "--version"], timeout_seconds=10)
    text = said.stdout + said.stderr
    if "OpenRTE" in text or "Open MPI" in text or "prte" in text.lower():
        return "openmpi"
    return "mpich" if "HYDRA" in text or "Intel(R) MPI" in text else ""
