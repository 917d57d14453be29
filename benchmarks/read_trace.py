# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the speed of reading traces: records per second into `Trace`, calls by `expand`.

Usage: python benchmarks/read_trace.py [--records 1000000] [--ranks 16]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from stripewise.evidence.containers import _trace_blocks as t
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op, expand

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    file_id,
    parse_container,
)
from support.traces import FakeCall, FakeThread, FakeTrace

PATH = "/scratch/out.dat"


class _Bulk(FakeTrace):
    """Trace whose log is made at once: single calls at random offsets, and runs between them."""

    n_records = 0
    seed = 0

    def payloads(self, file_id: object) -> list[tuple[int, bytes]]:
        found = super().payloads(file_id)
        return [*found, (int(t.TraceBlockKind.EVENTS), _log(self.n_records, self.seed))]


def _log(n_records: int, seed: int) -> bytes:
    """Return records of which every fourth is a run of four calls."""
    n_groups = n_records // 4
    group = np.zeros(n_groups, [("event", t.EVENT, (3,)), ("run", t.RUN_WITHOUT_DURATIONS)])
    offsets = np.random.default_rng(seed).integers(0, 1 << 40, (n_groups, 4))
    sequence = np.arange(n_groups)[:, None] * 7 + np.arange(1, 5)
    for place, events in ((slice(0, 3), group["event"]), (3, group["run"]["first"])):
        events["sequence"], events["start_ns"] = sequence[:, place], sequence[:, place] * 1000
        events["offset"], events["duration_ns"] = offsets[:, place], 900
        events["bytes"], events["name"], events["thread"] = 4096, 1, 1
        events["file_id"], events["op"] = file_id(PATH), Op.WRITE
        events["header"]["version"] = t.TRACE_VERSION
        events["header"]["kind"] = t.TraceRecordKind.EVENT
        events["header"]["bytes"] = t.EVENT.itemsize
    run = group["run"]
    run["first"]["header"]["kind"] = t.TraceRecordKind.RUN
    run["first"]["header"]["bytes"] = t.RUN_WITHOUT_DURATIONS.itemsize
    run["count"], run["stride"][:, 0], run["sequence_stride"][:, 0] = 4, 4096, 1
    return group.tobytes()


def make_trace(directory: Path, n_records: int, n_ranks: int) -> Path:
    """Write a container with `n_records` records of `n_ranks` ranks."""
    processes = []
    for rank in range(n_ranks):
        trace = _Bulk([FakeThread(log=[FakeCall(PATH, sequence=0)])])
        trace.n_records, trace.seed = n_records // n_ranks, rank
        fields = {"rank": rank, "world_size": n_ranks, "start_ns": 10**18}
        processes.append(FakeProcess(fields, [FakeFile(PATH)], trace=trace))
    path = directory / "node.sw"
    path.write_bytes(build_container(processes))
    return path


def measure(n_records: int, n_ranks: int) -> dict[str, float]:
    """Read a trace; return the times in seconds."""
    with tempfile.TemporaryDirectory() as directory:
        path = make_trace(Path(directory), n_records, n_ranks)
        size = path.stat().st_size
        start = time.perf_counter()
        raw = parse_container(path.read_bytes(), events=True)
        parsed = time.perf_counter()
        trace = read_evidence(path).trace
        read = time.perf_counter()
        assert trace is not None
        assert len(trace.rows) >= sum(len(rows) for _, rows, _ in raw.trace.rows)
        calls = expand(trace)
        expanded = time.perf_counter()
    n_rows = len(trace.rows)
    layers = {IoLayer(int(layer)).name for layer in np.unique(calls["layer"])}
    assert layers == {"POSIX"}
    return {
        "records": n_rows,
        "calls": len(calls),
        "size_bytes": size,
        "parse_seconds": parsed - start,
        "read_seconds": read - parsed,
        "expand_seconds": expanded - read,
        "parsed_records_per_second": n_rows / (parsed - start),
        "read_records_per_second": n_rows / (read - parsed),
        "expanded_calls_per_second": len(calls) / (expanded - read),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.records, options.ranks)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['records']:.0f} records ({found['size_bytes'] / 2**20:.0f} MiB):")
    print(f"  parsed   {found['parsed_records_per_second'] / 1e6:6.2f} million records/s")
    print(
        f"  as trace, profile and accesses {found['read_records_per_second'] / 1e6:6.2f} million/s"
    )
    print(f"  expanded {found['expanded_calls_per_second'] / 1e6:6.2f} million calls/s")


if __name__ == "__main__":
    main()
