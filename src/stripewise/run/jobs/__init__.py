# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads users' job scripts, and changes them so that every change can be reverted."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.jobs._convert import Wanted as Wanted
    from stripewise.run.jobs._convert import convert_script as convert_script
    from stripewise.run.jobs._copies import links_program as links_program
    from stripewise.run.jobs._copies import replaced_links as replaced_links
    from stripewise.run.jobs._marks import is_rewritten as is_rewritten
    from stripewise.run.jobs._marks import revert as revert
    from stripewise.run.jobs._on_tier import OnTier as OnTier
    from stripewise.run.jobs._on_tier import check_parts as check_parts
    from stripewise.run.jobs._on_tier import check_staging as check_staging
    from stripewise.run.jobs._on_tier import check_tier_options as check_tier_options
    from stripewise.run.jobs._on_tier import copies_note as copies_note
    from stripewise.run.jobs._on_tier import copies_on_tier as copies_on_tier
    from stripewise.run.jobs._on_tier import script_on_tier as script_on_tier
    from stripewise.run.jobs._on_tier import sharing_note as sharing_note
    from stripewise.run.jobs._rewrite import Changes as Changes
    from stripewise.run.jobs._rewrite import quote as quote
    from stripewise.run.jobs._rewrite import rewrite as rewrite
    from stripewise.run.jobs._script import JobScript as JobScript
    from stripewise.run.jobs._script import missing_cpus as missing_cpus
    from stripewise.run.jobs._systems import check_command as check_command
    from stripewise.run.jobs._systems import job_script_heading as job_script_heading
    from stripewise.run.jobs._systems import scripts_in as scripts_in
else:
    __getattr__, __all__ = lazy_exports(__name__)
