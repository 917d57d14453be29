# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The procedure of a study: baseline, search, confirmation pairs, verdict."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.procedure._loop import run_study as run_study
    from stripewise.study.procedure._simulated import NoFiles as NoFiles
    from stripewise.study.procedure._simulated import SimulatedLauncher as SimulatedLauncher
    from stripewise.study.procedure._simulated import simulated_workload as simulated_workload
    from stripewise.study.procedure._simulated import tune_simulated as tune_simulated
    from stripewise.study.procedure._single_runs import SingleRuns as SingleRuns
    from stripewise.study.procedure._single_runs import TriedLines as TriedLines
    from stripewise.study.procedure._single_runs import try_lines as try_lines
    from stripewise.study.procedure._with_replay import tune_replay as tune_replay
else:
    __getattr__, __all__ = lazy_exports(__name__)
