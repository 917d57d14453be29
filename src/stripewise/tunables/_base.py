# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a tunable, and the space that tunables span."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from stripewise.model import ProgramFacts, Value


class SafetyClass(StrEnum):
    """What a tunable can do to the output."""

    SAFE = "safe"
    """Cannot change what is written."""
    LAYOUT = "layout"
    """Same content, other bytes in the file."""
    CONTRACT = "contract"
    """Right only if the program meets a condition; only on request."""


class Layer(StrEnum):
    """Where a tunable acts; the key of its table in the canonical TOML."""

    MPIIO = "mpiio"
    HDF5 = "hdf5"
    PNETCDF = "pnetcdf"
    ADIOS2 = "adios2"
    MCA = "mca"
    JOB = "job"


class ActsAt(StrEnum):
    """When a tunable acts."""

    JOB = "job start"
    CREATE = "file creation"
    OPEN = "file open"
    DATASET = "dataset creation"
    TRANSFER = "data transfer"


class Tunable(ABC):
    """One tunable.

    Attributes:
        name: `<layer>.<key>`, e.g. "mpiio.cb_nodes"; unique.
        layer: Table in the configuration.
        key: Name inside the table, in the spelling of the layer's own documentation.
        kind: "bool", "int" (bytes or a count), "float", "enum", "text" or "ints".
        choices: Allowed values of an enum; empty otherwise.
        default: What the stack does unasked, as text for people.
        safety: Class.
        acts_at: When.
        stacks: Which stacks honour it: any of "romio", "ompio", "cray", "openmpi", "hdf5".
        effect_order: Position in the order of likely effect; smaller is tried earlier.
        by_name: Why it is searched only if the user names it (nothing that is counted proves
            what it needs, or shows whether it can act); "" where it is searched unasked.
        also: The same setting in other interfaces, as "netCDF-4: nc_set_alignment".
        summary: One line.
        source: Where default and meaning come from, and whether read, measured or assumed.
    """

    name: str
    layer: Layer
    key: str
    kind: str
    choices: tuple[str, ...] = ()
    default: str
    safety: SafetyClass
    acts_at: ActsAt
    stacks: tuple[str, ...]
    effect_order: int = 100
    by_name: str = ""
    also: str = ""
    summary: str
    source: str

    @abstractmethod
    def ladder(self, facts: ProgramFacts) -> tuple[Value, ...]:
        """Values worth trying for such a program, in the order to try them.

        Empty if the tunable is not searched (it can still be set by hand).
        """

    @abstractmethod
    def why_not(self, facts: ProgramFacts) -> str:
        """Reason why the tunable cannot act on this program; "" if it can."""

    @abstractmethod
    def check(self, value: Value) -> Value:
        """Return the value in its canonical type.

        Raises:
            ConfigurationError: The value is of a wrong type or out of range.
        """

    def implies(self, value: Value, facts: ProgramFacts | None = None) -> Mapping[str, Value]:
        """Other settings (tunable name to value) without which this one has no effect."""
        del value, facts
        return {}

    def requires(self, facts: ProgramFacts) -> Mapping[str, Value]:
        """Values that other tunables must have, set or by default, for this one to act."""
        del facts
        return {}

    def parse(self, text: str) -> Value:
        """Read the value from text, as hint strings and XML hold it.

        Raises:
            ConfigurationError: It is not such a value.
        """
        return self.check(text)


@dataclass(frozen=True)
class Dimension:
    """One searched tunable: its tunable and the ladder for this program."""

    tunable: Tunable
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Space:
    """What a study searches.

    Attributes:
        dimensions: In order of likely effect.
        left_out: Tunable name to the reason why it is not searched.
    """

    dimensions: tuple[Dimension, ...]
    left_out: Mapping[str, str]

    @property
    def size(self) -> int:
        """Number of configurations, the default value of each tunable included."""
        product = 1
        for dimension in self.dimensions:
            product *= len(dimension.values) + 1
        return product
