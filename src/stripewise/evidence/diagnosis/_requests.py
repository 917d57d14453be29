# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges requests that are too small, and bytes that are read more than once."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable

from stripewise.core import COPY
from stripewise.evidence.diagnosis._base import WAYS, Hit, Merged, PreparedRun, Rule
from stripewise.evidence.figures import READS, SYSTEM, FileUse
from stripewise.evidence.trace import IoLayer, Op, ShapeKind, Trace
from stripewise.present import count_text as count
from stripewise.present import number_text as number
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

SMALL_BYTES = 64 << 10
LEAST_CALLS = 1000
LEAST_CALLS_AN_OPEN = 10
LEAST_CONSECUTIVE = 0.5


class SmallRequests(Rule):
    """Small sequential requests that each process makes by itself."""

    code = "small-requests"
    group = "requests"
    basis = "the same bytes in requests of 1 MiB, and a copy into a buffer for each call"
    title = "Each process makes many small calls without a buffer"
    general_remedy = "Collect the pieces in a buffer of 1 MiB."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find the program's consecutive system calls below 64 KiB."""
        for use in run.files:
            for writing, ops in WAYS:
                calls = use.calls(ops[:1], layers=[IoLayer.POSIX])
                if calls.count < LEAST_CALLS or not 0 < calls.mean_bytes < SMALL_BYTES:
                    continue
                if not use.order_share("consecutive", writing) >= LEAST_CONSECUTIVE:
                    continue
                if calls.count < LEAST_CALLS_AN_OPEN * use.calls([Op.OPEN]).count:
                    continue  # a buffer would never fill
                ranks = max(calls.ranks, 1)
                after = run.storage.bulk(calls.bytes / ranks, writing=writing)
                after = after.plus(COPY.scaled(calls.count / ranks))
                yield Hit.of_calls(use, calls, run.now(calls.elapsed).minus(after), writing)

    def phrase(self, merged: Merged) -> str:
        return f"{size(merged.mean_bytes)} {merged.way_files} without a buffer"

    def text(self, merged: Merged) -> str:
        return (
            f"{count(merged.calls)} {merged.way} of {size(merged.mean_bytes)} on average, one "
            f"after the other, took {seconds(merged.stake)}; each is a system call of its own."
        )

    def remedy(self, merged: Merged) -> str:
        if merged.writing:
            return (
                "Collect the pieces in a buffer of 1 MiB and write that. In C fwrite does so "
                "after setvbuf(file, NULL, _IOFBF, 1 << 20), in Python open(name, 'wb', "
                "buffering=1 << 20)."
            )
        return (
            "Read 1 MiB at once and take the pieces from memory. In C fread does so after "
            "setvbuf(file, NULL, _IOFBF, 1 << 20), in Python open(name, 'rb', buffering=1 << 20)."
        )


# Chunks of HDF5 that are read repeatedly because the cache cannot hold them.


LEAST_CHUNK_TIMES = 2.0
MOST_CACHE_BYTES = 1 << 30


