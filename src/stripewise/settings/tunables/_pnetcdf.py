# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists PnetCDF's own hints; hints of the MPI-IO layer below also act.

Defaults: reported by ncmpi_inq_file_info, PnetCDF 1.12.3.  Hints of newer versions, and of builds
with the burst-buffer driver or subfiling, are silently ignored by others, and a run does not show
the version; these hints are searched only on request.
"""

from __future__ import annotations

from functools import partial

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    INT_MAX,
    ActsAt,
    Integer,
    Layer,
    OneOf,
    SafetyClass,
    SearchRange,
    Text,
    Tunable,
)
from stripewise.settings.tunables._conditions import KIB, MIB

_INFO = "measured: ncmpi_inq_file_info, PnetCDF 1.12.3"
_SOURCES = "documented: PnetCDF sources, src/drivers/ncmpio/ncmpio_util.c"
_DRIVER = "documented: PnetCDF sources, src/drivers/ncbbio"
_BUILD = "builds with --enable-burst-buffering only (not Debian's)"
_SWITCH = ("enable", "disable")

_hint = partial(
    Tunable,
    layer=Layer.PNETCDF,
    acts_at=ActsAt.OPEN,
    stacks=("pnetcdf",),
    applies=(when.pnetcdf,),
    source=_INFO,
)
_contract = partial(_hint, safety=SafetyClass.CONTRACT)
_subfiles = partial(_contract, acts_at=ActsAt.CREATE)
_created = partial(_hint, safety=SafetyClass.LAYOUT, acts_at=ActsAt.CREATE)
_alignment = partial(_created, applies=(when.pnetcdf, when.written))
_burst_buffer = partial(_contract, source=f"{_DRIVER}; {_BUILD}")


def _alignments(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return alignments that waste at most a fraction of the data, up to one per variable.

    The number of variables is unknown; a call usually writes only one.
    """
    call_bytes, written = when.mean_write_bytes(facts), facts.amount("write_bytes").most
    sizes = (1 * MIB, 4 * MIB, 64 * KIB)
    return tuple(s for s in sizes if written >= 8 * s and call_bytes >= s)


def _per_node(facts: ProgramFacts) -> tuple[Value, ...]:
    return tuple(n for n in (1, 2, 4, 8) if n * facts.n_hosts < facts.n_ranks)


def _header_sizes(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return header sizes; from 1.13 the header has the alignment and bounds of the variables."""
    return tuple(size for size in _alignments(facts) if size == 1 * MIB)


TUNABLES = (
    _alignment(
        "nc_var_align_size",
        Integer("4; from 1.13 on 512", 0, 2**40),
        "Alignment of each variable without a record dimension, bytes",
        search=SearchRange(46, by=_alignments),
    ),
    _alignment(
        "nc_header_align_size",
        Integer("512", 0, 2**40),
        "Space for the file's header, bytes, so that later definitions do not move the data",
        search=SearchRange(62, by=_header_sizes),
        source=f"{_INFO}; from 1.13 on another name of nc_var_align_size",
    ),
    _alignment(
        "nc_record_align_size",
        Integer("4", 0, 2**40),
        "Alignment of the section of record variables, bytes",
        search=SearchRange(47, by=_alignments),
    ),
    _hint(
        "nc_header_read_chunk_size",
        Integer("256 KiB", 0, INT_MAX),
        "Bytes of the header that rank 0 reads at once when a file is opened",
        search=SearchRange(63, 4 * MIB),
        applies=(when.pnetcdf, when.read),
    ),
    _hint(
        "nc_in_place_swap",
        OneOf("auto: in place above 4 KiB", "auto", "enable", "disable"),
        "Swap bytes in the program's own buffer; with enable also in small buffers, which "
        "must be writable and must not be read meanwhile",
        search=SearchRange(64, "disable"),
        applies=(when.pnetcdf, when.written),
        source=f"{_INFO}; documented: PnetCDF release notes 1.12 (threshold)",
    ),
    _hint(
        "nc_ibuf_size",
        Integer("16 MiB", 0, 2**40),
        "Buffer that packs noncontiguous data of nonblocking calls, bytes",
        search=SearchRange(48, by=when.buffer_sizes(16 * MIB, (64 * MIB, 256 * MIB), ())),
    ),
    _hint(
        "nc_data_move_chunk_size",
        Integer("1 MiB (1.14 and later)", 0, INT_MAX),
        "Bytes moved at once where later definitions shift the data",
        source=_SOURCES,
    ),
    _hint(
        "nc_num_aggrs_per_node",
        Integer("0, off (1.14 and later)", 0, INT_MAX),
        "Ranks of a host that gather the requests of the others before MPI-IO",
        search=SearchRange(
            33, by=_per_node, by_name="no run shows whether this PnetCDF supports it"
        ),
        applies=(when.pnetcdf, when.several_ranks),
        source=f"{_SOURCES}; 1.12.3 ignores it (measured)",
    ),
    *(
        _hint(
            f"nc_hash_size_{what}",
            Integer("chosen by PnetCDF (1.14 and later)", 1, INT_MAX),
            f"Slots of the hash table of {words}, in memory",
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
        "nc_burst_buf",
        OneOf("disable", *_SWITCH),
        "Writes go to a log on node-local storage and to the file at flush and close; data "
        "that was not flushed is lost if a node fails",
    ),
    _burst_buffer(
        "nc_burst_buf_dirname",
        Text("./", r"[^\0]+", "/local/scratch"),
        "Directory of the logs; it must exist on every host",
    ),
    _burst_buffer(
        "nc_burst_buf_overwrite",
        OneOf("disable", *_SWITCH),
        "Existing logs are overwritten",
    ),
    _burst_buffer(
        "nc_burst_buf_del_on_close",
        OneOf("enable", *_SWITCH),
        "Logs are removed at close; with disable they stay beside the output",
    ),
    _burst_buffer(
        "nc_burst_buf_shared_logs",
        OneOf("disable", *_SWITCH),
        "One log a host instead of one a rank",
        safety=SafetyClass.SAFE,
    ),
    _burst_buffer(
        "nc_burst_buf_flush_buffer_size",
        Integer("0, unlimited"),
        "Memory that flushing a log may take, bytes",
        safety=SafetyClass.SAFE,
    ),
    _subfiles(
        "pnetcdf_subfiling",
        OneOf("disable", *_SWITCH),
        "A variable is split over several files, which other readers do not understand",
        source=f"{_SOURCES}; builds with --enable-subfiling only (Debian's is not: measured)",
    ),
    _subfiles(
        "nc_num_subfiles",
        Integer("0", 0, INT_MAX),
        "Number of files; with pnetcdf_subfiling only",
        source=f"{_SOURCES}; builds with --enable-subfiling only",
    ),
    _hint(
        "nc_driver",
        OneOf("gio (newest versions; older ones have MPI-IO alone)", "gio", "mpiio"),
        "I/O layer below PnetCDF: its own library, or MPI-IO",
        source="documented: PnetCDF sources of 2025",
    ),
    _created(
        "file_striping",
        OneOf("auto (newest versions)", "auto", "inherit"),
        "Stripes of a new file: chosen by PnetCDF, or those of the directory",
        applies=(when.pnetcdf, when.striped),
        source=_SOURCES,
    ),
    _created(
        "overstriping_ratio",
        Integer("1 (newest versions)", 1, 65535),
        "Stripes per target of a new file",
        applies=(when.pnetcdf, when.lustre),
        source="documented: PnetCDF sources of 2025",
    ),
)
