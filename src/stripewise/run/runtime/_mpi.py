# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the MPI installations of this machine and the I/O libraries built for each."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stripewise.core import hdf5_names_in_file, is_launcher, mpi_family_of_file
from stripewise.evidence.facts import mpiio_components
from stripewise.present import text_of
from stripewise.run._ask import ask

# HDF5, NetCDF, PnetCDF and ADIOS2 of an MPI, which the kernel's back ends link.

_HDF5_VERSION = re.compile(r"^#\s*define\s+H5_VERS_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", re.MULTILINE)
_HDF5_PARTS = ("_hl", "_cpp", "_fortran", "_f90cstub", "_tools")
"""Suffixes of libraries that belong to HDF5 but are not its core."""
SYSTEM_PREFIXES = (Path("/usr"),)
"""Prefixes of distributions' libraries, for which tools and metadata may be missing or wrong."""
_LOADED_MPI = re.compile(r"libmpi(?:ch|_cray)?\.so\.\d+ => (/\S+)")


@dataclass(frozen=True)
class IoLibrary:
    """A parallel I/O library of one MPI.

    Attributes:
        name: Name in CMake's variables: "HDF5", "NETCDF4", "PNETCDF" or "ADIOS2".
        title: Name for people.
        version: Version such as "4.9.0"; empty if its header does not contain it.
        include: Directory of its header.
        libraries: Libraries to link (absolute paths).
        generated: Directory of build-dependent headers, if it is a different one.
    """

    name: str
    title: str
    version: str
    include: Path
    libraries: tuple[Path, ...]
    generated: Path | None = None

    @property
    def includes(self) -> tuple[Path, ...]:
        """Include directories for a compiler."""
        return (self.include, self.generated) if self.generated else (self.include,)


@dataclass(frozen=True)
class _Kind:
    """Rules to recognise a library.

    Attributes:
        title: Name for people; in capitals with _DIR or _ROOT, a variable that may contain its
            prefix.
        prefix_commands: Commands that print its prefix.
        headers: Files that must be in its include directory.
        shared: For each library to link, its possible names.
        version: Header and pattern of the version.
        parallel: Header and pattern that identify a parallel build; None if the names do.
        remedy: What to do if the library is missing.
        mpi_library: Names of the library that links the MPI; empty for the first one to link.
        generated: Directories of build-dependent headers, below that of the others.
    """

    name: str
    title: str
    prefix_commands: tuple[tuple[str, ...], ...]
    headers: tuple[str, ...]
    shared: tuple[tuple[str, ...], ...]
    version: tuple[str, str]
    parallel: tuple[str, str] | None
    remedy: str
    mpi_library: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()


_KINDS = (
    _Kind(
        "NETCDF4",
        "NetCDF",
        (
            ("pkg-config", "--variable=prefix", "netcdf-mpi"),
            ("pkg-config", "--variable=prefix", "netcdf"),
            ("nc-config", "--prefix"),
        ),
        ("netcdf.h", "netcdf_par.h"),
        (("libnetcdf.so", "libnetcdf_mpi.so"),),
        ("netcdf_meta.h", r'NC_VERSION\s+"([^"]+)"'),
        ("netcdf_meta.h", r"NC_HAS_PARALLEL4\s+1"),
        "NETCDF_DIR (Debian, Open MPI only: libnetcdf-mpi-dev)",
    ),
    _Kind(
        "PNETCDF",
        "PnetCDF",
        (
            ("pnetcdf-config", "--prefix"),
            ("pkg-config", "--variable=prefix", "pnetcdf"),
        ),
        ("pnetcdf.h",),
        (("libpnetcdf.so",),),
        ("pnetcdf.h", r'PNETCDF_VERSION\s+"([^"]+)"'),
        None,
        "PNETCDF_DIR (Debian, Open MPI only: libpnetcdf-dev)",
    ),
    _Kind(
        "ADIOS2",
        "ADIOS2",
        (),
        ("adios2_c.h",),
        (
            ("libadios2_c_mpi.so", "libadios2_mpi_c_mpi.so"),
            ("libadios2_c.so", "libadios2_mpi_c.so"),
        ),
        ("adios2/common/ADIOSConfig.h", r'ADIOS2_VERSION_STR\s+"([^"]+)"'),
        None,
        "ADIOS2_DIR (Debian 13, Open MPI only: libadios2-mpi-c-dev)",
        ("libadios2_core_mpi.so", "libadios2_mpi_core_mpi.so"),
        ("adios2/build/mpi",),
    ),
)
REMEDIES = {kind.title: kind.remedy for kind in _KINDS}


def find_hdf5(mpicc: Path, family: str) -> IoLibrary | None:
    """Find the HDF5 of an MPI: HDF5_DIR and similar variables, pkg-config, then h5pcc.

    Args:
        mpicc: The MPI's compiler wrapper.
        family: "mpich", "openmpi" or "other".
    """
    for name in ("HDF5_DIR", "HDF5_ROOT", "HDF5_HOME"):
        if root := os.environ.get(name):
            places = library_directories(Path(root))
            found = _installation(
                [Path(root, "include")], [path / "libhdf5.so" for path in places]
            )
            if found:
                return found
    return _by_pkg_config(mpicc, family) or _by_h5pcc(mpicc)


