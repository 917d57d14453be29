# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the parameters of ADIOS2's file engines BP4 and BP5.

Defaults: documented in ADIOS2's user guide (engines BP4 and BP5) and read in its sources
(BP5Engine.h, BPBase.h).  A run does not show which engine is used, so only parameters of BP5 (the
default since 2.9) and of both engines are searched; BP4 ignores unknown names.
"""

from __future__ import annotations

from functools import partial

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    INT_MAX,
    ActsAt,
    Flag,
    Integer,
    Layer,
    Number,
    OneOf,
    SafetyClass,
    SearchRange,
    Text,
    Tunable,
)
from stripewise.settings.tunables._conditions import KIB, MIB

_GUIDE = "documented: ADIOS2 user guide"
_BP5 = f"{_GUIDE}, engine BP5"
_BP4 = f"{_GUIDE}, engine BP4"

_parameter = partial(
    Tunable,
    layer=Layer.ADIOS2,
    acts_at=ActsAt.OPEN,
    stacks=("bp5",),
    applies=(when.adios2, when.written),
    source=_BP5,
)
_layout = partial(_parameter, safety=SafetyClass.LAYOUT)
_contract = partial(_parameter, safety=SafetyClass.CONTRACT)
_files = partial(_layout, acts_at=ActsAt.CREATE)
_any_engine = partial(_parameter, stacks=("bp4", "bp5"))
_bp4 = partial(_layout, stacks=("bp4",), source=_BP4)
_both = partial(_contract, stacks=("bp4", "bp5"), source=_BP4)


def _aggregators(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return numbers of files below and above the default of one per host."""
    hosts, ranks = facts.n_hosts, facts.n_ranks
    counts = {1, hosts // 2, 2 * hosts, 4 * hosts, ranks // 2, ranks}
    return tuple(sorted(n for n in counts if 1 <= n <= ranks and n != hosts))


def _stripes(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return stripe sizes to which a rank's step is aligned, with at most half of it in holes."""
    call_bytes = when.mean_write_bytes(facts)
    return tuple(size for size in (1 * MIB, 4 * MIB) if call_bytes >= size)


def _chunks(facts: ProgramFacts) -> tuple[Value, ...]:
    rank_bytes = facts.amount("write_bytes").most / facts.n_ranks
    larger = (512 * MIB,) if rank_bytes > 128 * MIB else ()
    return (*larger, *(size for size in (16 * MIB, 1 * MIB) if rank_bytes > size))


TUNABLES = (
    _files(
        "NumAggregators",
        Integer("0: one a host", 0, 2**32 - 1),
        "Number of ranks that write to storage, and of files unless NumSubFiles differs",
        search=SearchRange(16, by=_aggregators),
        stacks=("bp4", "bp5"),
        applies=(when.adios2, when.several_ranks, when.written),
    ),
    _files(
        "AggregationType",
        OneOf(
            "TwoLevelShm", "TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial", "DataSizeBased"
        ),
        "How ranks write to files: through shared memory of a host, or each by itself;"
        " DataSizeBased in the newest versions only",
        search=SearchRange(17, "EveryoneWrites", "EveryoneWritesSerial"),
        applies=(when.adios2, when.several_ranks, when.written),
    ),
    _files("NumSubFiles", Integer("0: NumAggregators", 0, 2**32 - 1), "Files of data"),
    _files(
        "AggregatorRatio",
        Integer("0, unused", 0, 2**32 - 1),
        "Ranks per aggregator; searched as NumAggregators",
        stacks=("bp4", "bp5"),
    ),
    _files(
        "StripeSize",
        Integer("4 KiB", 0, 2**32 - 1),
        "Alignment of what a rank writes in a step, bytes",
        search=SearchRange(49, by=_stripes),
    ),
    _parameter(
        "BufferVType",
        OneOf("chunk", "chunk", "malloc"),
        "Buffer of a step: a list of chunks, or one buffer that grows",
        search=SearchRange(26, "malloc"),
    ),
    _parameter(
        "BufferChunkSize",
        Integer("128 MiB", 4 * KIB, 2_147_381_248),
        "Bytes of a chunk of the buffer; ADIOS2 2.12 writes all chunks of a step in one call",
        search=SearchRange(44, by=_chunks),
    ),
    _parameter(
        "MaxShmSize",
        Integer("4294762496", 4 * KIB),
        "Maximum shared memory of an aggregator, bytes; with TwoLevelShm",
        search=SearchRange(65, 64 * MIB),
        applies=(when.adios2, when.several_ranks, when.written),
    ),
    _parameter(
        "MinDeferredSize",
        Integer("4 MiB"),
        "Deferred arrays smaller than this are copied at once",
    ),
    _any_engine(
        "InitialBufferSize",
        Integer("16 KiB", 16 * KIB),
        "Initial size of the buffer; with malloc (BP5), always (BP4)",
        search=SearchRange(66, 16 * MIB),
    ),
    _parameter("GrowthFactor", Number("1.05", 1.0, 100.0), "How the buffer grows; with malloc"),
    _any_engine(
        "AsyncOpen",
        Flag("true"),
        "Files are opened by another thread while the first step is filled",
        search=SearchRange(67, False),
    ),
    _layout(
        "AsyncWrite",
        OneOf("off", "off", "naive", "guided"),
        "A thread writes during the computation after a step; data is copied first,"
        " and guided waits for the program's computation blocks",
        search=SearchRange(
            100,
            "naive",
            "guided",
            by_name="time of a background thread does not compare with time in calls",
        ),
        source="documented: ADIOS2 sources, BP5Writer.cpp (no MPI in that thread)",
    ),
    _files(
        "DirectIO",
        Flag("false"),
        "O_DIRECT; data files are padded to the alignment",
        search=SearchRange(100, True, by_name="not every file system takes it"),
        source=f"{_BP5} (experimental)",
    ),
    _files(
        "DirectIOAlignOffset",
        Integer("512", 1, 2**32 - 1),
        "Alignment of offsets, bytes; with DirectIO",
    ),
    _files(
        "DirectIOAlignBuffer",
        Integer("0: DirectIOAlignOffset", 0, 2**32 - 1),
        "Alignment of memory, bytes; with DirectIO",
    ),
    _contract(
        "StatsLevel",
        Integer("1", 0, 1),
        "0: no minimum and maximum of blocks; readers that ask for them get none",
        stacks=("bp4", "bp5"),
    ),
    _any_engine(
        "Threads",
        Integer("0: up to 16, by the cores (BP5, reading); 1 (BP4)", 0, 256),
        "Threads that read (BP5) or copy into the buffer (BP4)",
        applies=(when.adios2,),
    ),
    _parameter(
        "UseSelectiveMetadataAggregation",
        Flag("true"),
        "Identical metadata of ranks is sent only once (2.10 and later)",
    ),
    _parameter(
        "OneLevelGatherRanksLimit",
        Integer("6000", 1, INT_MAX),
        "Number of ranks up to which metadata is gathered in one step (2.10 and later)",
    ),
    _layout(
        "EnableWriterRerouting",
        Flag("false"),
        "Ranks that wait for a slow file are moved to another (newest versions, DataSizeBased)",
    ),
    _layout(
        "ReroutingThresholdFactor",
        Number("0.3", 0.0, 1.0),
        "Share of ranks in a file's queue from which on they are rerouted",
    ),
    _files(
        "engine",
        OneOf("BPFile: BP5 since 2.9, before BP4", "BP5", "BP4", "BP3"),
        "Engine of files that are written; readers since 2.8 know them all",
        search=SearchRange(18, "BP4"),
        stacks=("bp4", "bp5"),
        source=f"{_GUIDE}, IO::SetEngine",
    ),
    _bp4(
        "SubStreams",
        Integer("0: NumAggregators", 0, 2**32 - 1),
        "BP4's other name of NumAggregators",
        acts_at=ActsAt.CREATE,
    ),
    _bp4(
        "BufferGrowthFactor",
        Number("1.05", 1.0, 100.0),
        "How the buffer grows",
        safety=SafetyClass.SAFE,
    ),
    _bp4(
        "MaxBufferSize",
        Integer("unlimited", 16 * KIB),
        "The buffer is written out when it is full, not only at the end of a step",
    ),
    _bp4(
        "FlushStepsCount",
        Integer("1", 1, INT_MAX),
        "Steps that are collected before they are written",
    ),
    _bp4(
        "CollectiveMetadata",
        Flag("true"),
        "false: no global metadata; it must be made by bpmeta before anybody reads",
        safety=SafetyClass.CONTRACT,
    ),
    _bp4("StatsBlockSize", Integer("unlimited", 1), "Elements per minimum and maximum"),
    _both(
        "Profile",
        Flag("true"),
        "Times are kept in profiling.json beside the data",
        safety=SafetyClass.LAYOUT,
    ),
    _both(
        "BurstBufferPath",
        Text("none", r"[^\0]*", "/local/scratch"),
        "Data goes there first, and to the output while and after the program works;"
        " data that is not there yet is lost if a node fails",
    ),
    _both("BurstBufferDrain", Flag("true"), "false: data stays in BurstBufferPath"),
    _both(
        "NodeLocal",
        Flag("false"),
        "Every host makes its own directory: the output is on node-local storage",
    ),
)
