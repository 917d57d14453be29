# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pattern x configuration: where simulated requests are compared with real ones.

The patterns are the kernel's arrays: 2-D and 3-D blocks, contiguous slabs, interleaved records,
uneven sizes.  Files are small; buffers and stripes are small with them, so that there are rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.real_requests import Cell

KIB = 1024
SPREAD = {"mpiio.cb_config_list": "*:*"}
"""Several aggregators on one host."""
CUT_2D: dict[str, Any] = {"size": (1, 512, 512), "grid": (1, 2, 2)}
CUT_3D: dict[str, Any] = {"size": (48, 48, 48), "grid": (2, 2, 1)}
CUT_8: dict[str, Any] = {"size": (64, 64, 64), "grid": (2, 2, 2)}
SLABS: dict[str, Any] = {"size": (1, 512, 512), "grid": (1, 4, 1)}
PLANES: dict[str, Any] = {"size": (4, 128, 512), "grid": (4, 1, 1)}
RECORDS: dict[str, Any] = {
    "size": (1, 64, 1024),
    "grid": (1, 1, 4),
    "cut": ("*", "*", "CYCLIC(8)"),
}
UNEVEN: dict[str, Any] = {"size": (3, 311, 173), "grid": (1, 2, 2), "cut": ("*", "BLOCK", "BLOCK")}
ROWS: dict[str, Any] = {"size": (1, 96, 4096), "grid": (1, 4, 1), "cut": ("*", "CYCLIC(5)", "*")}
EMPTY: dict[str, Any] = {"size": (16, 1, 64), "grid": (3, 2, 1), "cut": ("BLOCK", "BLOCK", "*")}
"""Every second rank has nothing."""


def _hints(**values: str | int) -> dict[str, str | int]:
    return {**SPREAD, **{f"mpiio.{name}": value for name, value in values.items()}}


def _mca(**values: str | int) -> dict[str, str | int]:
    return {f"mca.{name}": value for name, value in values.items()}


def _romio(mpi: str, block: dict[str, Any]) -> list[Cell]:
    """Of both ROMIOs; `block`: what is cut into blocks."""

    def cell(work: dict[str, Any], **options: Any) -> Cell:
        return Cell(mpi, **{**work, **options})

    return [
        cell(block),
        cell(block, settings=_hints()),
        cell(block, settings=_hints(cb_nodes=3)),
        cell(block, settings=_hints(cb_nodes=3, cb_buffer_size=128 * KIB)),
        cell(block, settings=_hints(cb_nodes=2, striping_unit=384 * KIB)),
        cell(block, settings=_hints(romio_cb_write="disable")),
        cell(block, settings=_hints(romio_cb_write="disable", romio_ds_write="disable")),
        cell(block, settings=_hints(romio_no_indep_rw="true", cb_nodes=2)),
        cell(block, settings=_hints(romio_no_indep_rw="true", romio_cb_write="disable")),
        cell(block, collective=False),
        cell(block, collective=False, settings=_hints(ind_wr_buffer_size=96 * KIB)),
        cell(block, collective=False, settings=_hints(romio_ds_write="disable")),
        cell(SLABS),
        cell(SLABS, settings=_hints(romio_cb_write="enable", cb_nodes=3)),
        cell(SLABS, collective=False),
        cell(RECORDS, settings=_hints(cb_nodes=2)),
        cell(RECORDS, collective=False),
        cell(UNEVEN, settings=_hints(cb_nodes=3, striping_unit=64 * KIB)),
        cell(UNEVEN, settings=_hints(cb_nodes=4, cb_buffer_size=100_000), steps=2),
        cell(ROWS, settings=_hints(cb_nodes=3)),
        cell(block, reading=True, settings=_hints(cb_nodes=3, cb_buffer_size=128 * KIB)),
        cell(block, reading=True, settings=_hints(romio_cb_read="disable")),
        cell(block, reading=True, collective=False),
        cell(block, reading=True, collective=False, settings=_hints(romio_ds_read="disable")),
        cell(block, reading=True, collective=False, settings=_hints(ind_rd_buffer_size=96 * KIB)),
        cell(SLABS, reading=True),
        cell(SLABS, halo=1),
        cell(SLABS, halo=1, settings=_hints(romio_cb_write="enable", cb_nodes=3)),
        cell(SLABS, halo=1, collective=False, settings=_hints(romio_ds_write="disable")),
        cell(PLANES, halo=1, collective=False, settings=_hints(ind_wr_buffer_size=100_000)),
        cell(
            PLANES,
            halo=1,
            collective=False,
            reading=True,
            settings=_hints(ind_rd_buffer_size=100_000),
        ),
        cell(block, halo=2, collective=False),
    ]


