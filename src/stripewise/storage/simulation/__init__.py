# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts in virtual time how long a workload takes on a described storage."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.simulation._jobs import SimulatedJob as SimulatedJob
    from stripewise.storage.simulation._jobs import parse_capacity as parse_capacity
    from stripewise.storage.simulation._jobs import parse_sweep as parse_sweep
    from stripewise.storage.simulation._jobs import simulate_job as simulate_job
    from stripewise.storage.simulation._jobs import workload_of as workload_of
    from stripewise.storage.simulation._jobs import workload_of_trace as workload_of_trace
    from stripewise.storage.simulation._law import phase_times as phase_times
    from stripewise.storage.simulation._limits import Limit as Limit
    from stripewise.storage.simulation._limits import limits_of as limits_of
    from stripewise.storage.simulation._notation import KERNELS as KERNELS
    from stripewise.storage.simulation._notation import parse_notation as parse_notation
    from stripewise.storage.simulation._notation import (
        workload_from_kernel as workload_from_kernel,
    )
    from stripewise.storage.simulation._notation import (
        workload_from_notation as workload_from_notation,
    )
    from stripewise.storage.simulation._programs import PatternKey as PatternKey
    from stripewise.storage.simulation._programs import SimulatedProgram as SimulatedProgram
    from stripewise.storage.simulation._programs import in_steps as in_steps
    from stripewise.storage.simulation._programs import simulated_program as simulated_program
    from stripewise.storage.simulation._programs import stack_of as stack_of
    from stripewise.storage.simulation._rates import SERVER_OPERATIONS as SERVER_OPERATIONS
    from stripewise.storage.simulation._rates import Rates as Rates
    from stripewise.storage.simulation._rates import chance as chance
    from stripewise.storage.simulation._rates import metadata_rate as metadata_rate
    from stripewise.storage.simulation._rates import noise_factor as noise_factor
    from stripewise.storage.simulation._rates import operation_figure as operation_figure
    from stripewise.storage.simulation._report import Simulation as Simulation
    from stripewise.storage.simulation._report import SimulationRow as SimulationRow
    from stripewise.storage.simulation._report import (
        render_simulation_html as render_simulation_html,
    )
    from stripewise.storage.simulation._report import simulation_json as simulation_json
    from stripewise.storage.simulation._report import simulation_lines as simulation_lines
    from stripewise.storage.simulation._simulate import Simulated as Simulated
    from stripewise.storage.simulation._simulate import chosen_transport as chosen_transport
    from stripewise.storage.simulation._simulate import layout_of as layout_of
    from stripewise.storage.simulation._simulate import simulate as simulate
    from stripewise.storage.simulation._trace_classes import traced_program as traced_program
else:
    __getattr__, __all__ = lazy_exports(__name__)
