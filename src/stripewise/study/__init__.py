# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning studies: a command in, verified faster settings out."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study._baseline import TIMEOUT_FACTOR, TIMEOUT_FLOOR_SECONDS
    from stripewise.study._cases import Case, expand_cases
    from stripewise.study._cases_file import read_cases
    from stripewise.study._interrupts import Interrupts
    from stripewise.study._journal import Journal
    from stripewise.study._ledger import Ledger
    from stripewise.study._looking import look, look_first
    from stripewise.study._loop import MakeTools, Study, run_study
    from stripewise.study._observer import Observer
    from stripewise.study._options import StudyOptions
    from stripewise.study._slot import RunSlot
    from stripewise.study._statistics import speedup_of
    from stripewise.study._tools import FirstLook, Tools
    from stripewise.study._try import Tried, try_lines
    from stripewise.study._with_replay import tune_replay
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "TIMEOUT_FACTOR",
    "TIMEOUT_FLOOR_SECONDS",
    "Case",
    "FirstLook",
    "Interrupts",
    "Journal",
    "Ledger",
    "MakeTools",
    "Observer",
    "RunSlot",
    "Study",
    "StudyOptions",
    "Tools",
    "Tried",
    "expand_cases",
    "look",
    "look_first",
    "read_cases",
    "run_study",
    "speedup_of",
    "try_lines",
    "tune_replay",
]
