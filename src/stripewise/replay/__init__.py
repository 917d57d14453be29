# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> a plan of its I/O that runs without the program."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.replay._build import MOST_LOST_SHARE, build_plan
    from stripewise.replay._compare import Differences, compare
    from stripewise.replay._records import InputKind, Plan, PlanFile, PlanInput
    from stripewise.replay._run import (
        REPLAY_MARK,
        Replay,
        check_compute,
        check_ranks,
        read_plan,
        replay_program,
        traced_family,
    )
    from stripewise.replay._text import PLAN_VERSION, plan_text, write_plan
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "MOST_LOST_SHARE",
    "PLAN_VERSION",
    "REPLAY_MARK",
    "Differences",
    "InputKind",
    "Plan",
    "PlanFile",
    "PlanInput",
    "Replay",
    "build_plan",
    "check_compute",
    "check_ranks",
    "compare",
    "plan_text",
    "read_plan",
    "replay_program",
    "traced_family",
    "write_plan",
]
