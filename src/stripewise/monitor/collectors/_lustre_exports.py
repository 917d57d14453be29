# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each client did to this server: readings of the counters of exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.monitor._host import Host
from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lctl import Parameters
from stripewise.monitor.collectors._lustre_stats import METADATA_KINDS, bytes_of, told
from stripewise.monitor.collectors._sums import FirstTexts, Sums
from stripewise.monitor.metrics import Metric, Reading, lustre
from stripewise.monitor.texts.lustre import excerpt, parse_export, parse_stats

EXPORT_PATTERNS = ("obdfilter.*.exports.*.stats", "mdt.*.exports.*.stats")
Client = tuple[str, str]
"""File system and NID."""


class Exports:
    """Counters of clients, summed over the targets of this server.

    A client that connects again counts from zero on that target; sums go on (see `Sums`).
    """

    def __init__(self, most_clients: int) -> None:
        """Report at most so many clients, those that are seen first."""
        self._most = most_clients
        self.is_repeated = False
        self._firsts = FirstTexts()
        self._sums: dict[Metric, Sums[Client]] = {
            metric: Sums(most_clients)
            for metric in (
                lustre.EXPORT_READ_BYTES,
                lustre.EXPORT_WRITE_BYTES,
                lustre.EXPORT_METADATA_OPERATIONS,
            )
        }

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | Problem]:
        """Read all and return the sums of each client.

        Raises:
            HostError: `lctl` takes too long.
        """
        seen: dict[str, set[Client]] = {}
        clients: set[Client] = set()
        for name in names:
            export = parse_export(name)
            if export is None:
                yield Problem(f"{excerpt(name)}: this is no export of a client")
                continue
            client = (export[0].fs, export[1])
            clients.add(client)
            seen.setdefault(_part(name), set()).add(client)
        for values, problems in parameters.parts(host, names) if names else ():
            yield from problems
            for name, text in values.items():
                yield from self._take(name, text)
        self._forget(seen)
        self._firsts.end(names)
        if len(clients) > self._most:
            yield Problem(
                f"{len(clients)} clients are connected, and the first {self._most} are reported: "
                "raise most_clients, or switch exports off"
            )
        for metric, sums in self._sums.items():
            for client, value in sums.items():
                yield Reading(metric, client, value)

    def _take(self, name: str, text: str) -> Iterator[Problem]:
        export = parse_export(name)
        if export is None:
            return
        stats = parse_stats(text)
        yield from told(name, stats.problems)
        part, client = _part(name), (export[0].fs, export[1])
        is_base = self.is_repeated and self._firsts.is_base(name)
        for metric, kind in (
            (lustre.EXPORT_READ_BYTES, "read_bytes"),
            (lustre.EXPORT_WRITE_BYTES, "write_bytes"),
        ):
            value = bytes_of(stats.rows, kind, stats.is_whole)
            if value is not None:
                self._sums[metric].add(part, client, value, is_base=is_base)
        if stats.is_whole and name.startswith("mdt."):
            found = [row.samples for kind, row in stats.rows.items() if kind in METADATA_KINDS]
            metadata = self._sums[lustre.EXPORT_METADATA_OPERATIONS]
            metadata.add(part, client, sum(found), is_base=is_base)
        if stats.is_whole:
            self._firsts.note(name)

    def _forget(self, seen: dict[str, set[Client]]) -> None:
        for sums in self._sums.values():
            for part in sums.parts():
                there = seen.get(str(part), set())
                sums.forget(part, [key for key in sums.known(part) if key not in there])


def _part(name: str) -> str:
    return name.partition(".exports.")[0]
