# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models the requests that each software stack (MPI-IO, PnetCDF, ADIOS2, POSIX) makes."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.stacks._base import Layout as Layout
    from stripewise.storage.stacks._base import Setup as Setup
    from stripewise.storage.stacks._base import Stack as Stack
    from stripewise.storage.stacks._base import sampled_processes as sampled_processes
    from stripewise.storage.stacks._posix import traced_phases as traced_phases
    from stripewise.storage.stacks._registry import STACKS as STACKS
    from stripewise.storage.stacks._registry import find_stack as find_stack
    from stripewise.storage.stacks._registry import stack_names as stack_names
    from stripewise.storage.stacks._workload import REQUEST_DTYPE as REQUEST_DTYPE
    from stripewise.storage.stacks._workload import Flow as Flow
    from stripewise.storage.stacks._workload import Phase as Phase
    from stripewise.storage.stacks._workload import Requests as Requests
    from stripewise.storage.stacks._workload import Stretch as Stretch
    from stripewise.storage.stacks._workload import TracedCalls as TracedCalls
    from stripewise.storage.stacks._workload import Turns as Turns
    from stripewise.storage.stacks._workload import Workload as Workload
else:
    __getattr__, __all__ = lazy_exports(__name__)
