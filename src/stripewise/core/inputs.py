# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Opens and parses input files within a budget for each kind of input.

The table in docs/reference/budgets.md is compared with this file by a test.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from stripewise.core.errors import ConfigurationError, StripewiseError, TraceError, UsageError

_MIB = 1 << 20
_PIECE = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""


@dataclass(frozen=True)
class InputBudget:
    """Limits for one kind of input.

    Attributes:
        what: Name of the input, in words.
        file_bytes: Maximum size of a file.
        entries: Maximum number of rules, lines or calls in it; 0 if they are not limited.
        entry: Name of an entry, in words.
        remedy: What to do about an input that is too large.
        error: Error class for an input that is too large, which determines the exit code.
    """

    what: str
    file_bytes: int
    entries: int = 0
    entry: str = ""
    remedy: str = "check that it is the right file"
    error: type[StripewiseError] = UsageError

    def check_bytes(self, number: int, name: object) -> None:
        """Raise the budget's error if there are too many bytes."""
        if number > self.file_bytes:
            raise self.error(
                f"{name}: more than {self.file_bytes // _MIB} MiB, the budget of {self.what}: "
                f"{self.remedy}"
            )

    def check_entries(self, number: int, name: object) -> None:
        """Raise the budget's error if there are too many entries."""
        if number > self.entries:
            raise self.error(
                f"{name}: more than {self.entries} {self.entry}, the budget of {self.what}: "
                f"{self.remedy}"
            )


CONFIGURATION = InputBudget(
    "a configuration",
    _MIB,
    entries=2000,
    entry="rules and settings",
    remedy="let one pattern match several files",
    error=ConfigurationError,
)
POLICY = InputBudget("a policy", _MIB, error=ConfigurationError)
DESCRIPTION = InputBudget("a description of storage", _MIB, error=ConfigurationError)
RESULTS = InputBudget(
    "the results of a benchmark",
    64 * _MIB,
    entries=200_000,
    entry="repeats",
    remedy="give fewer runs at a time",
)
CASES = InputBudget("a file of cases", _MIB)
SUITE = InputBudget("a suite of benchmarks", _MIB, error=ConfigurationError)
CAMPAIGN = InputBudget("a campaign of benchmarks", 64 * _MIB)
HISTORY = InputBudget("the figures of a history", 256 * _MIB)
SURVEY = InputBudget("a survey of applications", _MIB, error=ConfigurationError)
JOB_SCRIPT = InputBudget("a job script", 4 * _MIB)
"""Source: slurm.conf(5), max_script_size: 4 MiB unless the site changes it (documented)."""
SITE_ADVICE = InputBudget("a page of advice", _MIB)
PACK = InputBudget("a pack of knowledge", 512 * _MIB)
KEY = InputBudget("a key or a signature", _MIB)
PAIRS = InputBudget(
    "an index of patterns and XML files",
    16 * _MIB,
    entries=10_000,
    entry="pairs",
    remedy="split the directory",
    error=ConfigurationError,
)
SURFACE = InputBudget("a surface", 256 * _MIB)
MODEL = InputBudget("a model", 16 * _MIB)
RESULT = InputBudget("the result of a study", 64 * _MIB, error=TraceError)
REPORT = InputBudget("the report of a run", 16 * _MIB, error=TraceError)
JOBS = InputBudget(
    "records of the scheduler",
    256 * _MIB,
    entries=500_000,
    entry="jobs",
    remedy="write fewer days into one file",
    error=TraceError,
)
SAMPLES = InputBudget(
    "samples of a storage system",
    256 * _MIB,
    remedy="write fewer hours into one file",
    error=TraceError,
)
MPIIO_STATS = InputBudget(
    "the output of a job", 256 * _MIB, remedy="cut out the blocks", error=TraceError
)
RECORDER_FILE = InputBudget(
    "one file of a Recorder trace",
    512 * _MIB,
    entries=10_000_000,
    entry="calls",
    remedy="trace a shorter run",
    error=TraceError,
)
CONTAINER = InputBudget(
    "a container", 16 << 30, remedy="trace fewer processes or a shorter run", error=TraceError
)
CONTAINER_BLOCK = InputBudget("one block of a container", 256 * _MIB, error=TraceError)
TRACE = InputBudget(
    "a trace",
    1 << 62,
    entries=16_000_000,
    entry="records",
    remedy="record folded calls, or a shorter run",
    error=TraceError,
)
DARSHAN_LOG = InputBudget(
    "a Darshan log",
    2 << 30,
    remedy="check that it is the right file; give Darshan less memory for DXT",
    error=TraceError,
)
DARSHAN_MEMORY_BYTES = 4 << 30
DARSHAN_SECONDS = 60
MOST_KEY_PARTS = 32
"""Maximum number of parts of a dotted TOML key; the parser's work grows with its square."""

_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PIECE}\.[ \t]*+){{{MOST_KEY_PARTS}}}")


def open_input(path: Path) -> BinaryIO:
    """Open a regular file; refuse a pipe, a device or a directory without waiting for it.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:
        raise OSError(errno.EINVAL, f"{error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_input(path: Path, budget: InputBudget) -> bytes:
    """Read a whole file within its budget.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        StripewiseError: It exceeds its budget, which determines the class of the error.
    """
    with open_input(path) as file:
        data = file.read(budget.file_bytes + 1)
    budget.check_bytes(len(data), path)
    return data


def input_lines(path: Path, budget: InputBudget) -> Iterator[str]:
    """Yield the lines of a file within its budget, without loading the whole file.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        StripewiseError: It exceeds its budget, which determines the class of the error.
    """
    read_bytes = 0
    with open_input(path) as file:
        while line := file.readline(budget.file_bytes + 1 - read_bytes):
            read_bytes += len(line)
            budget.check_bytes(read_bytes, path)
            yield line.decode("utf-8", "replace").removesuffix("\n")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML, with a limit on the depth of keys.

    Raises:
        ValueError: The text is not TOML, or is nested too deeply.
    """
    import tomllib

    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_json(text: str | bytes) -> Any:
    """Parse standard JSON, without infinities and NaN.

    Raises:
        ValueError: The text is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if abs(value) != float("inf") else _no_number(text)
