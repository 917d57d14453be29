# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds, builds and activates the runtime library that is preloaded into programs."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.runtime._build import BuildResult as BuildResult
    from stripewise.run.runtime._build import build_runtime as build_runtime
    from stripewise.run.runtime._environment import Runtime as Runtime
    from stripewise.run.runtime._environment import build_directory as build_directory
    from stripewise.run.runtime._environment import check_carried as check_carried
    from stripewise.run.runtime._environment import (
        configured_environment as configured_environment,
    )
    from stripewise.run.runtime._environment import find_runtime as find_runtime
    from stripewise.run.runtime._environment import guard_environment as guard_environment
    from stripewise.run.runtime._environment import launch_environment as launch_environment
    from stripewise.run.runtime._environment import native_sources as native_sources
    from stripewise.run.runtime._environment import preload_environment as preload_environment
    from stripewise.run.runtime._environment import task_program as task_program
    from stripewise.run.runtime._environment import write_task_file as write_task_file
    from stripewise.run.runtime._inplace import InPlaceRun as InPlaceRun
    from stripewise.run.runtime._inplace import SeriesMapping as SeriesMapping
    from stripewise.run.runtime._inplace import SeriesOutcome as SeriesOutcome
    from stripewise.run.runtime._inplace import ranks_not_shown as ranks_not_shown
    from stripewise.run.runtime._inplace import run_in_place as run_in_place
    from stripewise.run.runtime._launch_lines import program_file as program_file
    from stripewise.run.runtime._launch_lines import program_name as program_name
    from stripewise.run.runtime._launch_lines import program_word as program_word
    from stripewise.run.runtime._launch_lines import ranks_of_command as ranks_of_command
    from stripewise.run.runtime._mpi import REMEDIES as REMEDIES
    from stripewise.run.runtime._mpi import MpiInstallation as MpiInstallation
    from stripewise.run.runtime._mpi import describe_mpi as describe_mpi
    from stripewise.run.runtime._mpi import detect_mpis as detect_mpis
    from stripewise.run.runtime._mpi import launcher_family as launcher_family
    from stripewise.run.runtime._mpi import mpi_of_command as mpi_of_command
    from stripewise.run.runtime._programs import REPLAY_MARK as REPLAY_MARK
    from stripewise.run.runtime._programs import Replay as Replay
    from stripewise.run.runtime._programs import built_program as built_program
    from stripewise.run.runtime._programs import check_compute as check_compute
    from stripewise.run.runtime._programs import check_ranks as check_ranks
    from stripewise.run.runtime._programs import collective_stacks as collective_stacks
    from stripewise.run.runtime._programs import find_launcher as find_launcher
    from stripewise.run.runtime._programs import kernel_of_mpiexec as kernel_of_mpiexec
    from stripewise.run.runtime._programs import mpiexec_words as mpiexec_words
    from stripewise.run.runtime._programs import read_plan as read_plan
    from stripewise.run.runtime._programs import replay_program as replay_program
    from stripewise.run.runtime._resources import LauncherReading as LauncherReading
    from stripewise.run.runtime._resources import change_launcher as change_launcher
    from stripewise.run.runtime._resources import command_with_resources as command_with_resources
    from stripewise.run.runtime._resources import launcher_line as launcher_line
    from stripewise.run.runtime._resources import read_launcher as read_launcher
    from stripewise.run.runtime._resources import resource_environment as resource_environment
else:
    __getattr__, __all__ = lazy_exports(__name__)
