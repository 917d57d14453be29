# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which storage a run finds, and how the run sees it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, exp, log, sqrt
from random import Random

from stripewise.core import ProgramFacts, Striping
from stripewise.core.errors import UsageError
from stripewise.storage.machines import (
    Storage,
    Transport,
    description_digest,
    find_storage,
    granted_targets,
)

MOST_NODES = 256
"""Maximum number of nodes with clocks of their own; further processes restart at the first one."""
_DRIVERS = frozenset({"lustre"})


@dataclass(frozen=True)
class EmulationOptions:
    """Options of an emulation; plain data, stored in a study's journal.

    Attributes:
        machine: Description, perhaps in slow motion: "archer2-hdd@1/64", "site.toml@1/8".
        ranks_per_node: Number of ranks on one virtual node.
        transport: Variant of the network; if empty, the environment of a run chooses it.
        noise: Whether runs vary like those on the real storage.
        seed: Seed of the noise, and of random request times.
        capacity_bytes: Capacity requested of a burst buffer, which determines its number of nodes.
        private: Whether each node has its own part of a burst buffer.
        first: Target of the first file of a run that does not request one; others follow it.
        digest: Digest of the description, once it is read, so that a study notices changes.
    """

    machine: str
    ranks_per_node: int = 1
    transport: str = ""
    noise: bool = False
    seed: int = 0
    capacity_bytes: int = 0
    private: bool = False
    first: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        if self.ranks_per_node < 1:
            raise UsageError(
                f"--ranks-per-node must be at least 1 with --on, not {self.ranks_per_node}"
            )
        if self.capacity_bytes < 0:
            raise UsageError(f"--capacity must be above 0, not {self.capacity_bytes}")


@dataclass(frozen=True)
class EmulatedStorage:
    """A described storage that runs on this host use below a directory.

    Attributes:
        options: Options that were given.
        storage: Description in slow motion, without a variant of its network.
    """

    options: EmulationOptions
    storage: Storage

    @classmethod
    def find(cls, options: EmulationOptions) -> EmulatedStorage:
        """Read the description and check the options.

        Raises:
            ConfigurationError: There is no such description, or it is malformed.
            UsageError: The options do not fit the storage.
        """
        storage = find_storage(options.machine)
        found = cls(replace(options, digest=""), storage)
        most = int(storage.value("machine.ranks_per_node"))
        if options.ranks_per_node > most:
            raise UsageError(
                f"--ranks-per-node {options.ranks_per_node}: a node of {storage.name} has {most}"
            )
        names = [one.name for one in storage.transports]
        if options.transport and options.transport not in names:
            known = f"it has {', '.join(names)}" if names else "it describes none"
            raise UsageError(f"--transport {options.transport}: {storage.name}: {known}")
        granularity = storage.value("layout.granularity")
        if (options.capacity_bytes or options.private) and not granularity:
            raise UsageError(
                f"{storage.name} is not a burst buffer: leave --capacity and --private out"
            )
        granted_targets(storage, options.capacity_bytes)
        if options.digest not in ("", found.digest):
            raise UsageError(
                f"the description of {storage.name} has changed since runs were made on it: "
                "restore it, or start over"
            )
        return replace(found, options=replace(options, digest=found.digest))

    @property
    def identity(self) -> str:
        """Storage as the user names it: "archer2-hdd@1/64, 2 ranks a node"."""
        options, slowdown = self.options, self.storage.slowdown
        words = [self.storage.name + (f"@1/{slowdown:g}" if slowdown != 1 else "")]
        if options.ranks_per_node != 1:
            words.append(f"{options.ranks_per_node} ranks a node")
        if options.capacity_bytes:
            words.append(f"{self.targets} burst-buffer nodes")
        words += ["private access"] if options.private else []
        words += [options.transport] if options.transport else []
        words += ["with noise"] if options.noise else []
        return ", ".join(words)

    @property
    def command_words(self) -> str:
        """Options of `stripewise run` for the same storage."""
        options = self.options
        words = ["--on", options.machine]
        if options.ranks_per_node != 1:
            words += ["--ranks-per-node", str(options.ranks_per_node)]
        words += ["--transport", options.transport] if options.transport else []
        words += ["--noise"] if options.noise else []
        if options.capacity_bytes:
            words += ["--capacity", str(options.capacity_bytes)]
        words += ["--private"] if options.private else []
        return shlex.join(words)

    @cached_property
    def digest(self) -> str:
        """Digest of the whole description."""
        return description_digest(self.storage)

    @property
    def targets(self) -> int:
        """Number of targets for striping; for a burst buffer, the number of granted nodes."""
        return granted_targets(self.storage, self.options.capacity_bytes)

    @property
    def nodes(self) -> int:
        """Number of virtual nodes."""
        return max(1, min(int(self.storage.value("machine.nodes")), MOST_NODES))

    def nodes_of(self, n_ranks: int) -> int:
        """Return the number of virtual nodes for a number of ranks."""
        return ceil(n_ranks / self.options.ranks_per_node)

    @property
    def striping(self) -> Striping:
        """Properties of striping for tunables and strategies."""
        found = replace(self.storage.striping, targets=self.targets, by_any_mpi=True)
        granted = self.storage.value("layout.granularity")
        return replace(found, stripe_count=self.targets) if granted else found

    @property
    def network_variables(self) -> tuple[str, ...]:
        """NAME=VALUE of the environment variables that choose another set-up of the network.

        Empty if the user has named one.
        """
        chosen = self.transport(os.environ)
        setups = () if self.options.transport else self.storage.transports
        return tuple(
            f"{name}={value}"
            for one in setups
            for name, value in one.when.items()
            if one != chosen and len(one.when) == 1
        )

    def seen_by(self, facts: ProgramFacts) -> ProgramFacts:
        """Return a program's facts as they are on this storage."""
        return replace(
            facts,
            filesystem=self.storage.kind,
            striping=self.striping,
            network_variables=self.network_variables,
            virtual_nodes=self.nodes_of(facts.n_ranks),
        )

    @property
    def has_driver(self) -> bool:
        """Whether some builds of ROMIO have a driver for it."""
        return self.storage.kind in _DRIVERS

    def transport(self, environment: Mapping[str, str]) -> Transport | None:
        """Return the variant of the network that a run with this environment has."""
        if self.options.transport:
            return next(t for t in self.storage.transports if t.name == self.options.transport)
        return self.storage.transport(environment)

    def noise_factor(self, run_id: str) -> float:
        """Return the factor on the time of one run's use of the storage, at least 1.

        Source: bandwidths have a sharp upper edge and a long left tail (assumed: the lower half of
            a lognormal distribution).
        """
        if not self.options.noise:
            return 1.0
        deviation = sqrt(log(1 + self.storage.value("noise.cv") ** 2))
        return max(1.0, exp(deviation * Random(f"{self.options.seed}:{run_id}").gauss(0, 1)))
