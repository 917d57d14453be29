# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a workload would take on a described storage, in virtual time."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.simulation._law import FlowTime as FlowTime
    from stripewise.simulation._law import PhaseTime as PhaseTime
    from stripewise.simulation._law import phase_times as phase_times
    from stripewise.simulation._limits import Limit as Limit
    from stripewise.simulation._limits import limits_of as limits_of
    from stripewise.simulation._rates import Rates as Rates
    from stripewise.simulation._requests import REQUEST_DTYPE as REQUEST_DTYPE
    from stripewise.simulation._requests import Flow as Flow
    from stripewise.simulation._requests import Phase as Phase
    from stripewise.simulation._requests import Requests as Requests
    from stripewise.simulation._workload import Workload as Workload
else:
    __getattr__, __all__ = lazy_exports(__name__)
