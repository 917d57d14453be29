# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs take place: a snapshot of the user's directory, and a fresh copy for each run."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.workspace._snapshot import STUDY_SUFFIX as STUDY_SUFFIX
    from stripewise.workspace._snapshot import InputSnapshot as InputSnapshot
    from stripewise.workspace._workspace import OutputFile as OutputFile
    from stripewise.workspace._workspace import OutputSet as OutputSet
    from stripewise.workspace._workspace import Place as Place
    from stripewise.workspace._workspace import Workspace as Workspace
else:
    __getattr__, __all__ = lazy_exports(__name__)
