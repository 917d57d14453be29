# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs: the preloaded library, launchers, Slurm, job scripts and burst buffers."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run._ask import CommandResult as CommandResult
    from stripewise.run._ask import ask as ask
    from stripewise.run._report import Observation as Observation
    from stripewise.run._report import emulation_lines as emulation_lines
    from stripewise.run._report import observation as observation
    from stripewise.run._report import observed_lines as observed_lines
else:
    __getattr__, __all__ = lazy_exports(__name__)
