# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What ran beside a case, and for how much of its time."""

from stripewise.bench import CaseRun, RunFigure
from stripewise.bench.campaign import find_suite
from stripewise.bench.campaign._interference import interference_circumstances, partly_alone
from stripewise.bench.limits._cells import cells_of
from stripewise.bench.runners import Printed
from support.simulated_campaigns import simulated_campaign


def test_a_share_is_that_of_the_time_in_which_any_phase_of_the_other_ran():
    own = Printed((), spans={"write": (0.0, 10.0), "read": (10.0, 12.0)})
    other = Printed(
        (RunFigure("create", 100, 2.0), RunFigure("stat", 100, 1.0)),
        spans={"stat": (4.0, 7.0), "create": (-1.0, 5.0), "remove": (9.0, 9.5)},
    )
    seen = interference_circumstances(own, other)
    assert seen["beside"] == {"create": 50, "stat": 100}
    assert seen["beside_share"] == {"write": 0.75, "read": 0.0}


def test_programs_that_do_not_tell_when_they_ran_leave_no_share():
    assert interference_circumstances(Printed(()), Printed((RunFigure("write", 8, 2.0),))) == {
        "beside": {"write": 4}
    }


def test_a_figure_that_is_mostly_alone_is_marked():
    def run(share):
        return CaseRun("one", 1, "ok", circumstances={"beside_share": {"write": share}})

    (text,) = partly_alone("write", [run(0.5), run(0.4), run(0.9)])
    assert "for only 50% of its time" in text
    assert not list(partly_alone("write", [run(0.9), run(0.8)]))
    assert not list(partly_alone("read", [run(0.1)]))
    assert not list(partly_alone("write", [CaseRun("one", 1, "ok")]))


def test_what_ran_beside_another_tells_no_limit():
    suite = find_suite("mixed").shortened()
    seen = {one.case.series for one in cells_of(simulated_campaign("jamstec-da", suite), "romio")}
    assert "checkpoint" in seen
    assert not any("beside" in name for name in seen)
