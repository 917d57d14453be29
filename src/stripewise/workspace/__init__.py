# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs take place: a snapshot of the user's directory, and a fresh copy for each run."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.workspace._disk_space import format_bytes
    from stripewise.workspace._place import Place, Workspace
    from stripewise.workspace._sandbox import OutputFile, OutputSet, Sandbox
    from stripewise.workspace._sandbox_workspace import SandboxWorkspace, shown
    from stripewise.workspace._snapshot import STUDY_SUFFIX, InputSnapshot
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "STUDY_SUFFIX",
    "InputSnapshot",
    "OutputFile",
    "OutputSet",
    "Place",
    "Sandbox",
    "SandboxWorkspace",
    "Workspace",
    "format_bytes",
    "shown",
]
