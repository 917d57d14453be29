# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts of users: what they ask for and start, and changes that can be taken back."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.jobs._above import check_inside as check_inside
    from stripewise.jobs._arguments import MAKES as MAKES
    from stripewise.jobs._changes import Changes as Changes
    from stripewise.jobs._commands import check_command as check_command
    from stripewise.jobs._commands import job_script_heading as job_script_heading
    from stripewise.jobs._commands import scripts_in as scripts_in
    from stripewise.jobs._cpus import missing_cpus as missing_cpus
    from stripewise.jobs._directives import Directive as Directive
    from stripewise.jobs._effects import effects_of_words as effects_of_words
    from stripewise.jobs._launches import LaunchLine as LaunchLine
    from stripewise.jobs._links import links_program as links_program
    from stripewise.jobs._links import replaced_links as replaced_links
    from stripewise.jobs._marks import is_rewritten as is_rewritten
    from stripewise.jobs._marks import revert as revert
    from stripewise.jobs._moves import SUBMITTED_FROM as SUBMITTED_FROM
    from stripewise.jobs._moves import Lead as Lead
    from stripewise.jobs._moves import Move as Move
    from stripewise.jobs._moves import lead_of as lead_of
    from stripewise.jobs._moves import move_before as move_before
    from stripewise.jobs._moves import moves_to as moves_to
    from stripewise.jobs._on_tier import OnTier as OnTier
    from stripewise.jobs._on_tier import check_tier_options as check_tier_options
    from stripewise.jobs._on_tier import copies_note as copies_note
    from stripewise.jobs._on_tier import copies_on_tier as copies_on_tier
    from stripewise.jobs._on_tier import script_on_tier as script_on_tier
    from stripewise.jobs._options import JobOption as JobOption
    from stripewise.jobs._quoting import quote as quote
    from stripewise.jobs._remote_names import is_remote as is_remote
    from stripewise.jobs._remote_names import is_remote_within as is_remote_within
    from stripewise.jobs._resources import JobResources as JobResources
    from stripewise.jobs._rewrite import rewrite as rewrite
    from stripewise.jobs._script import JobScript as JobScript
    from stripewise.jobs._staged import check_parts as check_parts
    from stripewise.jobs._staged import check_staging as check_staging
    from stripewise.jobs._staged import sharing_note as sharing_note
    from stripewise.jobs._surroundings import WORKS_IN as WORKS_IN
    from stripewise.jobs._surroundings import Effect as Effect
    from stripewise.jobs._surroundings import Effects as Effects
    from stripewise.jobs._surroundings import Surroundings as Surroundings
else:
    __getattr__, __all__ = lazy_exports(__name__)
