# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Turns a trace into a plan that repeats its I/O without the program."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.replay._build import build_plan as build_plan
    from stripewise.evidence.replay._plan import Plan as Plan
    from stripewise.evidence.replay._plan import plan_text as plan_text
    from stripewise.evidence.replay._plan import write_plan as write_plan
else:
    __getattr__, __all__ = lazy_exports(__name__)
