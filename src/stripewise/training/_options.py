# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the user asks of a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from stripewise.emulation import EmulatedStorage, EmulationOptions
from stripewise.errors import UsageError
from stripewise.model import Value

REPEATS = 3
PATTERNS = ("vpic", "vorpal", "gcrm")
SMALL_BYTES = 4 << 20


class Way(StrEnum):
    """How configurations are measured."""

    REAL = "real"
    EMULATED = "emulated"
    SIMULATED = "simulated"


@dataclass(frozen=True)
class TrainingOptions:
    """What is trained, and how long that may take.

    Attributes:
        directory: Of the training; real runs write there.
        machine: Description of the storage: "hopper@1/16"; "": what the directory lies on.
        kernels: Name and options of each pattern, with its size.
        ranks: Scales.
        ranks_per_node: Of the described storage; 0: emulated 1, simulated as many as fit.
        simulate: In virtual time; nothing is run.
        repeats: Runs of each configuration.
        configurations: At the smallest scale; 0: as published.
        budget_seconds: Of all runs together; None: no limit.
        seed: Of the choice, of the order, and of noise.
        vary: Tunable name to its values, instead of the published ladders.
        launcher: Words that start MPI programs, up to the number of ranks: ("mpiexec", "-n").
        kernel: Path of the kernel's program; "" where nothing is run.
        stack: Simulated: software stack; "": that of the storage's users.
        transport: Variant of the network; "": the default.
        noise: Emulated: runs vary as those of the storage do.
        allow_outside: Files and directories of the user's that runs may change, absolute: where
            the launcher is a script that does.
    """

    directory: Path
    machine: str = ""
    kernels: tuple[tuple[str, ...], ...] = ()
    ranks: tuple[int, ...] = ()
    ranks_per_node: int = 0
    simulate: bool = False
    repeats: int = REPEATS
    configurations: int = 0
    budget_seconds: float | None = None
    seed: int = 0
    vary: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    kernel: str = ""
    stack: str = ""
    transport: str = ""
    noise: bool = False
    allow_outside: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if not self.kernels or not self.ranks:
            raise UsageError("give --patterns and --ranks: what to measure, and at which scales")
        if self.simulate and not self.machine:
            raise UsageError("--simulate needs a described storage: give --on MACHINE")
        for name in ("repeats", "configurations", "ranks_per_node"):
            least = int(name == "repeats")
            if getattr(self, name) < least:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} must be at least {least}, not {getattr(self, name)}")

    @property
    def way(self) -> Way:
        """How it is measured."""
        if not self.machine:
            return Way.REAL
        return Way.SIMULATED if self.simulate else Way.EMULATED

    def emulation(self, ranks: int) -> EmulationOptions | None:
        """Return the described storage for so many ranks; None where it is the one here.

        Raises:
            UsageError: The ranks do not fill nodes.
        """
        if not self.machine:
            return None
        return EmulationOptions(
            self.machine,
            self.per_node(ranks),
            transport=self.transport,
            noise=self.noise,
            seed=self.seed,
        )

    def per_node(self, ranks: int) -> int:
        """Return the ranks on each node of the described storage.

        Raises:
            UsageError: The ranks do not fill nodes.
        """
        if self.ranks_per_node and ranks % self.ranks_per_node:
            raise UsageError(
                f"{ranks} ranks do not fill nodes of {self.ranks_per_node}: give --ranks that are "
                "multiples of --ranks-per-node"
            )
        if self.ranks_per_node or not self.simulate:
            return self.ranks_per_node or 1
        storage = EmulatedStorage.find(EmulationOptions(self.machine)).storage
        most = int(storage.value("machine.ranks_per_node"))
        return next(n for n in range(min(most, ranks), 0, -1) if not ranks % n)