class ChunkMismatch(Rule):
    """Chunks that are read whole more than once although only parts are needed."""

    code = "chunk-mismatch"
    group = "requests"
    basis = "each chunk read once, into a cache that holds those that one selection touches"
    title = "Chunks of a dataset are read several times"
    general_remedy = (
        "Keep the dataset open with a chunk cache that is large enough, or give its "
        "chunks the shape of what is read."
    )
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find independent reads of chunked datasets that fetch the file at least twice."""
        for use in run.files:
            calls = use.calls([Op.READ], layers=[IoLayer.HDF5])
            if use.top is not IoLayer.HDF5 or not calls.count or use.extent <= 0:
                continue
            below = use.calls(READS, layers=SYSTEM, own=False)
            once = min(use.extent, calls.bytes) * max(calls.ranks, 1)
            times = below.bytes / max(once, 1)
            if times < LEAST_CHUNK_TIMES:
                continue
            found = _chunk(use, run.trace)
            if not found or not 0 < int(found["cache_bytes"]) <= MOST_CACHE_BYTES:
                continue
            evidence = {"times": times, "read_bytes": below.bytes, "wanted_bytes": calls.bytes}
            gain = run.now(calls.elapsed).scaled(1 - 1 / times)
            yield Hit.of_calls(use, calls, gain, False, evidence | found)

    def phrase(self, merged: Merged) -> str:
        read, wanted = (float(merged.evidence[f"{name}_bytes"]) for name in ("read", "wanted"))
        return f"reading chunks of {merged.names}: {size(read)} to serve {size(wanted)}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        return (
            f"HDF5 read {size(float(evidence['read_bytes']))} to serve "
            f"{size(float(evidence['wanted_bytes']))}, since its cache does not hold the "
            f"{evidence['chunks']} chunks that one selection touches; the reads took "
            f"{seconds(merged.stake)}. Chunks: {evidence['chunk']}."
        )

    def remedy(self, merged: Merged) -> str:
        bytes_ = int(merged.evidence["cache_bytes"])
        return (
            f"Keep the dataset open and let its chunk cache hold {size(bytes_)}: "
            f"H5Pset_chunk_cache(dapl, 10007, {bytes_}, 1.0), in h5py h5py.File(name, "
            f"rdcc_nbytes={bytes_}, rdcc_nslots=10007). Closing the dataset empties it. Or read "
            "blocks of whole chunks in one call and pick the parts in memory; or give the chunks "
            "the shape of the selections (h5repack rewrites a file)."
        )


def _chunk(use: FileUse, trace: Trace | None) -> dict[str, float | int | str]:
    """Describe the chunks that a selection touches, and their cache; empty if there are none."""
    if trace is None:
        return {}
    rows = trace.rows
    mine = (rows["file"] == use.index) & (rows["object"] >= 0) & (rows["shape"] >= 0)
    for row in rows[mine & (rows["op"] == Op.READ)]:
        shape, described = trace.shapes[row["shape"]], trace.objects[row["object"]]
        if not any(described.chunk) or shape.kind is not ShapeKind.REGULAR:
            continue
        wanted = [n * block for n, block in zip(shape.count, shape.block, strict=True)]
        touched = math.prod(
            math.ceil(length / chunk)
            for length, chunk in zip(wanted, described.chunk, strict=True)
        )
        chunks, selections = (" x ".join(map(str, each)) for each in (described.chunk, wanted))
        chunk_bytes = math.prod(described.chunk) * described.element_bytes
        return {
            "chunk": f"{described.name} in {chunks}, selections of {selections}",
            "chunks": touched,
            "cache_bytes": 2 * touched * chunk_bytes,
        }
    return {}


# Bytes that are read more than once.


LEAST_TIMES = 2.0
LEAST_RANKS = 4
MOST_BYTES = 1 << 30
SMALL_FILE_BYTES = 4 << 20


class RedundantReads(Rule):
    """Repeated reads of the same bytes of a file."""

    code = "redundant-reads"
    group = "requests"
    basis = "the file read once; where many ranks read it, by one rank with a broadcast"
    title = "The same bytes are read again and again"
    general_remedy = "Keep what was read; let one rank read a small file and broadcast it."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find files of at most 1 GiB that a rank reads at least twice, or many ranks read."""
        for use in run.files:
            calls = use.calls(READS)
            length = _length(use)
            if not 0 < length <= MOST_BYTES or not calls.count:
                continue
            times = use.read_bytes / length / max(calls.ranks, 1)
            if times >= LEAST_TIMES:
                evidence = _evidence(use, times, "keep")
                gain = run.now(calls.elapsed).scaled(1 - 1 / times)
                yield Hit.of_calls(use, calls, gain, False, evidence)
            elif _is_read_by_many(use, run):
                yield self._broadcast(use, run, times)

    def _broadcast(self, use: FileUse, run: PreparedRun, times: float) -> Hit:
        """Make the hit of a small file that many ranks read, including the time of opens."""
        once = run.storage.bulk(use.extent, writing=False)
        after = run.storage.call("open").plus(once.scaled(1 + math.log2(run.n_ranks)))
        evidence = _evidence(use, times, "broadcast")
        return Hit.of_calls(
            use, use.calls(), run.now(use.calls().elapsed).minus(after), False, evidence
        )

    def phrase(self, merged: Merged) -> str:
        evidence = merged.evidence
        if evidence["way"] == "broadcast":
            return f"{evidence['ranks']} ranks reading all of {merged.names}"
        return f"reading {merged.names} {number(float(evidence['times']))} times over"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        length = size(float(evidence["file_bytes"]))
        if evidence["way"] == "broadcast":
            return (
                f"{evidence['ranks']} ranks opened and read the same file of {length}; the "
                f"slowest needed {seconds(merged.stake)} for it, the fastest "
                f"{seconds(float(evidence['fastest_seconds']))}."
            )
        who = "Each rank" if int(evidence["ranks"]) > 1 else "The program"
        return (
            f"{who} read all of {merged.names} ({length}) "
            f"{number(float(evidence['times']))} times on average and spent "
            f"{seconds(merged.stake)} in it."
        )

    def remedy(self, merged: Merged) -> str:
        if merged.evidence["way"] == "broadcast":
            return (
                "Read it on rank 0 and MPI_Bcast it. Without a change of source: put a copy on "
                "each node (sbcast, /dev/shm), and keep small files off burst buffers."
            )
        return "Read the file once and keep what was read in memory."

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        if merged.evidence["way"] != "broadcast":
            return ()
        path = merged.files[0]
        name = path.rsplit("/", 1)[-1]
        return (
            f"sbcast {shlex.quote(path)} {shlex.quote('/dev/shm/' + name)}"
            "   # Slurm; then name that file in the program's input",
        )


def _length(use: FileUse) -> int:
    """Return the file's extent in bytes, at least what was written (streams have no offsets)."""
    return max(use.extent, use.write_bytes)


def _is_read_by_many(use: FileUse, run: PreparedRun) -> bool:
    """Return whether at least 4 ranks, and half of all, read a small file as a whole."""
    ranks = use.calls(READS).ranks
    whole = use.read_bytes >= use.extent and use.extent <= SMALL_FILE_BYTES
    whole = whole and not use.write_bytes
    return whole and ranks >= max(LEAST_RANKS, run.n_ranks / 2) and run.n_ranks > 0


def _evidence(use: FileUse, times: float, way: str) -> dict[str, float | int | str]:
    return {
        "way": way,
        "file_bytes": _length(use),
        "times": times,
        "ranks": use.calls(READS).ranks,
        "fastest_seconds": use.calls().least,
    }
