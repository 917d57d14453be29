# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ADIOS2's engine parameters, of the file engines BP4 and BP5.

Defaults: documented in ADIOS2's user guide (engines BP4 and BP5) and read in its sources
(BP5Engine.h, BPBase.h).  A run does not show which engine is used, so only parameters of
BP5, the default since 2.9, and of both are searched; BP4 ignores names that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._conditions import KIB, MIB
from stripewise.tunables._knob import Knob

_GUIDE = "documented: ADIOS2 user guide"
_BP5 = f"{_GUIDE}, engine BP5"
_BP4 = f"{_GUIDE}, engine BP4"

_parameter: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.ADIOS2,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("bp5",),
    applies=when.all_of(when.adios2, when.written),
    source=_BP5,
)
_files: Callable[..., Knob] = partial(
    _parameter, safety=SafetyClass.LAYOUT, acts_at=ActsAt.CREATE, maximum=2**32 - 1
)


def _aggregators(facts: ProgramFacts) -> tuple[Value, ...]:
    """Fewer and more files than the one a host that is the default."""
    counts = {1, facts.n_hosts // 2, 2 * facts.n_hosts, 4 * facts.n_hosts, facts.n_ranks // 2}
    counts |= {facts.n_ranks}
    rungs = sorted(n for n in counts if 1 <= n <= facts.n_ranks and n != facts.n_hosts)
    return tuple(rungs)


def _stripes(facts: ProgramFacts) -> tuple[Value, ...]:
    """What a rank writes in a step begins at a multiple: at most half of the file is holes."""
    call_bytes = facts.write_bytes // max(1, facts.write_calls)
    return tuple(size for size in (1 * MIB, 4 * MIB) if call_bytes >= size)


def _chunks(facts: ProgramFacts) -> tuple[Value, ...]:
    rank_bytes = facts.write_bytes // facts.n_ranks
    larger = (512 * MIB,) if rank_bytes > 128 * MIB else ()
    return (*larger, *(size for size in (16 * MIB, 1 * MIB) if rank_bytes > size))


KNOBS: tuple[Knob, ...] = (
    _files(
        key="NumAggregators",
        kind="int",
        default="0: one a host",
        effect_order=16,
        rungs=_aggregators,
        stacks=("bp4", "bp5"),
        applies=when.all_of(when.adios2, when.several_ranks, when.written),
        summary="Ranks that write to storage, and files, unless NumSubFiles says otherwise",
    ),
    _files(
        key="AggregationType",
        kind="enum",
        choices=("TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial", "DataSizeBased"),
        default="TwoLevelShm",
        effect_order=17,
        rungs=when.values("EveryoneWrites", "EveryoneWritesSerial"),
        applies=when.all_of(when.adios2, when.several_ranks, when.written),
        summary="How ranks come to files: through shared memory of a host, or each by itself;"
        " DataSizeBased in the newest versions only",
    ),
    _files(
        key="NumSubFiles",
        kind="int",
        default="0: NumAggregators",
        summary="Files of data",
    ),
    _files(
        key="AggregatorRatio",
        kind="int",
        default="0, unused",
        stacks=("bp4", "bp5"),
        summary="Ranks per aggregator; searched as NumAggregators",
    ),
    _files(
        key="StripeSize",
        kind="int",
        default="4 KiB",
        effect_order=49,
        rungs=_stripes,
        summary="What a rank writes in a step begins at a multiple of so many bytes",
    ),
    _parameter(
        key="BufferVType",
        kind="enum",
        choices=("chunk", "malloc"),
        default="chunk",
        effect_order=26,
        rungs=when.values("malloc"),
        summary="Buffer of a step: a list of chunks, or one that is enlarged",
    ),
    _parameter(
        key="BufferChunkSize",
        kind="int",
        minimum=4 * KIB,
        maximum=2_147_381_248,
        default="128 MiB",
        effect_order=44,
        rungs=_chunks,
        summary="Bytes of a chunk of the buffer, and of one write",
    ),
    _parameter(
        key="MaxShmSize",
        kind="int",
        minimum=4 * KIB,
        default="4294762496",
        effect_order=65,
        rungs=when.values(64 * MIB),
        applies=when.all_of(when.adios2, when.several_ranks, when.written),
        summary="Most shared memory of an aggregator, bytes; with TwoLevelShm",
    ),
    _parameter(
        key="MinDeferredSize",
        kind="int",
        default="4 MiB",
        summary="Smaller arrays that are put deferred are copied at once",
    ),
    _parameter(
        key="InitialBufferSize",
        kind="int",
        minimum=16 * KIB,
        default="16 KiB",
        effect_order=66,
        rungs=when.values(16 * MIB),
        stacks=("bp4", "bp5"),
        summary="First size of the buffer; with malloc (BP5), always (BP4)",
    ),
    _parameter(
        key="GrowthFactor",
        kind="float",
        low=1.0,
        high=100.0,
        default="1.05",
        summary="How the buffer grows; with malloc",
    ),
    _parameter(
        key="AsyncOpen",
        kind="bool",
        default="true",
        effect_order=67,
        rungs=when.values(False),
        stacks=("bp4", "bp5"),
        summary="Files are opened by another thread while the first step is filled",
    ),
    _parameter(
        key="AsyncWrite",
        kind="enum",
        choices=("off", "naive", "guided"),
        default="off",
        safety=SafetyClass.LAYOUT,
        rungs=when.values("naive", "guided"),
        by_name="time of a background thread does not compare with time in calls",
        summary="A thread writes during the computation after a step; data is copied first,"
        " and guided waits for the program's computation blocks",
        source="documented: ADIOS2 sources, BP5Writer.cpp (no MPI in that thread)",
    ),
    _files(
        key="DirectIO",
        kind="bool",
        default="false",
        rungs=when.values(True),
        by_name="not every file system takes it",
        summary="O_DIRECT; data files are padded to the alignment",
        source=f"{_BP5} (experimental)",
    ),
    _files(
        key="DirectIOAlignOffset",
        kind="int",
        minimum=1,
        default="512",
        summary="Alignment of offsets, bytes; with DirectIO",
    ),
    _files(
        key="DirectIOAlignBuffer",
        kind="int",
        default="0: DirectIOAlignOffset",
        summary="Alignment of memory, bytes; with DirectIO",
    ),
    _parameter(
        key="StatsLevel",
        kind="int",
        maximum=1,
        default="1",
        safety=SafetyClass.CONTRACT,
        stacks=("bp4", "bp5"),
        summary="0: no minimum and maximum of blocks; readers that ask for them get none",
    ),
    _parameter(
        key="Threads",
        kind="int",
        maximum=256,
        default="0: up to 16, by the cores (BP5, reading); 1 (BP4)",
        stacks=("bp4", "bp5"),
        applies=when.adios2,
        summary="Threads that read (BP5) or copy into the buffer (BP4)",
    ),
    _parameter(
        key="UseSelectiveMetadataAggregation",
        kind="bool",
        default="true",
        summary="Equal metadata of ranks travels once (2.10 and later)",
    ),
    _parameter(
        key="OneLevelGatherRanksLimit",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        default="6000",
        summary="Up to so many ranks metadata is gathered in one step (2.10 and later)",
    ),
    _parameter(
        key="EnableWriterRerouting",
        kind="bool",
        default="false",
        safety=SafetyClass.LAYOUT,
        summary="Ranks that wait at a slow file go to another (newest versions, DataSizeBased)",
    ),
    _parameter(
        key="ReroutingThresholdFactor",
        kind="float",
        low=0.0,
        high=1.0,
        default="0.3",
        safety=SafetyClass.LAYOUT,
        summary="Share of ranks in a file's queue from which on they are rerouted",
    ),
    _parameter(
        key="engine",
        kind="enum",
        choices=("BP5", "BP4", "BP3"),
        default="BPFile: BP5 since 2.9, before BP4",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        effect_order=18,
        rungs=when.values("BP4"),
        stacks=("bp4", "bp5"),
        summary="Engine of files that are written; readers since 2.8 know them all",
        source=f"{_GUIDE}, IO::SetEngine",
    ),
    _files(
        key="SubStreams",
        kind="int",
        stacks=("bp4",),
        default="0: NumAggregators",
        summary="BP4's other name of NumAggregators",
        source=_BP4,
    ),
    _parameter(
        key="BufferGrowthFactor",
        kind="float",
        low=1.0,
        high=100.0,
        stacks=("bp4",),
        default="1.05",
        summary="How the buffer grows",
        source=_BP4,
    ),
    _parameter(
        key="MaxBufferSize",
        kind="int",
        minimum=16 * KIB,
        stacks=("bp4",),
        default="unlimited",
        safety=SafetyClass.LAYOUT,
        summary="The buffer is written out when it is full, not only at the end of a step",
        source=_BP4,
    ),
    _parameter(
        key="FlushStepsCount",
        kind="int",
        minimum=1,
        maximum=2**31 - 1,
        stacks=("bp4",),
        default="1",
        safety=SafetyClass.LAYOUT,
        summary="Steps that are collected before they are written",
        source=_BP4,
    ),
    _parameter(
        key="CollectiveMetadata",
        kind="bool",
        stacks=("bp4",),
        default="true",
        safety=SafetyClass.CONTRACT,
        summary="false: no global metadata; it must be made by bpmeta before anybody reads",
        source=_BP4,
    ),
    _parameter(
        key="StatsBlockSize",
        kind="int",
        minimum=1,
        stacks=("bp4",),
        default="unlimited",
        safety=SafetyClass.LAYOUT,
        summary="Elements per minimum and maximum",
        source=_BP4,
    ),
    _parameter(
        key="Profile",
        kind="bool",
        stacks=("bp4", "bp5"),
        default="true",
        safety=SafetyClass.LAYOUT,
        summary="Times are kept in profiling.json beside the data",
        source=_BP4,
    ),
    _parameter(
        key="BurstBufferPath",
        kind="text",
        pattern=r"[^\0]*",
        example="/local/scratch",
        stacks=("bp4", "bp5"),
        default="none",
        safety=SafetyClass.CONTRACT,
        summary="Data goes there first, and to the output while and after the program works;"
        " what is lost with a node before that is gone",
        source=_BP4,
    ),
    _parameter(
        key="BurstBufferDrain",
        kind="bool",
        stacks=("bp4", "bp5"),
        default="true",
        safety=SafetyClass.CONTRACT,
        summary="false: data stays in BurstBufferPath",
        source=_BP4,
    ),
    _parameter(
        key="NodeLocal",
        kind="bool",
        stacks=("bp4", "bp5"),
        default="false",
        safety=SafetyClass.CONTRACT,
        summary="Every host makes its own directory: the output is on node-local storage",
        source=_BP4,
    ),
)
