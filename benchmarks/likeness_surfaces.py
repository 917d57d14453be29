# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests likeness on recorded surfaces: the loss of settings transferred between them.

    python benchmarks/likeness_surfaces.py [DIR]       # benchmarks/surfaces/emulated

For each two surfaces of one storage it prints the distance of the cases, the octaves lost with the
settings that were best for the first among those that both have, and the octaves that the second
can gain.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from math import log2
from pathlib import Path

from scipy.stats import spearmanr
from surfaces import Landscape

from stripewise.learning.knowledge import Machine, StudiedCase, compare, describe_case
from stripewise.study.training import Surface

EMULATED = Path(__file__).resolve().parent / "surfaces" / "emulated"
Times = dict[tuple[tuple[str, str], ...], float]


def read(path: Path) -> tuple[str, StudiedCase, Times]:
    """Return the storage of a surface, its case, and the median of each configuration."""
    surface = Surface.load(path)
    where = surface.provenance["emulated"]
    machine = Machine(filesystem=surface.facts.filesystem, emulated=where)
    times = {
        tuple(sorted((name, str(value)) for name, value in spot.settings.items())): spot.io_seconds
        for spot in Landscape(surface).spots
    }
    return where, describe_case(machine, surface.facts, program=path.stem), times


def main() -> int:
    """Compare all pairs and print."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else EMULATED
    read_in = {path.stem: read(path) for path in sorted(folder.glob("*.jsonl"))}
    distances, losses = [], []
    for (name, first), (to, second) in itertools.permutations(read_in.items(), 2):
        if first[0] != second[0]:
            continue
        shared = first[2].keys() & second[2].keys()
        best, least = min(shared, key=lambda one: first[2][one]), min(second[2].values())
        distances.append(compare(first[1], second[1]).distance)
        losses.append(log2(second[2][best] / least))
        gain = log2(second[2][()] / least)
        print(
            f"{name:14}{to:14}{distances[-1]:6.3f}{losses[-1]:6.2f} of {gain:.2f} octaves, "
            f"{len(shared)} shared configurations"
        )
    rho = spearmanr(distances, losses)[0]
    print(f"{len(losses)} pairs: rank correlation {rho:.2f}, median loss "
          f"{statistics.median(losses):.2f} octaves")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
