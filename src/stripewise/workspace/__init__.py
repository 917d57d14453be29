# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs take place: a snapshot of the user's directory, and a fresh copy for each run."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.workspace._disk_space import format_bytes as format_bytes
    from stripewise.workspace._place import Place as Place
    from stripewise.workspace._place import Workspace as Workspace
    from stripewise.workspace._sandbox import OutputFile as OutputFile
    from stripewise.workspace._sandbox import OutputSet as OutputSet
    from stripewise.workspace._sandbox import Sandbox as Sandbox
    from stripewise.workspace._sandbox_workspace import SandboxWorkspace as SandboxWorkspace
    from stripewise.workspace._snapshot import STUDY_SUFFIX as STUDY_SUFFIX
    from stripewise.workspace._snapshot import InputSnapshot as InputSnapshot
else:
    __getattr__, __all__ = lazy_exports(__name__)
