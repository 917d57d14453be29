# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stripes, aggregators and their alignment."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stripewise.diagnosis._usage import COLLECTIVE, DATA, SYSTEM, WRITES, FileUse
from stripewise.diagnosis._words import files_of, number, percent, seconds, size, things
from stripewise.diagnosis.findings._base import BULK_BYTES, Hit, Rule, Run, Told
from stripewise.diagnosis.findings._lines import hint_lines, stripe_lines
from stripewise.model import Op

LARGE_FILE_BYTES = 256 << 20
MOST_GAIN = 4
LEAST_UNALIGNED = 0.5


def _writers(use: FileUse, run: Run) -> int:
    """Processes that wrote the file at the system; 0: not known."""
    row = run.requests.get((use.path, True))
    if row is not None and row.exact and row.system_ranks:
        return row.system_ranks
    if use.reduced.any():
        return 0
    return use.calls(WRITES, layers=SYSTEM, own=False).ranks


class OneStripe(Rule):
    """A large shared file on one storage target."""

    code = "one-stripe"
    group = "layout"
    basis = (
        "time of the fastest rank in data calls, if the file lay on as many targets as there are "
        "hosts, at most 4 (4 on one host; assumed)"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Known layout of one stripe, shared, at least 256 MiB."""
        for use in run.files:
            calls = use.calls(DATA)
            alone = use.layout.stripe_count == 1 and use.shared
            if alone and use.read_bytes + use.write_bytes >= LARGE_FILE_BYTES:
                stripes = MOST_GAIN if run.n_hosts == 1 else min(MOST_GAIN, run.n_hosts)
                evidence = {
                    "stripe_count": 1,
                    "stripe_bytes": use.layout.stripe_bytes,
                    "ranks": use.data_ranks,
                }
                cost = calls.least * (1 - 1 / stripes)
                yield Hit(use, cost, calls.elapsed, calls.count, calls.bytes, evidence)

    def phrase(self, told: Told) -> str:
        """What lies how."""
        return f"{files_of(told.files, told.n_files)} on one storage target (stripe count 1)"

    def text(self, told: Told) -> str:
        """How much by how many through one target."""
        return (
            f"{told.first.evidence['ranks']} ranks moved {size(told.bytes)} through one storage "
            f"target in {seconds(told.stake)}."
        )

    def remedy(self, told: Told) -> str:
        """Stripe it."""
        return (
            "Stripe the file over several targets before it is made; an existing file keeps its "
            "layout until it is copied."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """By directory, or by hint."""
        stripes = max(MOST_GAIN, min(run.n_hosts, 16))
        return (
            *stripe_lines(told.files[0], stripes),
            *hint_lines(run, {"striping_factor": str(stripes), "striping_unit": str(4 << 20)}),
        )


class FewAggregators(Rule):
    """Collective writes that fewer processes carry out than there are hosts or stripes."""

    code = "few-aggregators"
    group = "aggregators"
    basis = (
        "time of the fastest rank in collective writes, if they scaled with the aggregators up "
        "to one for each host or stripe, at most 4 times (assumed)"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At most half as many aggregators as hosts, or as stripes."""
        for use in run.files:
            calls = use.calls([Op.WRITE_COLLECTIVE])
            every = use.calls(WRITES)
            writers = _writers(use, run)
            wanted = min(max(run.n_hosts, use.layout.stripe_count), max(run.n_ranks, 1))
            if not writers or 2 * calls.bytes < every.bytes or not calls.bytes:
                continue
            if 2 * writers <= wanted:
                evidence = {
                    "aggregators": writers,
                    "hosts": run.n_hosts,
                    "stripe_count": use.layout.stripe_count,
                    "wanted": wanted,
                }
                cost = calls.least * (1 - 1 / min(MOST_GAIN, wanted / writers))
                yield Hit(use, cost, calls.elapsed, calls.count, calls.bytes, evidence, True)

    def phrase(self, told: Told) -> str:
        """How many write what."""
        writers = int(told.first.evidence["aggregators"])
        name = files_of(told.files, told.n_files)
        return f"{things(writers, 'aggregator')} writing all of {name}"

    def text(self, told: Told) -> str:
        """Aggregators against hosts and stripes."""
        evidence = told.first.evidence
        stripes = int(evidence["stripe_count"])
        across = f" and {things(stripes, 'stripe')}" if stripes > 1 else ""
        return (
            f"{things(int(evidence['aggregators']), 'process')} did all system writes of "
            f"{size(told.bytes)}, on {things(int(evidence['hosts']), 'host')}{across}; the "
            f"collective writes took {seconds(told.stake)}."
        ).replace("processs", "processes")

    def remedy(self, told: Told) -> str:
        """More."""
        return (
            f"Ask for {told.first.evidence['wanted']} aggregators, at least one for each host; "
            "on Lustre, as many as there are stripes."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """By hint."""
        return hint_lines(
            run, {"cb_nodes": str(told.first.evidence["wanted"]), "cb_config_list": "*:*"}
        )


class Misaligned(Rule):
    """Writes of several processes that cross or miss the borders of stripes."""

    code = "misaligned"
    group = "alignment"
    basis = "not estimated: what locks cost depends on the file system"
    tunes = True
    costless = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Known stripe, several writers, at least half of the large writes unaligned."""
        for use in run.files:
            stripe = use.layout.stripe_bytes
            row = run.requests.get((use.path, True))
            writers = _writers(use, run) or use.data_ranks
            below = use.calls(WRITES, layers=SYSTEM, own=False)
            if stripe < (64 << 10) or writers < 2 or below.mean_bytes < BULK_BYTES / 4:
                continue
            aligned = row.aligned if row is not None else self._aligned(use, stripe)
            if aligned is not None and 1 - aligned >= LEAST_UNALIGNED:
                evidence = {
                    "unaligned": 1 - aligned,
                    "stripe_bytes": stripe,
                    "writers": writers,
                    "collective": use.calls(COLLECTIVE).count > 0,
                }
                yield Hit(use, None, below.elapsed, below.count, below.bytes, evidence, True)

    def _aligned(self, use: FileUse, stripe: int) -> float | None:
        rows = use.rows[np.isin(use.rows["layer"], [int(layer) for layer in SYSTEM])]
        rows = rows[(rows["alignment"] == stripe) & (rows["unaligned"] >= 0)]
        total = int(rows["count"][:, [int(op) for op in DATA]].sum()) if len(rows) else 0
        return 1 - float(rows["unaligned"].sum()) / total if total else None

    def phrase(self, told: Told) -> str:
        """What misses what."""
        name = files_of(told.files, told.n_files)
        stripe = size(float(told.first.evidence["stripe_bytes"]))
        return f"writes to {name} that are not aligned to its stripes of {stripe}"

    def text(self, told: Told) -> str:
        """How many."""
        evidence = told.first.evidence
        return (
            f"{percent(float(evidence['unaligned']))} of {things(told.calls, 'system write')} "
            f"(of {size(told.mean_bytes)}) by {number(float(evidence['writers']))} processes "
            f"begin inside a stripe of {size(float(evidence['stripe_bytes']))}, so that "
            f"processes contend for its lock; they took {seconds(told.stake)}."
        )

    def remedy(self, told: Told) -> str:
        """Align."""
        if told.first.evidence["collective"]:
            return (
                "Make file domains of the aggregators whole stripes: pass the stripe to MPI-IO. "
                "HDF5: H5Pset_alignment(fapl, 65536, stripe)."
            )
        return (
            "Begin each process's part at a multiple of the stripe. HDF5: "
            "H5Pset_alignment(fapl, 65536, stripe)."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Pass the stripe."""
        evidence = told.first.evidence
        stripe = int(evidence["stripe_bytes"])
        lines = hint_lines(run, {"striping_unit": str(stripe)}) if evidence["collective"] else ()
        request = int(told.mean_bytes)
        if told.files and request > stripe and request % (64 << 10) == 0:
            wide = max(told.first.use.layout.stripe_count, 1) if told.first.use else 1
            lines = (*stripe_lines(told.files[0], wide, request), *lines)
        return lines
