# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The parallel HDF5 that belongs to an MPI."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from stripewise.runtime._libraries import IoLibrary, library_directories
from stripewise.runtime._process import ask
from stripewise.text import text_of

_VERSION = re.compile(r"^#\s*define\s+H5_VERS_(?:MAJOR|MINOR|RELEASE)\s+(\d+)", re.MULTILINE)


def find_hdf5(mpicc: Path, family: str) -> IoLibrary | None:
    """Look for the HDF5 of an MPI: HDF5_DIR and its kin, pkg-config, then h5pcc.

    Args:
        mpicc: The MPI's compiler wrapper.
        family: "mpich", "openmpi" or "other".
    """
    for name in ("HDF5_DIR", "HDF5_ROOT", "HDF5_HOME"):
        if root := os.environ.get(name):
            found = _installation([Path(root, "include")], library_directories(Path(root)))
            if found:
                return found
    return _by_pkg_config(mpicc, family) or _by_h5pcc(mpicc)


def parse_flags(words: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Include and library directories in compiler flags."""
    includes = [Path(word[2:]) for word in words if word.startswith("-I") and len(word) > 2]
    libraries = [Path(word[2:]) for word in words if word.startswith("-L") and len(word) > 2]
    libraries += [Path(word).parent for word in words if re.search(r"/libhdf5\.(a|so)$", word)]
    return includes, libraries


def _by_pkg_config(mpicc: Path, family: str) -> IoLibrary | None:
    answer = ask(["pkg-config", "--cflags", "--libs", f"hdf5-{family}"])
    if answer.returncode:
        return None
    words = shlex.split(answer.stdout)
    ours = {word for word in _shown(mpicc) if word.startswith("-I")}
    theirs = {word for word in words if word.startswith("-I")}
    if ours and not ours & theirs:
        return None
    return _installation(*parse_flags(words))


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
    return _installation(*parse_flags(words))


def _shown(wrapper: Path) -> list[str]:
    """What a compiler wrapper would run."""
    answer = ask([str(wrapper), "-show"])
    return [] if answer.returncode else shlex.split(answer.stdout)


def _installation(includes: Sequence[Path], libraries: Sequence[Path]) -> IoLibrary | None:
    """The installation if its header is there, is a parallel one, and a library too."""
    include = next((path for path in includes if (path / "hdf5.h").is_file()), None)
    library = next(
        (path / "libhdf5.so" for path in libraries if (path / "libhdf5.so").exists()), None
    )
    if include is None or library is None:
        return None
    settings = "".join(text_of(path) for path in sorted(include.glob("H5pubconf*.h")))
    if not re.search(r"define\s+H5_HAVE_PARALLEL\s+1", settings):
        return None
    version = ".".join(_VERSION.findall(text_of(include / "H5public.h")))
    return IoLibrary("HDF5", "HDF5", version, include, (library,))
