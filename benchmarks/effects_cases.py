# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The effects of storage that published talks report, and the small runs that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

KIB, MIB = 1 << 10, 1 << 20
ALL = {"cb_config_list": "*:*"}
"""ROMIO may take every rank as an aggregator, not one of each node."""


@dataclass(frozen=True)
class Case:
    """One small run.

    Attributes:
        setting: What is different from the other cases, for people.
        on: Storage, in slow motion.
        kernel: Pattern and options, which simulation knows too.
        stack: As it is simulated.
        nodes: Virtual nodes.
        per_node: Ranks of each.
        hints: MPI-IO hints.
        more: Options of the kernel that change its calls and not its pattern.
        buffers: Burst-buffer nodes, by the capacity that is asked for; 0: no burst buffer.
        outside: The small file is not on this storage.
        figure: "transfer": bandwidth without opens, as of a long run; "all": with them;
            "small": seconds of the small file.
        published: Figure, of a much larger run; "": none.
    """

    setting: str
    on: str
    kernel: str
    stack: str = "romio-lustre"
    nodes: int = 8
    per_node: int = 1
    hints: Mapping[str, object] = field(default_factory=dict)
    more: str = "--backend mpiio"
    buffers: int = 0
    outside: bool = False
    figure: Literal["transfer", "all", "small"] = "transfer"
    published: str = ""


@dataclass(frozen=True)
class Effect:
    """What a talk reports, and the runs that must show it.

    Attributes:
        name: One word.
        title: The effect, a whole sentence.
        source: Who published it.
        cases: To be run.
        ratio: Two cases, by number: the figure of the first over that of the second.
        published: That ratio; "": none.
        shows: Figures and numbers of system writes of the cases -> whether the effect is there.
    """

    name: str
    title: str
    source: str
    cases: tuple[Case, ...]
    ratio: tuple[int, int]
    published: str
    shows: Callable[[Sequence[float], Sequence[int]], bool]


TALK = "Markomanolis, ExPBB, Cray User Group 2017"
GUIDE = "Farr and Henty, results of benchio on ARCHER2; ARCHER2 user guide"


def _requests() -> Effect:
    """One burst-buffer node, ten aggregators: its own time for each request is what is left."""

    def case(unit: int, published: str) -> Case:
        hints = {**ALL, "cb_nodes": 10, "cb_buffer_size": unit, "striping_unit": unit}
        return Case(f"{unit // MIB} MiB", "shaheen2-datawarp@1/64", "btio --size 128,128,128",
                    "romio", nodes=16, hints=hints, buffers=1, published=published)  # fmt: skip

    return Effect(
        "requests",
        "Striping units an eighth as large make eight times as many system writes, and one "
        "burst-buffer node is slower.",
        TALK,
        (case(8 * MIB, "2897 MB/s"), case(MIB, "2165 MB/s")),
        (0, 1),
        "1.34",
        lambda speed, writes: writes[1] == 8 * writes[0] and 1.15 < speed[0] / speed[1] < 1.55,
    )


def _aggregators() -> Effect:
    """Four stripes: up to four aggregators each has its own; of sixteen four share each.

    Of a stripe's four writes of a round three need another's lock, in whatever order they come.
    """

    def case(number: int, published: str) -> Case:
        hints = {**ALL, "cb_nodes": number, "romio_lustre_co_ratio": 4}
        hints |= {"striping_factor": 4, "striping_unit": 512 * KIB}
        return Case(f"{number}", "archer2-hdd@1/32", "array3d --local 64,64,128", nodes=16,
                    hints=hints, published=published)  # fmt: skip

    published = ("", "6.2 GiB/s with 12", "24.3 GiB/s with 48", "11.9 GiB/s with 384")
    cases = (case(number, text) for number, text in zip((1, 2, 4, 16), published, strict=True))
    return Effect(
        "aggregators",
        "More aggregators are faster up to a best number, and slower beyond it.",
        f"{GUIDE}: 16 nodes, 12 stripes, lock-ahead",
        tuple(cases),
        (2, 3),
        "2.0",
        lambda speed, _: speed[0] < speed[-2] > 1.05 * speed[-1],
    )


def _writers() -> Effect:
    """BT-IO on one burst-buffer node, which has one aggregator by default."""

    def case(number: int, published: str) -> Case:
        hints = {**ALL, "cb_nodes": number, "cb_buffer_size": MIB}
        return Case(f"{number}", "shaheen2-datawarp@1/64", "btio --size 64,128,128",
                    "romio", nodes=16, hints=hints, buffers=1, published=published)  # fmt: skip

    last = (case(8, "3.11 with 64 of 256"), case(16, ""))
    return Effect(
        "writers",
        "On one burst-buffer node more aggregators are faster up to a best number, and no faster "
        "beyond it.",
        TALK,
        (case(1, ""), case(2, ""), case(4, ""), *last),
        (3, 0),
        "3.11",
        lambda speed, _: 1.8 < speed[3] / speed[0] < 3.5 and speed[4] < speed[3],
    )


