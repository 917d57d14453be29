# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records with units; no logic beyond invariants."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.model._access import Pieces, Selections
    from stripewise.model._configuration import (
        Configuration,
        DatasetRule,
        FileRule,
        JobSettings,
        Value,
    )
    from stripewise.model._facts import PatternSummary, ProgramFacts
    from stripewise.model._json import from_json, to_json
    from stripewise.model._measurement import (
        FAILURES_THAT_COUNT,
        FailureCause,
        Measurement,
        ObservedFile,
        RunStatus,
        is_settled,
        joint_cause,
    )
    from stripewise.model._mount import Mount
    from stripewise.model._mpiio_stats import MpiioSide, MpiioStats
    from stripewise.model._pattern import BlockRule, Distribution, Pattern, PatternKind
    from stripewise.model._result import (
        BASELINE_ROLES,
        CaseOutcome,
        CaseResult,
        Decision,
        Price,
        RunEntry,
        RunRole,
        StudyResult,
        Verification,
        VerificationStatus,
    )
    from stripewise.model._run_marks import (
        FileFlag,
        MpiFamily,
        PluginState,
        ProcessFlag,
        SettingsKind,
    )
    from stripewise.model._run_profile import (
        ALIGN_BINS,
        ALL_RANKS,
        COUNTER_ROW,
        HEAT_ROW,
        N_ACTIONS,
        N_COMMON,
        NAMES_ROW,
        PROCESS_ROW,
        SIZE_EDGES,
        Action,
        Evidence,
        FileHints,
        FileLayout,
        RunProfile,
        Settings,
        uses_mpi,
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
    from stripewise.model._trial import Proposal, Speedup, Trial, TrialState
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "ALIGN_BINS",
    "ALL_RANKS",
    "BASELINE_ROLES",
    "BIN_ROW",
    "COUNTER_ROW",
    "DURATION_BINS",
    "FAILURES_THAT_COUNT",
    "HEAT_ROW",
    "NAMES_ROW",
    "N_ACTIONS",
    "N_COMMON",
    "PIECE_ROW",
    "PROCESS_ROW",
    "SIZE_EDGES",
    "TRACE_ROW",
    "Action",
    "BlockRule",
    "CaseOutcome",
    "CaseResult",
    "Configuration",
    "DatasetRule",
    "Decision",
    "Distribution",
    "EventFlag",
    "Evidence",
    "FailureCause",
    "FileFlag",
    "FileHints",
    "FileLayout",
    "FileRule",
    "IoLayer",
    "JobSettings",
    "Measurement",
    "Mount",
    "MpiFamily",
    "MpiioSide",
    "MpiioStats",
    "ObservedFile",
    "Op",
    "OpenBit",
    "Pattern",
    "PatternKind",
    "PatternSummary",
    "Pieces",
    "PluginState",
    "Price",
    "ProcessFlag",
    "ProgramFacts",
    "Proposal",
    "RunEntry",
    "RunProfile",
    "RunRole",
    "RunStatus",
    "Selections",
    "Settings",
    "SettingsKind",
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
    "from_json",
    "is_settled",
    "joint_cause",
    "to_json",
    "uses_mpi",
]
