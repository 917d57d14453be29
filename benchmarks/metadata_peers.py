#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares our metadata kernel with mdtest: the same files, in pairs, within one run.

Both create, stat, read and remove empty files, in one directory or in one for each rank.  They
alternate in being first in a pair; the figure is the median over the pairs of our rate divided by
mdtest's.  mdtest is found with STRIPEWISE_MDTEST, or where `make peers` has put it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom

from stripewise.core.errors import StripewiseError
from stripewise.run.runtime import built_program, find_launcher, find_runtime, mpiexec_words

FAMILY = "mpich"
RANKS = (2, 4)
SHARING = ("shared", "own")
OPERATIONS = {"creation": "create", "stat": "stat", "read": "read-file", "removal": "remove"}
GOAL = 0.95
_ROW = re.compile(r"^\s+File (creation|stat|read|removal)\s+([0-9.]+)", re.MULTILINE)

Rates = dict[str, float]


@dataclass(frozen=True)
class Row:
    """Result for one operation in one set-up.

    Attributes:
        ours / theirs: Median operations per second.
        ratio / low / high: Median of ours divided by theirs, and its interval of 95 %.
    """

    storage: str
    ranks: int
    sharing: str
    operation: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    pairs: int


def main() -> None:
    """Measure, and print the table."""
    options = _options()
    mdtest = _mdtest()
    if mdtest is None:
        print("no mdtest to compare with: run `make peers`, or set STRIPEWISE_MDTEST")
        return
    try:
        runtime = find_runtime()
        own = built_program(runtime, runtime.metadata_programs, "metadata program", FAMILY)[1]
        launcher = find_launcher(FAMILY)
    except StripewiseError as error:
        sys.exit(str(error))
    start = time.monotonic()
    rows = []
    for parent in options.directory or _places():
        for ranks in RANKS:
            words = mpiexec_words(launcher, ranks)
            programs = (_ours([*words, str(own)]), _theirs([*words, str(mdtest)]))
            for sharing in SHARING:
                rows += _cell(programs, parent, ranks, sharing, options.files, options.pairs)
    document = {
        "processors": len(os.sched_getaffinity(0)),
        "files": options.files,
        "pairs": options.pairs,
        "minutes": (time.monotonic() - start) / 60,
        "rows": [asdict(row) for row in rows],
    }
    print(json.dumps(document, indent=2) if options.json else markdown(document))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of each set-up")
    parser.add_argument("--files", type=int, default=10_000, help="files of each rank")
    parser.add_argument(
        "--directory", type=Path, action="append", help="where to (default: temp and memory)"
    )
    return parser.parse_args()


def _mdtest() -> Path | None:
    cache = os.environ.get("STRIPEWISE_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    built = Path(cache) if cache else Path(home) / "stripewise"
    named = os.environ.get("STRIPEWISE_MDTEST")
    path = Path(named) if named else built / f"peers-{FAMILY}" / "bin" / "mdtest"
    return path if path.is_file() else None


def _places() -> list[Path]:
    """Return the disk of temporary files, and memory if there is such a file system."""
    found = [Path(tempfile.gettempdir()), Path("/dev/shm")]
    return [path for path in found if os.access(path, os.W_OK)]


# ---- the programs --------------------------------------------------------------------------


Program = Callable[[Path, str, int], Rates]


def _ours(words: list[str]) -> Program:
    def run(directory: Path, sharing: str, files: int) -> Rates:
        more = ["--directory", str(directory), "--files", str(files), "--sharing", sharing]
        more += ["--shift", "0", "--phases", ",".join(OPERATIONS.values()), "--json", "-"]
        found = json.loads(_output([*words, *more]))["phases"]
        return {one["operation"]: float(one["operations_per_second"]) for one in found}

    return run


def _theirs(words: list[str]) -> Program:
    def run(directory: Path, sharing: str, files: int) -> Rates:
        more = ["-F", "-n", str(files), "-d", str(directory)]
        found = _ROW.findall(_output([*words, *more, *(["-u"] if sharing == "own" else [])]))
        return {OPERATIONS[name]: float(rate) for name, rate in found}

    return run


def _output(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


# ---- pairs ---------------------------------------------------------------------------------


def _cell(
    programs: tuple[Program, Program], parent: Path, ranks: int, sharing: str, files: int,
    pairs: int,
) -> Iterator[Row]:  # fmt: skip
    """Run the pairs of one set-up after a warm-up pair; A B, B A, A B, ..."""
    found: list[tuple[Rates, Rates]] = []
    for number in range(pairs + 1):
        order = (0, 1) if number % 2 else (1, 0)
        rates: dict[int, Rates] = {}
        for which in order:
            directory = Path(tempfile.mkdtemp(prefix="stripewise-peers-", dir=parent))
            try:
                rates[which] = programs[which](directory, sharing, files)
            finally:
                shutil.rmtree(directory, ignore_errors=True)
        found.append((rates[0], rates[1]))
    storage = _file_system(parent)
    for operation in OPERATIONS.values():
        ours, theirs = np.array([(a[operation], b[operation]) for a, b in found[1:]]).T
        ratio, low, high = median_interval(ours / theirs)
        yield Row(storage, ranks, sharing, operation, float(np.median(ours)),
                  float(np.median(theirs)), ratio, low, high, pairs)  # fmt: skip


def median_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Return the median and its interval of at least 95 %, from order statistics.

    With fewer than 6 values the interval is their range, and covers less.
    """
    ordered = np.sort(values)
    below = int(binom.ppf(0.025, len(ordered), 0.5)) if len(ordered) > 5 else 0
    below = max(below - 1, 0)
    return float(np.median(ordered)), float(ordered[below]), float(ordered[-1 - below])


def _file_system(path: Path) -> str:
    words = ["stat", "-f", "-c", "%T", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


# ---- the table -----------------------------------------------------------------------------


def markdown(document: dict) -> str:
    """Return the table, and how many set-ups reach the goal."""
    rows = document["rows"]
    good = sum(row["ratio"] >= GOAL for row in rows)
    lines = [
        f"{good} of {len(rows)} medians are at least {GOAL:g} (open: below, and the interval "
        f"holds 1). {document['pairs']} pairs each of "
        f"{document['files']} empty files a rank, MPICH, {document['processors']} processors, "
        f"{document['minutes']:.0f} minutes in all.",
        "",
        "| File system | Ranks | Directories | Operation | mdtest | Stripewise | "
        "Stripewise / mdtest (95 %) | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, rows)])


def verdict(row: dict) -> str:
    """Return whether we are within the goal; "open" if the pairs do not decide it."""
    if row["low"] > 1:
        return "faster"
    if row["ratio"] >= GOAL:
        return "yes"
    return "open" if row["high"] >= 1 else "no"


def _line(row: dict) -> str:
    return (
        f"| {row['storage']} | {row['ranks']} | {row['sharing']} | {row['operation']} | "
        f"{row['theirs']:,.0f}/s | {row['ours']:,.0f}/s | {row['ratio']:.2f} ({row['low']:.2f} to "
        f"{row['high']:.2f}) | {verdict(row)} |"
    )


if __name__ == "__main__":
    main()