def _units() -> Effect:
    """Variables of 13 MB have two units of 8 MiB, so that two of eight aggregators write."""

    def case(kib: int, published: str) -> Case:
        hints = {**ALL, "cb_nodes": 8, "cb_buffer_size": 8 * MIB, "striping_unit": kib * KIB}
        return Case(f"{kib} KiB", "shaheen2-datawarp@1/32", "wrf --size 35,275,330 --namelist 0",
                    "romio", hints=hints, buffers=1, figure="all",
                    published=published)  # fmt: skip

    return Effect(
        "units",
        "Smaller striping units make WRF's I/O shorter by a tenth to a third, and much smaller "
        "ones no shorter.",
        TALK,
        (case(8192, ""), case(4096, ""), case(2048, ""), case(512, "32 % shorter"), case(256, "")),
        (3, 0),
        "1.47",
        lambda speed, _: 1.1 < max(speed[1:4]) / speed[0] < 1.7 and speed[4] < max(speed),
    )


def _buffers() -> Effect:
    """An aggregator for each burst-buffer node, as far as there are ranks; each rank opens."""

    def case(number: int, aggregators: int = 0) -> Case:
        hints = {**ALL, "cb_nodes": aggregators or min(number, 16), "cb_buffer_size": 8 * MIB}
        text = f"{number}, aggregators: {aggregators}" if aggregators else f"{number}"
        return Case(text, "shaheen2-datawarp@1/32", "btio --size 128,128,256 --steps 2",
                    "romio", per_node=2, hints=hints, buffers=number, figure="all")  # fmt: skip

    return Effect(
        "buffers",
        "64 times the burst-buffer nodes, with more aggregators, give less than 8 times the "
        "bandwidth, and 8 nodes with tuned aggregators are better: one client writes only so "
        "much, and opens cost more.",
        TALK,
        (case(1), case(8), case(64), case(8, 16)),
        (2, 0),
        "less than 8",
        lambda speed, _: 0.05 < speed[2] / speed[0] < 8 and speed[3] > max(speed[1:3]),
    )


def _shared() -> Effect:
    """One writer for each stripe of the shared file, of eight that there could be."""

    def case(stripes: int, published: str) -> Case:
        hints = {**ALL, "cb_nodes": 8, "striping_factor": stripes, "romio_cb_write": "enable"}
        return Case(f"shared file, stripes: {stripes}", "archer2-hdd@1/32",
                    "vpic --local 262144", hints=hints, published=published)  # fmt: skip

    own = replace(
        case(1, "90 GiB/s (median)"), setting="file per process", hints={},
        stack="posix-process", more="--backend posix --layout per-process",
    )  # fmt: skip
    return Effect(
        "shared",
        "A shared file is limited by one writer per stripe; a file per process is not.",
        GUIDE,
        (case(1, "about 1 GB/s"), case(4, ""), own),
        (2, 0),
        "about 90",
        lambda speed, _: 2.5 < speed[1] / speed[0] < 4.5 and speed[2] / speed[0] > 5,
    )


def _metadata() -> Effect:
    """Every rank opens, reads and closes one small file, as WRF's do with namelist.input."""

    def case(buffers: int, published: str) -> Case:
        return Case(f"burst-buffer nodes: {buffers}", "shaheen2-datawarp@1/2",
                    "wrf --local 2,8,8 --namelist 22528", nodes=8, per_node=2,
                    buffers=buffers, figure="small", published=published)  # fmt: skip

    many = case(40, "36.6 s")
    hybrid = replace(many, setting="40, small file elsewhere", outside=True, published="")
    lustre = replace(many, setting="Lustre", on="shaheen2-lustre@1/16", buffers=0, published="")
    return Effect(
        "metadata",
        "A small file that all ranks read costs more the more burst-buffer nodes there are; "
        "the hybrid, with the small file elsewhere, does not pay that.",
        f"{TALK}: 1280 ranks",
        (case(2, "0.67 s"), many, hybrid, lustre),
        (1, 0),
        "54",
        lambda seconds, _: seconds[1] > 20 * seconds[0] and max(seconds[2:]) < seconds[1] / 10,
    )


EFFECTS = (
    _requests(), _aggregators(), _writers(), _units(), _buffers(), _shared(), _metadata()
)  # fmt: skip
