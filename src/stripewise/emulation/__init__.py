# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Described storage in real time, under the real program."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.emulation._clocks import make_clocks as make_clocks
    from stripewise.emulation._clocks import read_clocks as read_clocks
    from stripewise.emulation._emulation import Emulation as Emulation
    from stripewise.emulation._layout import FoundLayout as FoundLayout
    from stripewise.emulation._layout import Layout as Layout
    from stripewise.emulation._layout import check_attributes as check_attributes
    from stripewise.emulation._layout import find_layout as find_layout
    from stripewise.emulation._layout import layout_text as layout_text
    from stripewise.emulation._layout import own_layout as own_layout
    from stripewise.emulation._layout import remove_layout as remove_layout
    from stripewise.emulation._layout import set_layout as set_layout
    from stripewise.emulation._lustre_parameters import write_tree as write_tree
    from stripewise.emulation._outcome import EmulatedRun as EmulatedRun
    from stripewise.emulation._servers import JobCounters as JobCounters
    from stripewise.emulation._servers import ServerCounters as ServerCounters
    from stripewise.emulation._servers import read_servers as read_servers
    from stripewise.emulation._servers import set_job_names as set_job_names
    from stripewise.emulation._servers import set_target_factor as set_target_factor
    from stripewise.emulation._storage import EmulatedStorage as EmulatedStorage
    from stripewise.emulation._storage import EmulationOptions as EmulationOptions
    from stripewise.emulation._tallies import MetadataTallies as MetadataTallies
    from stripewise.emulation._tallies import Tally as Tally
    from stripewise.emulation._tallies import TargetTallies as TargetTallies
    from stripewise.emulation._tallies import Transfers as Transfers
    from stripewise.emulation.lctl import write_lctl as write_lctl
else:
    __getattr__, __all__ = lazy_exports(__name__)
