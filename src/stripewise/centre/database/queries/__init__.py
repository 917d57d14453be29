# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Answers queries to the database, according to the rights of a viewer."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.queries._benchmarks import FEWEST_BEFORE as FEWEST_BEFORE
    from stripewise.centre.database.queries._benchmarks import CaseHistory as CaseHistory
    from stripewise.centre.database.queries._benchmarks import (
        benchmark_history as benchmark_history,
    )
    from stripewise.centre.database.queries._filters import JobFilter as JobFilter
    from stripewise.centre.database.queries._filters import Period as Period
    from stripewise.centre.database.queries._gains import NextRun as NextRun
    from stripewise.centre.database.queries._gains import Saving as Saving
    from stripewise.centre.database.queries._gains import SavingsLedger as SavingsLedger
    from stripewise.centre.database.queries._gains import may_apply_to as may_apply_to
    from stripewise.centre.database.queries._gains import next_run as next_run
    from stripewise.centre.database.queries._gains import pair_settings as pair_settings
    from stripewise.centre.database.queries._gains import pairs_of_job as pairs_of_job
    from stripewise.centre.database.queries._gains import program_pairs as program_pairs
    from stripewise.centre.database.queries._gains import savings_ledger as savings_ledger
    from stripewise.centre.database.queries._history import MOST_RUNS as MOST_RUNS
    from stripewise.centre.database.queries._history import Change as Change
    from stripewise.centre.database.queries._history import RunFacts as RunFacts
    from stripewise.centre.database.queries._history import are_close as are_close
    from stripewise.centre.database.queries._history import changes as changes
    from stripewise.centre.database.queries._history import facts_of_runs as facts_of_runs
    from stripewise.centre.database.queries._history import list_runs as list_runs
    from stripewise.centre.database.queries._history import typical as typical
    from stripewise.centre.database.queries._job import MOST_SOURCES as MOST_SOURCES
    from stripewise.centre.database.queries._job import CallSizes as CallSizes
    from stripewise.centre.database.queries._job import JobView as JobView
    from stripewise.centre.database.queries._job import Served as Served
    from stripewise.centre.database.queries._job import Source as Source
    from stripewise.centre.database.queries._job import (
        calls_by_direction as calls_by_direction,
    )
    from stripewise.centre.database.queries._job import find_job as find_job
    from stripewise.centre.database.queries._job import full_profile as full_profile
    from stripewise.centre.database.queries._job import list_files as list_files
    from stripewise.centre.database.queries._job import list_sources as list_sources
    from stripewise.centre.database.queries._job import served_of as served_of
    from stripewise.centre.database.queries._job import view_job as view_job
    from stripewise.centre.database.queries._jobs import BEFORE_DAYS as BEFORE_DAYS
    from stripewise.centre.database.queries._jobs import OWN_DAYS as OWN_DAYS
    from stripewise.centre.database.queries._jobs import SORTS as SORTS
    from stripewise.centre.database.queries._jobs import OwnSummary as OwnSummary
    from stripewise.centre.database.queries._jobs import count_jobs as count_jobs
    from stripewise.centre.database.queries._jobs import list_jobs as list_jobs
    from stripewise.centre.database.queries._jobs import own_summary as own_summary
    from stripewise.centre.database.queries._load import ServiceBeside as ServiceBeside
    from stripewise.centre.database.queries._load import StorageLoad as StorageLoad
    from stripewise.centre.database.queries._load import loads_beside as loads_beside
    from stripewise.centre.database.queries._paging import COUNTED as COUNTED
    from stripewise.centre.database.queries._paging import MOST_ROWS as MOST_ROWS
    from stripewise.centre.database.queries._paging import Listing as Listing
    from stripewise.centre.database.queries._patterns import PatternFilter as PatternFilter
    from stripewise.centre.database.queries._patterns import public_patterns as public_patterns
    from stripewise.centre.database.queries._patterns import public_period as public_period
    from stripewise.centre.database.queries._patterns import public_seconds as public_seconds
    from stripewise.centre.database.queries._patterns import public_survey as public_survey
    from stripewise.centre.database.queries._patterns import search_patterns as search_patterns
    from stripewise.centre.database.queries._programs import ProgramSurvey as ProgramSurvey
    from stripewise.centre.database.queries._programs import find_program as find_program
    from stripewise.centre.database.queries._programs import job_times as job_times
    from stripewise.centre.database.queries._programs import median_job as median_job
    from stripewise.centre.database.queries._programs import program_findings as program_findings
    from stripewise.centre.database.queries._programs import program_patterns as program_patterns
    from stripewise.centre.database.queries._programs import program_settings as program_settings
    from stripewise.centre.database.queries._programs import survey as survey
    from stripewise.centre.database.queries._quality import USUAL_RATIO as USUAL_RATIO
    from stripewise.centre.database.queries._quality import Agreement as Agreement
    from stripewise.centre.database.queries._quality import Statement as Statement
    from stripewise.centre.database.queries._quality import agreements as agreements
    from stripewise.centre.database.queries._quality import disagreements as disagreements
    from stripewise.centre.database.queries._quality import match_rules as match_rules
    from stripewise.centre.database.queries._quality import (
        profiles_with_other_clocks as profiles_with_other_clocks,
    )
    from stripewise.centre.database.queries._quality import statements as statements
    from stripewise.centre.database.queries._quality import unrecorded_jobs as unrecorded_jobs
    from stripewise.centre.database.queries._series import Curve as Curve
    from stripewise.centre.database.queries._service import DisturbingJob as DisturbingJob
    from stripewise.centre.database.queries._service import disturbing_jobs as disturbing_jobs
    from stripewise.centre.database.queries._staff import FEWEST_RUNS as FEWEST_RUNS
    from stripewise.centre.database.queries._staff import GROUPS as GROUPS
    from stripewise.centre.database.queries._staff import LEAST_SECONDS as LEAST_SECONDS
    from stripewise.centre.database.queries._staff import Monitor as Monitor
    from stripewise.centre.database.queries._staff import audit_trail as audit_trail
    from stripewise.centre.database.queries._staff import costly_programs as costly_programs
    from stripewise.centre.database.queries._staff import coverage as coverage
    from stripewise.centre.database.queries._staff import ignored_advice as ignored_advice
    from stripewise.centre.database.queries._staff import intake_hours as intake_hours
    from stripewise.centre.database.queries._staff import intake_sums as intake_sums
    from stripewise.centre.database.queries._staff import reasons as reasons
    from stripewise.centre.database.queries._staff import refused_inputs as refused_inputs
    from stripewise.centre.database.queries._staff import uncounted as uncounted
    from stripewise.centre.database.queries._staff import view_monitors as view_monitors
    from stripewise.centre.database.queries._storage import FORECAST_DAYS as FORECAST_DAYS
    from stripewise.centre.database.queries._storage import EventFilter as EventFilter
    from stripewise.centre.database.queries._storage import FileSystemState as FileSystemState
    from stripewise.centre.database.queries._storage import Space as Space
    from stripewise.centre.database.queries._storage import advice_now as advice_now
    from stripewise.centre.database.queries._storage import events_within as events_within
    from stripewise.centre.database.queries._storage import find_file_system as find_file_system
    from stripewise.centre.database.queries._storage import kinds_of_events as kinds_of_events
    from stripewise.centre.database.queries._storage import list_events as list_events
    from stripewise.centre.database.queries._storage import view_names as view_names
    from stripewise.centre.database.queries._storage import view_storage as view_storage
    from stripewise.centre.database.queries._storage_load import PERIODS as PERIODS
    from stripewise.centre.database.queries._storage_load import FileSystemLoad as FileSystemLoad
    from stripewise.centre.database.queries._storage_load import LoadPeriod as LoadPeriod
    from stripewise.centre.database.queries._storage_load import TargetLoad as TargetLoad
    from stripewise.centre.database.queries._storage_load import view_load as view_load
    from stripewise.centre.database.queries._storage_tempo import TEMPO_DAYS as TEMPO_DAYS
    from stripewise.centre.database.queries._storage_tempo import DayTempo as DayTempo
    from stripewise.centre.database.queries._storage_tempo import StorageTempo as StorageTempo
    from stripewise.centre.database.queries._storage_tempo import Tempo as Tempo
    from stripewise.centre.database.queries._storage_tempo import (
        TemporalPattern as TemporalPattern,
    )
    from stripewise.centre.database.queries._storage_tempo import storage_tempo as storage_tempo
    from stripewise.centre.database.queries._storage_top import TOP_PERIODS as TOP_PERIODS
    from stripewise.centre.database.queries._storage_top import Share as Share
    from stripewise.centre.database.queries._storage_top import Top as Top
    from stripewise.centre.database.queries._storage_top import view_top as view_top
    from stripewise.centre.database.queries._viewer import FEWEST_USERS as FEWEST_USERS
    from stripewise.centre.database.queries._viewer import NOBODY as NOBODY
    from stripewise.centre.database.queries._viewer import AccessReason as AccessReason
    from stripewise.centre.database.queries._viewer import Role as Role
    from stripewise.centre.database.queries._viewer import Viewer as Viewer
    from stripewise.centre.database.queries._viewer import veiled as veiled
    from stripewise.centre.database.queries._viewer import viewer_of as viewer_of
else:
    __getattr__, __all__ = lazy_exports(__name__)
