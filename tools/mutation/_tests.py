# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Selects the tests to run with a fault, and their order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from coverage import CoverageData

from mutation._faults import Fault

# Maximum total time of the tests for a fault, in addition to those of `make test`.
MOST_SECONDS = 120.0


class Selection:
    """Tests of a checkout, with their coverage and durations.

    Args:
        top: Directory of the checkout.
        coverage: Coverage file with a context for each test.
        durations: Lines of JSON with `id` and `t`, seconds; None if unknown.
    """

    def __init__(self, top: Path, coverage: Path, durations: Path | None) -> None:
        self._top = top
        self._data = CoverageData(str(coverage))
        self._data.read()
        self._files = {_relative(f): f for f in self._data.measured_files()}
        self._quick = set(_collected(top))
        self._seconds: dict[str, float] = {}
        if durations is not None:
            for line in durations.read_text().splitlines():
                record = json.loads(line)
                self._seconds[record["id"]] = self._seconds.get(record["id"], 0.0) + record["t"]

    def seconds(self, tests: list[str]) -> float:
        """Return the time of tests, or of those in folders; one second each if unknown."""
        return sum(self._seconds.get(test) or self._below(test) or 1.0 for test in tests)

    def _below(self, place: str) -> float:
        if "::" in place:
            return 0.0
        return sum(seconds for test, seconds in self._seconds.items() if test.startswith(place))

    def of(self, fault: Fault) -> tuple[list[str], list[str], str]:
        """Return the tests that can detect a fault.

        Returns:
            Tests of `make test`, other tests, and what was left out.
        """
        if fault.native:
            own = [i for i in sorted(self._quick) if i.startswith(fault.tests)]
            return own, list(fault.tests), ""
        seen = self._contexts(fault)
        near = f"tests/{fault.room}/"
        if not seen:  # coverage does not see code in separate processes
            seen.update(test for test in self._quick if test.startswith(near))
        ordered = sorted(
            seen, key=lambda test: (not test.startswith(near), self._seconds.get(test, 1.0), test)
        )
        quick = [test for test in ordered if test in self._quick]
        rest: list[str] = []
        spent = 0.0
        left = 0
        for test in ordered:
            if test in self._quick:
                continue
            spent += self._seconds.get(test, 1.0)
            if spent > MOST_SECONDS:
                left += 1
            else:
                rest.append(test)
        return quick, rest, f"{left} slow tests not tried" if left else ""

    def _contexts(self, fault: Fault) -> set[str]:
        """Return the tests that execute the line; for code run at import, those of the file."""
        measured = self._files.get(fault.path)
        if measured is None:
            return set()
        by_line = self._data.contexts_by_lineno(measured)
        contexts = {c for c in by_line.get(fault.line, ()) if c}
        if not contexts:
            contexts = {c for found in by_line.values() for c in found if c}
        return {context.split("|")[0] for context in contexts}


def _relative(path: str) -> str:
    _, found, tail = path.rpartition("/src/stripewise/")
    return f"src/stripewise/{tail}" if found else path


def _collected(top: Path) -> list[str]:
    """Return the tests of `make test`, by their names."""
    command = [sys.executable, "-m", "pytest", "tests", "--collect-only", "-q", "--no-header"]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]
