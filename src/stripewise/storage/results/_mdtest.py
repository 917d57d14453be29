# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text of mdtest, versions 1.9 to 4, as rates of metadata operations.

mdtest has neither JSON nor CSV output of its results. Source: hpc/ior 4.1, mdtest.c; mdtest 1.9.3
and 3.3.0, as they print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import pstdev, stdev

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS
from stripewise.present import plural
from stripewise.storage.results._base import Found, MetadataTest, Reader, Test, Timed, possible
from stripewise.storage.results._ior_test import each_of, in_some_order, most_spread
from stripewise.storage.results._lines import (
    MOST_RANKS,
    clock,
    lines_of,
    number,
    option_size,
    options_of,
    ranks_in,
    shown,
    whole,
)

_LAUNCHED = re.compile(r"mdtest-(\S{1,40}) was launched with (\d{1,12}) total task\(s\) on "
                       r"(\d{1,12}) node", re.ASCII)  # fmt: skip
_COUNT = re.compile(
    r"(\d{1,12}) tasks?, (\d{1,19}) (files/directories|files|directories)", re.ASCII
)
_SUMMARY = re.compile(
    r"SUMMARY(?: (rate|time))?(?: \(in (?:ops/sec|ms/op)\))?: \(of (\d{1,9}) iterations?\)",
    re.ASCII,
)
_ROW = re.compile(
    r" {2,}(Directory|File|Tree) (creation|stat|read|rename|removal) {0,40}:?"
    r"((?: +\S{1,40}){4}|(?: +\S{1,40}){7}) *"
)
_OPERATIONS = {
    ("Directory", "creation"): "create-directory", ("Directory", "stat"): "stat-directory",
    ("Directory", "rename"): "rename-directory", ("Directory", "removal"): "remove-directory",
    ("File", "creation"): "create", ("File", "stat"): "stat", ("File", "read"): "read-file",
    ("File", "rename"): "rename", ("File", "removal"): "remove",
    ("Tree", "creation"): "create-tree", ("Tree", "removal"): "remove-tree",
}  # fmt: skip
_STONEWALL = re.compile(r"Continue stonewall hit min: \d{1,19} max: (\d{1,19}) avg: ", re.ASCII)
_WITH_VALUE = "abBdefGiIlnNpsVwWxz"
_NEAR = 0.001
_NEW = 4
"""Version from which the figures of a row are those of iterations.

Before, they are those of all tasks of all iterations (mdtest.c of 1.9.3 and of hpc/ior 3.0 to 3.4,
`summarize_results`): one iteration of several tasks has a deviation.
"""


