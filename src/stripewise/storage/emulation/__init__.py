# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulates a described storage in real time under the real program."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.emulation._emulation import EmulatedRun as EmulatedRun
    from stripewise.storage.emulation._emulation import Emulation as Emulation
    from stripewise.storage.emulation._layout import FoundLayout as FoundLayout
    from stripewise.storage.emulation._layout import Layout as Layout
    from stripewise.storage.emulation._layout import check_attributes as check_attributes
    from stripewise.storage.emulation._layout import find_layout as find_layout
    from stripewise.storage.emulation._layout import layout_text as layout_text
    from stripewise.storage.emulation._layout import own_layout as own_layout
    from stripewise.storage.emulation._layout import remove_layout as remove_layout
    from stripewise.storage.emulation._layout import set_layout as set_layout
    from stripewise.storage.emulation._lustre_parameters import write_tree as write_tree
    from stripewise.storage.emulation._mapping import make_clocks as make_clocks
    from stripewise.storage.emulation._servers import ServerCounters as ServerCounters
    from stripewise.storage.emulation._servers import Tally as Tally
    from stripewise.storage.emulation._servers import TargetTallies as TargetTallies
    from stripewise.storage.emulation._servers import read_servers as read_servers
    from stripewise.storage.emulation._servers import set_job_names as set_job_names
    from stripewise.storage.emulation._servers import set_target_factor as set_target_factor
    from stripewise.storage.emulation._storage import EmulatedStorage as EmulatedStorage
    from stripewise.storage.emulation._storage import EmulationOptions as EmulationOptions
else:
    __getattr__, __all__ = lazy_exports(__name__)