def _lustre() -> list[Cell]:
    def cell(work: dict[str, Any], count: int, unit: int = 128 * KIB, **options: Any) -> Cell:
        return Cell("lustre", **work, stripes=(count, unit), **options)

    return [
        cell(CUT_2D, 1),
        cell(CUT_2D, 4),
        cell(CUT_2D, 1, settings=SPREAD),
        cell(CUT_2D, 4, settings=SPREAD),
        cell(CUT_2D, 2, settings=_hints(striping_factor=4, striping_unit=256 * KIB)),
        cell(CUT_2D, 2, settings=_hints(romio_lustre_co_ratio=2)),
        cell(CUT_2D, 3, settings=_hints(romio_lustre_co_ratio=2)),
        cell(CUT_8, 8, 64 * KIB, settings=_hints(cb_nodes=5)),
        cell(CUT_8, 6, 64 * KIB, settings=_hints(cb_nodes=4, cb_buffer_size=64 * KIB)),
        cell(CUT_8, 7, 64 * KIB, settings=_hints(cb_nodes=4)),
        cell(SLABS, 4, settings=SPREAD),
        cell(SLABS, 4, settings=_hints(romio_lustre_coll_threshold=100_000)),
        cell(SLABS, 4, settings=_hints(romio_cb_write="enable")),
        cell(RECORDS, 4, 64 * KIB, settings=SPREAD),
        cell(UNEVEN, 3, 64 * KIB, settings=SPREAD, steps=2),
        cell(CUT_2D, 4, settings=_hints(romio_cb_write="disable")),
        cell(CUT_2D, 4, collective=False),
        cell(CUT_2D, 4, 64 * KIB, collective=False, settings=_hints(ind_wr_buffer_size=96 * KIB)),
        cell(CUT_2D, 4, collective=False, settings=_hints(romio_ds_write="disable")),
        cell(SLABS, 4, collective=False),
        cell(CUT_2D, 4, settings=SPREAD, reading=True),
        cell(CUT_2D, 4, collective=False, reading=True),
        cell(CUT_2D, 4, settings=_hints(striping_unit=64 * KIB)),
        cell(CUT_2D, 4, node_ranks=2),
        cell(CUT_2D, 4, node_ranks=1, settings={"mpiio.cb_nodes": 3}),
        cell(CUT_8, 6, 64 * KIB, node_ranks=4, settings={"mpiio.cb_config_list": "*:2"}),
        cell(CUT_8, 8, 64 * KIB, node_ranks=2, settings=_hints(cb_nodes=6)),
        cell(SLABS, 4, halo=1, collective=False),
        cell(PLANES, 4, halo=1, collective=False, settings=_hints(romio_ds_write="disable")),
        cell(CUT_2D, 4, reading=True, settings=_hints(striping_unit=256 * KIB)),
        cell({"size": (3, 31, 512), "grid": (1, 1, 1)}, 4, collective=False),
        cell(EMPTY, 1, steps=2, settings=_hints(romio_lustre_coll_threshold=100)),
        cell(EMPTY, 1, steps=2, settings=_hints(romio_lustre_coll_threshold=1400)),
    ]


def _ompio() -> list[Cell]:
    def cell(work: dict[str, Any], **options: Any) -> Cell:
        return Cell("ompio", **work, **options)

    many = {"io_ompio_num_aggregators": 3, "io_ompio_bytes_per_agg": 128 * KIB}
    return [
        cell(CUT_2D),
        cell(CUT_8),
        cell(CUT_2D, settings=_mca(io_ompio_num_aggregators=2)),
        cell(CUT_2D, settings={"mpiio.cb_nodes": 2}),
        *(
            cell(CUT_2D, settings=_mca(fcoll=name, **many))
            for name in ("vulcan", "dynamic_gen2", "dynamic", "two_phase", "individual")
        ),
        cell(CUT_8, settings=_mca(fcoll="vulcan", io_ompio_num_aggregators=4)),
        cell(CUT_2D, collective=False),
        cell(SLABS),
        cell(SLABS, collective=False),
        cell(RECORDS),
        cell(RECORDS, collective=False),
        cell(UNEVEN, settings=_mca(fcoll="vulcan", **many), steps=2),
        cell(UNEVEN, settings=_mca(fcoll="two_phase", **many), steps=2),
        cell(CUT_2D, reading=True, settings=_mca(fcoll="two_phase", **many)),
        cell(ROWS, settings=_mca(fcoll="dynamic_gen2", **many)),
        cell(CUT_2D, reading=True),
        cell(CUT_2D, reading=True, settings=_mca(fcoll="vulcan", **many)),
        cell(CUT_2D, reading=True, collective=False),
    ]


def _placed(*place: Any, settings: Mapping[str, str | int] | None = None, **more: Any) -> Cell:
    """A cell of OMPIO; settings without a layer are MCA parameters of io_ompio."""
    named = {
        name if "." in name else f"mca.io_ompio_{name}": value
        for name, value in (settings or {}).items()
    }
    return Cell("ompio", *place, settings=named, **more)