@dataclass
class _Run:
    """One run of mdtest, parsed line by line."""

    version: str
    ranks: str
    nodes: str
    started: float = 0.0
    command: str = ""
    items: int = 0
    iterations: int = 0
    part: str = ""
    columns: int = 0
    rows: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    twice: set[str] = field(default_factory=set)
    times: bool = False
    most: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    finished: bool = False
    launched: str = ""
    used_nodes: str = ""

    def take(self, line: str) -> None:
        """Parse one line; ignore it if it is not mdtest's."""
        if "SUMMARY" in line and (match := _SUMMARY.fullmatch(line.strip())):
            self.part = match[1] or "rate"
            self.times = self.times or self.part == "time"
            self.iterations, self.columns = int(match[2]), 0
        elif line.startswith("   Operation "):
            self.part = "" if self.columns else self.part
            self.columns = 7 if "per Rank:" in line else 4
        elif line.startswith("Command line used:"):
            self.command = line.partition(":")[2].strip()
        elif line.startswith("-- finished at"):
            self.finished, self.part = True, ""
        elif " task" in line and (match := _COUNT.match(line)):
            self._tasks(int(match[1]))
            self.items = int(match[2])
        elif line.startswith("Continue") and (match := _STONEWALL.match(line)):
            self.most += [int(match[1])] if len(self.most) < 10_000 else []
        elif "FAILED in" in line or line.startswith("ERROR"):
            self.failed = self.failed or line
        elif self.part == "rate" and line.startswith("  ") and (match := _ROW.fullmatch(line)):
            self._row(_OPERATIONS.get((match[1], match[2]), ""), match[3].split(), line)

    def _tasks(self, tasks: int) -> None:
        """Take the number of tasks of a table, which -f, -l and -s let be less than launched."""
        ranks, nodes = (whole(one, MOST_RANKS) or 0 for one in (self.launched or self.ranks,
                                                                self.nodes))  # fmt: skip
        if 0 < tasks < ranks:
            self.launched = self.launched or self.ranks
            self.ranks = str(tasks)
            self.used_nodes = str(min(nodes, -(-tasks // max(ranks // max(nodes, 1), 1))))

    def of_other_tasks(self) -> _Run:
        """Return the next table of the same launch."""
        return _Run(self.version, self.launched or self.ranks, self.nodes, self.started,
                    self.command)  # fmt: skip

    def _row(self, operation: str, words: list[str], line: str) -> None:
        values = [-1.0 if (one := number(word)) is None else one for word in words]
        if not operation:
            return
        if len(values) != (self.columns or len(values)):
            problem = f"it has {len(values)} columns"
        elif min(values) < 0:
            problem = "it has something else than numbers"
        else:
            high, low, mean, spread = values[-4:]
            problem = _problem(high, low, mean, spread, self.iterations, self._shares(operation))
            if not problem and self.rows.setdefault(operation, (low, mean, high)) != (
                low, mean, high,
            ):  # fmt: skip
                self.twice.add(operation)
        if problem:
            self.notes.append(f"{shown(line)!r} is left out: {problem}.")

    def _shares(self, operation: str) -> int:
        """Return the number of figures that one iteration has in a row."""
        if self.is_new or operation.endswith("-tree"):
            return 1
        return max(whole(self.ranks, MOST_RANKS) or 1, 1)

    @property
    def is_new(self) -> bool:
        """Whether minimum, maximum and deviation are those of iterations, not of tasks.

        A table that has figures of ranks beside those of iterations is of that kind, too.
        """
        return self.columns == 7 or (whole(self.version.partition(".")[0], 1000) or 0) >= _NEW


def _problem(
    high: float, low: float, mean: float, spread: float, iterations: int, shares: int
) -> str:
    """Return why a row is impossible; empty if it is possible.

    Args:
        high: Greatest rate.
        low: Least rate.
        mean: Mean rate.
        spread: Standard deviation.
        iterations: Number of iterations.
        shares: Number of figures that each iteration has.
    """
    if high == low == mean == 0:
        return ""
    if not low - _NEAR <= mean <= high + _NEAR:
        return f"a mean of {mean:g} is not between {low:g} and {high:g}"
    if not all(possible("create", one) for one in (high, mean)):
        return "its rate is impossible"
    if iterations * shares == 1 and (spread > 0 or high - low > _NEAR):
        return "one iteration has no deviation"
    figures = max(iterations * shares, 2)
    if spread > 1.01 * most_spread(low - _NEAR, mean, high + _NEAR, figures) + _NEAR:
        return f"a deviation of {spread:g} is impossible between {low:g} and {high:g}"
    if shares > 1:
        return ""
    if rates := each_of(low, mean, high, iterations):
        known = (pstdev(rates), stdev(rates) if iterations > 1 else 0.0)
        if all(abs(one - spread) > 0.003 * one + 0.01 for one in known):
            return f"its deviation is {known[1]:g}, not {spread:g}: the file is damaged"
    if not rates and iterations in (2, 3):
        return f"{low:g}, {mean:g} and {high:g} do not agree: the file is damaged"
    return ""


class Mdtest(Reader):
    """Reader of mdtest's output: maximum, minimum and mean rate of each operation."""

    name = "mdtest"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether mdtest printed it."""
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
        elif "launched" in line and (match := _LAUNCHED.search(line)):
            if run is not None:
                yield run
            runs += 1
            RESULTS.check_entries(runs, name)
            run = _Run(match[1], match[2], match[3], started)
        elif run is not None:
            if ": MPI Coordinated Test" in line:
                yield run
                run = None
                continue
            if run.rows and _COUNT.match(line):  # of other tasks: -f, -l, -s
                run.finished = True
                yield run
                runs += 1
                RESULTS.check_entries(runs, name)
                run = run.of_other_tasks()
            run.take(line)
    if run is not None:
        yield run


def _test(run: _Run, name: str) -> Test:
    """Return one run as a test.

    Raises:
        UsageError: Its work is unknown.
    """
    source = f"{name}: mdtest"
    ranks = ranks_in(source, "tasks", run.ranks)
    nodes = ranks_in(source, "nodes", run.used_nodes or run.nodes)
    if nodes > ranks:
        raise UsageError(
            f"{source}: {ranks} tasks on {nodes} nodes: check that the file is complete"
        )
    options = options_of(run.command, _WITH_VALUE)
    notes = list(run.notes[:50])
    if run.launched:
        notes.append(f"{ranks} of {run.launched} tasks took part; that they fill nodes one after "
                     "the other is assumed.")  # fmt: skip
    if not run.finished:
        notes.append("its end is missing: the complete part was read.")
    work = _work(run, options, ranks, source)
    timed, spread = _timed(run, work, ranks, notes)
    if run.most and len(run.most) > 1:
        notes.append("a stonewall ended each iteration elsewhere: amounts are their mean.")
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


def _work(run: _Run, options: Mapping[str, str], ranks: int, source: str) -> MetadataTest:
    files = run.items // ranks or _option(options, "n", source) or _option(options, "I", source)
    if not files:
        raise UsageError(f"{source}: no number of files: give the whole output")
    return MetadataTest(
        files, "own" if "u" in options else "shared", _option(options, "z", source),
        _option(options, "b", source) or int("z" in options),
        option_size(options.get("w", "")) or 0, "y" in options,
    )  # fmt: skip


def _directories(work: MetadataTest) -> int:
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
        raise UsageError(
            f"{source}: -{letter} {shown(text)!r} is not a number: give the whole output"
        )
    return value


def _stonewall(options: Mapping[str, str]) -> float:
    value = number(options.get("W", "")) or 0.0
    return value if 0 < value < 1e9 else 0.0


def _cache(options: Mapping[str, str]) -> str:
    if "posix.odirect" in options:
        return "direct"
    return "shift" if (whole(options.get("N", "")) or 0) > 0 else "none"


def _timed(
    run: _Run, work: MetadataTest, ranks: int, notes: list[str]
) -> tuple[list[Timed], dict[str, tuple[float, float, float]]]:
    """Return the repeats as far as they are known, and the spread if they are not."""
    timed: list[Timed] = []
    items = ranks * sum(run.most) / len(run.most) if run.most else run.items or ranks * work.files
    trees = _directories(work) * (ranks if work.sharing == "own" else 1)
    spread: dict[str, tuple[float, float, float]] = {}
    repeats = max(run.iterations, 1)
    for place, (operation, (low, mean, high)) in enumerate(run.rows.items()):
        if mean <= 0:
            continue
        if operation in run.twice:
            notes.append(f"{operation} is there twice with different rates: it is left out.")
            continue
        rates = each_of(low, mean, high, repeats) if run.is_new or repeats == 1 else ()
        if not rates:
            spread[operation] = (low, mean, high)
        amount = float(trees if operation.endswith("-tree") else items)
        if not possible(operation, low or mean, amount):
            notes.append(f"{operation} is left out: {amount:g} operations would have taken years.")
            spread.pop(operation, None)
            continue
        worn_out = bool(run.most) and not operation.endswith("-tree")
        chosen = in_some_order(rates, place) or (mean,)
        timed += [Timed(operation, amount, amount / rate, worn_out=worn_out, repeat=repeat)
                  for repeat, rate in enumerate(chosen, 1)]  # fmt: skip
    if spread and repeats > 1:
        notes.append(f"only the mean of {plural(repeats, 'iteration')} is reported, "
                     "with the least and the greatest.")  # fmt: skip
    elif repeats > 1 and timed:
        notes.append("the order of the iterations is not reported.")
    return timed, spread
