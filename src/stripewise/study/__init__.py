# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning studies: a command in, verified faster settings out."""

from stripewise.study._cases import Case, expand_cases
from stripewise.study._cases_file import read_cases
from stripewise.study._interrupts import Interrupts
from stripewise.study._journal import Journal
from stripewise.study._ledger import Ledger
from stripewise.study._loop import MakeTools, Study, run_study
from stripewise.study._observer import Observer
from stripewise.study._options import StudyOptions, program_name
from stripewise.study._recording import RecordingObserver, record_surface
from stripewise.study._recording_plan import RecordingOptions
from stripewise.study._slot import RunSlot
from stripewise.study._statistics import speedup_of
from stripewise.study._tools import FirstLook, Place, Tools, Workspace
from stripewise.study._verify import compare as compare_outputs

__all__ = [
    "Case",
    "FirstLook",
    "Interrupts",
    "Journal",
    "Ledger",
    "MakeTools",
    "Observer",
    "Place",
    "RecordingObserver",
    "RecordingOptions",
    "RunSlot",
    "Study",
    "StudyOptions",
    "Tools",
    "Workspace",
    "compare_outputs",
    "expand_cases",
    "program_name",
    "read_cases",
    "record_surface",
    "run_study",
    "speedup_of",
]
