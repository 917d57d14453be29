# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Chunks of HDF5 that are read again and again because the cache does not hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Rule, Run, Told
from stripewise.evidence.figures import READS, SYSTEM, FileUse
from stripewise.evidence.trace import IoLayer, Op, ShapeKind, Trace
from stripewise.present import number_text as number
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

LEAST_TIMES = 2.0
MOST_CACHE_BYTES = 1 << 30


class ChunkMismatch(Rule):
    """Chunks are read whole, more than once, for parts of them."""

    code = "chunk-mismatch"
    group = "requests"
    basis = "each chunk read once, into a cache that holds those that one selection touches"
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Independent reads of chunked datasets that fetch the file at least twice over."""
        for use in run.files:
            calls = use.calls([Op.READ], layers=[IoLayer.HDF5])
            if use.top is not IoLayer.HDF5 or not calls.count or use.extent <= 0:
                continue
            below = use.calls(READS, layers=SYSTEM, own=False)
            once = min(use.extent, calls.bytes) * max(calls.ranks, 1)
            times = below.bytes / max(once, 1)
            if times < LEAST_TIMES:
                continue
            found = _chunk(use, run.trace)
            if not found or not 0 < int(found["cache_bytes"]) <= MOST_CACHE_BYTES:
                continue
            evidence = {"times": times, "read_bytes": below.bytes, "wanted_bytes": calls.bytes}
            gain = run.now(calls.elapsed).scaled(1 - 1 / times)
            yield Hit.of_calls(use, calls, gain, False, evidence | found)

    def phrase(self, told: Told) -> str:
        times = number(float(told.evidence["times"]))
        return f"chunks of {told.names} read {times} times over"

    def text(self, told: Told) -> str:
        evidence = told.evidence
        return (
            f"HDF5 read {size(float(evidence['read_bytes']))} to serve "
            f"{size(float(evidence['wanted_bytes']))}, since its cache does not hold the "
            f"{evidence['chunks']} chunks that one selection touches; the reads took "
            f"{seconds(told.stake)}. Chunks: {evidence['chunk']}."
        )

    def remedy(self, told: Told) -> str:
        bytes_ = int(told.evidence["cache_bytes"])
        return (
            f"Keep the dataset open and let its chunk cache hold {size(bytes_)}: "
            f"H5Pset_chunk_cache(dapl, 10007, {bytes_}, 1.0), in h5py h5py.File(name, "
            f"rdcc_nbytes={bytes_}, rdcc_nslots=10007). Closing the dataset empties it. Or give "
            "the chunks the shape of the selections (h5repack rewrites a file)."
        )


def _chunk(use: FileUse, trace: Trace | None) -> dict[str, float | int | str]:
    """Describe the chunks that a selection touches, and the cache that holds them; {}: none."""
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
