# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the profile and the trace of a run as records, and computes on their rows."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.trace._accesses import accesses as accesses
    from stripewise.evidence.trace._calls import add_common_sizes as add_common_sizes
    from stripewise.evidence.trace._calls import call_order as call_order
    from stripewise.evidence.trace._calls import expand as expand
    from stripewise.evidence.trace._calls import heat_of as heat_of
    from stripewise.evidence.trace._calls import summed_heat as summed_heat
    from stripewise.evidence.trace._calls import unfolded as unfolded
    from stripewise.evidence.trace._rows import Interned as Interned
    from stripewise.evidence.trace._rows import T as T
    from stripewise.evidence.trace._rows import begins as begins
    from stripewise.evidence.trace._rows import bounded as bounded
    from stripewise.evidence.trace._rows import copy_common as copy_common
    from stripewise.evidence.trace._rows import groups as groups
    from stripewise.evidence.trace._rows import join_in_order as join_in_order
    from stripewise.evidence.trace._rows import join_rows as join_rows
    from stripewise.evidence.trace._rows import left_to_libraries as left_to_libraries
    from stripewise.evidence.trace._rows import requested_bytes as requested_bytes
    from stripewise.evidence.trace._rows import take_rows as take_rows
    from stripewise.evidence.trace._rows import unknown_counters as unknown_counters
    from stripewise.evidence.trace._run_profile import ALIGN_BINS as ALIGN_BINS
    from stripewise.evidence.trace._run_profile import ALL_RANKS as ALL_RANKS
    from stripewise.evidence.trace._run_profile import COUNTER_ROW as COUNTER_ROW
    from stripewise.evidence.trace._run_profile import HEAT_ROW as HEAT_ROW
    from stripewise.evidence.trace._run_profile import N_ACTIONS as N_ACTIONS
    from stripewise.evidence.trace._run_profile import N_CAUSES as N_CAUSES
    from stripewise.evidence.trace._run_profile import N_CHUNK_MODES as N_CHUNK_MODES
    from stripewise.evidence.trace._run_profile import N_COMMON as N_COMMON
    from stripewise.evidence.trace._run_profile import N_MODES as N_MODES
    from stripewise.evidence.trace._run_profile import NAMES_ROW as NAMES_ROW
    from stripewise.evidence.trace._run_profile import PROCESS_ROW as PROCESS_ROW
    from stripewise.evidence.trace._run_profile import SIZE_EDGES as SIZE_EDGES
    from stripewise.evidence.trace._run_profile import TRANSFER_ROW as TRANSFER_ROW
    from stripewise.evidence.trace._run_profile import Action as Action
    from stripewise.evidence.trace._run_profile import Cause as Cause
    from stripewise.evidence.trace._run_profile import Evidence as Evidence
    from stripewise.evidence.trace._run_profile import FileFlag as FileFlag
    from stripewise.evidence.trace._run_profile import FileHints as FileHints
    from stripewise.evidence.trace._run_profile import FileLayout as FileLayout
    from stripewise.evidence.trace._run_profile import IoMode as IoMode
    from stripewise.evidence.trace._run_profile import MpiFamily as MpiFamily
    from stripewise.evidence.trace._run_profile import PluginState as PluginState
    from stripewise.evidence.trace._run_profile import ProcessFlag as ProcessFlag
    from stripewise.evidence.trace._run_profile import RunProfile as RunProfile
    from stripewise.evidence.trace._run_profile import Settings as Settings
    from stripewise.evidence.trace._run_profile import SettingsKind as SettingsKind
    from stripewise.evidence.trace._run_profile import fell_back as fell_back
    from stripewise.evidence.trace._run_profile import relocated as relocated
    from stripewise.evidence.trace._run_profile import relocated_profile as relocated_profile
    from stripewise.evidence.trace._run_profile import uses_mpi as uses_mpi
    from stripewise.evidence.trace._trace import BIN_ROW as BIN_ROW
    from stripewise.evidence.trace._trace import COLLECTIVE_OPS as COLLECTIVE_OPS
    from stripewise.evidence.trace._trace import DATA_OPS as DATA_OPS
    from stripewise.evidence.trace._trace import DURATION_BINS as DURATION_BINS
    from stripewise.evidence.trace._trace import PIECE_ROW as PIECE_ROW
    from stripewise.evidence.trace._trace import READS as READS
    from stripewise.evidence.trace._trace import RECORDED_LAYERS as RECORDED_LAYERS
    from stripewise.evidence.trace._trace import SYSTEM_LAYERS as SYSTEM_LAYERS
    from stripewise.evidence.trace._trace import TRACE_ROW as TRACE_ROW
    from stripewise.evidence.trace._trace import UNLISTED_ROW as UNLISTED_ROW
    from stripewise.evidence.trace._trace import WRITES as WRITES
    from stripewise.evidence.trace._trace import EventFlag as EventFlag
    from stripewise.evidence.trace._trace import IoLayer as IoLayer
    from stripewise.evidence.trace._trace import Op as Op
    from stripewise.evidence.trace._trace import OpenBit as OpenBit
    from stripewise.evidence.trace._trace import Pieces as Pieces
    from stripewise.evidence.trace._trace import Selections as Selections
    from stripewise.evidence.trace._trace import ShapeKind as ShapeKind
    from stripewise.evidence.trace._trace import Trace as Trace
    from stripewise.evidence.trace._trace import TraceObject as TraceObject
    from stripewise.evidence.trace._trace import TraceShape as TraceShape
    from stripewise.evidence.trace._trace import TraceView as TraceView
    from stripewise.evidence.trace._trace import expanded_index as expanded_index
    from stripewise.evidence.trace._trace import levels_of as levels_of
    from stripewise.evidence.trace._trace import members as members
    from stripewise.evidence.trace._trace import moved as moved
else:
    __getattr__, __all__ = lazy_exports(__name__)
