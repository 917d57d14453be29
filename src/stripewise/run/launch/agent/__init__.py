# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contains the programs that run without the package: the supervisor, and the agent on a node."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.launch.agent._agent_run import STAGE_VARIABLE as STAGE_VARIABLE
else:
    __getattr__, __all__ = lazy_exports(__name__)
