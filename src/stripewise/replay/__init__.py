# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> a plan of its I/O that runs without the program."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.replay._build import build_plan as build_plan
    from stripewise.replay._records import Plan as Plan
    from stripewise.replay._run import REPLAY_MARK as REPLAY_MARK
    from stripewise.replay._run import Replay as Replay
    from stripewise.replay._run import check_compute as check_compute
    from stripewise.replay._run import check_ranks as check_ranks
    from stripewise.replay._run import read_plan as read_plan
    from stripewise.replay._run import replay_program as replay_program
    from stripewise.replay._text import plan_text as plan_text
    from stripewise.replay._text import write_plan as write_plan
else:
    __getattr__, __all__ = lazy_exports(__name__)
