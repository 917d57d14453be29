# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives MPI-IO library, file classes and effective settings from the profile of a run."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.facts._effective import cannot_act as cannot_act
    from stripewise.evidence.facts._facts import ROMIO_SIGNS as ROMIO_SIGNS
    from stripewise.evidence.facts._facts import Mpiio as Mpiio
    from stripewise.evidence.facts._facts import hint_lines as hint_lines
    from stripewise.evidence.facts._facts import mpiio_components as mpiio_components
    from stripewise.evidence.facts._facts import mpiio_of as mpiio_of
    from stripewise.evidence.facts._facts import program_facts as program_facts
    from stripewise.evidence.facts._facts import stack_of as stack_of
    from stripewise.evidence.facts._facts import without_ompio as without_ompio
    from stripewise.evidence.facts._file_classes import class_phrase as class_phrase
    from stripewise.evidence.facts._file_classes import file_classes as file_classes
    from stripewise.evidence.facts._file_classes import file_family as file_family
    from stripewise.evidence.facts._file_classes import with_patterns as with_patterns
    from stripewise.evidence.facts._files import FilesSeen as FilesSeen
    from stripewise.evidence.facts._files import observed_files as observed_files
    from stripewise.evidence.facts._files import relative_path as relative_path
    from stripewise.evidence.facts._files import system_rows as system_rows
    from stripewise.evidence.facts._files import take_back_doubles as take_back_doubles
    from stripewise.evidence.facts._files import written_files as written_files
else:
    __getattr__, __all__ = lazy_exports(__name__)
