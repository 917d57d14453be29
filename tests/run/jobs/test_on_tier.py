# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts on a tier: which lines, which files are no inputs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.jobs import (
    JobScript,
    OnTier,
    copies_note,
    copies_on_tier,
    revert,
    script_on_tier,
)
from stripewise.run.jobs._on_tier import logs_of
from stripewise.run.tiers import StoragePool, TierRequest, find_tier

GIB = 1 << 30
POOL = StoragePool("p", 2 * GIB, 16 * GIB, 16 * GIB)
SCRIPT = JobScript.parse(b"#!/bin/sh\n#SBATCH -N 1\nsrun ./a\n", "run.sh")


def on(tier: str = "datawarp", **given) -> OnTier:
    request = TierRequest(nodes=2, **given.pop("request", {}))
    return OnTier(find_tier(tier), request, POOL, **given)


@pytest.mark.parametrize("tier", ["datawarp", "rabbit"])
def test_the_batch_system_copies_nothing(tier) -> None:
    """The job does: what such lines name may be gone, or be somebody's by then."""
    made = on(tier, results=Path("/res"), request={"stage_in": Path("/in")})
    (line,) = made.lines
    assert line.split()[1] == "jobdw"
    text = script_on_tier(SCRIPT, made, within=("sh", "/copies"))
    assert [one for one in text.decode().splitlines() if one.startswith("#DW")] == [line]
    assert b"|| exec sh /copies " in text
    assert revert(text) == SCRIPT.data


def test_what_a_job_leaves_that_slurm_ends_is_saved() -> None:
    """Slurm takes the burst buffer at once; the job itself leaves nothing there."""
    made = on(unsaved=Path("/u"))
    assert made.lines[1:] == (
        "#DW stage_out type=directory source=$DW_JOB_STRIPED/ destination=/u",
    )
    assert b"\nunsaved=/u\n" in copies_on_tier(made, SCRIPT)
    for other in (
        on(unsaved=Path("/a b")),
        on(unsaved=Path("/u"), request={"persistent": "x"}),
        on(unsaved=Path("/u"), request={"access": "private"}),
        on("directory", unsaved=Path("/u"), request={"directory": "/f"}),
    ):
        assert not [line for line in other.lines if "stage_out" in line]
        assert b"\nunsaved=''\n" in copies_on_tier(other, SCRIPT)


@pytest.mark.parametrize(
    ("tier", "options", "early"),
    [
        ("datawarp", "-t 2:00:00", True),
        ("datawarp", "-t 10", False),
        ("datawarp", "", False),
        ("datawarp", "-t 2:00:00 --signal=USR1@60", False),
        ("directory", "-t 2:00:00", False),
    ],
)
def test_long_jobs_end_in_time_for_their_copies(tier, options, early) -> None:
    script = JobScript.parse(f"#!/bin/sh\n#SBATCH -N 1 {options}\nsrun ./a\n".encode(), "x")
    made = on(tier, request={"directory": "/flash"})
    text = script_on_tier(script, made, within=("sh", "/copies"))
    assert (b"\n#SBATCH --signal=B:TERM@180\n" in text) is early


def test_lines_of_a_script_stay_as_they_are() -> None:
    lines = on(own=True, request={"stage_in": Path("/in"), "stage_out": Path("/out")}).lines
    assert [line.split()[1] for line in lines] == ["jobdw", "stage_in", "stage_out"]


def test_who_copies() -> None:
    assert on().copies
    assert on("directory", request={"directory": "$TMPDIR"}).copies
    assert not on(own=True).copies
    assert not OnTier(find_tier("none")).copies
    assert (
        copies_note(on()) == "what the job changes is copied to where its inputs are when it ends"
    )
    assert r"to /r\x0a when" in copies_note(on(results=Path("/r\n")))


@pytest.mark.parametrize(
    ("tier", "request_", "shared"),
    [
        ("datawarp", {}, "yes"),
        ("datawarp", {"access": "private"}, ""),
        ("rabbit", {"type": "xfs"}, ""),
        ("rabbit", {}, "yes"),
        ("directory", {"directory": "/flash"}, ""),
        ("lua", {"variable": "BB"}, ""),
    ],
)
def test_which_storage_all_nodes_see(tier, request_, shared) -> None:
    text = copies_on_tier(on(tier, request=request_), SCRIPT).decode()
    assert f"\nshared={shared}\n" in text


@pytest.mark.parametrize(
    ("options", "logs"),
    [
        ("", ["slurm-*.out"]),
        ("-J wave -o %x-%4j.log -e 100%%-%A_%a.err", ["wave-*.log", "100%-*_*.err"]),
        ("-o logs/%j.out", ["logs/*.out"]),
        ("-o %x.o%j", ["run.sh.o*"]),
        ("-o %j", []),  # would be any file
        ("-o ./job.out", ["job.out"]),
        ("-o /dev/null -e ../o.%j -o a\\b%j", []),
        ("-o named.log", []),
    ],
)
def test_logs_of_a_script(options, logs) -> None:
    text = f"#!/bin/sh\n#SBATCH {options}\n# not used.log\ngrep x named.log\nsrun ./a\n"
    found = logs_of(JobScript.parse(text.encode(), "run.sh"))
    assert found[1:] == tuple(logs) or (not options and found == tuple(logs))
    assert found[0] == "slurm-*.out"


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
