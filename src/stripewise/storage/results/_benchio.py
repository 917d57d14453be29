# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text of benchio, and EPCC's tables of its results on ARCHER2.

Source: github.com/davidhenty/benchio, EPCCed/benchio (2018) and adrianjhpc/benchio (which also
    reads), benchio.f90 and README.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from io import StringIO

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS
from stripewise.storage.results._base import (
    Data,
    Found,
    Reader,
    Test,
    Timed,
    nodes_of,
    possible,
)
from stripewise.storage.results._lines import (
    MOST_RANKS,
    RATES,
    SIZES,
    half_digit,
    lines_of,
    number,
    ranks_in,
    shown,
    whole,
)

TITLE = "Simple Parallel IO benchmark"
_ELEMENT_BYTES = 8
_RANKS = re.compile(r" *Running on +(\S{1,20}) +process", re.ASCII)
_NODES = re.compile(r" *Running on +(\S{1,20}) +nodes? *", re.ASCII)
_SIZES = re.compile(
    r" *(Array size|Global size|Process grid) is +"
    r"\( *(\S{1,20}) *, *(\S{1,20}) *, *(\S{1,20}) *\) *",
    re.ASCII,
)
_TOTAL = re.compile(r" *Total amount of data = +(\S{1,40}) +(MiB|GiB) *", re.ASCII)
_PLACE = re.compile(r" *(?:Writing|I/O) to +(\S{1,1000}) *")
_REPEATS = re.compile(r" *Repeating read/write operations +(\d{1,9}) +times *", re.ASCII)
_TIME = re.compile(r" *(write|read)? *time = +(\S{1,40}) *, rate = +(\S{1,40}) +(MiB|GiB)/s *",
                   re.ASCII)  # fmt: skip
_TELLING = re.compile(
    r"Running on|Array size|Global size|Process grid|Total amount|Repeating|Writing to|I/O to"
    r"|time =|Finished|error|fail|abort|cannot|not |unable|stop|killed",
    re.IGNORECASE,
)
_TROUBLE = re.compile(r"error|fail|abort|cannot|not |unable|stop|killed", re.IGNORECASE)
_STRIPINGS = ("unstriped", "striped", "fullstriped")
_FILES = (
    ("serial", "posix", "shared", "serial"),
    ("fpp-", "", "per-process", "independent"),
    ("fpp", "posix", "per-process", "independent"),
    ("rank", "posix", "per-process", "independent"),
    ("proc", "posix", "per-process", "independent"),
    ("node", "posix", "per-node", "independent"),
    ("mpiio", "mpiio", "shared", "collective"),
    ("hdf5", "hdf5", "shared", "collective"),
    ("netcdf", "netcdf4", "shared", "collective"),
    ("adios", "adios2", "shared", "independent"),
    ("daos", "daos", "shared", "independent"),
)
"""Start of a file's name, library, layout and mode."""


@dataclass
class _Files:
    """A file or files of one method in one directory."""

    path: str
    timed: list[Timed] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    message: str = ""


@dataclass
class _Run:
    """One run of benchio, parsed line by line."""

    ranks: str = ""
    nodes: str = ""
    sizes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    total: tuple[str, str] = ("", "MiB")
    factor: int = 1
    places: list[_Files] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    finished: bool = False

    def take(self, line: str) -> None:
        """Parse one line; ignore it if it is not benchio's."""
        if not _TELLING.search(line):
            return
        if match := _RANKS.match(line):
            self.ranks = match[1]
        elif match := _NODES.fullmatch(line):
            self.nodes = match[1]
        elif match := _SIZES.fullmatch(line):
            self.sizes.setdefault(match[1], (match[2], match[3], match[4]))
        elif match := _TOTAL.fullmatch(line):
            self.total = (match[1], match[2]) if not self.total[0] else self.total
        elif match := _REPEATS.fullmatch(line):
            self.factor = max(int(match[1]), 1)
        elif match := _PLACE.fullmatch(line):
            self.places.append(_Files(match[1]))
        elif match := _TIME.fullmatch(line):
            if self.places:
                self._time(match, line)
        elif line.strip() == "Finished":
            self.finished = True
        elif self.places and not self.places[-1].timed and _TROUBLE.search(line):
            self.places[-1].message = self.places[-1].message or line.strip()

    def _time(self, match: re.Match[str], line: str) -> None:
        """Add a figure; its rate times its time is the size of the array."""
        seconds, value = number(match[2]), number(match[3])
        place, operation = self.places[-1], match[1] or "write"
        rate = (value or 0.0) * SIZES[match[4]]
        amount = self._bytes() * self.factor
        if not seconds or not possible(operation, rate) or seconds < 0:
            self.notes.append(f"{shown(line)!r} is left out: it is impossible.")
        elif not self._fits(rate * seconds / amount, half_digit(match[2]) / seconds,
                            half_digit(match[3]) / (value or 1.0)):  # fmt: skip
            self.notes.append(f"{shown(line)!r} is left out: the array has {amount:.6g} B, so "
                              "the file is damaged.")  # fmt: skip
        else:
            repeat = place.counts[operation] = place.counts.get(operation, 0) + 1
            place.timed.append(Timed(operation, amount, amount / rate, repeat=repeat))

    @staticmethod
    def _fits(ratio: float, *roundings: float) -> bool:
        return abs(ratio - 1) <= 0.002 + sum(roundings)

    def _bytes(self) -> float:
        product = float(_ELEMENT_BYTES)
        for word in (*self.sizes.get("Array size", ("0",)), self.ranks):
            product *= whole(word, 1 << 40) or 0
        return product or 1.0


