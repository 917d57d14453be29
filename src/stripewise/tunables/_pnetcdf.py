# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF's own hints; those of the MPI-IO below it act too.

Defaults: reported by ncmpi_inq_file_info, PnetCDF 1.12.3.  Hints of newer versions, and of
builds with the burst-buffer driver or subfiling, are ignored by others without a word, and
nothing that a run shows tells the version: these are not searched unasked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import _conditions as when
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._conditions import KIB, MIB
from stripewise.tunables._knob import Knob

_INFO = "measured: ncmpi_inq_file_info, PnetCDF 1.12.3"
_SOURCES = "documented: PnetCDF sources, src/drivers/ncmpio/ncmpio_util.c"
_DRIVER = "documented: PnetCDF sources, src/drivers/ncbbio"
_BUILD = "builds with --enable-burst-buffering only (not Debian's)"
_SWITCH = ("enable", "disable")

_hint: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.PNETCDF,
    safety=SafetyClass.SAFE,
    acts_at=ActsAt.OPEN,
    stacks=("pnetcdf",),
    applies=when.pnetcdf,
    source=_INFO,
)
_alignment: Callable[..., Knob] = partial(
    _hint,
    kind="int",
    maximum=2**40,
    safety=SafetyClass.LAYOUT,
    acts_at=ActsAt.CREATE,
    applies=when.all_of(when.pnetcdf, when.written),
)
_burst_buffer: Callable[..., Knob] = partial(_hint, source=f"{_DRIVER}; {_BUILD}")


def _alignments(facts: ProgramFacts) -> tuple[Value, ...]:
    """Each variable can waste up to its alignment: not more than a fraction of the data.

    How many variables there are is not seen; what a call writes is of one as a rule.
    """
    call_bytes = facts.write_bytes // max(1, facts.write_calls)
    sizes = (1 * MIB, 4 * MIB, 64 * KIB)
    return tuple(s for s in sizes if facts.write_bytes >= 8 * s and call_bytes >= s)


def _per_node(facts: ProgramFacts) -> tuple[Value, ...]:
    return tuple(n for n in (1, 2, 4, 8) if n * facts.n_hosts < facts.n_ranks)


def _header_sizes(facts: ProgramFacts) -> tuple[Value, ...]:
    """From 1.13 on the header's alignment is that of the variables, whose bounds hold."""
    return tuple(size for size in _alignments(facts) if size == 1 * MIB)


