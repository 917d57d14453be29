# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts on a tier: which lines, in which order, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.errors import UsageError
from stripewise.jobs import JobScript, OnTier, revert, script_on_tier
from stripewise.jobs._on_tier import MOST_STAGED
from stripewise.tiers import Pool, TierRequest, find_tier

GIB = 1 << 30
POOL = Pool("p", 2 * GIB, 16 * GIB, 16 * GIB)
SCRIPT = JobScript.parse(b"#!/bin/sh\n#SBATCH -N 1\nsrun ./a\n", "run.sh")


def on(tier: str = "datawarp", **given) -> OnTier:
    request = TierRequest(nodes=2, **given.pop("request", {}))
    return OnTier(find_tier(tier), request, POOL, **given)


def test_copies_stand_behind_the_allocation() -> None:
    inputs = {"a": False, "d": True}
    request = {"stage_out": Path("/res")}
    lines = on(inputs=inputs, source=Path("/w"), request=request).lines
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_in", "stage_out"]
    assert [line.split()[2] for line in lines[1:3]] == ["type=file", "type=directory"]
    text = script_on_tier(SCRIPT, on(inputs=inputs, source=Path("/w"), request=request))
    assert [line for line in text.decode().splitlines() if line.startswith("#DW")] == list(lines)
    assert revert(text) == SCRIPT.data


def test_a_directory_that_is_named_takes_the_place_of_single_copies() -> None:
    lines = on(inputs={"a": False}, request={"stage_in": Path("/in")}).lines
    assert [line.split()[2] for line in lines] == ["type=scratch", "type=directory"]


def test_too_many_files() -> None:
    inputs = {f"f{n}": False for n in range(MOST_STAGED + 1)}
    with pytest.raises(UsageError, match="--stage-in"):
        _ = on(inputs=inputs, source=Path("/w")).lines


def test_rabbit_copies_files_too() -> None:
    lines = on("rabbit", inputs={"a": False}, source=Path("/w")).lines
    assert lines[1] == "#DW copy_in source=/w/a destination=$DW_JOB_stripewise/a"


def test_lua_copies_no_single_files() -> None:
    request = {"template": ("#BB_LUA c={capacity}",), "variable": "BB"}
    with pytest.raises(UsageError, match="--stage-in"):
        _ = on("lua", inputs={"a": False}, source=Path("/w"), request=request).lines


def test_where_the_job_goes() -> None:
    assert on().variable == "DW_JOB_STRIPED"
    assert on(is_hybrid=True).variable == ""
    assert on(own=True).variable == ""
    assert OnTier(find_tier("none")).variable == ""
    assert on("directory", request={"directory": "$TMPDIR"}).variable == "", "its program does"
    assert on("directory", request={"directory": "$TMPDIR"}).copies
    assert not on().copies


def test_nothing_is_asked_for() -> None:
    assert OnTier(find_tier("datawarp")).lines == ()
    assert script_on_tier(SCRIPT, OnTier(find_tier("none"))) == SCRIPT.data
    own = JobScript.parse(
        SCRIPT.data.replace(b"srun", b"#DW jobdw type=scratch capacity=1GiB\nsrun")
    )
    text = script_on_tier(own, OnTier(find_tier("datawarp")))
    assert b"\n#DW" not in text
    assert revert(text) == own.data


@pytest.mark.parametrize("option", ["--bb=x", "--bbf stage.conf"])
def test_a_burst_buffer_that_an_option_asks_for(option: str) -> None:
    """Slurm adds what --bb says to the lines of the script, which would be two."""
    script = JobScript.parse(f"#!/bin/sh\n#SBATCH {option}\nsrun ./a\n".encode(), "run.sh")
    for one in (on(), OnTier(find_tier("datawarp"))):
        with pytest.raises(UsageError, match=r"run\.sh, line 2: --bbf? asks .*write #DW"):
            script_on_tier(script, one)
    assert script_on_tier(script, OnTier(find_tier("none"))) == script.data
