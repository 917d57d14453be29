# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Options, budget, journal and statistics of a study."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.plan._budget import NO_LIMIT as NO_LIMIT
    from stripewise.study.plan._budget import TRIAL_RUNS as TRIAL_RUNS
    from stripewise.study.plan._budget import Budget as Budget
    from stripewise.study.plan._budget import BudgetSpentError as BudgetSpentError
    from stripewise.study.plan._budget import check_node_hours as check_node_hours
    from stripewise.study.plan._budget import make_budget as make_budget
    from stripewise.study.plan._budget import most_trials as most_trials
    from stripewise.study.plan._cases import StudyCase as StudyCase
    from stripewise.study.plan._cases import expand_cases as expand_cases
    from stripewise.study.plan._cases import read_cases as read_cases
    from stripewise.study.plan._journal import DAMAGE as DAMAGE
    from stripewise.study.plan._journal import JOURNAL as JOURNAL
    from stripewise.study.plan._journal import VERSION as VERSION
    from stripewise.study.plan._journal import Journal as Journal
    from stripewise.study.plan._journal import claim as claim
    from stripewise.study.plan._journal import described as described
    from stripewise.study.plan._journal import parse_journal as parse_journal
    from stripewise.study.plan._ledger import OpenRun as OpenRun
    from stripewise.study.plan._ledger import StudyLedger as StudyLedger
    from stripewise.study.plan._options import CLASSES as CLASSES
    from stripewise.study.plan._options import MINIMUM_RUNS as MINIMUM_RUNS
    from stripewise.study.plan._options import NO_MACHINE as NO_MACHINE
    from stripewise.study.plan._options import JobOptions as JobOptions
    from stripewise.study.plan._options import StudyOptions as StudyOptions
    from stripewise.study.plan._options import check_in_flight as check_in_flight
    from stripewise.study.plan._options import check_storage as check_storage
    from stripewise.study.plan._options import extended_budgets as extended_budgets
    from stripewise.study.plan._options import ignored_options as ignored_options
    from stripewise.study.plan._options import options_from_json as options_from_json
    from stripewise.study.plan._options import options_to_json as options_to_json
    from stripewise.study.plan._options import with_storage as with_storage
    from stripewise.study.plan._outside import Outside as Outside
    from stripewise.study.plan._outside import OutsideUse as OutsideUse
    from stripewise.study.plan._outside import check_commands as check_commands
    from stripewise.study.plan._outside import checked_command as checked_command
    from stripewise.study.plan._outside import is_allowed as is_allowed
    from stripewise.study.plan._outside import is_device_or_temporary as is_device_or_temporary
    from stripewise.study.plan._outside import outside_of_script as outside_of_script
    from stripewise.study.plan._outside import use_text as use_text
    from stripewise.study.plan._slot import Observer as Observer
    from stripewise.study.plan._slot import RunSlot as RunSlot
    from stripewise.study.plan._slot import Steps as Steps
    from stripewise.study.plan._slot import attempt_name as attempt_name
    from stripewise.study.plan._slot import failure_text as failure_text
    from stripewise.study.plan._slot import is_contract as is_contract
    from stripewise.study.plan._statistics import LOOKS as LOOKS
    from stripewise.study.plan._statistics import SLOWER_MEDIAN as SLOWER_MEDIAN
    from stripewise.study.plan._statistics import Noise as Noise
    from stripewise.study.plan._statistics import clearly_worse as clearly_worse
    from stripewise.study.plan._statistics import excludes_one as excludes_one
    from stripewise.study.plan._statistics import got_slower as got_slower
    from stripewise.study.plan._statistics import hopeless_text as hopeless_text
    from stripewise.study.plan._statistics import is_futile as is_futile
    from stripewise.study.plan._statistics import ratio_noise as ratio_noise
    from stripewise.study.plan._statistics import resolution_text as resolution_text
    from stripewise.study.plan._statistics import speedup_of as speedup_of
    from stripewise.study.plan._statistics import spread as spread
else:
    __getattr__, __all__ = lazy_exports(__name__)
