# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges what HDF5 itself writes and reads of a file: its metadata, in small requests."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Merged, Numbers, PreparedRun, Rule
from stripewise.evidence.figures import DATA, SYSTEM, FileUse
from stripewise.evidence.trace import SIZE_EDGES, IoLayer, Op
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds

LEAST_REQUESTS = 50
LEAST_SHARE = 0.2
SMALL_BYTES = 10240
BLOCK_BYTES = 1 << 20
_OBJECTS = (Op.OPEN, Op.CLOSE, Op.META)
_FILE = "hdf5-metadata.toml"


class Hdf5Metadata(Rule):
    """Many small requests of HDF5 itself, for groups, attributes and descriptions of datasets."""

    code = "hdf5-metadata"
    group = "library-metadata"
    basis = "not estimated: it depends on how many of these requests HDF5 can gather"
    title = "HDF5 moves its metadata in many small requests"
    general_remedy = "Let HDF5 gather its metadata: a larger metadata block, collective metadata."
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find files whose HDF5 calls without data take a fifth of its time, in small requests."""
        for use in run.files:
            calls = use.calls(_OBJECTS, layers=[IoLayer.HDF5])
            every = use.calls(layers=[IoLayer.HDF5])
            small = _small_requests(use)
            own = small - use.calls(DATA, layers=[IoLayer.HDF5]).count
            if own < LEAST_REQUESTS or calls.elapsed < LEAST_SHARE * every.elapsed:
                continue
            evidence: Numbers = {
                "requests": own,
                "objects": calls.count,
                "shared": int(IoLayer.MPIIO in use.seen and run.n_ranks > 1),
            }
            yield Hit(use, None, calls.elapsed, calls.count, 0, evidence, None)

    def phrase(self, merged: Merged) -> str:
        return f"HDF5's own metadata of {merged.names}, in small requests"

    def text(self, merged: Merged) -> str:
        requests = things(int(merged.evidence["requests"]), "request")
        return (
            f"{things(merged.calls, 'HDF5 call')} that move no data (opens, closes, attributes, "
            f"groups) took the slowest rank {seconds(merged.stake)}; at least {requests} below "
            "10 KiB are of HDF5 itself."
        )

    def remedy(self, merged: Merged) -> str:
        together = (
            " and H5Pset_coll_metadata_write(fapl, true), with which one call writes the metadata "
            "of all ranks"
            if merged.evidence["shared"]
            else ""
        )
        return (
            f"Let HDF5 gather its metadata: H5Pset_meta_block_size(fapl, {BLOCK_BYTES}), in h5py "
            f"h5py.File(name, meta_block_size={BLOCK_BYTES}){together}. Without a change of "
            "source, `stripewise run` sets them."
        )

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        settings = f"meta_block_size = {BLOCK_BYTES}"
        if merged.evidence["shared"]:
            settings += ", coll_metadata_write = true"
        text = ("version = 1", "[[file]]", 'match = "*"', f"hdf5 = {{ {settings} }}")
        words = " ".join(shlex.quote(line) for line in text)
        command = run.profile.command or "COMMAND"
        return (
            f"printf '%s\\n' {words} > {_FILE}",
            f"stripewise run --config {_FILE} -- {command}",
        )


def _small_requests(use: FileUse) -> int:
    """Return the number of requests below 10 KiB in the layer that HDF5 calls."""
    layers = [IoLayer.MPIIO] if IoLayer.MPIIO in use.seen else list(SYSTEM)
    bins = SIZE_EDGES.index(SMALL_BYTES)
    rows = [use.of_layer(layer) for layer in layers]
    return sum(
        int(some[name][:, :bins].sum()) for some in rows for name in ("read_sizes", "write_sizes")
    )
