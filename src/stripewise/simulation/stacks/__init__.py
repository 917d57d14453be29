# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Software stacks: what each makes of a workload."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.simulation.stacks._at_once import looked_at as looked_at
    from stripewise.simulation.stacks._base import Layout as Layout
    from stripewise.simulation.stacks._base import Setup as Setup
    from stripewise.simulation.stacks._base import Stack as Stack
    from stripewise.simulation.stacks._registry import STACKS as STACKS
    from stripewise.simulation.stacks._registry import find_stack as find_stack
    from stripewise.simulation.stacks._registry import stack_names as stack_names
    from stripewise.simulation.stacks._traced import traced_phases as traced_phases
else:
    __getattr__, __all__ = lazy_exports(__name__)
