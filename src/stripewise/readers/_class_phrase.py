# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A class of files in plain words."""

from __future__ import annotations

from stripewise.model import FileClass
from stripewise.text import printable, size_text

_LAYERS = {
    "posix": "POSIX", "stdio": "stdio", "mpiio": "MPI-IO", "pnetcdf": "PnetCDF", "hdf5": "HDF5",
    "adios2": "ADIOS2",
}  # fmt: skip
_MANIFOLD = 2.0
"""What less than doubles the bytes goes without saying."""


def class_phrase(files: FileClass) -> str:
    """Say which files they are and what is done to them.

    "plt*.h5 (3 files written through HDF5 and MPI-IO, collective, each shared by ranks, 1 MiB a
    call, 61 % of the I/O time)"
    """
    ways = " and ".join(
        word for word, used in (("written", files.writes), ("read", files.reads)) if used
    )
    through = " and ".join(_LAYERS.get(layer, layer) for layer in files.layers)
    said = [f"{files.n_files} file{'' if files.n_files == 1 else 's'} {ways} through {through}"]
    if "mpiio" in files.layers:
        said.append("collective" if files.collective else "independent")
    if files.noncontiguous:
        said.append("in pieces that lie apart")
    said.append("shared by ranks" if files.shared else "each used by one rank")
    said.append(f"{size_text(files.call_bytes)} a call")
    if files.amplification >= _MANIFOLD:
        said.append(f"{files.amplification:.0f} times the bytes at the storage")
    said.append(f"{100 * files.io_share:.0f} % of the I/O time")
    name = printable(files.match) if files.match else "no name of their own"
    return f"{name} ({', '.join(said)})"
