# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a run on an emulated storage showed, from the counters of its mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, log2

from stripewise.present import plural
from stripewise.storage.machines import Transport

LATE_SHARE = 0.05
"""More than this share of the requests' time is the host's: then it was the limit."""
_LEAST_SHARE = 0.01
_WORDS = {
    "request": "each request's own time",
    "exchange": "the exchange of collective buffering",
    "lock": "locks",
    "process": "single processes",
    "file": "a node into one file",
    "node": "the nodes' links",
    "target": "the targets",
    "whole": "the storage as a whole",
    "metadata": "the metadata server",
}


@dataclass(frozen=True)
class EmulatedRun:
    """One run, as the storage saw it.

    Attributes:
        storage: That was emulated: "archer2-hdd@1/64".
        machine: How the user named it, with its slow motion; slowdown: of it.
        processes: That were reached.
        writes / reads / metadata: Requests; held: of them, how many were held back.
        held_seconds / model_seconds: Sums over the requests: held back, and from beginning to
            end as the storage has it.
        late / late_seconds: Requests that this host ended clearly later, and by how much.
        limits: Resource to its share of the time that requests waited for, the largest first.
        ranks_per_node: On one virtual node.
        transport: Set-up of the network; hangs_from_nodes: jobs of so many nodes hang with it
            there; 0: none.
        mapped / rings / static_programs: Memory maps of files, processes with io_uring or libaio,
            and static programs that were started: what bypasses it.
        notes: What else went otherwise than asked; for the user.
    """

    storage: str
    machine: str = ""
    slowdown: float = 1.0
    processes: int = 0
    writes: int = 0
    reads: int = 0
    metadata: int = 0
    held: int = 0
    held_seconds: float = 0.0
    model_seconds: float = 0.0
    late: int = 0
    late_seconds: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)
    ranks_per_node: int = 1
    transport: str = ""
    hangs_from_nodes: int = 0
    mapped: int = 0
    rings: int = 0
    static_programs: int = 0
    notes: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Requests of all kinds."""
        return self.writes + self.reads + self.metadata

    @property
    def late_share(self) -> float:
        """Share of the requests' time that is the host's, not the storage's."""
        whole = self.model_seconds + self.late_seconds
        return self.late_seconds / whole if whole > 0 else 0.0

    @property
    def host_was_the_limit(self) -> bool:
        """Whether the times are not those of the storage."""
        return self.late_share > LATE_SHARE

    @property
    def problem(self) -> str:
        """Why the run does not count, with the remedy; "" if it does."""
        if not self.host_was_the_limit:
            return ""
        return (
            f"the host was the limit: {plural(self.late, 'request')} took {self.late_seconds:.3g}"
            f" s longer here than on {self.machine.partition('@')[0]} ({self.late_share:.0%} of "
            f"the time of all requests), so this run does not count; {self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """Name a slower motion in which the host would have had room to spare."""
        needed = self.slowdown * 2 * (1 + self.late_seconds / max(self.model_seconds, 1e-9))
        power = min(2 ** ceil(log2(needed)), 1 << 20)
        return f"rehearse in slower motion: --on {self.machine.partition('@')[0]}@1/{power}"

    def why_it_hangs(self, n_ranks: int) -> str:
        """Say why a run on so many ranks would not have ended there; "" if it would."""
        nodes = ceil(n_ranks / self.ranks_per_node)
        if not 0 < self.hangs_from_nodes <= nodes:
            return ""
        return (
            f"jobs of {self.hangs_from_nodes} nodes or more hang on "
            f"{self.machine.partition('@')[0]} with the transport {self.transport}, and this one "
            f"is on {nodes} virtual nodes, so this run does not count; choose another transport"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know of the run, the problem not among it."""
        found = []
        if not self.requests:
            found.append(
                "no request was held back: the program made none below the emulated directory "
                "(--root names another one)"
            )
        if self.mapped:
            maps = plural(self.mapped, "memory map")
            found.append(f"{maps} of files bypassed the emulation: that I/O was not held back")
        if self.rings:
            processes = plural(self.rings, "process", "processes")
            found.append(f"{processes} used io_uring or libaio, which the emulation does not see")
        if self.static_programs:
            programs = plural(self.static_programs, "statically linked program")
            found.append(
                f"{programs} that the command started bypassed the emulation: that I/O was "
                "not held back; link such programs dynamically"
            )
        return (*found, *self.notes)

    @property
    def limits_text(self) -> str:
        """Say what requests waited for: "single processes 62 %, the targets 35 %"."""
        shown = {name: share for name, share in self.limits.items() if share >= _LEAST_SHARE}
        return ", ".join(f"{_WORDS[name]} {share:.0%}" for name, share in shown.items())


def emulated_run(
    counters: Mapping[str, int],
    *,
    storage: str,
    machine: str,
    slowdown: float,
    ranks_per_node: int = 1,
    transport: Transport | None = None,
) -> EmulatedRun:
    """Make sense of the counters of a mapping.

    Args:
        counters: Name to value; times in nanoseconds.
        storage: Identity of the storage, for people.
        machine: As the user names it.
        slowdown: Of its slow motion.
        ranks_per_node: On one virtual node.
        transport: Set-up of the network that the run had.
    """
    spent = {
        name.removeprefix("limit."): value
        for name, value in counters.items()
        if name.startswith("limit.") and value
    }
    whole = sum(spent.values())
    order = sorted(spent, key=lambda name: -spent[name])
    return EmulatedRun(
        storage=storage,
        machine=machine,
        slowdown=slowdown,
        held_seconds=counters["held_ns"] / 1e9,
        model_seconds=counters["model_ns"] / 1e9,
        late_seconds=counters["late_ns"] / 1e9,
        ranks_per_node=ranks_per_node,
        transport=transport.name if transport else "",
        hangs_from_nodes=transport.hangs_from_nodes if transport else 0,
        limits={name: spent[name] / whole for name in order},
        notes=tuple(text for name, text in _NOTES.items() if counters[name]),
        **{name: counters[name] for name in _PLAIN},
    )


_PLAIN = (
    "processes",
    "writes",
    "reads",
    "metadata",
    "held",
    "late",
    "mapped",
    "rings",
    "static_programs",
)
_NOTES = {
    "tables_full": "more files were used than there are clocks for: some shared theirs",
    "stripes_cut": "a layout asked for more stripes than there are targets: it got all targets",
    "layouts_refused": "a layout was none that the storage takes, or an attribute of a file or "
    "directory is no layout (see `stripewise layout get`): the default was used for it",
    "layouts_unkept": "a layout could not be kept as an attribute of its file",
}