_CUBE = (8, 8, 8)
_TURNS = ("*", "*", "CYCLIC(1)")
OMPIO_CELLS = [
    _placed((7, 9, 11), (3, 2, 1), settings={"mpiio.cb_nodes": 3, "mpiio.cb_buffer_size": 1000}),
    _placed((7, 9, 11), (3, 2, 1), settings={"num_aggregators": 4, "bytes_per_agg": 900}, steps=3),
    _placed((3, 9, 11), (4, 1, 1), settings={"num_aggregators": 3}, steps=2),
    _placed((24, 64, 512), (24, 1, 1)),
    _placed(
        (24, 64, 512), (24, 1, 1),
        settings={"max_aggregators_ratio": 2, "aggregators_cutoff_threshold": 0},
    ),
    _placed(_CUBE, (4, 1, 1), settings={"grouping_option": 6}),
    _placed(_CUBE, (2, 1, 1)),
    _placed(_CUBE, (2, 2, 1), collective=False),
    _placed(_CUBE, (2, 2, 1), collective=False, settings={"cycle_buffer_size": 300}),
    _placed(_CUBE, (1, 1, 4), _TURNS, collective=False, reading=True),
    _placed(
        _CUBE, (1, 1, 4), _TURNS, collective=False, reading=True,
        settings={"mca.fbtl_posix_read_datasieving": 0},
    ),
    _placed((8, 8, 64), (2, 2, 2), reading=True,
            settings={"num_aggregators": 3, "bytes_per_agg": 1500}),
    _placed(_CUBE, (2, 2, 1), settings={"mpiio.collective_buffering": "true"}),
    _placed(_CUBE, (1, 2, 2), settings={"mca.fcoll": "dynamic", "num_aggregators": 2}),
    _placed(
        (32, 64, 64), (1, 2, 2),
        settings={"mca.fcoll": "dynamic_gen2", "num_aggregators": 2, "bytes_per_agg": 1 << 18},
    ),
]  # fmt: skip


def _with_holes(mpi: str) -> list[Cell]:
    """What nobody writes between the pieces: rounds with holes are read first, or not."""

    def cell(stride: int, length: int, **options: Any) -> Cell:
        more: dict[str, Any] = {
            "stripes": (4, 64 * KIB),
            "settings": _hints(cb_nodes=3),
            **options,
        }
        return Cell(
            mpi, (1, 1, 80_000), (1, 1, 4), holes=(stride, length), type="double", **more
        )  # fmt: skip

    forced = {"romio_cb_write": "enable", "cb_nodes": 3}
    return [
        cell(10, 6),
        cell(10, 6, settings=_hints(cb_buffer_size=100_000, **forced)),
        cell(1000, 600, settings=_hints(romio_ds_write="disable", **forced)),
        cell(1000, 600, settings=_hints(romio_lustre_ds_in_coll="disable", **forced)),
        cell(1000, 600, collective=False),
        cell(1000, 600, collective=False, settings=_hints(romio_ds_write="disable")),
    ]


def _kernels(mpi: str, **settings: str | int) -> list[Cell]:
    """The kernels of published programs; they have several variables in a file."""

    def cell(words: str, ranks: int, **more: Any) -> Cell:
        options: dict[str, Any] = {"settings": settings, "stripes": (4, 64 * KIB), **more}
        return Cell(mpi, (0, 0, 0), (1, 1, ranks), kernel=words, **options)

    return [
        cell("vpic --local 20000", 4),
        cell("vpic --local 20000", 4, collective=False),
        cell("vpic --size 50001", 3),
        cell("vorpal --local 12,20,30", 4, steps=2),
        cell("vorpal --local 12,20,30", 4, collective=False),
        cell("gcrm --local 1,13,2048", 4),
        cell("gcrm --local 1,13,2048", 4, reading=True),
        cell("btio --local 12,12,12", 4),
        cell("flash --local 5,8,8,8", 4),
        cell("btio --local 6,6,6", 4, collective=False, halo=2),
        cell("flash --local 5,8,8,8", 4, halo=4),
        cell("vpic --local 5000", 4, collective=False, halo=1, steps=2),
    ]


CELLS = [
    *_romio("mpich", CUT_2D),
    *_romio("romio321", CUT_3D),
    Cell("romio321", **CUT_8, settings=_hints(cb_nodes=3)),
    *_lustre(),
    *_ompio(),
    *OMPIO_CELLS,
    Cell("romio321", **CUT_2D, node_ranks=2),
    Cell("romio321", **CUT_8, node_ranks=4, settings={"mpiio.cb_config_list": "*:3"}),
    Cell("romio321", **CUT_8, node_ranks=2, settings=_hints(cb_nodes=6)),
    *_with_holes("mpich"),
    *_with_holes("lustre"),
    *_with_holes("romio321")[::2],
    *_with_holes("ompio")[::2],
    *_kernels("mpich", **_hints(cb_nodes=3, cb_buffer_size=200 * KIB)),
    *_kernels("lustre", **SPREAD),
    *_kernels("romio321", **SPREAD)[::4],
    *_kernels("ompio", **_mca(io_ompio_num_aggregators=2, io_ompio_bytes_per_agg=200 * KIB)),
]
