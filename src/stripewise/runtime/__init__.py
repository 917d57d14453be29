# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runtime library: find it, build it, preload it, and check that all of that works."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.runtime._build import BuildResult, build_runtime
    from stripewise.runtime._doctor import Check, CheckStatus, run_doctor
    from stripewise.runtime._environment import (
        check_carried,
        launch_environment,
        preload_environment,
    )
    from stripewise.runtime._hdf5 import Hdf5Installation
    from stripewise.runtime._inplace import InPlaceRun, run_in_place
    from stripewise.runtime._kernels import (
        find_launcher,
        kernel_command,
        kernel_of_mpiexec,
        kernel_path,
        mpiexec_words,
    )
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
    from stripewise.runtime._stacks import collective_stacks
    from stripewise.runtime._words import is_wrapper, program_name, program_word
else:
    __getattr__ = lazy_exports(__name__)

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
    "check_carried",
    "collective_stacks",
    "command_with_resources",
    "describe_mpi",
    "detect_mpis",
    "find_launcher",
    "find_runtime",
    "is_wrapper",
    "kernel_command",
    "kernel_of_mpiexec",
    "kernel_path",
    "launch_environment",
    "launcher_line",
    "mpi_of_command",
    "mpiexec_words",
    "native_sources",
    "preload_environment",
    "program_name",
    "program_word",
    "resource_environment",
    "run_doctor",
    "run_in_place",
]
