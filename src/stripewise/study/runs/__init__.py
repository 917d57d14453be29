# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Carries out the runs of a study and derives measurements from their evidence."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.runs._executor import CAPTURE_OF_FIRST as CAPTURE_OF_FIRST
    from stripewise.study.runs._executor import Executor as Executor
    from stripewise.study.runs._executor import Interrupts as Interrupts
    from stripewise.study.runs._executor import MakeUnit as MakeUnit
    from stripewise.study.runs._executor import UnitsInFlight as UnitsInFlight
    from stripewise.study.runs._local_tools import make_tools as make_tools
    from stripewise.study.runs._local_tools import open_workspace as open_workspace
    from stripewise.study.runs._looking import REFUSED as REFUSED
    from stripewise.study.runs._looking import comparable as comparable
    from stripewise.study.runs._looking import look as look
    from stripewise.study.runs._looking import measure_first_run as measure_first_run
    from stripewise.study.runs._tools import FirstLook as FirstLook
    from stripewise.study.runs._tools import Tools as Tools
else:
    __getattr__, __all__ = lazy_exports(__name__)
