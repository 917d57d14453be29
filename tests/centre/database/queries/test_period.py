# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from datetime import UTC, datetime

import pytest

from stripewise.centre.database.queries import Period
from stripewise.centre.database.queries._filters import DAY, whole_months
from stripewise.core.errors import UsageError
from support.survey_world import NOW


def _at(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp())  # type: ignore[arg-type, misc]


def test_usually_the_last_days() -> None:
    period = Period.parse({}, NOW)
    assert (period.since, period.until) == (_at(2026, 2, 27), int(NOW) + 1)
    assert period.words == {}
    again = Period.parse(period.link_words, NOW)
    assert (again.since, again.until) == (period.since, period.until)


def test_what_is_asked_for() -> None:
    period = Period.parse({"since": "2026-01-01", "until": "2026-02-01", "sort": "x"}, NOW)
    assert (period.since, period.until) == (_at(2026, 1, 1), _at(2026, 2, 1))
    assert period.words == {"since": "2026-01-01", "until": "2026-02-01"}
    assert period.text == "from 2026-01-01 to 2026-01-31"


def test_an_old_beginning_alone_means_a_year_from_there() -> None:
    period = Period.parse({"since": "2020-01-01"}, NOW)
    assert period.until == _at(2020, 1, 1) + 366 * DAY


@pytest.mark.parametrize(
    "words",
    [{"since": "2026-02-01", "until": "2026-01-01"},
     {"since": "2020-01-01", "until": "2026-01-01"}, {"since": "yesterday"}],
)  # fmt: skip
def test_what_is_empty_too_long_or_no_day_is_refused(words: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="since="):
        Period.parse(words, NOW)


def test_what_was_not_asked_is_not_named_in_a_refusal() -> None:
    with pytest.raises(UsageError, match=r"^until=1970-01-01: give a period"):
        Period.parse({"until": "1970-01-01"}, NOW)


def test_whole_months() -> None:
    assert whole_months(NOW, 3) == Period(_at(2026, 2, 1), _at(2026, 5, 1), {})
    assert whole_months(_at(2026, 1, 1), 2) == Period(_at(2025, 11, 1), _at(2026, 1, 1), {})
