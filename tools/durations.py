# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints where the time of tests is spent, from the output of `pytest --record FILE`.

Usage: python tools/durations.py FILE...
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

BANDS = (0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, float("inf"))


def main(files: list[str]) -> int:
    """Print Markdown tables: by duration, by folder, the slowest tests, the slowest fixtures."""
    if not files:
        print(__doc__)
        return 2
    tests: dict[str, float] = defaultdict(float)
    fixtures: dict[str, list[float]] = defaultdict(list)
    for file in files:
        for line in Path(file).read_text().splitlines():
            record = json.loads(line)
            tests[record["id"]] += record["t"]
            for name, seconds in record.get("fixtures", ()):
                fixtures[f"{name} ({record['id'].split('::')[0].rpartition('/')[0]})"].append(
                    seconds
                )
    print(f"{len(tests)} tests, {sum(tests.values()):.0f} s\n")
    _table("a test takes", _by_length(tests))
    _table("folder", _grouped(tests, lambda test: "/".join(test.split("::")[0].split("/")[:2])))
    _table("test, all its cases", _grouped(tests, lambda test: test.partition("[")[0])[:40])
    _table("fixture", sorted(_summed(fixtures), key=lambda row: -row[2])[:30])
    return 0


def _by_length(tests: dict[str, float]) -> list[tuple[str, int, float]]:
    rows = []
    least = 0.0
    for most in BANDS:
        own = [seconds for seconds in tests.values() if least <= seconds < most]
        rows.append((f"{least:g} to {most:g} s", len(own), sum(own)))
        least = most
    return rows


def _grouped(tests: dict[str, float], key) -> list[tuple[str, int, float]]:  # type: ignore[no-untyped-def]
    found: dict[str, list[float]] = defaultdict(list)
    for test, seconds in tests.items():
        found[key(test)].append(seconds)
    return sorted(_summed(found), key=lambda row: -row[2])


def _summed(found: dict[str, list[float]]) -> list[tuple[str, int, float]]:
    return [(name, len(seconds), sum(seconds)) for name, seconds in found.items()]


def _table(title: str, rows: list[tuple[str, int, float]]) -> None:
    print(f"| {title} | number | seconds |\n|---|---|---|")
    for name, number, seconds in rows:
        print(f"| {name} | {number} | {seconds:.1f} |")
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
