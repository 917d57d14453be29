# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Feed damaged traces of other tools to their readers and judge what comes back."""

from __future__ import annotations

import resource
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from stripewise.core.errors import StripewiseError
from stripewise.evidence.readers import SOURCES
from stripewise.evidence.trace import Evidence
from support.foreign_traces import (
    MPIIO_STATS_BLOCKS,
    PH5_EXAMPLE,
    sample_calls,
    write_recorder_directory,
    write_recorder_text,
)
from support.mutations import mutate

LONGEST_SECONDS = 5.0
"""Of this process's own work: others may have the processor meanwhile."""
LONGEST_MESSAGE = 1000
MEMORY_BYTES = 4 << 30


def _recorder_text(folder: Path) -> None:
    write_recorder_text(folder / "trace", [sample_calls(0, 4), sample_calls(1, 4)])


def _recorder_directory(folder: Path) -> None:
    write_recorder_directory(folder / "trace", [sample_calls(0, 6), sample_calls(1, 6)])


def _recorder_merged(folder: Path) -> None:
    ranks = [sample_calls(0, 6), sample_calls(1, 6)]
    write_recorder_directory(folder / "trace", ranks, merged=True)


def _hdf5_recorder(folder: Path) -> None:
    (folder / "trace").mkdir()
    for rank in range(2):
        (folder / "trace" / f"log.{rank}").write_text(PH5_EXAMPLE % (12 * rank))


def _mpiio_stats(folder: Path) -> None:
    (folder / "trace").write_text("step 1\n" + MPIIO_STATS_BLOCKS)


KINDS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "recorder-text": ("recorder", _recorder_text),
    "recorder-directory": ("recorder", _recorder_directory),
    "recorder-merged": ("recorder", _recorder_merged),
    "hdf5-recorder": ("hdf5-recorder", _hdf5_recorder),
    "mpiio-stats": ("mpiio-stats", _mpiio_stats),
}
"""Kind to the source that reads it and what makes a good one."""


def fuzz(kind: str, seed: int, n_cases: int) -> list[str]:
    """Read `n_cases` damaged traces; returns what went wrong, at most ten.

    Memory is bounded for the whole process: call it in one of its own.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))
    name, make = KINDS[kind]
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="stripewise-fuzz-") as folder:
        make(Path(folder))
        trace = Path(folder) / "trace"
        files = [trace] if trace.is_file() else [p for p in trace.rglob("*") if p.is_file()]
        good = {file: file.read_bytes() for file in sorted(files)}
        for case in range(n_cases):
            random = Random(f"{kind} {seed} {case}")
            chosen = random.sample(sorted(good), random.randint(1, min(2, len(good))))
            for file in chosen:
                file.write_bytes(mutate(good[file], random))
            trouble = _judge(name, trace)
            if trouble:
                failures.append(f"{kind}, seed {seed}, case {case}: {trouble}")
            for file in chosen:
                file.write_bytes(good[file])
            if len(failures) >= 10:
                break
    return failures


def _judge(name: str, trace: Path) -> str:
    """What is wrong with the answer; empty: nothing."""
    source = next(source for source in SOURCES if source.name == name)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            source.recognises(trace)
            trouble = _of_evidence(source.read(trace))
        except StripewiseError as error:
            said = str(error)
            trouble = "" if said and len(said) < LONGEST_MESSAGE else f"message: {said[:200]!r}"
        except BaseException:
            trouble = traceback.format_exc(limit=-4)
    seconds = time.process_time() - begin
    return trouble or (f"took {seconds:.1f} s" if seconds > LONGEST_SECONDS else "")


def _of_evidence(evidence: Evidence) -> str:
    """Broken promises of the records; empty: none."""
    rows = evidence.profile.counters
    if len(rows) and int(rows["file"].max()) >= len(evidence.profile.paths):
        return "a counter row of no file"
    if (rows["count"] < 0).any() or (rows["bytes"] < 0).any():
        return "negative counters"
    if not np.isfinite(rows["seconds"]).all() or (rows["seconds"] < 0).any():
        return "impossible times"
    if evidence.profile.partial and not evidence.profile.notes:
        return "partial, and no word why"
    return ""
