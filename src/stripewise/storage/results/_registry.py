# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the readers of results, and finds which of them a text is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from stripewise.core.errors import StripewiseError, UsageError
from stripewise.core.inputs import RESULTS, read_input
from stripewise.present import printable
from stripewise.storage.results._base import (
    Found,
    Launch,
    Measured,
    Reader,
    Results,
    Test,
    check_rate,
)
from stripewise.storage.results._benchio import Benchio, RateTable
from stripewise.storage.results._h5bench import H5bench
from stripewise.storage.results._io500 import Io500, launch_beside, result_file
from stripewise.storage.results._ior import IorText
from stripewise.storage.results._ior_json import IorCsv, IorJson
from stripewise.storage.results._lines import cleaned
from stripewise.storage.results._mdtest import Mdtest
from stripewise.storage.results._tables import CsvTable, Kernel, MetadataKernel

_T = TypeVar("_T")
_MEMBERS: tuple[Reader, ...] = (
    Kernel(), MetadataKernel(), Io500(), IorJson(), IorCsv(), RateTable(), IorText(), Mdtest(),
    Benchio(), H5bench(), CsvTable(),
)  # fmt: skip
_IN_TEXT = ("ior-json", "ior-csv", "ior", "mdtest", "benchio", "h5bench")
"""Forms of which one file, the output of a job, may contain several."""
_NOT_READ = (
    ("fio", re.compile(r"^fio-\d|\"fio version\"|^\d;fio-\d", re.MULTILINE)),
    (
        "elbencho",
        re.compile(r"^OPERATION +RESULT TYPE +FIRST DONE|^ISO DATE,LABEL,PATH TYPE", re.MULTILINE),
    ),
    ("iozone", re.compile(r"Iozone: Performance Test of File I/O")),
    ("md-workbench", re.compile(r"^MD-Workbench total objects", re.MULTILINE)),
)
"""Programs whose output is known by its look, and not read."""


def read_results(paths: Iterable[Path], ranks_per_node: int = 0) -> Results:
    """Read and combine files of results.

    Args:
        paths: Paths of files, each of any form, or of directories of IO500.
        ranks_per_node: Value if a form does not contain it; 0 if unknown.

    Raises:
        UsageError: A file cannot be read, or has an unknown form.
    """
    measured: list[Measured] = []
    operations: dict[str, tuple[float, ...]] = {}
    notes: list[str] = []
    for path in paths:
        for found in _each(path, ranks_per_node, lambda one, *args: one.read(*args)):
            for one in found.measured:
                for rate in one.rates:
                    check_rate(one.source, rate)
            measured += found.measured
            notes += found.notes
            for figure, rates in found.operations.items():
                operations[figure] = (*operations.get(figure, ()), *rates)
    return Results(tuple(measured), operations, tuple(notes))


def read_tests(paths: Iterable[Path], ranks_per_node: int = 0, ranks: int = 0) -> Found:
    """Read the output of benchmark programs, test by test.

    Args:
        paths: Paths of files: output of IOR, mdtest, IO500, h5bench, benchio, or of our kernel;
            or of directories of IO500's results.
        ranks_per_node: Value if a form does not contain it; 0 if unknown.
        ranks: Value if a form does not contain it; 0 if unknown.

    Raises:
        UsageError: A file cannot be read, has an unknown form, or has no single tests.
    """
    tests: list[Test] = []
    notes: list[str] = []
    for path in paths:
        for found in _each(path, ranks_per_node, lambda one, *args: one.tests(*args), ranks):
            tests += found.tests
            notes += found.notes
    return Found(tuple(tests), tuple(notes))


def parse_tests(text: str, name: str, ranks_per_node: int = 0) -> tuple[Test, ...]:
    """Return the tests in the output of a benchmark program.

    Args:
        text: Text that it printed, or wrote into a file.
        name: Name of the text, for messages.
        ranks_per_node: Value if the form does not contain it; 0 if unknown.

    Raises:
        UsageError: It has an unknown form, is cut off, or contains nothing usable.
    """
    found = _each_form(text, name, name, ranks_per_node, lambda one, *args: one.tests(*args))
    return tuple(test for one in found for test in one.tests)


def _each(path: Path, ranks_per_node: int, read: Callable[..., _T], ranks: int = 0) -> list[_T]:
    """Return the result of each reader that recognises a file."""
    if path.is_dir():
        path = result_file(path)
    name = printable(str(path))
    try:
        text = cleaned(read_input(path, RESULTS))
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}: give a file") from error
    beside = launch_beside(path)
    launch = Launch(ranks or beside.ranks, ranks_per_node or beside.ranks_per_node)

    def read_with_launch(reader: Reader, *arguments: object) -> _T:
        return read(reader.with_launch(launch), *arguments)

    return _each_form(text, name, path.name, ranks_per_node, read_with_launch)


def _each_form(
    text: str, name: str, file_name: str, ranks_per_node: int, read: Callable[..., _T]
) -> list[_T]:
    """Return the result of each reader that recognises a text."""
    chosen = [one for one in _MEMBERS if one.recognises(text, file_name)]
    if not chosen:
        looks = next((what for what, look in _NOT_READ if look.search(text)), "")
        what = f"is output of {looks}, which is not read" if looks else "is of no known form"
        raise UsageError(
            f"{name} {what}: give what IOR, mdtest, IO500, h5bench, benchio or `stripewise "
            "bench kernel --json` printed, or a table (CSV, TOML)"
        )
    if chosen[0].name not in _IN_TEXT:
        return [_guarded(chosen[0], text, name, ranks_per_node, read)]
    chosen = [one for one in chosen if one.name in _IN_TEXT]
    found, errors = list[_T](), list[UsageError]()
    for one in chosen:
        try:
            found.append(_guarded(one, text, name, ranks_per_node, read))
        except UsageError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def _guarded(
    reader: Reader, text: str, name: str, ranks_per_node: int, read: Callable[..., _T]
) -> _T:
    try:
        return read(reader, text, name, ranks_per_node)
    except StripewiseError as error:
        if name in str(error):
            raise
        raise UsageError(f"{name}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise UsageError(
            f"{name}: cannot be read as results of {reader.name} "
            f"({str(error).splitlines()[0] if str(error) else type(error).__name__}): "
            "check that the file is complete"
        ) from error