def parse_flags(words: Sequence[str]) -> tuple[list[Path], list[Path], list[str]]:
    """Return include directories, library directories and names of HDF5 in compiler flags."""
    includes = [Path(word[2:]) for word in words if word.startswith("-I") and len(word) > 2]
    libraries = [Path(word[2:]) for word in words if word.startswith("-L") and len(word) > 2]
    libraries += [Path(word).parent for word in words if re.search(r"/libhdf5\.(a|so)$", word)]
    linked = [word[2:] for word in words if word.startswith("-lhdf5")]
    names = [name for name in linked if not name.endswith(_HDF5_PARTS)]
    return includes, libraries, list(dict.fromkeys([*names, "hdf5"]))


def _by_pkg_config(mpicc: Path, family: str) -> IoLibrary | None:
    answer = ask(["pkg-config", "--cflags", "--libs", f"hdf5-{family}"])
    if not answer.ok:
        return None
    words = shlex.split(answer.text)
    ours = {word for word in _shown(mpicc) if word.startswith("-I")}
    theirs = {word for word in words if word.startswith("-I")}
    if ours and not ours & theirs:
        return None
    return _linked(words, mpicc)


def _by_h5pcc(mpicc: Path) -> IoLibrary | None:
    suffix = mpicc.name.partition(".")[2]
    name = f"h5pcc.{suffix}" if suffix else "h5pcc"
    beside = mpicc.with_name(name)
    h5pcc = str(beside) if beside.exists() else shutil.which(name)
    if not h5pcc:
        return None
    words = _shown(Path(h5pcc))
    compiler = shutil.which(words[0]) if words else None
    if not compiler or os.path.realpath(compiler) != os.path.realpath(mpicc):
        return None
    return _linked(words, mpicc)


def _linked(words: Sequence[str], mpicc: Path) -> IoLibrary | None:
    """Return the installation that compiler flags name or the compiler finds."""
    includes, places, names = parse_flags(words)
    files = [f"lib{name}.so" for name in names]
    candidates = [place / file for place in places for file in files]
    for file in files:
        answer = ask([str(mpicc), f"-print-file-name={file}"]).text.strip()
        candidates += [Path(answer)] if answer.startswith("/") else []
    return _installation(includes, candidates)


def _shown(wrapper: Path) -> list[str]:
    """Return the command that a compiler wrapper would run."""
    answer = ask([str(wrapper), "-show"])
    return shlex.split(answer.text) if answer.ok else []


def _installation(includes: Sequence[Path], libraries: Sequence[Path]) -> IoLibrary | None:
    """Return the installation if its header and library exist and it is parallel."""
    include = next((path for path in includes if (path / "hdf5.h").is_file()), None)
    library = next((path for path in libraries if path.exists()), None)
    if include is None or library is None:
        return None
    settings = "".join(text_of(path) for path in sorted(include.glob("H5pubconf*.h")))
    if not re.search(r"define\s+H5_HAVE_PARALLEL\s+1", settings):
        return None
    version = ".".join(_HDF5_VERSION.findall(text_of(include / "H5public.h")))
    return IoLibrary("HDF5", "HDF5", version, include, (library,))


def find_libraries(mpicc: Path, family: str, hdf5: IoLibrary | None) -> tuple[IoLibrary, ...]:
    """Find the libraries of an MPI by variables, by their tools, and in system directories.

    Args:
        mpicc: The MPI's compiler wrapper; libraries that load another MPI are skipped.
        family: "mpich" or "openmpi"; libraries that link the other one are skipped.
        hdf5: HDF5 that the kernel links; a NetCDF with another HDF5 is skipped, since a program
            cannot contain two.
    """
    found = []
    for kind in _KINDS:
        roots = _roots(kind)
        candidates = filter(None, (_installed(root, kind, family, hdf5) for root in roots))
        if library := next((one for one in candidates if _same_mpi(one, mpicc)), None):
            found.append(library)
    return tuple(found)


