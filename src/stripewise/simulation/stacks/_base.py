# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a software stack: what a library makes of a workload."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Value
from stripewise.simulation._requests import Phase, Requests
from stripewise.simulation._workload import Workload

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """How a file lies on the targets.

    Attributes:
        stripe_count: Objects of a file, at least 1.
        stripe_size: Bytes.
        targets: Of the storage; `stripe_count` is at most that.
        private: Each node has a target of its own: a burst buffer with private access.
    """

    stripe_count: int
    stripe_size: int
    targets: int
    private: bool = False


@dataclass(frozen=True)
class Setup:
    """What decides, beside the workload, which requests are made.

    Attributes:
        settings: Tunable name -> value, as `stripewise tunables` lists them.
        layout: Of new files, with `striping_factor` and `striping_unit` applied already.
        hosts: Hosts that the ranks are on, as MPI sees them (OMPIO sees emulated nodes as one).
    """

    layout: Layout
    settings: Mapping[str, Value] = field(default_factory=dict)
    hosts: int = 1


class Stack(ABC):
    """A library between the program and the storage.

    Attributes:
        name: "romio", "romio-lustre", "cray", "ompio", "pnetcdf", "adios2", "posix", ...
        summary: One line for people.
        tunables: Names of the settings that it looks at.
    """

    name: str
    summary: str
    tunables: frozenset[str] = frozenset()

    def layout_defaults(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return what the library asks of a new file's layout beyond the settings."""
        del settings
        return {}

    @abstractmethod
    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """Return the requests in classes; the cost does not grow with the number of ranks.

        Raises:
            UsageError: This stack cannot do that.
        """

    @abstractmethod
    def requests(self, work: Workload, setup: Setup) -> Requests:
        """Return every single request, as capture would see them; for a few thousand ranks.

        Raises:
            UsageError: The requests of this stack cannot be told one by one.
        """


def opens(files: int, ranks: int, *, writing: bool) -> dict[str, int]:
    """Return the metadata operations of an open: one rank of each new file makes it."""
    made = files if writing else 0
    return {name: n for name, n in (("create", made), ("open", ranks - made)) if n}
