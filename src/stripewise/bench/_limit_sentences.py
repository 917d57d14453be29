# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Limits in words, and whether the fit and the figures themselves agree."""

from __future__ import annotations

from stripewise.bench._plateaus import Plateau
from stripewise.machines import SPEC_OF, Dimension, Figure
from stripewise.simulation import rate_text
from stripewise.text import duration_text, plural

APART = 1.05
"""Intervals that are farther from each other than this contradict."""
HOSTS_OWN = (
    " Only the storage is emulated: the time of this host's MPI and processors is part of it."
)
_WORDS = {
    "client.process": "One process {verb} at most {rate} {way} one file",
    "client.file": "All processes of a node together {plain} at most {rate} {way} one file",
    "client.node": "One node {verb} at most {rate}, with a file for each process",
    "servers.target": "One target {takes} at most {rate}",
    "servers.whole": "The whole storage {takes} at most {rate}, however many nodes there are",
}
_OTHER = {
    "client.request": "Each request takes a process {time} beside its data",
    "servers.target_request": "Each request takes a target {time} beside its data",
    "servers.jitter": "Targets vary: {share} of the time of a request is chance",
    "client.turns": "Writes of a node into one file take turns for {share} of their time",
    "exchange.bandwidth": "An aggregator of collective calls receives at most {rate} from others",
    "exchange.round": "Each round of collective buffering takes {time} beside its data",
    "locks.revoke": "A lock that goes from one node to another takes {time}",
    "locks.ahead": "Asking for a lock ahead takes a writer {time} for each request",
    "locks.hold": "A node's stream into a file waits {time} for a lock that is asked for ahead",
    "locks.extent": "Each further writer at other nodes makes that wait {time} longer",
}


def sentence(name: str, figure: Figure, evidence: int) -> str:
    """Return a limit in words.

    Args:
        name: Of a figure.
        figure: Its value, in base units.
        evidence: Number of cases that tell it.
    """
    stem, _, way = name.rpartition("_")
    if name in _OTHER:
        text = _OTHER[name].format(
            rate=rate_text(figure.value), time=duration_text(figure.value),
            share=f"{figure.value:.0%}",
        )  # fmt: skip
    elif stem in _WORDS:
        writing = way == "write"
        text = _WORDS[stem].format(
            rate=rate_text(figure.value),
            verb="writes" if writing else "reads", plain="write" if writing else "read",
            way="into" if writing else "from", takes="takes" if writing else "gives",
        )  # fmt: skip
    else:
        value = rate_text(figure.value) if _is_rate(name) else f"{figure.value:.4g}"
        text = f"{SPEC_OF[name].meaning.rstrip('.')}: {value}"
    seen = f" ({plural(evidence, 'case')})" if evidence else ""
    return f"{text}{seen}."


def disagreement(figure: Figure, seen: Plateau | None) -> str:
    """Return what is to be said where the figures alone give another limit; "" if not."""
    if seen is None or not seen.reached or figure.low is None or figure.high is None:
        return ""
    if seen.low <= figure.high * APART and figure.low <= seen.high * APART:
        return ""
    return (
        f" Read off the figures without the model it is {rate_text(seen.value)} "
        f"({rate_text(seen.low)} to {rate_text(seen.high)}): the model does not explain these "
        "cases, so measure them again."
    )


def _is_rate(name: str) -> bool:
    return SPEC_OF[name].dimension is Dimension.BANDWIDTH
