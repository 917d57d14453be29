# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All pages."""

from __future__ import annotations

from stripewise.web.pages._base import Page
from stripewise.web.pages._compare_jobs import CompareJobs
from stripewise.web.pages._front import Front
from stripewise.web.pages._job import Job
from stripewise.web.pages._job_files import JobFiles
from stripewise.web.pages._job_links import JobProfile, JobSettingsShell, JobSettingsToml
from stripewise.web.pages._jobs import Jobs
from stripewise.web.pages._patterns import Patterns
from stripewise.web.pages._program import OneProgram
from stripewise.web.pages._programs import Programs
from stripewise.web.pages._programs_summary import ProgramsSummary
from stripewise.web.pages._savings import Savings, SavingsSettings
from stripewise.web.pages._staff import Staff, StaffIgnored, StaffPrograms
from stripewise.web.pages._staff_coverage import StaffCoverage
from stripewise.web.pages._staff_intake import StaffAudit, StaffIngest
from stripewise.web.pages._staff_quality import StaffQuality
from stripewise.web.pages._storage import Storage
from stripewise.web.pages._storage_benchmarks import StorageBenchmarks
from stripewise.web.pages._storage_load import StorageLoad
from stripewise.web.pages._storage_news import StorageAdvice, StorageEvents
from stripewise.web.pages._storage_patterns import StoragePatterns
from stripewise.web.pages._storage_top import StorageTop

PAGES: tuple[Page, ...] = (
    Front(),
    Jobs(),
    CompareJobs(),
    Job(),
    JobFiles(),
    JobProfile(),
    JobSettingsToml(),
    JobSettingsShell(),
    Programs(),
    ProgramsSummary(),
    OneProgram(),
    Patterns(),
    Savings(),
    SavingsSettings(),
    Staff(),
    StaffPrograms(),
    StaffIgnored(),
    StaffCoverage(),
    StaffQuality(),
    StaffIngest(),
    StaffAudit(),
    Storage(),
    StorageAdvice(),
    StorageEvents(),
    StorageLoad(),
    StoragePatterns(),
    StorageTop(),
    StorageBenchmarks(),
)
MENU = (
    ("My jobs", "/jobs"),
    ("Programs", "/programs"),
    ("Storage", "/storage"),
    ("Staff", "/staff"),
)
"""Entries of the menu; one whose page does not admit the viewer is left out."""
