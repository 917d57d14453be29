# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses shell and csh scripts without running them, and determines what their commands do."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.shell._arguments import MAKES as MAKES
    from stripewise.run.shell._csh import read_commands as read_commands
    from stripewise.run.shell._effects import effects_of as effects_of
    from stripewise.run.shell._effects import effects_of_words as effects_of_words
    from stripewise.run.shell._launches import LaunchLine as LaunchLine
    from stripewise.run.shell._launches import is_launcher_word as is_launcher_word
    from stripewise.run.shell._launches import read_launches as read_launches
    from stripewise.run.shell._moves import SUBMITTED_FROM as SUBMITTED_FROM
    from stripewise.run.shell._moves import Move as Move
    from stripewise.run.shell._moves import MoveTarget as MoveTarget
    from stripewise.run.shell._moves import is_temporary as is_temporary
    from stripewise.run.shell._moves import known_directory as known_directory
    from stripewise.run.shell._moves import move_before as move_before
    from stripewise.run.shell._moves import moves_to as moves_to
    from stripewise.run.shell._moves import read_moves as read_moves
    from stripewise.run.shell._moves import target_of_move as target_of_move
    from stripewise.run.shell._remote_data import is_remote as is_remote
    from stripewise.run.shell._remote_data import is_remote_within as is_remote_within
    from stripewise.run.shell._shell import ParsedScript as ParsedScript
    from stripewise.run.shell._submits import Find as Find
    from stripewise.run.shell._submits import commands_of_words as commands_of_words
    from stripewise.run.shell._submits import find_submission as find_submission
    from stripewise.run.shell._submits import script_of_words as script_of_words
    from stripewise.run.shell._submits import submission_of_words as submission_of_words
    from stripewise.run.shell._submitters import Submission as Submission
    from stripewise.run.shell._submitters import interpreter as interpreter
    from stripewise.run.shell._submitters import kind_of as kind_of
    from stripewise.run.shell._submitters import kind_of_name as kind_of_name
    from stripewise.run.shell._surroundings import WORKS_IN as WORKS_IN
    from stripewise.run.shell._surroundings import Effect as Effect
    from stripewise.run.shell._surroundings import Effects as Effects
    from stripewise.run.shell._surroundings import Surroundings as Surroundings
    from stripewise.run.shell._surroundings import check_inside as check_inside
else:
    __getattr__, __all__ = lazy_exports(__name__)
