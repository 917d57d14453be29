# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic runs: counters and single calls, written down as a table."""

import numpy as np

from stripewise.evidence.trace import (
    COUNTER_ROW,
    HEAT_ROW,
    RECORDED_LAYERS,
    TRACE_ROW,
    Evidence,
    FileHints,
    FileLayout,
    Op,
    RunProfile,
    Trace,
)

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)


class RunBuilder:
    """Collects rows; `evidence()` makes the record that is diagnosed."""

    def __init__(self, n_ranks=4, elapsed=100.0, hosts=("a",), command="./program"):
        self.n_ranks, self.elapsed, self.hosts, self.command = n_ranks, elapsed, hosts, command
        self.paths, self.rows, self.heat = [], [], []
        self.hints, self.layouts = {}, {}
        self.calls, self.names = [], []
        self.objects, self.shapes = (), ()
        self.bin_seconds = 0.0

    def file(self, path):
        if path not in self.paths:
            self.paths.append(path)
        return self.paths.index(path)

    def add(self, path, layer, rank, ops, *, own=True, size=0, order=1.0, **fields):
        """A counter row; `ops` is Op -> (count, bytes, seconds)."""
        row = np.zeros((), COUNTER_ROW)
        row["file"], row["layer"], row["rank"] = self.file(path), layer, rank
        row["process"] = max(rank, 0) if rank > -2 else -1
        row["slowest_rank"] = row["fastest_rank"] = row["unaligned"] = -1
        row["maximum_offset"] = -1
        row["seconds_deviation"] = row["bytes_deviation"] = np.nan
        for op, (count, moved, seconds) in ops.items():
            row["count"][op], row["bytes"][op], row["seconds"][op] = count, moved, seconds
        if own:
            row["outermost_seconds"] = row["seconds"].sum()
            row["outermost_read_bytes"] = row["bytes"][list(READS)].sum()
            row["outermost_write_bytes"] = row["bytes"][list(WRITES)].sum()
        for kind, pair in (("read", READS), ("write", WRITES)):
            count = row["count"][list(pair)].sum()
            row[f"sequential_{kind}s"] = row[f"consecutive_{kind}s"] = round(order * count)
        for name, value in fields.items():
            row[name] = value
        self.rows.append(row)
        return row

    def everyone(self, path, layer, ops, **fields):
        """The same row of every rank."""
        for rank in range(self.n_ranks):
            self.add(path, layer, rank, ops, **fields)

    def bin(self, rank, path, layer, place, read=0.0, write=0.0, busy=0.0):
        file = -1 if path is None else self.file(path)
        self.heat.append((rank, file, layer, place, read, write, busy))

    def call(
        self,
        path,
        layer,
        op,
        name,
        process,
        sequence,
        offset,
        size,
        *,
        parent="",
        busy=0.001,
        count=1,
        stride=0,
        step=1,
        depth=0,
    ):
        """Calls of one process, folded if `count` is more than 1."""
        row = np.zeros((), TRACE_ROW)
        row["process"] = row["rank"] = process
        row["file"], row["layer"], row["op"], row["depth"] = self.file(path), layer, op, depth
        row["name"], row["parent"] = self._name(name), self._name(parent) if parent else -1
        row["object"] = row["shape"] = row["view"] = row["memory"] = -1
        row["offset"], row["bytes"], row["count"] = offset, size, count
        row["stride"][0], row["sequence"], row["sequence_stride"][0] = stride, sequence, step
        row["start_ns"] = sequence * 1_000_000
        row["last_start_ns"] = row["start_ns"] + (count - 1) * 1_000_000
        row["busy_ns"] = busy * 1e9
        self.calls.append(row)
        return row

    def _name(self, name):
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def evidence(self, **fields):
        profile = RunProfile(
            source="synthetic",
            command=self.command,
            job_id="42",
            n_ranks=self.n_ranks,
            n_processes=max(self.n_ranks, 1),
            hosts=tuple(self.hosts),
            elapsed_seconds=self.elapsed,
            paths=tuple(self.paths),
            counters=np.array(self.rows, COUNTER_ROW) if self.rows else np.zeros(0, COUNTER_ROW),
            layers=tuple(layer.name.lower() for layer in RECORDED_LAYERS),
            heat=np.array(self.heat, HEAT_ROW),
            heat_bin_seconds=self.bin_seconds,
            hints={self.file(path): FileHints(**found) for path, found in self.hints.items()},
            layouts={self.file(path): FileLayout(*found) for path, found in self.layouts.items()},
            **fields,
        )
        return Evidence(profile, self._trace())

    def _trace(self):
        if not self.calls:
            return None
        rows = np.array(self.calls, TRACE_ROW)
        rows = rows[np.lexsort((rows["sequence"], rows["process"]))]
        return Trace(
            source="synthetic",
            rows=rows,
            names=tuple(self.names),
            paths=tuple(self.paths),
            objects=self.objects,
            shapes=self.shapes,
            process_rank=np.arange(self.n_ranks),
            process_host=np.zeros(self.n_ranks, np.int64),
            hosts=tuple(self.hosts),
            n_ranks=self.n_ranks,
        )
