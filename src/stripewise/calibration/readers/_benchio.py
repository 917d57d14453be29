# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""benchio's output.  Source: github.com/davidhenty/benchio, benchio.f90 and README.md."""

from __future__ import annotations

import re

from stripewise.calibration.readers._base import Measured, Reader, Results, nodes_of
from stripewise.errors import UsageError
from stripewise.model import Value
from stripewise.simulation import workload_from_notation

_MIB = float(1 << 20)
_RANKS = re.compile(r"Running on\s+(\d+)\s+process")
_NODES = re.compile(r"on\s+(\d+)\s+node")
_ARRAY = re.compile(r"Array size is\s+\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)")
_PLACE = re.compile(r"Writing to (\S+)")
_RATE = re.compile(r"^\s*time =.*?\brate =\s*([0-9.E+]+)\s+(MiB|GiB)/s", re.MULTILINE)
_FILES = {"serial": "posix-serial", "rank": "posix-process", "node": "posix-node"}
_STRIPES: dict[str, dict[str, Value]] = {
    "unstriped": {"mpiio.striping_factor": 1},
    "striped": {"mpiio.striping_factor": 4},
    "fullstriped": {"mpiio.striping_factor": -1},
}


class Benchio(Reader):
    """What benchio prints."""

    name = "benchio"

    def recognises(self, text: str, name: str) -> bool:
        """Whether benchio printed it."""
        return "Simple Parallel IO benchmark" in text[:500]

    def read(self, text: str, name: str, ranks_per_node: int) -> Results:
        """Return the methods, each with its repeats."""
        ranks, array = _RANKS.search(text), _ARRAY.search(text)
        if ranks is None or array is None:
            raise UsageError(f"{name}: benchio's output without its sizes: give all of it")
        said = _NODES.search(text[: array.start()])
        nodes = int(said[1]) if said else nodes_of(name, int(ranks[1]), ranks_per_node)
        sizes = ",".join(reversed(array.groups()))
        places = list(_PLACE.finditer(text))
        found = []
        for number, place in enumerate(places):
            end = places[number + 1].start() if number + 1 < len(places) else len(text)
            part = text[place.end() : end]
            rates = [float(rate) * _MIB * (1024 if unit == "GiB" else 1)
                     for rate, unit in _RATE.findall(part)]  # fmt: skip
            folder, _, file = place[1].rpartition("/")
            stack = next((s for key, s in _FILES.items() if file.startswith(key)), "")
            work = workload_from_notation(
                f"<3D,(BLOCK,BLOCK,BLOCK),({sizes})>", nodes, -(-int(ranks[1]) // nodes)
            )
            settings = _STRIPES.get(folder.rpartition("/")[2], {})
            if rates:
                found.append(Measured(f"{name}: {place[1]}", work, stack, settings, tuple(rates)))
        if not found:
            raise UsageError(f"{name}: benchio's output without a rate: check that the run ended")
        return Results(tuple(found))
