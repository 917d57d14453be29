# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""mdtest's text, of versions 1.8 to 4: rates of metadata operations.

mdtest has no JSON and no CSV of its results.  Source: hpc/ior 4.1, mdtest.c; mdtest 1.9.3 and
3.3.0, as they print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from stripewise.calibration.readers._ior_test import each_of, most_spread
from stripewise.calibration.readers._lines import (
    MOST_RANKS,
    clock,
    lines_of,
    number,
    option_size,
    ranks_in,
    shown,
    whole,
)
from stripewise.calibration.readers._printed import PrintedReader, possible
from stripewise.calibration.readers._record import Found, Metadata, Test, Timed
from stripewise.calibration.readers._words import options_of
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS
from stripewise.text import plural

_LAUNCHED = re.compile(r"mdtest-(\S{1,40}) was launched with (\d{1,12}) total task\(s\) on "
                       r"(\d{1,12}) node", re.ASCII)  # fmt: skip
_COUNT = re.compile(r"(\d{1,12}) tasks?, (\d{1,19}) (files/directories|files|directories)", re.ASCII)
_SUMMARY = re.compile(r"SUMMARY( rate| time)?\b.{0,40}?\(of (\d{1,9}) iterations?\)", re.ASCII)
_ROW = re.compile(
    r" {2,}(Directory|File|Tree) (creation|stat|read|rename|removal) {0,40}:?((?: +\S{1,40}){4,7}) *"
)
_OPERATIONS = {
    ("Directory", "creation"): "create-directory", ("Directory", "stat"): "stat-directory",
    ("Directory", "rename"): "rename-directory", ("Directory", "removal"): "remove-directory",
    ("File", "creation"): "create", ("File", "stat"): "stat", ("File", "read"): "read-file",
    ("File", "rename"): "rename", ("File", "removal"): "remove",
    ("Tree", "creation"): "create-tree", ("Tree", "removal"): "remove-tree",
}  # fmt: skip
_WITH_VALUE = "abBdefGiIlnNpsVwWxz"
_NEW = 4
"""Version from which least and greatest are those of iterations, not of ranks."""


@dataclass
class _Run:
    """One run of mdtest, read line by line."""

    version: str
    ranks: str
    nodes: str
    started: float = 0.0
    command: str = ""
    items: int = 0
    iterations: int = 0
    part: str = ""
    rows: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    times: bool = False
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    finished: bool = False

    def take(self, line: str) -> None:
        """Take one line; what is none of mdtest's is left alone."""
        if match := _SUMMARY.match(line.strip()):
            self.part = "time" if match[1] == " time" else "rate"
            self.times = self.times or self.part == "time"
            self.iterations = int(match[2])
        elif line.startswith("Command line used:"):
            self.command = line.partition(":")[2].strip()
        elif line.startswith("-- finished at"):
            self.finished, self.part = True, ""
        elif match := _COUNT.match(line):
            self.items = int(match[2])
        elif "FAILED in" in line or line.startswith("ERROR"):
            self.failed = self.failed or line
        elif self.part == "rate" and (match := _ROW.fullmatch(line)):
            self._row(_OPERATIONS.get((match[1], match[2]), ""), match[3].split(), line)

    def _row(self, operation: str, words: list[str], line: str) -> None:
        values = [number(word) for word in words[-4:]]
        high, low, mean, spread = (-1.0 if one is None else one for one in values)
        if not operation or len(words) not in (4, 7):
            return
        problem = _problem(high, low, mean, spread, self.iterations)
        if problem:
            self.notes.append(f"{shown(line)!r} is left out: {problem}.")
        elif self.rows.setdefault(operation, (low, mean, high, spread)) != (low, mean, high, spread):
            self.notes.append(f"{operation} is there twice: the first one counts.")


def _problem(high: float, low: float, mean: float, spread: float, iterations: int) -> str:
    """Return why a row cannot be true; "" if it can."""
    if high == low == mean == 0:
        return ""
    if min(high, low, mean, spread) < 0:
        return "it has something else than numbers"
    near = 0.001
    if not low - near <= mean <= high + near:
        return f"a mean of {mean:g} is not between {low:g} and {high:g}"
    if not all(possible("create", one) for one in (high, mean)):
        return "its rate is impossible"
    if iterations == 1 and spread > 0:
        return "one iteration has no deviation"
    if spread > 1.01 * most_spread(low - near, mean, high + near, max(iterations, 2)) + near:
        return f"a deviation of {spread:g} is impossible between {low:g} and {high:g}"
    return ""


