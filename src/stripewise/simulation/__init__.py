# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a workload would take on a described storage, in virtual time."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.simulation._chance import chance as chance
    from stripewise.simulation._found import PatternKey as PatternKey
    from stripewise.simulation._found import in_steps as in_steps
    from stripewise.simulation._kernels import KERNELS as KERNELS
    from stripewise.simulation._kernels import workload_from_kernel as workload_from_kernel
    from stripewise.simulation._law import FlowTime as FlowTime
    from stripewise.simulation._layouts import layout_of as layout_of
    from stripewise.simulation._limit_words import rate_text as rate_text
    from stripewise.simulation._limits import Limit as Limit
    from stripewise.simulation._limits import limits_of as limits_of
    from stripewise.simulation._metadata import SERVER_OPERATIONS as SERVER_OPERATIONS
    from stripewise.simulation._metadata import metadata_rate as metadata_rate
    from stripewise.simulation._metadata import operation_figure as operation_figure
    from stripewise.simulation._noise import noise_factor as noise_factor
    from stripewise.simulation._notation import parse_notation as parse_notation
    from stripewise.simulation._notation import workload_from_notation as workload_from_notation
    from stripewise.simulation._phases import PhaseTime as PhaseTime
    from stripewise.simulation._phases import phase_times as phase_times
    from stripewise.simulation._programs import SimulatedProgram as SimulatedProgram
    from stripewise.simulation._programs import simulated_program as simulated_program
    from stripewise.simulation._rates import Rates as Rates
    from stripewise.simulation._requests import REQUEST_DTYPE as REQUEST_DTYPE
    from stripewise.simulation._requests import Flow as Flow
    from stripewise.simulation._requests import Phase as Phase
    from stripewise.simulation._requests import Requests as Requests
    from stripewise.simulation._requests import Turns as Turns
    from stripewise.simulation._simulate import OWN_CALLS as OWN_CALLS
    from stripewise.simulation._simulate import Simulated as Simulated
    from stripewise.simulation._simulate import chosen_transport as chosen_transport
    from stripewise.simulation._simulate import simulate as simulate
    from stripewise.simulation._stack_of import stack_of as stack_of
    from stripewise.simulation._summary import RequestSummary as RequestSummary
    from stripewise.simulation._trace_classes import TracedProgram as TracedProgram
    from stripewise.simulation._trace_classes import traced_program as traced_program
    from stripewise.simulation._traced import Stretch as Stretch
    from stripewise.simulation._traced import TracedCalls as TracedCalls
    from stripewise.simulation._workload import Workload as Workload
else:
    __getattr__, __all__ = lazy_exports(__name__)
