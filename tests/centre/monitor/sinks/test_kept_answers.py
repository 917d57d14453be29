# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Many who scrape cost what one costs, and none gets what is no longer so."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from stripewise.centre.monitor import Reading, Round
from stripewise.centre.monitor.sinks._exposition import Exposition, Form
from stripewise.centre.monitor.sinks._prometheus import KeptAnswers
from support.monitor_rounds import READ, made_round
from support.scraping import ask, serving


class Counting(Exposition):
    """An exposition by a clock that tests set, which counts how often its text is made."""

    def __init__(self) -> None:
        self.now = 50.0
        self.made = 0
        super().__init__("oss1", lambda: self.now)

    def parts(self, form: Form) -> Iterator[str]:
        self.made += 1
        return super().parts(form)


def read(value: int, collector: str = "one", fs: str = "a") -> Round:
    return replace(made_round([Reading(READ, (fs, "x"), value)]), collector=collector)


@pytest.fixture
def exposition() -> Counting:
    found = Counting()
    found.take(read(1))
    return found


def test_it_is_made_once_for_a_round_in_each_form(exposition: Counting) -> None:
    kept = KeptAnswers(exposition)
    forms = [(form, is_packed) for form in Form for is_packed in (False, True)]
    bodies = [[kept.body(form, is_packed=packed) for form, packed in forms] for _ in range(5)]
    assert exposition.made == len(forms)
    assert all(one is first for row in bodies for one, first in zip(row, bodies[0], strict=True))
    assert gzip.decompress(bodies[0][1]) == bodies[0][0]


def test_a_new_round_of_any_collector_is_served_at_once(exposition: Counting) -> None:
    kept = KeptAnswers(exposition)
    for value in range(2, 5):
        exposition.take(read(value))
        assert f"}} {value}\n".encode() in kept.body(Form.TEXT, is_packed=False)
    exposition.take(read(7, "two", "b"))
    assert b"} 7\n" in gzip.decompress(kept.body(Form.TEXT, is_packed=True))


def test_what_is_dropped_is_not_served_from_memory(exposition: Counting) -> None:
    kept = KeptAnswers(exposition)
    assert kept.body(Form.TEXT, is_packed=False)
    exposition.now += 301
    assert kept.body(Form.TEXT, is_packed=False) == b""


def test_a_round_that_comes_while_the_text_is_made_is_not_missed(exposition: Counting) -> None:
    kept = KeptAnswers(exposition)

    class Late(Counting):
        def parts(self, form: Form) -> Iterator[str]:
            found = [*super().parts(form)]
            if self.made == 1:
                self.take(read(2))
            return iter(found)

    exposition.__class__ = Late
    kept.body(Form.TEXT, is_packed=False)
    assert b"} 2\n" in kept.body(Form.TEXT, is_packed=False)


def test_of_many_who_ask_at_once_one_makes_it(exposition: Counting) -> None:
    kept = KeptAnswers(exposition)
    begin = threading.Barrier(8)

    def scrape() -> None:
        begin.wait()
        kept.body(Form.TEXT, is_packed=True)

    threads = [threading.Thread(target=scrape) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert exposition.made == 1


def test_the_sink_serves_what_is_kept() -> None:
    with serving() as sink:
        exposition = sink._exposition
        exposition.__class__ = Counting
        exposition.made = 0  # type: ignore[attr-defined]
        for _ in range(5):
            assert ask(sink, Accept_Encoding="gzip")[0] == 200
        assert exposition.made == 1  # type: ignore[attr-defined]
