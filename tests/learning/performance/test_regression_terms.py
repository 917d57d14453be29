# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The published regression."""

import itertools
from random import Random

import pytest

from stripewise.learning.performance._fit import CANDIDATES, fit_terms
from stripewise.learning.performance._records import Term, regressed

LADDER = (1.0, 4.0, 16.0, 64.0)


def made_up(terms, noise=0.0):
    random = Random(1)
    rows = [
        dict(zip("csaf", values, strict=True))
        for values in itertools.product(LADDER, LADDER, LADDER, (128.0, 512.0))
    ]
    return rows, [regressed(terms, row) * random.uniform(1 - noise, 1 + noise) for row in rows]


def test_the_candidates_are_all_products_of_three_powers_of_four_features():
    assert len(CANDIDATES) == len({tuple(sorted(one.items())) for one in CANDIDATES}) == 81


def test_terms_of_made_up_times_are_found_again():
    terms = (Term({}, 10.0), Term({"f": 1, "c": -1}, 2.26), Term({"f": 1, "a": -1}, 0.8))
    rows, seconds = made_up(terms, noise=0.02)
    found = {str(one): one.coefficient for one in fit_terms(rows, seconds)}
    assert found["f/c"] == pytest.approx(2.26, rel=0.05)
    assert found["f/a"] == pytest.approx(0.8, rel=0.1)
    assert len(found) <= 5


def test_a_feature_that_never_changed_is_no_term():
    terms = (Term({}, 10.0), Term({"c": -1}, 100.0))
    rows, seconds = made_up(terms)
    same = [{**row, "f": 128.0} for row in rows]
    assert all("f" not in one.powers for one in fit_terms(same, seconds))


def test_terms_are_written_as_they_are_read():
    assert str(Term({"c": 1, "f": 1, "a": -1}, 1.0)) == "c f/a"
    assert str(Term({"c": -1, "s": -1}, 1.0)) == "1/(c s)"
    assert str(Term({}, 1.0)) == "1"
