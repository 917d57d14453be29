# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists variables of the network layer below MPI, which collective buffering uses."""

from __future__ import annotations

from stripewise.core import ProgramFacts, Value
from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import ActsAt, Layer, SearchRange, Text, Tunable

_SAR_LIMIT = "FI_OFI_RXM_SAR_LIMIT"
_SAR_VALUES: tuple[Value, ...] = ("64K",)


def _is_read(facts: ProgramFacts) -> str:
    """Require a network that reads the variable, on this host or in the machine description."""
    if _described(facts) or not when.cray(facts):
        return ""
    return "only Cray MPICH over libfabric reads it"


def _described(facts: ProgramFacts) -> tuple[Value, ...]:
    """Return the values that select another set-up of a described network."""
    pairs = (text.partition("=") for text in facts.network_variables)
    return tuple(dict.fromkeys(value for name, _, value in pairs if name == _SAR_LIMIT))


def _values(facts: ProgramFacts) -> tuple[Value, ...]:
    return _described(facts) or _SAR_VALUES


TUNABLES = (
    Tunable(
        _SAR_LIMIT,
        Text("128K", r"[0-9]{1,9}[KMG]?", "64K"),
        "libfabric's RXM provider: larger messages go by rendezvous, not in segments",
        layer=Layer.ENVIRONMENT,
        acts_at=ActsAt.JOB,
        stacks=("cray",),
        source="documented: fi_rxm(7); ARCHER2: collective writes of two nodes, 0.01 GiB/s with "
        "the default (Henty, Performance of Parallel IO on ARCHER2)",
        search=SearchRange(4, by=_values),
        applies=(when.mpiio, when.several_ranks, when.collective, _is_read),
    ),
)
