# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Workspaces of runs: a snapshot of the inputs, and a new copy of it for each run."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.workspace._snapshot import STUDY_SUFFIX as STUDY_SUFFIX
    from stripewise.study.workspace._snapshot import InputSnapshot as InputSnapshot
    from stripewise.study.workspace._workspace import OutputFile as OutputFile
    from stripewise.study.workspace._workspace import OutputSet as OutputSet
    from stripewise.study.workspace._workspace import RunLocation as RunLocation
    from stripewise.study.workspace._workspace import Workspace as Workspace
else:
    __getattr__, __all__ = lazy_exports(__name__)
