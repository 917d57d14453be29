# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records with units; no logic beyond invariants."""

from stripewise.model._access import Pieces, Selections
from stripewise.model._configuration import (
    Configuration,
    DatasetRule,
    FileRule,
    JobSettings,
    Value,
)
from stripewise.model._facts import ProgramFacts
from stripewise.model._measurement import Measurement, ObservedFile, RunStatus
from stripewise.model._pattern import BlockRule, Distribution, Pattern, PatternKind
from stripewise.model._result import (
    CaseOutcome,
    CaseResult,
    Decision,
    RunEntry,
    RunRole,
    StudyResult,
    Verification,
    VerificationStatus,
)
from stripewise.model._run_profile import (
    COUNTER_ROW,
    HEAT_ROW,
    N_COMMON,
    SIZE_EDGES,
    Evidence,
    FileHints,
    FileLayout,
    RunProfile,
)
from stripewise.model._trace import (
    BIN_ROW,
    DURATION_BINS,
    PIECE_ROW,
    TRACE_ROW,
    EventFlag,
    IoLayer,
    Op,
    OpenBit,
    ShapeKind,
    Trace,
    TraceObject,
    TraceShape,
    TraceView,
)
from stripewise.model._trial import Speedup, Trial, TrialState

__all__ = [
    "BIN_ROW",
    "COUNTER_ROW",
    "DURATION_BINS",
    "HEAT_ROW",
    "N_COMMON",
    "PIECE_ROW",
    "SIZE_EDGES",
    "TRACE_ROW",
    "BlockRule",
    "CaseOutcome",
    "CaseResult",
    "Configuration",
    "DatasetRule",
    "Decision",
    "Distribution",
    "EventFlag",
    "Evidence",
    "FileHints",
    "FileLayout",
    "FileRule",
    "IoLayer",
    "JobSettings",
    "Measurement",
    "ObservedFile",
    "Op",
    "OpenBit",
    "Pattern",
    "PatternKind",
    "Pieces",
    "ProgramFacts",
    "RunEntry",
    "RunProfile",
    "RunRole",
    "RunStatus",
    "Selections",
    "ShapeKind",
    "Speedup",
    "StudyResult",
    "Trace",
    "TraceObject",
    "TraceShape",
    "TraceView",
    "Trial",
    "TrialState",
    "Value",
    "Verification",
    "VerificationStatus",
]