class Benchio(Reader):
    """Reader of benchio's output."""

    name = "benchio"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether benchio printed it."""
        return TITLE in text

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return each method in each directory, with its repeats."""
        tests: list[Test] = []
        notes: list[str] = []
        runs: list[_Run] = []
        for line in lines_of(text):
            if TITLE in line:
                runs.append(_Run())
                RESULTS.check_entries(len(runs), name)
            elif runs:
                runs[-1].take(line)
        for run in runs:
            tests += _tests(run, name, ranks_per_node)
            notes += [f"{name}: {one}" for one in run.notes[:50]]
        if not any(one.timed for one in tests):
            why = f" ({notes[0]})" if notes else ""
            raise UsageError(
                f"{name}: benchio's output without a rate{why}: check that the run ended"
            )
        return Found(tuple(tests), tuple(notes))


def _tests(run: _Run, name: str, ranks_per_node: int) -> list[Test]:
    array = run.sizes.get("Array size")
    if not run.ranks or array is None:
        raise UsageError(f"{name}: benchio's output without its sizes: give all of it")
    ranks = ranks_in(name, "processes", run.ranks)
    shape = tuple(ranks_in(name, "array size", word) for word in reversed(array))
    _check_total(run, name)
    nodes = ranks_in(name, "nodes", run.nodes) if run.nodes else 0
    nodes = nodes or nodes_of(name, ranks, ranks_per_node)
    if nodes > ranks:
        raise UsageError(f"{name}: {ranks} processes on {nodes} nodes: check that it is complete")
    return [_test(run, place, name, nodes, ranks, shape) for place in run.places]


def _check_total(run: _Run, name: str) -> None:
    """Raise an error if the printed size is not that of the array."""
    total = number(run.total[0])
    if total is None or total <= 0:
        return
    amount = total * SIZES[run.total[1]]
    if abs(run._bytes() / amount - 1) > 0.002 + half_digit(run.total[0]) / total:
        raise UsageError(
            f"{name}: the array has {run._bytes():.6g} B, and benchio says {amount:.6g} B: check "
            "that the file is complete"
        )


def _test(
    run: _Run, place: _Files, name: str, nodes: int, ranks: int, shape: tuple[int, ...]
) -> Test:
    folder, _, file = place.path.rpartition("/")
    striping = folder.rpartition("/")[2]
    found = next((one for one in _FILES if file.startswith(one[0])), None)
    _, backend, layout, mode = found or ("", "", "shared", "independent")
    if not backend and found:
        word = file.removeprefix("fpp-")
        backend = next((one[1] for one in _FILES if word.startswith(one[0]) and one[1]), "")
    failed = ""
    if not place.timed:
        detail = f" ({shown(place.message, 120)!r})" if place.message else ""
        failed = f"benchio printed no rate of it{detail}"
    elif not backend:
        failed = "the name of its file contains no method of benchio"
    work = Data(backend or "posix", layout, mode, "array3d", shape=shape, sync=False)
    return Test(
        "benchio", f"{name}: {shown(place.path, 200)}", nodes, ranks, work, tuple(place.timed),
        path=shown(place.path, 1000), striping=striping if striping in _STRIPINGS else "",
        failed=failed,
    )  # fmt: skip


# EPCC's tables of benchio on ARCHER2: a line for each number of nodes, with all its repeats.

