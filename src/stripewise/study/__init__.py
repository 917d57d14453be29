# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning studies: a command in, verified faster settings out."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study._cases import Case as Case
    from stripewise.study._cases import expand_cases as expand_cases
    from stripewise.study._cases import read_cases as read_cases
    from stripewise.study._interrupts import Interrupts as Interrupts
    from stripewise.study._job_options import JobOptions as JobOptions
    from stripewise.study._jobs_ahead import JobsAhead as JobsAhead
    from stripewise.study._jobs_ahead import plan_jobs as plan_jobs
    from stripewise.study._journal import Journal as Journal
    from stripewise.study._journal import parse_journal as parse_journal
    from stripewise.study._ledger import Ledger as Ledger
    from stripewise.study._loop import MakeTools as MakeTools
    from stripewise.study._loop import run_study as run_study
    from stripewise.study._observer import Observer as Observer
    from stripewise.study._options import NO_MACHINE as NO_MACHINE
    from stripewise.study._options import StudyOptions as StudyOptions
    from stripewise.study._outside import Outside as Outside
    from stripewise.study._outside import OutsideUse as OutsideUse
    from stripewise.study._outside import outside_of_command as outside_of_command
    from stripewise.study._outside import use_text as use_text
    from stripewise.study._simulated import NoFiles as NoFiles
    from stripewise.study._simulated import simulated_workload as simulated_workload
    from stripewise.study._simulated import tune_simulated as tune_simulated
    from stripewise.study._single_runs import SingleRuns as SingleRuns
    from stripewise.study._slot import RunSlot as RunSlot
    from stripewise.study._statistics import speedup_of as speedup_of
    from stripewise.study._tools import FirstLook as FirstLook
    from stripewise.study._tools import Tools as Tools
    from stripewise.study._try import Tried as Tried
    from stripewise.study._try import try_lines as try_lines
    from stripewise.study._with_replay import tune_replay as tune_replay
else:
    __getattr__, __all__ = lazy_exports(__name__)
