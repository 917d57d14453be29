# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of published tables: as good as the page says, and the page is the code's."""

from pathlib import Path

import numpy as np
import pytest
from published import (
    SETS,
    Predicted,
    Validation,
    draw_validation,
    load_table,
    names_of,
    repeats,
    score,
    scores_of,
    soft_minimum,
    validate,
    validation_json,
    validation_lines,
    validation_scores,
)
from published._cases import case_of
from published._tables import parse_table

from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.storage.fit import blank_storage, fit_results
from stripewise.storage.machines import find_storage
from stripewise.storage.results import Measured, Results

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
QUICK = ("archer2-shared-file", "archer", "burst-buffer", "archer2-libraries")
SEARCHED = ("hopper", "edison", "stampede")


@pytest.fixture(scope="module")
def quick():
    return validate(names_of(QUICK))


def test_the_page_has_the_numbers_of_the_code(quick):
    page = scores_of(PAGE.read_text("utf-8"))
    ours = scores_of(validation_scores(quick))
    assert len(ours) == len(QUICK) + len(quick)
    for name in ours:
        assert agree(page.get(name, ()), ours[name]), name


def agree(page, ours):
    """Whether two rows of scores say the same, but for what a small change of a law makes."""
    if (page[0], page[2]) != (ours[0], ours[2]):
        return False
    return all(
        one == other or abs(number(one) - number(other)) <= 0.03 + 0.05 * number(other)
        for one, other in zip(page, ours, strict=True)
    )


def number(text):
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def published(machine, *values, mode="tuned"):
    """A table of one case, as if it were predicted without error."""
    cells = "".join(
        f'[[cells]]\nkernel = "vpic"\nranks = {ranks}\nnodes = 22\nmode = "{mode}"\n'
        f"value = {value}\ncalibrate = false\n"
        for ranks, value in values
    )
    words = "".join(f'{key} = "x"\n' for key in ("name", "title", "statistic", "source", "rule"))
    text = f'unit = "GB/s"\nmachine = "{machine}"\n{words}[workload]\nstack = "cray"\n{cells}'
    table = parse_table(text)
    return Validation(table, tuple(Predicted(cell, cell.value) for cell in table.cells))


def test_what_was_published_twice_says_how_well_it_can_be_predicted():
    once = published("hopper", (528, 4.0), (1056, 8.0))
    assert repeats([once]) is None
    assert repeats([once, published("edison", (528, 8.0))]) is None
    assert repeats([once, published("hopper", (528, 8.0), mode="default")]) is None
    same = repeats([once, published("hopper", (528, 4.0))])
    assert (same.number, same.most, same.score.error, same.score.rho) == (1, 1, 0, 1)
    twice = repeats([once, published("hopper", (528, 6.0))])
    assert twice.most == pytest.approx(1.5)
    # Standard deviation of two logarithms; half of normal numbers are within 0.67 of it.
    assert twice.score.error == pytest.approx(0.67 * np.log(1.5) / 2**0.5, rel=0.25)


@pytest.mark.long
@pytest.mark.parametrize("name", SEARCHED)
def test_the_page_has_the_numbers_of_searched_tables(name):
    page = scores_of(PAGE.read_text("utf-8"))
    ours = scores_of(validation_scores(validate(names_of((name,)))))
    for key in ours:
        assert agree(page.get(key, ()), ours[key]), key


def test_archer2_is_predicted_as_well_as_is_claimed(quick):
    tables = [one for one in quick if one.table.name in SETS["archer2-shared-file"]]
    reached = score(tables, calibrated=False)
    assert reached.number == 41
    assert reached.error <= 0.15
    assert reached.rho >= 0.95


def test_archer_is_predicted_as_well_as_is_claimed(quick):
    tables = [one for one in quick if one.table.name in SETS["archer"]]
    reached = score(tables, calibrated=False)
    assert reached.error <= 0.15
    assert reached.rho >= 0.94


@pytest.mark.parametrize("names", [("archer2-hdd-mpiio-lock2",), SETS["archer"]])
def test_the_laws_predict_better_than_a_soft_minimum_of_three_limits(quick, names):
    simpler = score(soft_minimum(names), calibrated=False)
    ours = score([one for one in quick if one.table.name in names], calibrated=False)
    assert ours.number == simpler.number
    assert simpler.error < 0.3  # it was fitted, and not to these
    assert ours.error < simpler.error
    assert ours.rho > simpler.rho


def test_lines_and_json_have_every_cell(quick):
    few = quick[:2]
    lines = list(validation_lines(few))
    cells = sum(len(one.cells) for one in few)
    assert sum(" predicted " in line and " measured " in line for line in lines) == cells
    document = validation_json(few)
    assert sum(len(one["cells"]) for one in document["tables"]) == cells
    fitted = [one for table in document["tables"] for one in table["cells"] if one["calibrated"]]
    assert len(fitted) == 14


def test_a_bound_is_not_counted_but_holds(quick):
    (bound,) = next(one for one in quick if one.table.name.endswith("scaling")).cells
    assert bound.cell.bound == "at most"
    assert bound.ratio < 1


def test_another_description_can_be_judged(tmp_path):
    names = names_of(("archer2-hdd-mpiio-lock0",))
    own, other = (score(validate(names, on), calibrated=False) for on in ("", "archer"))
    assert own.error < other.error
    with pytest.raises(ConfigurationError):
        validate(names, str(tmp_path / "none.toml"))


def test_pictures_are_drawn(quick, tmp_path):
    draw_validation(quick[:1], tmp_path / "a.svg")
    assert "only predicted" in (tmp_path / "a.svg").read_text("utf-8")
    small = [one for one in quick if one.table.name == "shaheen2-datawarp-small-files"]
    with pytest.raises(UsageError, match="no bandwidth"):
        draw_validation(small, tmp_path / "b.svg")


def test_an_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="archer2-shared-file"):
        names_of(("archer2-shared",))


def test_a_published_table_gives_limits_like_the_presets():
    table = load_table("archer-file-per-process")
    cases = [(case_of(table, cell), cell.value) for cell in table.cells]
    results = Results(
        tuple(
            Measured(table.name, case.workload, case.stack, dict(case.settings), (value,))
            for case, value in cases
        )
    )
    fitted = fit_results(results, blank_storage(results, name="archer", targets=48))
    whole = fitted.storage.figures["servers.whole_write"]
    assert whole.low < 12500 * 2**20 < whole.high
    assert whole.value == pytest.approx(find_storage("archer").value("servers.whole_write"), 0.15)
