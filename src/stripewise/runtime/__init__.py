# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runtime library: find it, build it, preload it, and check that all of that works."""

from stripewise.runtime._build import BuildResult, build_runtime
from stripewise.runtime._doctor import Check, CheckStatus, run_doctor
from stripewise.runtime._environment import preload_environment
from stripewise.runtime._hdf5 import Hdf5Installation
from stripewise.runtime._inplace import InPlaceRun, run_in_place
from stripewise.runtime._locate import Runtime, build_directory, find_runtime, native_sources
from stripewise.runtime._mpi import (
    MpiInstallation,
    describe_mpi,
    detect_mpis,
    mpi_of_command,
)
from stripewise.runtime._resources import (
    command_with_resources,
    launcher_line,
    resource_environment,
)
from stripewise.runtime._storage import filesystem_type

__all__ = [
    "BuildResult",
    "Check",
    "CheckStatus",
    "Hdf5Installation",
    "InPlaceRun",
    "MpiInstallation",
    "Runtime",
    "build_directory",
    "build_runtime",
    "command_with_resources",
    "describe_mpi",
    "detect_mpis",
    "filesystem_type",
    "find_runtime",
    "launcher_line",
    "mpi_of_command",
    "native_sources",
    "preload_environment",
    "resource_environment",
    "run_doctor",
    "run_in_place",
]
