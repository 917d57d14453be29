# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The mapping of an emulated storage, made by hand for tests; its counters read back."""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

HEADER = (Path(__file__).parents[1] / "native/include/stripewise/emulate.h").read_text()
HEADER_BYTES, COUNTERS_BYTES, FIGURES_ROOM = 4096, 512, 64
LUSTRE, PRIVATE = 1, 2
LUSTRE_MAGIC = 0x0BD00BD0
"""f_type of Lustre.  Source: documented, linux/magic.h."""


def names(macro: str) -> list[tuple[str, ...]]:
    """Rows of a list in the header."""
    start = HEADER.index(f"#define {macro}(X)")
    lines = HEADER[start:].split("\n\n", 1)[0]
    return re.findall(r'X\((\w+)(?:, "([\w.]+)")?\)', lines.split("\n", 1)[1])


FIGURES = [figure for _, figure in names("SW_EMULATE_FIGURES")]
LIMITS = [name.lower() for name, _ in names("SW_EMULATE_LIMITS")]
COUNTERS = [name for name, _ in names("SW_EMULATE_COUNTERS_OF")]


@dataclass
class Machine:
    """A described storage; what is not said limits nothing."""

    figures: Mapping[str, float]
    targets: int = 4
    nodes: int = 4
    ranks_per_node: int = 1
    lock_mode: int = 0
    stripe_count: int = 1
    stripe_size: int = 1 << 20
    flags: int = 0
    noise: float = 1.0
    draw: int = 0
    files: int = 256
    objects: int = 256
    jobs: int = 16
    jobid_var: str = "SLURM_JOB_ID"
    jobid_name: str = "%e.%u"
    extra: dict[str, float] = field(default_factory=dict)

    def header(self, root: Path) -> bytes:
        """The first bytes of the mapping, and how many it has in all."""
        values = [
            self.figures.get(name, inf if re.search("_(write|read)$|bandwidth", name) else 0.0)
            for name in FIGURES
        ]
        clocks = 8 + self.targets + self.nodes + self.files * self.nodes
        size = HEADER_BYTES + COUNTERS_BYTES + (clocks * 8 + 63) // 64 * 64
        size += 64 * (self.files + self.objects) + (self.targets * 8 + 63) // 64 * 64
        size = (size + 64 * self.jobs + 4095) // 4096 * 4096
        size += (self.targets * 1024 + 640 + 4095) // 4096 * 4096 * (1 + self.jobs)
        return struct.pack(
            f"<8sIIQ6IiIQdQ{FIGURES_ROOM}d3072s16s32s32sQII",
            *(b"SWEMULAT", 3, self.flags, size),
            *(self.targets, self.nodes, self.ranks_per_node, self.lock_mode),
            *(
                self.files,
                self.objects,
                self.stripe_count,
                len(FIGURES),
                self.stripe_size,
                self.noise,
                self.draw,
            ),
            *(values + [0.0] * (FIGURES_ROOM - len(values))),
            os.fsencode(root),
            *(b"testfs", self.jobid_var.encode(), self.jobid_name.encode(), time.time_ns()),
            *(self.jobs, 0),
        )

    def write(self, file: Path, root: Path) -> None:
        """Make the mapping."""
        header = self.header(root.resolve())
        file.write_bytes(header)
        os.truncate(file, struct.unpack_from("<Q", header, 16)[0])


def counters(file: Path) -> dict[str, int]:
    """All of them; those of limits by the limit's name."""
    words = [*COUNTERS, *(f"limit {name}" for name in LIMITS)]
    with open(file, "rb") as stream:
        stream.seek(HEADER_BYTES)
        values = struct.unpack(f"<{len(words)}Q", stream.read(8 * len(words)))
    return dict(zip(words, values, strict=True))


class Taken(float):
    """Seconds, and in `waited` those of them at most in which processes waited for a processor."""

    def __new__(cls, seconds: float, waited: float) -> Taken:
        """Take both."""
        made = super().__new__(cls, seconds)
        made.waited = waited
        return made

    waited: float

    def __sub__(self, other: float) -> Taken:
        """Between two moments there was no more waiting than in all."""
        return Taken(float(self) - float(other), self.waited)


class near:
    """A time that is not shorter than it should be, and no longer than a busy host makes it.

    How exact the emulation is on a quiet host is measured by native/bench/emulation.py.
    """

    def __init__(self, seconds: float, early: float = 0.0) -> None:
        """Take the time, and how much shorter it is where processes come in another order."""
        self.seconds, self.early = seconds, early

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, float)
        most = self.seconds * 1.02 + 0.03 + getattr(other, "waited", 0.0)
        return self.seconds - 0.012 - self.early <= other <= most

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"near({self.seconds}, {self.early})"
