# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose I/O `bench kernel --from` must make again, call by call, at every layer.

The input is a decomposition of `decompositions.py` or a program of `programs/`; the right answer
is the program's own trace, or a refusal whose reason contains the answer's `refused`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.decomposed import STRIPEWISE, run, traced
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import (
    DATA_OPS,
    EventFlag,
    IoLayer,
    Trace,
    expand,
    left_to_libraries,
)

MOST_METADATA_BYTES = 4096
"""Difference of a library's own metadata of a file and operation."""

_Calls = dict[tuple[str, str, int], Counter[int]]
"""Calls by size, of each file, layer and operation."""


class TheKind(Kind):
    """Programs over HDF5, NetCDF-4, PnetCDF, MPI-IO and POSIX."""

    title = "replays"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Trace the program, replay it under capture, and compare both traces."""
        trace = traced(case.input, directory)
        again, result = directory / "again.trace", directory / "result.json"
        kernel = [STRIPEWISE, "bench", "kernel", "--from", trace, "--compute", "none", "--json"]
        command = [STRIPEWISE, "run", "--trace", again, "--", *kernel]
        try:
            result.write_text(run(command, directory))
        except AssertionError as error:
            wanted = str(case.answer.get("refused", ""))
            refused = bool(wanted) and wanted in str(error)
            return Outcome(Verdict.REFUSED if refused else Verdict.WRONG, str(error)[-1500:])
        if "refused" in case.answer:
            return Outcome(Verdict.WRONG, "it is replayed, although it cannot be")
        return Outcome.of([*_differences(trace, again), *_claims(result, again)])


def _claims(result: Path, again: Path) -> list[str]:
    """Return the figures of the replay that its own trace does not have."""
    text = result.read_text()
    figures = json.loads(text[text.index("{") :])
    top = _of(_trace_of(again), outermost=True)
    moved = {True: 0, False: 0}
    for (_, _, op), sizes in top.items():
        moved[op in (3, 5)] += sum(size * times for size, times in sizes.items())
    found = {"write_bytes": moved[True], "read_bytes": moved[False]}
    return [
        f"{name}: {figures[name]} are reported, {value} were moved"
        for name, value in found.items()
        if figures[name] != value
    ]


def _trace_of(path: Path) -> Trace:
    trace = read_evidence([path]).trace
    assert trace is not None
    return trace


def _of(trace: Trace, *, outermost: bool = False) -> _Calls:
    """Count the calls that moved data; those of a library's metadata are a layer of their own."""
    rows = trace.rows
    kept = _of_last_program(trace)
    kept &= np.isin(rows["op"], DATA_OPS) & (rows["rank"] >= 0) & (rows["file"] >= 0)
    kept &= (rows["flags"] & (EventFlag.FAILED | EventFlag.ATTRIBUTE | EventFlag.WAIT)) == 0
    if outermost:
        kept &= (rows["depth"] == 0) & ~left_to_libraries(rows)
    calls = expand(trace)
    root = np.arange(len(calls))
    while (calls["parent_index"][root] >= 0).any():
        root = np.where(calls["parent_index"][root] >= 0, calls["parent_index"][root], root)
    waits = (calls["flags"][root] & EventFlag.WAIT) != 0
    transfer = np.isin(calls["op"][root], DATA_OPS) | waits
    transfer &= ~left_to_libraries(rows)[calls["row"][root]]
    found: _Calls = {}
    for call, moves in zip(calls[kept[calls["row"]]], transfer[kept[calls["row"]]], strict=True):
        name = os.path.basename(trace.paths[call["file"]])
        layer = _LAYERS.get(int(call["layer"]), "system")
        if not name.startswith("plan") and (moves or layer != "system"):
            key = (name, layer if moves else "metadata", int(call["op"]))
            found.setdefault(key, Counter())[int(call["bytes"])] += 1
    return found


def _of_last_program(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows are of the last process of their rank: earlier ones made the inputs."""
    rows = trace.rows
    last: dict[int, tuple[int, int]] = {}
    for process, rank in enumerate(trace.process_rank.tolist()):
        starts = rows["start_ns"][rows["process"] == process]
        if len(starts):
            last[rank] = max(last.get(rank, (-1, -1)), (int(starts.min()), process))
    return np.isin(rows["process"], [process for _, process in last.values()])


_LAYERS = {int(IoLayer.MPIIO): "mpiio", int(IoLayer.HDF5): "hdf5", int(IoLayer.PNETCDF): "pnetcdf"}


def _differences(first: Path, second: Path) -> list[str]:
    """Compare numbers, sizes and bytes of calls, apart for each file, layer and operation.

    A library's metadata must be moved by as many calls, collective or not; a trace has no names
    of dimensions, attributes and members, so that its size may differ.
    """
    ours, theirs = _of(_trace_of(first)), _of(_trace_of(second))
    found = []
    for key in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(key, Counter()), theirs.get(key, Counter())
        where = f"{key[0]}, {key[1]}, operation {key[2]}"
        own, its = (sum(size * n for size, n in one.items()) for one in (mine, other))
        if mine.total() != other.total():
            found.append(f"{where}: {mine.total()} calls and {other.total()} in the replay")
        elif key[1] == "metadata":
            if abs(own - its) > MOST_METADATA_BYTES:
                found.append(f"{where}: {own} bytes and {its} in the replay")
        elif mine != other:
            found.append(f"{where}: calls of other sizes: {mine - other} and {other - mine}")
    return found
