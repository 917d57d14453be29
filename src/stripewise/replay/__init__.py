# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> a plan of its I/O that runs without the program."""

from stripewise.replay._build import MOST_LOST_SHARE, build_plan
from stripewise.replay._compare import Differences, compare
from stripewise.replay._records import InputKind, Plan, PlanFile, PlanInput
from stripewise.replay._text import PLAN_VERSION, plan_text, write_plan

__all__ = [
    "MOST_LOST_SHARE",
    "PLAN_VERSION",
    "Differences",
    "InputKind",
    "Plan",
    "PlanFile",
    "PlanInput",
    "build_plan",
    "compare",
    "plan_text",
    "write_plan",
]
