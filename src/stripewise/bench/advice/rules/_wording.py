# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats rates, factors, numbers, stripe commands and hints for all rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.bench.advice.rules._base import FACTOR, UNIT, Basis, How, Rate, Trial
from stripewise.present import plural, rate_text, ratio_text

SILENT = 0.005
"""Relative width below which a range is not shown."""


def shown(rate: Rate) -> str:
    """Return a bandwidth with its range: "27 GiB/s (25 GiB/s to 29 GiB/s)"."""
    value, low, high = (rate_text(one) for one in (rate.value, rate.low, rate.high))
    if rate.high - rate.low <= SILENT * rate.value or low == value == high:
        return value
    return f"{value} ({low} to {high})"


def slower(more: float, less: float) -> str:
    """Return how much slower the slower of two rates is: "1.5x slower"."""
    return f"{times(more, less)} slower"


def times(more: float, less: float) -> str:
    """Return a ratio of two values: "3.8x"."""
    ratio = more / less if less else float("inf")
    return f"{ratio_text(ratio)}x"


def stripes_text(count: int, targets: int) -> str:
    """Return a number of stripes: "all 12 targets", "4 targets", "one target"."""
    if count == 1:
        return "one target"
    return f"all {targets} targets" if count == targets else f"{count} targets"


def setstripe(count: int, targets: int, stripe_bytes: int = 0) -> str:
    """Return the command that stripes new files of a directory."""
    size = f" -S {stripe_bytes >> 20}M" if stripe_bytes else ""
    return f"lfs setstripe -c {-1 if count == targets else count}{size} DIRECTORY"


def joined(parts: Sequence[str]) -> str:
    """Return parts as words: "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def aggregators_text(number: int) -> str:
    """Return a number of aggregators as a subject."""
    return "one aggregator" if number == 1 else f"{number} aggregators"


def of_nodes(number: int) -> str:
    """Return a number of nodes as a subject: "one node", "64 nodes"."""
    return "one node" if number == 1 else plural(number, "node")


def verb(number: int, one: str, many: str) -> str:
    """Return the form of a verb that agrees with a number of nodes."""
    return one if number == 1 else many


# Settings as users write them: hints in a variable, in a file, or in the program.

COLLECTIVE_ONLY = "romio_no_indep_rw=true"
"""Hint that promises that no call is independent, as one lock for all writers requires."""
_PREFIX = "mpiio."
_LAYOUT = (FACTOR, UNIT)


def hint_variable(basis: Basis, trial: Trial) -> Iterator[How]:
    """Yield how to set the MPI-IO hints of a trial, without its striping.

    Cray MPICH reads them from MPICH_MPIIO_HINTS, ROMIO from the file that ROMIO_HINTS names.
    """
    hints = {
        name.removeprefix(_PREFIX): value
        for name, value in trial.settings
        if name.startswith(_PREFIX) and name not in _LAYOUT
    }
    if not hints:
        return
    if basis.storage.stack == "cray":
        words = ":".join(f"{name}={value}" for name, value in hints.items())
        yield How("variable", f'export MPICH_MPIIO_HINTS="*:{words}"')
        return
    lines = "\\n".join(f"{name} {value}" for name, value in hints.items())
    yield How("command", f"printf '{lines}\\n' > $HOME/romio-hints")
    yield How("variable", "export ROMIO_HINTS=$HOME/romio-hints")
