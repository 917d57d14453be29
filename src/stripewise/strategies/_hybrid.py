# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hybrid runs: large files on the burst buffer, small ones on the parallel file system.

On a burst buffer the metadata of a small file that all ranks read can cost more time with more
nodes: 0.67 s on 2 and 36.6 s on 40 nodes.  Source: Markomanolis (KAUST), ExPBB, CUG 2017.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stripewise.formats import literal_glob, matches
from stripewise.model import Measurement, ObservedFile, Trial
from stripewise.readers import file_family
from stripewise.text import plural, printable, size_text

SMALL_BYTES = 1 << 20
LEAST_COST = 0.05
_NEARLY_ALL = 0.9
_LETTERS = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class SmallFile:
    """A small file that nearly all ranks share and that costs a real share of the run.

    Attributes:
        path: Its name.
        size_bytes: Estimate: what a reader read of it, or all that was written.
        sharers: Ranks that read or wrote it.
        io_seconds: Of the slowest rank on it; elapsed_seconds: of the whole run.
    """

    path: str
    size_bytes: int
    sharers: int
    io_seconds: float
    elapsed_seconds: float

    @property
    def text(self) -> str:
        """What it is and costs, for people."""
        return (
            f"{printable(self.path)}, {size_text(self.size_bytes)}, shared by "
            f"{plural(self.sharers, 'rank')}, costs {self.io_seconds:.3g} of "
            f"{self.elapsed_seconds:.3g} s"
        )


def estimated_bytes(file: ObservedFile) -> int:
    """Return the likely size of a file: what was written, or what each of its readers read."""
    return max(file.write_bytes, file.read_bytes // max(file.readers, 1))


def last_run(trial: Trial | None) -> Measurement | None:
    """Return the last run of a trial that did well and shows its files; None without one."""
    runs = trial.measurements if trial else ()
    return next((run for run in reversed(runs) if run.ok and run.files), None)


def costly_small_file(
    run: Measurement | None,
    n_ranks: int,
    small_bytes: int = SMALL_BYTES,
    least_cost: float = LEAST_COST,
) -> SmallFile | None:
    """Return the small shared file that costs most of a run; None if none costs enough.

    Args:
        run: With its files.
        n_ranks: Of the run; nine tenths of them must share the file.
        small_bytes: Files of at most so many bytes are small.
        least_cost: Share of the run's whole time, 0 to 1, above which a file is costly.
    """
    if run is None or n_ranks < 2:
        return None
    shared = [
        file
        for file in run.files
        if estimated_bytes(file) <= small_bytes and _sharers(file) >= _NEARLY_ALL * n_ranks
    ]
    found = max(shared, key=lambda file: (file.io_seconds, file.path), default=None)
    if found is None or found.io_seconds <= least_cost * run.elapsed_seconds:
        return None
    size = estimated_bytes(found)
    return SmallFile(found.path, size, _sharers(found), found.io_seconds, run.elapsed_seconds)


def _sharers(file: ObservedFile) -> int:
    return max(file.readers, file.writers)


def large_file_globs(run: Measurement | None, small_bytes: int = SMALL_BYTES) -> str:
    """Return globs of the large files of a run, with commas between them; "" if there are none.

    Numbers in names are generalised (`wrfout_d01_2007-04-03`: `wrfout*`) as far as no small file
    of the run matches: these stay on the parallel file system.
    """
    files = run.files if run else ()
    large = [file.path for file in files if estimated_bytes(file) > small_bytes]
    small = [file.path for file in files if estimated_bytes(file) <= small_bytes]
    globs = dict.fromkeys(_glob(name, small) for name in large)
    return ",".join(glob for glob in globs if glob)


def _glob(name: str, others: Sequence[str]) -> str:
    """Return the most general glob that none of the others matches; "" if there is none."""
    for glob in _candidates(name):
        exact = matches(glob, name) and not any(matches(glob, other) for other in others)
        if exact and glob.isprintable():
            return glob
    return ""


def _candidates(name: str) -> Iterator[str]:
    base = posixpath.basename(name)
    general, letters = file_family(base), _LETTERS.match(base)
    if general != literal_glob(base):
        if letters:
            yield f"{letters.group()}*"
        yield _without_commas(general)
        yield _without_commas(file_family(base, "[0-9]*"))
    yield _without_commas(literal_glob(base))
    yield _without_commas(literal_glob(name))


def _without_commas(glob: str) -> str:
    """Commas stand between globs, so that one in a name is any character."""
    return glob.replace(",", "?")
