# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advises how to set up the network below MPI, if the description has several variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stripewise.bench.advice.rules._base import (
    FACTOR,
    GAINS,
    Advice,
    Basis,
    Claim,
    How,
    JobSize,
    Need,
    Program,
    Rule,
    Trial,
)
from stripewise.bench.advice.rules._wording import of_nodes, shown, slower
from stripewise.present import rate_text

_SAFE = ("FI_", "UCX_", "MPICH_OFI_")
"""Prefixes of network variables that a job can set and unset by itself."""


class TransportChoice(Rule):
    """Advises on the variant of the network with which collective calls are fastest."""

    name = "transport"
    topic = "Network"

    needs = (
        Need(
            "the description has only one network setup, which campaigns measure",
            lambda basis: len(basis.storage.transports) > 1,
        ),
    )

    def concerns(self, program: Program) -> bool:
        """Return whether the program exchanges data before it writes."""
        return program.is_collective

    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield the best variant, the cost of another one, and when one hangs."""
        job = _job(basis)
        trials = _trials(basis, job)
        hanging = [one for one in basis.storage.transports if one.hangs_from_nodes]
        safe = [one for one in trials if one.transport not in {h.name for h in hanging}] or trials
        best = max(safe, key=basis.rate)
        worst = min((one for one in safe if basis.rate(one) > 0), key=basis.rate)
        if basis.rate(best) >= GAINS * basis.rate(worst):
            yield self._choice(basis, job, best, worst, tuple(safe))
        for one in hanging:
            nodes = one.hangs_from_nodes
            text = (
                f"Do not use the transport {one.name} for jobs of {nodes} nodes or more: they "
                "hang in collective calls."
            )
            source = f"the description's variant {one.name}"
            yield Advice(
                self.name, self.topic, text, nodes, nodes, nodes, "nodes", (source,),
                is_warning=True,
            )  # fmt: skip

    def _choice(
        self, basis: Basis, job: JobSize, best: Trial, worst: Trial, safe: tuple[Trial, ...]
    ) -> Advice:
        when = _when(basis, best)
        rate, lost = basis.range(best), basis.rate(worst)
        other = ", ".join(f"{k}={v}" for k, v in _when(basis, worst).items()) or "the default"
        setting = ", ".join(f"{k}={v}" for k, v in when.items()) or "the default"
        text = (
            f"Set {setting}: {of_nodes(job.nodes)} then write one file by collective calls with "
            f"{shown(rate)}, and with {other} at {rate_text(lost)} "
            f"({slower(rate.value, lost)})."
        )
        how = (How("variable", f"export {name}={value}") for name, value in when.items())
        defaults = when if all(name.startswith(_SAFE) for name in when) else {}
        claim = Claim(best, safe, (worst,))
        return self.predicted(basis, text, rate, how, claim=claim, defaults=defaults)


def _job(basis: Basis) -> JobSize:
    """Return a job of several nodes, because within one node the network is not used."""
    several = [one for one in basis.jobs if one.nodes > 1]
    return several[len(several) // 2] if several else basis.largest


def _trials(basis: Basis, job: JobSize) -> list[Trial]:
    usual = basis.into_one(job, {FACTOR: basis.best_stripes(job)})
    return [
        replace(usual, words=f"the transport {one.name}", transport=one.name)
        for one in basis.storage.transports
    ]


def _when(basis: Basis, trial: Trial) -> dict[str, str]:
    return dict(next(one.when for one in basis.storage.transports if one.name == trial.transport))