class Mdtest(PrintedReader):
    """What mdtest prints: of each operation the greatest, least and mean rate."""

    name = "mdtest"

    def recognises(self, text: str, name: str) -> bool:
        """Whether mdtest printed it."""
        return "mdtest-" in text and " was launched with " in text

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return the runs of mdtest."""
        found: list[Test] = []
        notes: list[str] = []
        first = ""
        for run in _runs(text, name):
            try:
                found.append(_test(run, name))
            except UsageError as error:
                first = first or str(error)
                notes.append(f"{error}; it is left out.")
        if not found or all(one.failed for one in found):
            why = first or (f"{name}: {found[0].failed}" if found else f"{name}: no mdtest")
            raise UsageError(f"{why}: mdtest's output without a rate of files: give all of it")
        return Found(tuple(found), tuple(notes))


def _runs(text: str, name: str) -> Iterator[_Run]:
    run, started = None, 0.0
    runs = 0
    for line in lines_of(text):
        if line.startswith("-- started at"):
            started = clock(line)
        elif match := _LAUNCHED.search(line):
            if run is not None:
                yield run
            runs += 1
            RESULTS.check_entries(runs, name)
            run = _Run(match[1], match[2], match[3], started)
        elif run is not None:
            if ": MPI Coordinated Test" in line:
                yield run
                run = None
            else:
                run.take(line)
    if run is not None:
        yield run


def _test(run: _Run, name: str) -> Test:
    """Return one run as a test.

    Raises:
        UsageError: It does not say what it did.
    """
    source = f"{name}: mdtest"
    ranks = ranks_in(source, "tasks", run.ranks)
    nodes = ranks_in(source, "nodes", run.nodes)
    if nodes > ranks:
        raise UsageError(f"{source}: {ranks} tasks on {nodes} nodes: check that the file is whole")
    options = options_of(run.command, _WITH_VALUE)
    notes = list(run.notes[:50])
    if not run.finished:
        notes.append("its end is missing: what is whole was read.")
    work = _work(run, options, ranks, source)
    timed, spread = _timed(run, work, ranks, notes)
    if "W" in options and timed:
        notes.append("a stonewall ended it: the amounts are those that were asked for.")
    return Test(
        "mdtest", source, nodes, ranks, replace(work, spread=spread), tuple(timed),
        run.version, options.get("d", ""), _cache(options),
        _stonewall(options), started_unix_seconds=run.started,
        failed="" if timed else _why_none(run), notes=tuple(notes),
    )  # fmt: skip


def _why_none(run: _Run) -> str:
    if run.failed:
        return f"mdtest ended with {shown(run.failed, 160)!r}"
    if run.times and not run.rows:
        return "mdtest printed times of operations (-Z) with 3 digits only: use -P"
    return "mdtest printed no rate that can be used"


def _work(run: _Run, options: Mapping[str, str], ranks: int, source: str) -> Metadata:
    files = run.items // ranks or _option(options, "n", source) or _option(options, "I", source)
    if not files:
        raise UsageError(f"{source}: no number of files: give the whole output")
    return Metadata(
        files, "own" if "u" in options else "shared", _option(options, "z", source),
        _option(options, "b", source) or int("z" in options),
        option_size(options.get("w", "")) or 0, "y" in options,
    )  # fmt: skip


def _directories(work: Metadata) -> int:
    """Return the directories of one tree, as far as numbers of this size make sense."""
    if work.depth <= 0 or work.width <= 1:
        return max(work.depth, 0) + 1
    total, level = 1, 1
    for _ in range(min(work.depth, 64)):
        level = min(level * work.width, 10**15)
        total += level
    return total


def _option(options: Mapping[str, str], letter: str, source: str) -> int:
    text = options.get(letter, "")
    value = whole(text, MOST_RANKS * 1000) if text else 0
    if value is None:
        raise UsageError(f"{source}: -{letter} {shown(text)!r} is no number: give the whole output")
    return value


def _stonewall(options: Mapping[str, str]) -> float:
    value = number(options.get("W", "")) or 0.0
    return value if 0 < value < 1e9 else 0.0


def _cache(options: Mapping[str, str]) -> str:
    if "posix.odirect" in options:
        return "direct"
    return "shift" if (whole(options.get("N", "")) or 0) > 0 else "none"


def _timed(
    run: _Run, work: Metadata, ranks: int, notes: list[str]
) -> tuple[list[Timed], dict[str, tuple[float, float, float]]]:
    """Return the repeats as far as they are told, and the spread where they are not."""
    timed: list[Timed] = []
    trees = _directories(work) * (ranks if work.sharing == "own" else 1)
    spread: dict[str, tuple[float, float, float]] = {}
    repeats = max(run.iterations, 1)
    major = whole(run.version.partition(".")[0], 1000) or 0
    for operation, (low, mean, high, _) in run.rows.items():
        if mean <= 0:
            continue
        rates = each_of(low, mean, high, repeats) if major >= _NEW or repeats == 1 else ()
        if not rates:
            spread[operation] = (low, mean, high)
        amount = float(trees if operation.endswith("-tree") else run.items or 1)
        timed += [Timed(operation, amount, amount / rate, repeat)
                  for repeat, rate in enumerate(rates or (mean,), 1)]  # fmt: skip
    if spread and repeats > 1:
        notes.append(f"only the mean of {plural(repeats, 'iteration')} is told, with the least "
                     "and the greatest.")  # fmt: skip
    elif repeats > 1 and timed:
        notes.append("the order of the iterations is not told.")
    return timed, spread
