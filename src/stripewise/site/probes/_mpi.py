# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPIs, compilers, loaded modules."""

from __future__ import annotations

from stripewise.runtime import MpiInstallation
from stripewise.site._base import Host, Probe, Section

_VARIABLES = (
    "CRAY_MPICH_VERSION", "CRAY_MPICH_DIR", "CRAYPE_VERSION", "CRAYPE_LINK_TYPE",
    "CRAY_CPU_TARGET", "CRAYPE_NETWORK_TARGET", "PE_ENV", "HDF5_DIR", "NETCDF_DIR",
    "CRAY_HDF5_PARALLEL_VERSION", "I_MPI_ROOT", "OMPI_MCA_io", "ROMIO_HINTS",
)  # fmt: skip
_PREFIX = "MPICH_MPIIO_"
_LAUNCHERS = ("srun", "aprun", "mpiexec", "mpirun", "jsrun", "flux")


class MpiProbe(Probe):
    """The doctor's MPIs, and what a Cray's environment says."""

    name = "mpi"
    summary = "MPI installations, Cray's wrappers, launchers, loaded modules"

    def run(self, host: Host) -> Section:
        """Ask the wrappers, and read the environment."""
        variables = {
            key: value
            for key, value in sorted(host.environment.items())
            if key in _VARIABLES or key.startswith(_PREFIX)
        }
        wrapper = host.ask("cc", "--version")
        modules = host.environment.get("LOADEDMODULES", "")
        return {
            "installations": [_installation(mpi) for mpi in host.mpis()],
            "variables": variables,
            "cc": {"version": wrapper.text.partition("\n")[0], **wrapper.failure()},
            "cmake": host.ask("cmake", "--version").text.partition("\n")[0],
            "launchers": [name for name in _LAUNCHERS if host.which(name)],
            "modules": [word for word in modules.split(":") if word],
        }


def _installation(mpi: MpiInstallation) -> Section:
    return {
        "family": mpi.family,
        "version": mpi.version,
        "mpicc": str(mpi.mpicc),
        "mpiexec": str(mpi.mpiexec or ""),
        "hdf5": mpi.hdf5.version if mpi.hdf5 else "",
        "mpiio": list(mpi.mpiio),
        "problem": mpi.problem,
    }
