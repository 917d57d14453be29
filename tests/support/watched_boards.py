# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the shipped boards show of a chain: their expressions, asked from its Prometheus."""

from __future__ import annotations

import math
import re

from stripewise.centre.monitor import METRICS
from support.grafana_boards import FILES, Query, queries, substituted
from support.watched_chain import SCRAPE_SECONDS, Chain, shortened

BOARDS = ("overview", "server", "target", "load", "metadata")
QUERIES = [one for path in FILES if path.stem in BOARDS for one in queries(path)]
UNTOLD = re.compile(
    r"lustre_(service_\w+|export_\w+|quota_\w+|target_(recovery|lock)\w*)|host_network_\w+|disk_\w+"
)
"""Metrics of which emulated servers count nothing: threads and queues of services, what each
client does, quotas, recovery, locks; and of hosts without a network or a disk of their own."""
SILENT = {
    "overview: Which targets are missing: A",
    *(f"target: {panel}: {ref}"
      for panel in ("Discontiguous blocks", "Fragments", "I/O in flight") for ref in "AB"),
}  # fmt: skip
"""Of what is told, without figures: no target is missing; and there are no disks behind emulated
targets that could count blocks, fragments or I/O in flight."""
_NAMES = re.compile(r"\b(?:lustre|host|disk|stripewise)_\w+")
_RATE = re.compile(r"rate\(((?:[^()\[\]]|\{[^}]*\})*)\[\w+\]\)")
_WINDOW = 20

Values = dict[tuple[str, ...], float]


def expression(board: str, panel: str, ref: str, window: str) -> str:
    """Return the expression of a panel as Grafana sends it where "All" is chosen."""
    (found,) = [one for one in QUERIES if one[:3] == (board, panel, ref)]
    return _sent(found, window)


def _sent(query: Query, window: str) -> str:
    # On the board of servers "All" is the list of them.
    chosen = {"server": ("oss1",)} if query.board == "server" else {}
    return shortened(substituted(query.expression, chosen, window))


def asked(chain: Chain, text: str, at: float) -> Values:
    """Return the values at a moment, by the values of their labels."""
    return {
        tuple(value for _, value in sorted(one["metric"].items())): float(one["value"][1])
        for one in chain.server.query(text, time=str(at))
    }


def amid(chain: Chain, query: Query) -> list[float]:
    """Return the figures that a query gives while the jobs run.

    One is infinite where it is compared with a past in which mostly nothing happened.
    """
    found = asked(chain, _sent(query, f"{_WINDOW}s"), chain.amid)
    return [one for one in found.values() if not math.isnan(one)]


def told(chain: Chain) -> set[str]:
    """Return the names of all series that there are."""
    return set(chain.server.json("/api/v1/label/__name__/values")["data"])


def names(text: str) -> set[str]:
    """Return the names of the agents' series in an expression."""
    known = {metric.name for metric in METRICS}
    found = set(_NAMES.findall(text))
    return {one for one in found if re.sub("_(total|bucket|sum|count)$", "", one) in known}


def counted(chain: Chain, board: str, panel: str, ref: str) -> Values:
    """Return what a panel gives if it is asked for the counters in place of their rates."""
    text, number = _RATE.subn(r"\1", expression(board, panel, ref, "1m"))
    assert number, text
    return {key: value for key, value in asked(chain, text, chain.ended).items() if value}


def grown(chain: Chain, board: str, panel: str, ref: str) -> tuple[Values, float]:
    """Return the rates of a panel over the whole time, times that time, and how much is too much.

    A rate is the growth between the first and the last scrape within the window, set out over the
    whole window if both are within 1.1 scrapes of its ends.  Nothing grows near the ends, so that
    rate x window is the growth, or more by at most window / (window - 2.2 scrapes).
    """
    window = math.ceil(chain.ended - chain.began)
    found = asked(chain, expression(board, panel, ref, f"{window}s"), chain.ended)
    most = window / (window - 2.2 * SCRAPE_SECONDS)
    return {key: value * window for key, value in found.items() if value}, most
