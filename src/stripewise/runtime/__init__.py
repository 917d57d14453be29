# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runtime library: find it, build it, preload it, and check that all of that works."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.runtime._build import BuildResult as BuildResult
    from stripewise.runtime._build import build_runtime as build_runtime
    from stripewise.runtime._cray import cray_variables as cray_variables
    from stripewise.runtime._doctor import run_doctor as run_doctor
    from stripewise.runtime._environment import check_carried as check_carried
    from stripewise.runtime._environment import configured_environment as configured_environment
    from stripewise.runtime._environment import guard_environment as guard_environment
    from stripewise.runtime._environment import launch_environment as launch_environment
    from stripewise.runtime._environment import preload_environment as preload_environment
    from stripewise.runtime._inplace import InPlaceRun as InPlaceRun
    from stripewise.runtime._inplace import run_in_place as run_in_place
    from stripewise.runtime._kernels import built_program as built_program
    from stripewise.runtime._kernels import collective_stacks as collective_stacks
    from stripewise.runtime._kernels import find_launcher as find_launcher
    from stripewise.runtime._kernels import kernel_of_mpiexec as kernel_of_mpiexec
    from stripewise.runtime._kernels import mpiexec_words as mpiexec_words
    from stripewise.runtime._libraries import IoLibrary as IoLibrary
    from stripewise.runtime._lines import LauncherReading as LauncherReading
    from stripewise.runtime._lines import change_launcher as change_launcher
    from stripewise.runtime._lines import read_launcher as read_launcher
    from stripewise.runtime._locate import Runtime as Runtime
    from stripewise.runtime._locate import build_directory as build_directory
    from stripewise.runtime._locate import find_runtime as find_runtime
    from stripewise.runtime._locate import native_sources as native_sources
    from stripewise.runtime._mpi import MpiInstallation as MpiInstallation
    from stripewise.runtime._mpi import describe_mpi as describe_mpi
    from stripewise.runtime._mpi import detect_mpis as detect_mpis
    from stripewise.runtime._mpi import launcher_family as launcher_family
    from stripewise.runtime._mpi import mpi_of_command as mpi_of_command
    from stripewise.runtime._probe import Check as Check
    from stripewise.runtime._probe import CheckStatus as CheckStatus
    from stripewise.runtime._resources import LauncherChange as LauncherChange
    from stripewise.runtime._resources import command_with_resources as command_with_resources
    from stripewise.runtime._resources import launcher_line as launcher_line
    from stripewise.runtime._resources import resource_environment as resource_environment
    from stripewise.runtime._series import SeriesMapping as SeriesMapping
    from stripewise.runtime._series import SeriesOutcome as SeriesOutcome
    from stripewise.runtime._series import ranks_not_shown as ranks_not_shown
    from stripewise.runtime._task import task_program as task_program
    from stripewise.runtime._task import write_task_file as write_task_file
    from stripewise.runtime._words import is_wrapper as is_wrapper
    from stripewise.runtime._words import program_file as program_file
    from stripewise.runtime._words import program_name as program_name
    from stripewise.runtime._words import program_word as program_word
    from stripewise.runtime._words import ranks_of_command as ranks_of_command
else:
    __getattr__, __all__ = lazy_exports(__name__)
