# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a run of pytest takes, and the record of how long they took.

Without an option it takes those of `make test`: all but the tests marked `long`, of those marked
`extended(keep=N)` N cases each (or the one with the id that `keep` names), and of a case that is
made for both databases or both MPIs one of the two, in turns. A test that is named on the command
line is always taken. With `-n`, name the folder (`pytest tests -n 2 --all`): else the processes
that xdist starts do not know these options.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ALTERNATIVES = (("sqlite", "postgresql"), ("mpich", "openmpi"))
HOMES = {"lustre_mpi": 0, "roots": 5}
"""Marks of tests for which something is built for minutes, and the part of ten that has it."""

LONGEST_NAME = 80
"""Characters of a case's name that are shown."""

TOGETHER = (
    "tests/centre/portal/security",
    "tests/centre/portal/browser",
    "tests/centre/portal/pages",
    "tests/run/slurm",
)
"""Folders whose fixtures take long: one process has all tests of each."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("choice of tests")
    group.addoption("--all", action="store_true", help="every test, as `make test-all`")
    group.addoption(
        "--rest", metavar="K/N", help="the K-th of N parts (from 0) of what `make test` leaves out"
    )
    group.addoption(
        "--record", metavar="FILE", type=Path, help="write the seconds of tests and fixtures"
    )


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by its text; a long one by how it begins, and by what tells it from others."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_NAME:
        return None  # pytest knows a name
    data = val.encode("utf-8", "surrogatepass") if isinstance(val, str) else val
    begin = data[:LONGEST_NAME].decode("ascii", "backslashreplace")
    return f"{begin}...{zlib.crc32(data):08x}"


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--record")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(path.absolute()))


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for; keep together what shares dear fixtures."""
    for item in items:
        if item.nodeid.startswith(TOGETHER):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("/test_")[0]))
    if config.getoption("--all") or any("::" in word for word in config.args):
        return
    left_out = _beyond(items)
    part = config.getoption("--rest")
    if part is not None:
        left_out = set(items) - _part(sorted(left_out, key=lambda item: item.nodeid), part)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _beyond(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """What `make test` leaves out."""
    found = set()
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("long") or any(map(item.get_closest_marker, HOMES)):
            found.add(item)
        elif item.get_closest_marker("extended"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for of_one in cases.values():
        mark = of_one[0].get_closest_marker("extended")
        keep = mark.kwargs.get("keep", 0) if mark is not None else 0
        if isinstance(keep, str):
            found.update(item for item in of_one if not item.nodeid.endswith(f"[{keep}]"))
        else:
            found.update(sorted(of_one, key=_draw)[keep:])
    return found | _turned(item for item in items if item not in found)


def _turned(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """All but one of the alternatives of each case."""
    left_out = set()
    chosen = list(items)
    for words in ALTERNATIVES:
        pattern = re.compile(rf"(?<=[\[-])({'|'.join(words)})(?=[]-])")
        alike: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in chosen:
            alike[pattern.sub("*", item.nodeid)].append(item)
        for case, of_one in alike.items():
            turn = zlib.crc32(case.encode()) % len(of_one)
            left_out.update(of_one[:turn] + of_one[turn + 1 :])
        chosen = [item for item in chosen if item not in left_out]
    return left_out


def _home(item: pytest.Item) -> int:
    """Where what it needs is built, else anywhere."""
    return next((n for mark, n in HOMES.items() if item.get_closest_marker(mark)), _draw(item))


def _draw(item: pytest.Item) -> int:
    """The same number in every run, without order among the cases of a test."""
    return zlib.crc32(item.nodeid.encode())


def _part(items: Sequence[pytest.Item], part: str) -> set[pytest.Item]:
    """A part of tests, the same in every run; cases of one test are spread over the parts.

    Raises:
        pytest.UsageError: The part is not K/N with K < N.
    """
    try:
        number, parts = (int(word) for word in part.split("/"))
    except ValueError:
        number, parts = 0, 0
    if not 0 <= number < parts:
        raise pytest.UsageError(f"--rest {part}: give K/N with 0 <= K < N, as in 3/10")
    return {item for item in items if _home(item) % parts == number}


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Iterator[None]:
    """Note what fixtures cost in the report of the test that waits for them."""
    start = time.perf_counter()
    try:
        return (yield)
    finally:
        seconds = time.perf_counter() - start
        if seconds > 0.05:
            what = f"{request.scope} {request.fixturename}"
            request._pyfuncitem.user_properties.append(("fixture", (what, round(seconds, 3))))


class Record:
    """Write a line of JSON for each phase of each test: id, when, t (seconds), fixtures."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        line: dict[str, Any] = {
            "id": report.nodeid.partition("@tests/")[0],
            "when": report.when,
            "t": round(report.duration, 6),
            "outcome": report.outcome,
        }
        if report.when == "setup":
            line["fixtures"] = [v for name, v in report.user_properties if name == "fixture"]
        self._file.write(json.dumps(line) + "\n")