def library_directories(root: Path) -> list[Path]:
    """Return the directories below a prefix in which libraries may be."""
    return [root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-gnu"))]


def _roots(kind: _Kind) -> Iterator[Path]:
    """Yield prefixes to search, the most explicit first, including those of CMake directories."""
    for what in ("DIR", "ROOT"):
        if value := os.environ.get(f"{kind.title.upper()}_{what}"):
            yield from [Path(value), *list(Path(value).parents)[:3]]
    if kind.name == "ADIOS2" and (located := shutil.which("adios2-config")):
        yield Path(located).resolve().parents[1]
    for command in kind.prefix_commands:
        answer = ask(command)
        if answer.ok and answer.text.strip():
            yield Path(answer.text.strip())
    yield from SYSTEM_PREFIXES


def _installed(root: Path, kind: _Kind, family: str, hdf5: IoLibrary | None) -> IoLibrary | None:
    """Return the library under a prefix if it is complete, parallel, and built for this MPI."""
    include = root / "include"
    if not all((include / name).is_file() for name in kind.headers):
        return None
    if kind.parallel and not _find_in(include, kind.parallel):
        return None
    for place in library_directories(root):
        found = [_first(place, names) for names in kind.shared]
        libraries = tuple(path for path in found if path)
        if len(libraries) < len(kind.shared):
            continue
        mpi = _first(place, kind.mpi_library) or libraries[0]
        if mpi_family_of_file(mpi) == family and _same_hdf5(libraries[0], hdf5):
            places = [include / name for name in kind.generated]
            generated = next((path for path in places if path.is_dir()), None)
            version = _find_in(generated or include, kind.version)
            return IoLibrary(kind.name, kind.title, version, include, libraries, generated)
    return None


def _same_mpi(library: IoLibrary, mpicc: Path) -> bool:
    """Return whether a library would load the MPI of a wrapper; true if that is unknown."""
    loads = _LOADED_MPI.findall(ask(["ldd", str(library.libraries[0])]).text)
    places = [Path(word[2:]) for word in _shown(mpicc) if word.startswith("-L")]
    own = {path.resolve() for place in places for path in place.glob("libmpi*.so*")}
    return not loads or not own or any(Path(path).resolve() in own for path in loads)


def _first(place: Path, names: tuple[str, ...]) -> Path | None:
    return next((place / name for name in names if (place / name).exists()), None)


def _same_hdf5(library: Path, hdf5: IoLibrary | None) -> bool:
    """Return whether a library needs no HDF5, or the one that the kernel links."""
    needed = hdf5_names_in_file(library)
    if not needed or hdf5 is None:
        return True
    return any(needed & hdf5_names_in_file(path) for path in hdf5.libraries)


def _find_in(include: Path, wanted: tuple[str, str]) -> str:
    """Return the last group (or all) of a pattern in a header; empty if it does not match."""
    name, pattern = wanted
    found = re.search(pattern, text_of(include / name))
    return found.group(found.re.groups) if found else ""


# MPI installations on this machine, and the one that a command uses.

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
    """One MPI installation.

    Attributes:
        family: "mpich" (also its derivatives Cray, Intel, MVAPICH), "openmpi", "abi" (the standard
            ABI of MPI 5, from any vendor) or "other".
        version: Version of the library, e.g. "4.0.2", or of the ABI.
        mpicc: Compiler wrapper (absolute path).
        mpiexec: Launcher of the same installation, None if not found.
        hdf5: Parallel HDF5 for it, None if not found.
        mpiio: MPI-IO implementations to choose from ("ompio", "romio321"); empty if there
            is no choice.
        problem: Why nothing can be compiled with it; empty if it works.
        libraries: NetCDF, PnetCDF and ADIOS2 for it, if found.
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
        """Name of the installation: `<family> <version>`."""
        return f"{self.family} {self.version}".strip()


def detect_mpis() -> list[MpiInstallation]:
    """Return every MPI whose compiler wrapper is on PATH, without duplicates."""
    return list(_detect(os.environ.get("PATH", ""), os.environ.get("CRAY_MPICH_VERSION", "")))


def describe_mpi(mpicc: str) -> MpiInstallation | None:
    """Return the MPI of a compiler wrapper (a name on PATH or a path); None if not found."""
    located = shutil.which(mpicc)
    return _describe(Path(located).absolute()) if located else None


def mpi_of_command(command: Sequence[str]) -> MpiInstallation | None:
    """Return the MPI that a command uses, by its launcher or the libraries of its program.

    Return None if it uses none, or if that is unknown (srun of a Python program).
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
    """Return the family and version in the preprocessed probe; ("", "") if not found."""
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and words[0] == "SW_FOUND":
            return words[1], "".join(words[2:]).replace('"', "")
    return "", ""


def _describe(mpicc: Path) -> MpiInstallation:
    answer = ask([str(mpicc), "-E", "-x", "c", "-"], text=_HEADER_PROBE)
    family, version = parse_probe(answer.text)
    if not answer.ok or not family:
        problem = answer.error or answer.problem or "its mpi.h names no known MPI"
        lines = problem.strip().splitlines()
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
    """Return the launcher beside a wrapper with the same suffix, as `mpiexec.mpich`."""
    suffix = "".join(mpicc.name.partition(".")[1:])
    paths = [mpicc.with_name(name + suffix) for name in ("mpiexec", "mpirun")]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def launcher_family(launcher: Path) -> str:
    """Return the family of a launcher, by its real name or by its version output."""
    name = launcher.name
    if name.startswith(("orterun", "prterun", "prun")):
        return "openmpi"
    if "hydra" in name:
        return "mpich"
    if name.startswith(("srun", "aprun", "jsrun")):
        return ""
    answer = ask([str(launcher), "--version"], timeout_seconds=10)
    text = answer.text + answer.error
    if "OpenRTE" in text or "Open MPI" in text or "prte" in text.lower():
        return "openmpi"
    return "mpich" if "HYDRA" in text or "Intel(R) MPI" in text else ""