_HEADER = re.compile(r"Nodes, (rates|performance) \((\S{1,20})\) repeat measurements")
_SETTING = re.compile(r"([A-Za-z][A-Za-z ]{0,40}?) = (\w{1,20})", re.ASCII)
_BACKENDS = {"mpiio": "mpiio", "hdf5": "hdf5", "netcdf": "netcdf4", "adios2": "adios2"}
_LOCKS = re.compile(r"lockmode(\d)")
_SAID = (
    "the table does not say how much was written: amounts are those of one second, and a fit "
    "cannot use them"
)


class RateTable(Reader):
    """Tables of rates by nodes; the file's name contains the library and the lock mode."""

    name = "benchio-csv"

    def recognises(self, text: str, name: str) -> bool:
        """Return whether a text has the header line of such a table."""
        return _HEADER.search(text[:2000]) is not None

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return a test for each line."""
        if match := _HEADER.search(text):
            _unit(name, match[1], match[2])
        fixed = _parse_name(name)
        if ranks_per_node < 1:
            raise UsageError(f"{name} does not say how many ranks a node had: give "
                             "--ranks-per-node")  # fmt: skip
        settings: dict[str, Value] = dict(fixed[1])
        unit = aggregators = 0
        tests: list[Test] = []
        rows = 0
        for line in StringIO(text):
            line = line.rstrip()
            if match := _HEADER.match(line):
                unit = _unit(name, match[1], match[2])
            elif match := _SETTING.fullmatch(line.strip()):
                count = whole(match[2], 1_000_000) or 0
                settings, aggregators = dict(fixed[1]), 0
                if match[1] == "Multiplier" and count:
                    settings["mpiio.cray_cb_nodes_multiplier"] = count
                elif match[1] == "Aggregators per node" and count:
                    aggregators = count
                else:
                    raise UsageError(f"{name}: {shown(line)!r} is not a known setting: "
                                     "check that the file is complete")  # fmt: skip
            elif line.strip():
                nodes, rates = _row(name, line, unit)
                rows += len(rates)
                RESULTS.check_entries(rows, name)
                if rates:
                    if aggregators:
                        settings["adios2.NumAggregators"] = aggregators * nodes
                    tests.append(
                        _test_rates(name, nodes, nodes * ranks_per_node, fixed[0], settings, rates)
                    )
        if not tests:
            raise UsageError(f"{name}: no line with a rate: check that the file is complete")
        return Found(tuple(tests), (f"{name}: {_SAID}.",))


def _parse_name(name: str) -> tuple[str, dict[str, Value]]:
    """Return library and lock mode from the name of a file."""
    file = name.rpartition("/")[2].lower()
    backend = next((one for word, one in _BACKENDS.items() if word in file), "")
    if not backend:
        raise UsageError(
            f"{name}: the table does not say its library: put {', '.join(_BACKENDS)} into the "
            "file's name"
        )
    match = _LOCKS.search(file)
    return backend, {"mpiio.cray_cb_write_lock_mode": int(match[1])} if match else {}


def _unit(name: str, kind: str, unit: str) -> int:
    if kind != "rates" or unit not in RATES:
        raise UsageError(
            f"{name}: {shown(unit)} is not a bandwidth: give tables of {', '.join(RATES)}"
        )
    return RATES[unit]


def _row(name: str, line: str, unit: int) -> tuple[int, list[float]]:
    cells = [cell.strip() for cell in line.split(",")]
    nodes = whole(cells[0], MOST_RANKS // 1000)
    values = [number(cell) for cell in cells[1:] if cell]
    if not nodes or not unit:
        raise UsageError(f"{name}: {shown(line)!r} does not begin with a number of nodes: check "
                         "that the file is complete")  # fmt: skip
    rates = []
    for value, cell in zip(values, (one for one in cells[1:] if one), strict=True):
        if value is None or not possible("write", value * unit):
            raise UsageError(f"{name}: a bandwidth of {shown(cell)!r} on {nodes} nodes is "
                             "impossible: check the number and its unit")  # fmt: skip
        rates.append(value * unit)
    return nodes, rates


def _test_rates(
    name: str, nodes: int, ranks: int, backend: str, settings: dict[str, Value],
    rates: list[float],
) -> Test:  # fmt: skip
    work = Data(backend, "shared", "independent" if backend == "adios2" else "collective",
                "array3d", sync=False)  # fmt: skip
    timed = tuple(Timed("write", rate, 1.0, repeat=repeat) for repeat, rate in enumerate(rates, 1))
    return Test("benchio", f"{name}: {nodes} nodes", nodes, ranks, work, timed,
                settings=dict(settings))  # fmt: skip
