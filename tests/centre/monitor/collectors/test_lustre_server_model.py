# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A server in rounds against a model: targets count, restart, go and come, texts are damaged."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor.collectors._lustre_server import LustreServer, LustreServerSettings
from support.lustre_servers import Found, one_round
from support.monitor_host import FakeHost, Parameters

TARGETS = ("a-b-OST0000", "a-b-OST0001", "a-b-MDT0000")
ROWS = {
    "read_bytes": "bytes", "write_bytes": "bytes", "read": "usecs", "write": "usecs",
    "open": "usecs", "getattr": "usecs", "statfs": "usecs", "create": "usecs",
}  # fmt: skip
METADATA = ("open", "getattr", "statfs")
STEP = st.tuples(
    st.sampled_from(TARGETS),
    st.sampled_from(["count", "count", "count", "restart", "leave", "come", "damage"]),
    st.sampled_from(list(ROWS)),
    st.integers(1, 1 << 40),
)


@dataclass
class ModelTarget:
    """What a target counts: samples and sum by row."""

    is_there: bool = True
    damaged: str = ""
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)

    def count(self, row: str, amount: int) -> None:
        samples, total = self.rows.get(row, (0, 0))
        self.rows[row] = (samples + 1, total + amount)

    def text(self) -> str:
        lines = ["snapshot_time             1700000000.000000001 secs.nsecs"]
        for name, (samples, total) in self.rows.items():
            mark = "x" if name == self.damaged else ""
            lines.append(f"{name:<25} {samples} samples{mark} [{ROWS[name]}] 0 {total} {total} 0")
        return "".join(f"{line}\n" for line in lines)

    def is_whole(self) -> bool:
        return self.damaged not in self.rows


def parameters_of(targets: dict[str, ModelTarget]) -> Parameters:
    found: Parameters = {}
    for name, target in targets.items():
        if target.is_there:
            kind, stats = ("mdt", "md_stats") if "MDT" in name else ("obdfilter", "stats")
            found[f"{kind}.{name}.num_exports"] = "3\n"
            found[f"{kind}.{name}.{stats}"] = target.text()
    return {**found, "version": "2.15.5\n"}


def check(found: Found, name: str, target: ModelTarget, was_seen: bool) -> None:
    fs, label = "a-b", name.removeprefix("a-b-")
    missing = found.value(metrics.TARGET_MISSING, fs, label)
    assert missing == ((0 if target.is_there else 1) if was_seen else None)
    readable = {row: total for row, (_, total) in target.rows.items() if row != target.damaged}
    for metric, row in (
        (metrics.TARGET_READ_BYTES, "read_bytes"), (metrics.TARGET_WRITE_BYTES, "write_bytes"),
    ):  # fmt: skip
        expected = readable.get(row, 0 if target.is_whole() else None)
        assert found.value(metric, fs, label) == (expected if target.is_there else None)
    operations = {
        labels[2]: value for labels, value in found.of(metrics.TARGET_OPERATIONS).items()
        if labels[1] == label
    }  # fmt: skip
    believed = {
        row: samples for row, (samples, _) in target.rows.items()
        if target.is_there and row != target.damaged and ROWS[row] == "usecs"
    }  # fmt: skip
    by_bytes = {} if believed else operations
    assert operations == believed | by_bytes
    if "MDT" in name:
        total = sum(target.rows.get(row, (0, 0))[0] for row in METADATA)
        is_known = target.is_there and target.is_whole()
        assert found.value(metrics.METADATA_OPERATIONS, fs, label) == (total if is_known else None)


@pytest.mark.extended
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(STEP, max_size=6), min_size=1, max_size=6))
def test_rounds_give_what_the_model_counts(rounds: list[list[tuple[str, str, str, int]]]) -> None:
    targets = {name: ModelTarget() for name in TARGETS}
    collector = LustreServer(LustreServerSettings())
    clock = [0.0]
    collector.monotonic = lambda: clock[0]
    host, seen = FakeHost({"version": "2.15.5\n"}), set[str]()
    for steps in rounds:
        for target in targets.values():
            target.damaged = ""
        for name, what, row, amount in steps:
            apply(targets, name, what, row, amount)
        host.parameters = parameters_of(targets)
        clock[0] += 61.0
        found = one_round(collector, host)
        assert found.error is None
        damaged = [t for t in targets.values() if t.is_there and not t.is_whole()]
        assert len(found.problems) == len(damaged)
        seen |= {name for name, target in targets.items() if target.is_there}
        for name, target in targets.items():
            check(found, name, target, name in seen)


def apply(targets: dict[str, ModelTarget], name: str, what: str, row: str, amount: int) -> None:
    target = targets[name]
    if what == "count":
        target.count(row, amount)
    elif what == "restart":
        target.rows.clear()
    elif what == "damage":
        target.damaged = row
    else:
        target.is_there = what == "come"
        target.rows.clear()
