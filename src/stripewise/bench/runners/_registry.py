# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the runners, and finds one by its name."""

from __future__ import annotations

from stripewise.bench.runners._base import Runner
from stripewise.bench.runners._benchio import BenchioRunner
from stripewise.bench.runners._ior import IorRunner
from stripewise.bench.runners._kernel import KernelRunner
from stripewise.bench.runners._mdtest import MdtestRunner
from stripewise.bench.runners._metadata import MetadataRunner
from stripewise.core.errors import UsageError

_MEMBERS: tuple[type[Runner], ...] = (
    KernelRunner, MetadataRunner, IorRunner, MdtestRunner, BenchioRunner,
)  # fmt: skip


def runner_names() -> tuple[str, ...]:
    """Return the names that suites use."""
    return tuple(one.name for one in _MEMBERS)


def find_runner(name: str) -> Runner:
    """Return a runner by its name.

    Raises:
        UsageError: There is no runner of this name.
    """
    for one in _MEMBERS:
        if one.name == name:
            return one()
    raise UsageError(f"there is no runner {name!r}: give one of {', '.join(runner_names())}")
