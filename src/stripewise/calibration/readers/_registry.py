# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The readers of results, and which of them a file is for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stripewise.calibration.readers._base import Measured, Reader, Results, check_rate
from stripewise.calibration.readers._benchio import Benchio
from stripewise.calibration.readers._ior import IorJson, IorText
from stripewise.calibration.readers._kernel import Kernel
from stripewise.calibration.readers._mdtest import Mdtest
from stripewise.calibration.readers._metadata import Metadata
from stripewise.calibration.readers._table import CsvTable, TomlTable
from stripewise.errors import StripewiseError, UsageError
from stripewise.inputs import RESULTS, read_input

_MEMBERS: tuple[Reader, ...] = (
    Kernel(), Metadata(), IorJson(), IorText(), Mdtest(), Benchio(), TomlTable(), CsvTable(),
)  # fmt: skip


def reader_names() -> tuple[str, ...]:
    """Return the forms that can be read."""
    return tuple(one.name for one in _MEMBERS)


def read_results(paths: Iterable[Path], ranks_per_node: int = 0) -> Results:
    """Read files of results and put them together.

    Args:
        paths: Of files, each of any form.
        ranks_per_node: Where a form does not tell; 0: not known.

    Raises:
        UsageError: A file cannot be read, or is of no known form.
    """
    measured: list[Measured] = []
    operations: dict[str, tuple[float, ...]] = {}
    for path in paths:
        try:
            text = read_input(path, RESULTS).decode("utf-8", "replace")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}: give a file") from error
        reader = next((one for one in _MEMBERS if one.recognises(text, path.name)), None)
        if reader is None:
            raise UsageError(
                f"{path} is of no known form: give what IOR, mdtest, benchio or `stripewise "
                "kernel --json` printed, or a table (CSV, TOML)"
            )
        found = _read(reader, text, str(path), ranks_per_node)
        for one in found.measured:
            for rate in one.rates:
                check_rate(one.source, rate)
        measured += found.measured
        for figure, rates in found.operations.items():
            operations[figure] = (*operations.get(figure, ()), *rates)
    return Results(tuple(measured), operations)


def _read(reader: Reader, text: str, name: str, ranks_per_node: int) -> Results:
    try:
        return reader.read(text, name, ranks_per_node)
    except StripewiseError as error:
        if name in str(error):
            raise
        raise UsageError(f"{name}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{name}: cannot be read as results of {reader.name} "
            f"({str(error).splitlines()[0] if str(error) else type(error).__name__}): "
            "check that the file is whole"
        ) from error
