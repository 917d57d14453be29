# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records with units; no logic beyond invariants."""

from stripewise.model._configuration import (
    Configuration,
    DatasetRule,
    FileRule,
    JobSettings,
    Value,
)
from stripewise.model._facts import ProgramFacts
from stripewise.model._measurement import Measurement, ObservedFile, RunStatus
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
from stripewise.model._trial import Speedup, Trial, TrialState

__all__ = [
    "CaseOutcome",
    "CaseResult",
    "Configuration",
    "DatasetRule",
    "Decision",
    "FileRule",
    "JobSettings",
    "Measurement",
    "ObservedFile",
    "ProgramFacts",
    "RunEntry",
    "RunRole",
    "RunStatus",
    "Speedup",
    "StudyResult",
    "Trial",
    "TrialState",
    "Value",
    "Verification",
    "VerificationStatus",
]
