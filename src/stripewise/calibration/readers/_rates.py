# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""EPCC's tables of benchio on ARCHER2: a line for each number of nodes, with all its repeats."""

from __future__ import annotations

import re
from io import StringIO

from stripewise.calibration.readers._lines import MOST_RANKS, number, shown, whole
from stripewise.calibration.readers._printed import PrintedReader, possible
from stripewise.calibration.readers._record import Data, Found, Test, Timed
from stripewise.errors import UsageError
from stripewise.inputs import RESULTS
from stripewise.model import Value

_HEADER = re.compile(r"Nodes, (rates|performance) \((\S{1,20})\) repeat measurements")
_SETTING = re.compile(r"([A-Za-z][A-Za-z ]{0,40}?) = (\w{1,20})", re.ASCII)
_UNITS = {"GiB/s": 1 << 30, "MiB/s": 1 << 20, "GB/s": 10**9, "MB/s": 10**6}
_BACKENDS = {"mpiio": "mpiio", "hdf5": "hdf5", "netcdf": "netcdf4", "adios2": "adios2"}
_LOCKS = re.compile(r"lockmode(\d)")
_SAID = (
    "the table does not say how much was written: amounts are those of one second, and a fit "
    "cannot use them"
)


class RateTable(PrintedReader):
    """Tables of rates by nodes; the file's name has the library and the lock mode."""

    name = "benchio-csv"

    def recognises(self, text: str, name: str) -> bool:
        """Whether it has such a line of names."""
        return _HEADER.search(text[:2000]) is not None

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return a test for each line."""
        if match := _HEADER.search(text):
            _unit(name, match[1], match[2])
        fixed = _of_name(name)
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
                    raise UsageError(f"{name}: {shown(line)!r} is no setting that is known: "
                                     "check that the file is whole")  # fmt: skip
            elif line.strip():
                nodes, rates = _row(name, line, unit)
                rows += len(rates)
                RESULTS.check_entries(rows, name)
                if rates:
                    if aggregators:
                        settings["adios2.NumAggregators"] = aggregators * nodes
                    tests.append(_test(name, nodes, nodes * ranks_per_node, fixed[0], settings,
                                       rates))  # fmt: skip
        if not tests:
            raise UsageError(f"{name}: no line with a rate: check that the file is whole")
        return Found(tuple(tests), (f"{name}: {_SAID}.",))


def _of_name(name: str) -> tuple[str, dict[str, Value]]:
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
    if kind != "rates" or unit not in _UNITS:
        raise UsageError(
            f"{name}: {shown(unit)} is no bandwidth: give tables of {', '.join(_UNITS)}"
        )
    return _UNITS[unit]


def _row(name: str, line: str, unit: int) -> tuple[int, list[float]]:
    cells = [cell.strip() for cell in line.split(",")]
    nodes = whole(cells[0], MOST_RANKS // 1000)
    values = [number(cell) for cell in cells[1:] if cell]
    if not nodes or not unit:
        raise UsageError(f"{name}: {shown(line)!r} does not begin with a number of nodes: check "
                         "that the file is whole")  # fmt: skip
    rates = []
    for value, cell in zip(values, (one for one in cells[1:] if one), strict=True):
        if value is None or not possible("write", value * unit):
            raise UsageError(f"{name}: a bandwidth of {shown(cell)!r} on {nodes} nodes is "
                             "impossible: check the number and its unit")  # fmt: skip
        rates.append(value * unit)
    return nodes, rates


def _test(
    name: str, nodes: int, ranks: int, backend: str, settings: dict[str, Value],
    rates: list[float],
) -> Test:  # fmt: skip
    work = Data(backend, "shared", "independent" if backend == "adios2" else "collective",
                "array3d", sync=False)  # fmt: skip
    timed = tuple(Timed("write", rate, 1.0, repeat) for repeat, rate in enumerate(rates, 1))
    return Test("benchio", f"{name}: {nodes} nodes", nodes, ranks, work, timed,
                settings=dict(settings))  # fmt: skip