KNOBS: tuple[Knob, ...] = (
    _alignment(
        key="nc_var_align_size",
        default="4; from 1.13 on 512",
        effect_order=46,
        rungs=_alignments,
        summary="Each variable without record dimension begins at a multiple of so many bytes",
    ),
    _alignment(
        key="nc_header_align_size",
        default="512",
        effect_order=62,
        rungs=_header_sizes,
        summary="Room of the file's header, bytes: later definitions do not move the data",
        source=f"{_INFO}; from 1.13 on another name of nc_var_align_size",
    ),
    _alignment(
        key="nc_record_align_size",
        default="4",
        effect_order=47,
        rungs=_alignments,
        summary="The section of record variables begins at a multiple of so many bytes",
    ),
    _hint(
        key="nc_header_read_chunk_size",
        kind="int",
        maximum=2**31 - 1,
        default="256 KiB",
        effect_order=63,
        rungs=when.values(4 * MIB),
        applies=when.all_of(when.pnetcdf, when.read),
        summary="Bytes of the header that rank 0 reads at once when a file is opened",
    ),
    _hint(
        key="nc_in_place_swap",
        kind="enum",
        choices=("auto", "enable", "disable"),
        default="auto: in place above 4 KiB",
        effect_order=64,
        rungs=when.values("disable"),
        applies=when.all_of(when.pnetcdf, when.written),
        summary="Bytes are swapped in the program's own buffer; enable: also small ones, which"
        " a program must not read meanwhile, and which must not be read-only",
        source=f"{_INFO}; documented: PnetCDF release notes 1.12 (threshold)",
    ),
    _hint(
        key="nc_ibuf_size",
        kind="int",
        maximum=2**40,
        default="16 MiB",
        effect_order=48,
        rungs=when.buffer_sizes(16 * MIB, (64 * MIB, 256 * MIB), ()),
        summary="Buffer that packs what nonblocking calls hold in pieces, bytes",
    ),
    _hint(
        key="nc_data_move_chunk_size",
        kind="int",
        maximum=2**31 - 1,
        default="1 MiB (1.14 and later)",
        summary="Bytes moved at once where later definitions shift the data",
        source=_SOURCES,
    ),
    _hint(
        key="nc_num_aggrs_per_node",
        kind="int",
        maximum=2**31 - 1,
        default="0, off (1.14 and later)",
        effect_order=33,
        rungs=_per_node,
        applies=when.all_of(when.pnetcdf, when.several_ranks),
        by_name="no run shows whether this PnetCDF knows it",
        summary="Ranks of a host that gather the requests of the others before MPI-IO",
        source=f"{_SOURCES}; 1.12.3 ignores it (measured)",
    ),
    *(
        _hint(
            key=f"nc_hash_size_{what}",
            kind="int",
            minimum=1,
            maximum=2**31 - 1,
            default="chosen by PnetCDF (1.14 and later)",
            summary=f"Slots of the hash table of {words}, in memory",
            source=_SOURCES,
        )
        for what, words in (
            ("dim", "dimensions"),
            ("var", "variables"),
            ("gattr", "global attributes"),
            ("vattr", "a variable's attributes"),
        )
    ),
    _burst_buffer(
        key="nc_burst_buf",
        kind="enum",
        choices=_SWITCH,
        default="disable",
        summary="Writes go to a log on node-local storage and to the file at flush and close;"
        " what is lost with a node before that is gone",
        safety=SafetyClass.CONTRACT,
    ),
    _burst_buffer(
        key="nc_burst_buf_dirname",
        kind="text",
        pattern=r"[^\0]+",
        example="/local/scratch",
        default="./",
        summary="Directory of the logs; it must exist on every host",
        safety=SafetyClass.CONTRACT,
    ),
    _burst_buffer(
        key="nc_burst_buf_overwrite",
        kind="enum",
        choices=_SWITCH,
        default="disable",
        summary="Logs that are there already are written over",
        safety=SafetyClass.CONTRACT,
    ),
    _burst_buffer(
        key="nc_burst_buf_del_on_close",
        kind="enum",
        choices=_SWITCH,
        default="enable",
        summary="Logs are removed at close; with disable they stay beside the output",
        safety=SafetyClass.CONTRACT,
    ),
    _burst_buffer(
        key="nc_burst_buf_shared_logs",
        kind="enum",
        choices=_SWITCH,
        default="disable",
        summary="One log a host instead of one a rank",
    ),
    _burst_buffer(
        key="nc_burst_buf_flush_buffer_size",
        kind="int",
        default="0, unlimited",
        summary="Memory that flushing a log may take, bytes",
    ),
    _hint(
        key="pnetcdf_subfiling",
        kind="enum",
        choices=_SWITCH,
        default="disable",
        safety=SafetyClass.CONTRACT,
        acts_at=ActsAt.CREATE,
        summary="A variable is split over several files, which other readers do not understand",
        source=f"{_SOURCES}; builds with --enable-subfiling only (Debian's is not: measured)",
    ),
    _hint(
        key="nc_num_subfiles",
        kind="int",
        maximum=2**31 - 1,
        default="0",
        safety=SafetyClass.CONTRACT,
        acts_at=ActsAt.CREATE,
        summary="Number of files; with pnetcdf_subfiling only",
        source=f"{_SOURCES}; builds with --enable-subfiling only",
    ),
    _hint(
        key="nc_driver",
        kind="enum",
        choices=("gio", "mpiio"),
        default="gio (newest versions; older ones have MPI-IO alone)",
        summary="What is below PnetCDF: its own library, or MPI-IO",
        source="documented: PnetCDF sources of 2025",
    ),
    _hint(
        key="file_striping",
        kind="enum",
        choices=("auto", "inherit"),
        default="auto (newest versions)",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        applies=when.all_of(when.pnetcdf, when.striped),
        summary="Stripes of a new file: chosen by PnetCDF, or those of the directory",
        source=_SOURCES,
    ),
    _hint(
        key="overstriping_ratio",
        kind="int",
        minimum=1,
        maximum=65535,
        default="1 (newest versions)",
        safety=SafetyClass.LAYOUT,
        acts_at=ActsAt.CREATE,
        applies=when.all_of(when.pnetcdf, when.lustre),
        summary="Stripes per target of a new file",
        source="documented: PnetCDF sources of 2025",
    ),
)
