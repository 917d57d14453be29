# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records with units; no logic beyond invariants."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.model._access import Pieces as Pieces
    from stripewise.model._access import Selections as Selections
    from stripewise.model._configuration import FILE_LAYERS as FILE_LAYERS
    from stripewise.model._configuration import Configuration as Configuration
    from stripewise.model._configuration import DatasetRule as DatasetRule
    from stripewise.model._configuration import FileRule as FileRule
    from stripewise.model._configuration import JobSettings as JobSettings
    from stripewise.model._configuration import Value as Value
    from stripewise.model._facts import FileClass as FileClass
    from stripewise.model._facts import PatternSummary as PatternSummary
    from stripewise.model._facts import ProgramFacts as ProgramFacts
    from stripewise.model._facts import Striping as Striping
    from stripewise.model._job_result import JobStorage as JobStorage
    from stripewise.model._job_result import JobStudy as JobStudy
    from stripewise.model._job_result import MpiioFigure as MpiioFigure
    from stripewise.model._job_result import RungAhead as RungAhead
    from stripewise.model._job_result import RungRun as RungRun
    from stripewise.model._json import check_json as check_json
    from stripewise.model._json import from_json as from_json
    from stripewise.model._json import to_json as to_json
    from stripewise.model._measurement import FAILURES_THAT_COUNT as FAILURES_THAT_COUNT
    from stripewise.model._measurement import MOST_ATTEMPTS as MOST_ATTEMPTS
    from stripewise.model._measurement import FailureCause as FailureCause
    from stripewise.model._measurement import Measurement as Measurement
    from stripewise.model._measurement import ObservedFile as ObservedFile
    from stripewise.model._measurement import RunStatus as RunStatus
    from stripewise.model._measurement import is_settled as is_settled
    from stripewise.model._measurement import joint_cause as joint_cause
    from stripewise.model._mount import Mount as Mount
    from stripewise.model._mpiio_output import MpiioFile as MpiioFile
    from stripewise.model._mpiio_output import MpiioOutput as MpiioOutput
    from stripewise.model._mpiio_stats import MpiioSide as MpiioSide
    from stripewise.model._mpiio_stats import MpiioStats as MpiioStats
    from stripewise.model._mpiio_timers import MpiioPhase as MpiioPhase
    from stripewise.model._mpiio_timers import MpiioTimers as MpiioTimers
    from stripewise.model._pattern import BlockRule as BlockRule
    from stripewise.model._pattern import Distribution as Distribution
    from stripewise.model._pattern import Pattern as Pattern
    from stripewise.model._pattern import PatternKind as PatternKind
    from stripewise.model._result import BASELINE_ROLES as BASELINE_ROLES
    from stripewise.model._result import CaseOutcome as CaseOutcome
    from stripewise.model._result import CaseResult as CaseResult
    from stripewise.model._result import Decision as Decision
    from stripewise.model._result import JobFigures as JobFigures
    from stripewise.model._result import Price as Price
    from stripewise.model._result import Reference as Reference
    from stripewise.model._result import RunEntry as RunEntry
    from stripewise.model._result import RunRole as RunRole
    from stripewise.model._result import StudyResult as StudyResult
    from stripewise.model._result import Verification as Verification
    from stripewise.model._result import VerificationStatus as VerificationStatus
    from stripewise.model._run_marks import FileFlag as FileFlag
    from stripewise.model._run_marks import MpiFamily as MpiFamily
    from stripewise.model._run_marks import PluginState as PluginState
    from stripewise.model._run_marks import ProcessFlag as ProcessFlag
    from stripewise.model._run_marks import SettingsKind as SettingsKind
    from stripewise.model._run_profile import ALIGN_BINS as ALIGN_BINS
    from stripewise.model._run_profile import ALL_RANKS as ALL_RANKS
    from stripewise.model._run_profile import COUNTER_ROW as COUNTER_ROW
    from stripewise.model._run_profile import HEAT_ROW as HEAT_ROW
    from stripewise.model._run_profile import N_ACTIONS as N_ACTIONS
    from stripewise.model._run_profile import N_COMMON as N_COMMON
    from stripewise.model._run_profile import NAMES_ROW as NAMES_ROW
    from stripewise.model._run_profile import PROCESS_ROW as PROCESS_ROW
    from stripewise.model._run_profile import SIZE_EDGES as SIZE_EDGES
    from stripewise.model._run_profile import Action as Action
    from stripewise.model._run_profile import Evidence as Evidence
    from stripewise.model._run_profile import FileHints as FileHints
    from stripewise.model._run_profile import FileLayout as FileLayout
    from stripewise.model._run_profile import RunProfile as RunProfile
    from stripewise.model._run_profile import Settings as Settings
    from stripewise.model._run_profile import uses_mpi as uses_mpi
    from stripewise.model._series import SeriesRule as SeriesRule
    from stripewise.model._trace import BIN_ROW as BIN_ROW
    from stripewise.model._trace import COLLECTIVE_OPS as COLLECTIVE_OPS
    from stripewise.model._trace import DATA_OPS as DATA_OPS
    from stripewise.model._trace import DURATION_BINS as DURATION_BINS
    from stripewise.model._trace import PIECE_ROW as PIECE_ROW
    from stripewise.model._trace import READS as READS
    from stripewise.model._trace import SYSTEM_LAYERS as SYSTEM_LAYERS
    from stripewise.model._trace import TRACE_ROW as TRACE_ROW
    from stripewise.model._trace import WRITES as WRITES
    from stripewise.model._trace import EventFlag as EventFlag
    from stripewise.model._trace import IoLayer as IoLayer
    from stripewise.model._trace import Op as Op
    from stripewise.model._trace import OpenBit as OpenBit
    from stripewise.model._trace import ShapeKind as ShapeKind
    from stripewise.model._trace import Trace as Trace
    from stripewise.model._trace import TraceObject as TraceObject
    from stripewise.model._trace import TraceShape as TraceShape
    from stripewise.model._trace import TraceView as TraceView
    from stripewise.model._trial import Proposal as Proposal
    from stripewise.model._trial import Speedup as Speedup
    from stripewise.model._trial import Trial as Trial
    from stripewise.model._trial import TrialState as TrialState
else:
    __getattr__, __all__ = lazy_exports(__name__)
