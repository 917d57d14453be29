# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Effects of storage reported in published talks, and the small runs that reproduce them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

KIB, MIB = 1 << 10, 1 << 20
ALL = {"cb_config_list": "*:*"}
"""ROMIO hint that allows every rank as an aggregator, not only one per node."""


@dataclass(frozen=True)
class Case:
    """One small run.

    Attributes:
        setting: Difference from the other cases, for users.
        on: Storage, in slow motion.
        kernel: Pattern and options, which simulation knows too.
        stack: Software stack for the simulation.
        nodes: Number of virtual nodes.
        per_node: Number of ranks per node.
        hints: MPI-IO hints.
        more: Options of the kernel that change its calls but not its pattern.
        buffers: Number of burst-buffer nodes, set by the requested capacity; 0 for no burst
            buffer.
        outside: Whether the small file is not on this storage.
        figure: "transfer": bandwidth without opens, as in a long run; "all": with them; "small":
            seconds for the small file.
        published: Published figure of a much larger run; empty if there is none.
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
    """Effect reported in a talk, and the runs that must reproduce it.

    Attributes:
        name: One word.
        title: The effect, a whole sentence.
        source: Who published it.
        cases: Cases to run.
        ratio: Indices of two cases: the figure of the first relative to that of the second.
        published: Published ratio; empty if there is none.
        shows: Returns whether the effect is visible, from the cases' figures and system writes.
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
    """Return the effect of request sizes: one burst-buffer node, ten aggregators.

    Only the node's own time for each request remains.
    """

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
    """Return the effect of aggregators on four stripes: up to four each have their own.

    With sixteen, four share a stripe, and three of its four writes in a round need another's lock,
    in whatever order they come.
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
    """Return the effect of BT-IO on one burst-buffer node, with one aggregator by default."""

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
    """Return the effect of units: 13 MB have two units of 8 MiB, for two of eight aggregators."""

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
    """Return the effect of burst-buffer nodes with an aggregator each; each rank opens files."""

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
    """Return the effect of one writer for each stripe of a shared file, of eight possible ones."""

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
    """Return the effect of all ranks reading a small file, like WRF's namelist.input."""

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
