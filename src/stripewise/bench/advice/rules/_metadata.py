# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises on many files, from the times of the metadata server and of a process."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.bench.advice.rules._base import GAINS, Advice, Basis, How, Need, Rule, keys_of
from stripewise.bench.advice.rules._wording import times
from stripewise.present import count_text, duration_text
from stripewise.storage.machines import Figure

_MANY = 100_000
_NOTICED = 5.0
"""Seconds per output step from which file creations are mentioned."""


class Metadata(Rule):
    """Advises on the rates of the metadata server and of one process."""

    name = "metadata"
    topic = "Many files"

    needs = (
        Need.all_of(
            "how fast files are created is not known: add the suite mdtest", "metadata.create"
        ),
    )

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the rates of all processes, of one process, and within one directory."""
        yield self._all_processes(basis)
        if basis.knows("metadata.latency"):
            yield from self._one_process(basis)
        yield from self._directories(basis)

    def _all_processes(self, basis: Basis) -> Advice:
        rate, low, high = _rates(basis, "metadata.create")
        ranks = basis.largest.nodes * basis.largest.ranks_per_node
        seconds = ranks / rate
        text = (
            f"All users together create at most {count_text(rate)} files a second. A job of "
            f"{count_text(ranks)} processes that each open a new file in every step waits at "
            f"least {duration_text(seconds)} in each step, and so does everybody else."
        )
        if seconds >= _NOTICED:
            text += " Write one file for each node, or a shared file."
        return self._rate_of(basis, text, (rate, low, high), (), "metadata.create")

    def _one_process(self, basis: Basis) -> Iterator[Advice]:
        way = basis.storage.figures["metadata.latency"]
        service = basis.storage.figures["metadata.create"]
        each = way.value + service.value + basis.storage.value("metadata.object")
        rate = 1 / each
        together = 1 / service.value
        if together < GAINS * rate:
            return
        ends = [_end(way, high) + _end(service, high) for high in (True, False)]
        low, high = (min(1 / one, rate) if n == 0 else max(1 / one, rate)
                     for n, one in enumerate(ends))  # fmt: skip
        many = max(int(together * each), 1)
        text = (
            f"One process creates at most {count_text(rate)} files a second: "
            f"{count_text(_MANY)} files of an archive take {count_text(_MANY / rate)} s. "
            "Keep small files in one archive, or unpack with several processes; up to "
            f"{count_text(many)} of them help."
        )
        how = (How("command", "tar -cf files.tar DIRECTORY"),)
        yield self._rate_of(basis, text, (rate, low, high), how, "metadata.latency")

    def _directories(self, basis: Basis) -> Iterator[Advice]:
        """Yield whether files in one directory are slower, if cases of both were measured."""
        created = [one for one in basis.figures if one.operation == "create"]
        own = [one for one in created if one.case.sharing == "own"]
        shared = [one for one in created if one.case.sharing == "shared"]
        pairs = [
            (a, b) for a in own for b in shared
            if (a.case.nodes, a.case.ranks_per_node, a.case.directory, a.case.files)
            == (b.case.nodes, b.case.ranks_per_node, b.case.directory, b.case.files)
        ]  # fmt: skip
        if not pairs:
            return
        best, same = max(pairs, key=lambda one: one[0].median)
        if best.median < GAINS * same.median:
            return
        text = (
            "Do not let all processes create files in one directory: "
            f"{count_text(best.case.ranks)} processes create {count_text(same.median)} files "
            f"a second there, and {count_text(best.median)} in directories of their own, "
            f"{times(best.median, same.median)} as many."
        )
        yield Advice(
            self.name, self.topic, text, best.median, best.low, best.high,
            "operations per second", keys_of((best, same)),
            (How("code", 'mkdir("output/RANK")'),), is_warning=True,
        )  # fmt: skip

    def _rate_of(
        self, basis: Basis, text: str, rates: tuple[float, float, float], how: tuple[How, ...],
        figure: str,
    ) -> Advice:  # fmt: skip
        origin = basis.cases_of(figure) or (f"{figure} of the storage's description",)
        return Advice(self.name, self.topic, text, *rates, "operations per second", origin, how)


def _rates(basis: Basis, name: str) -> tuple[float, float, float]:
    """Return operations per second for files of one stripe, with their range."""
    own = basis.storage.value("metadata.object")
    figure = basis.storage.figures[name]
    rate = 1 / (figure.value + own)
    return rate, 1 / (_end(figure, True) + own), 1 / (_end(figure, False) + own)


def _end(figure: Figure, high: bool) -> float:
    end = figure.high if high else figure.low
    return figure.value if end is None or end <= 0 else end
