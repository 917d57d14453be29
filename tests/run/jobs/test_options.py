# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""#SBATCH lines are read as sbatch reads them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, revert, rewrite


def _parse(*lines: str) -> JobScript:
    return JobScript.parse("\n".join(("#!/bin/bash", *lines, "true", "")).encode())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-N4", ["--nodes=4"]),
        ("-N 4", ["--nodes=4"]),
        ("--nodes=4", ["--nodes=4"]),
        ("--nodes 4", ["--nodes=4"]),
        ("--nodes=2-4", ["--nodes=2-4"]),
        ("-n=4", ["--ntasks==4"]),
        ("-N 4 -n 8 --time 10", ["--nodes=4", "--ntasks=8", "--time=10"]),
        ("-J 'a b'", ["--job-name=a b"]),
        ('-J "a \\" b"', ['--job-name=a " b']),
        ("--comment='a # b' # c", ["--comment=a # b"]),
        ("-J a#b", ["--job-name=a"]),
        ("-J a\\#b", ["--job-name=a#b"]),
        ("--job-name=", ["--job-name="]),
        ("--tasks-per-node=4", ["--ntasks-per-node=4"]),
        ("--accou=x --parti y", ["--account=x", "--partition=y"]),
        ("--workdir=/x", ["--chdir=/x"]),
        ("--exclusive --exclusive=user", ["--exclusive", "--exclusive=user"]),
        ("--nice --no-requeue -H", ["--nice", "--no-requeue", "--hold"]),
        ("--image=x:y --volume /a:/b -t 5", ["--image=x:y", "--volume", "/a:/b", "--time=5"]),
        ("-k --no-kill=off", ["--no-kill", "--no-kill=off"]),
        ("--mail-type=ALL --mail-user me@x", ["--mail-type=ALL", "--mail-user=me@x"]),
        ("\t-p\tx\t", ["--partition=x"]),
        ("# -p x", []),
        ("-n 4 \\", ["--ntasks=4"]),
        ("-n 4 '' -N 2", ["--ntasks=4"]),
        ("", []),
    ],
)
def test_options(line: str, expected: list[str]) -> None:
    assert list(_parse(f"#SBATCH {line}").sbatch_arguments()) == expected


@pytest.mark.extended(keep=1)
@pytest.mark.skipif(not shutil.which("sbatch"), reason="needs sbatch")
@pytest.mark.parametrize(
    "line",
    [
        "-N4 -n 8",
        "-J 'a b' # x",
        '-J "a \\" b" -t 5',
        "-J a#b",
        "-J a\\#b -n 2",
        "--comment='a # b'",
        "-n 4 \\",
        "-n 4 '' -N 2",
    ],
)
def test_sbatch_finds_the_same_words(line: str, tmp_path: Path) -> None:
    """It says what it finds before it looks for a controller."""
    text = (
        f"#!/bin/bash\n# x\n\n#SBATCH {line}\n#DW jobdw\n  \n#SBATCH -p q\ntrue\n#SBATCH -N 99\n"
    )
    said = _sbatch(text.encode(), tmp_path)
    options = JobScript.parse(text.encode()).options
    assert said == [word for option in options for word in option.words]


@pytest.mark.extended
@pytest.mark.skipif(not shutil.which("sbatch"), reason="needs sbatch")
def test_sbatch_reads_what_is_written(tmp_path: Path) -> None:
    text = (
        b"#!/bin/bash\n#SBATCH -N 4 -t 5\n#DW jobdw capacity=1GiB\n#SBATCH -J x -p q\nsrun ./a\n"
    )
    changes = Changes(
        options={"time": "0:30", "comment": 'it\'s "q" \\ # x', "J": None, "exclusive": ""},
        directives=("#DW jobdw capacity=2GiB",),
        drop_burst_buffer=True,
        notes=("SBATCH -N 7",),
        exports={"A": "1"},
        wrap=("w",),
    )
    said = _sbatch(rewrite(JobScript.parse(text), changes), tmp_path)
    expected = ["-N", "4", "--time=0:30", "-p", "q", '--comment=it\'s "q" \\ # x', "--exclusive"]
    assert said == expected


def _sbatch(data: bytes, directory: Path) -> list[str]:
    script, configuration = directory / "job", directory / "slurm.conf"
    script.write_bytes(data)
    configuration.write_text(
        "ClusterName=x\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nMessageTimeout=2\n"
        "AuthType=auth/none\nNodeName=localhost\nPartitionName=q Nodes=localhost\n"
    )
    done = subprocess.run(
        ["sbatch", "-vvvv", "--test-only", script],
        env={"PATH": os.environ["PATH"], "SLURM_CONF": str(configuration)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    found = re.findall(r'Found in script, argument "(.*)"', done.stderr)
    if not found:
        pytest.skip(f"this sbatch does not say what it finds: {done.stderr[:200]}")
    return found


def test_only_what_sbatch_reads_counts() -> None:
    script = _parse("#SBATCH -n 1", "#", " # x", "", "  #SBATCH -n 2", "# SBATCH -n 3", "true",
                    "#SBATCH -n 4")  # fmt: skip
    assert script.sbatch_arguments() == ("--ntasks=1",)
    assert script.resources.ranks == 1


def test_parts_of_a_heterogeneous_job() -> None:
    script = _parse("#SBATCH -A x -n1", "#SBATCH hetjob", "#SBATCH -n2", "#SBATCH PACKJOB",
                    "#SBATCH -n3")  # fmt: skip
    assert script.resources.is_heterogeneous
    assert script.resources.ranks == 1
    assert script.sbatch_arguments(drop=("account",)) == (
        "--ntasks=1", ":", "--ntasks=2", ":", "--ntasks=3"
    )  # fmt: skip
    for changes in (
        Changes(options={"ntasks": "4"}),
        Changes(options={"time": "4"}),
        Changes(job=JobSettings(ranks=2)),
    ):
        with pytest.raises(UsageError, match="heterogeneous"):
            rewrite(script, changes)
    changed = rewrite(script, Changes(options={"account": "y"}))
    assert b"\n#SBATCH --account=y -n1\n" in changed
    assert revert(changed) == script.data


def test_drop_takes_the_words_of_an_unknown_option_too() -> None:
    script = _parse("#SBATCH -t 5 --volume /a:/b -J x")
    assert script.sbatch_arguments(drop=("volume", "time")) == ("--job-name=x",)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("06", 360), ("90", 5400), ("1:30", 90), ("4:00:00", 14400), ("0:20:0", 1200),
        ("1-0", 86400), ("1-02:30", 95400), ("2-00:00:10", 172810), ("UNLIMITED", None),
        ("-1", None), ("", None), ("1:2:3:4", None),
    ],
)  # fmt: skip
def test_times(text: str, seconds: int | None) -> None:
    assert _parse(f"#SBATCH --time={text}").resources.wall_seconds == seconds


def test_resources() -> None:
    script = _parse(
        "#SBATCH -N 2-4 -n 1k --ntasks-per-node=x -c 8 -A acc -p part -J 'a b' -a 0-3%2",
        "#SBATCH --requeue --qos=q --constraint=knl --no-requeue -N 3",
    )
    found = script.resources
    assert (found.nodes, found.ranks, found.ranks_per_node, found.cpus_per_task) == (
        3,
        1024,
        None,
        8,
    )
    assert (found.account, found.partition, found.job_name, found.array) == (
        "acc", "part", "a b", "0-3%2"
    )  # fmt: skip
    assert (found.qos, found.constraint, found.requeue) == ("q", "knl", False)
    assert not found.is_heterogeneous


def test_options_are_set_where_they_stand() -> None:
    script = _parse("#SBATCH -N4   -t 5 # keep", "#SBATCH --time 6", "#SBATCH -J x")
    changes = Changes(options={"--time": "7", "-J": None, "partition": "a b", "exclusive": ""})
    changed = rewrite(script, changes)
    lines = [line for line in changed.split(b"\n") if line.startswith(b"#SBATCH")]
    assert lines == [
        b"#SBATCH -N4   --time=7 # keep",
        b"#SBATCH --time=7",
        b'#SBATCH --partition="a b"',
        b"#SBATCH --exclusive",
    ]
    assert revert(changed) == script.data


@pytest.mark.parametrize(
    "options", [{"tim\n": "1"}, {"no such": "1"}, {"time": "1\n#SBATCH -n 9"}]
)
def test_options_that_cannot_be_written(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        rewrite(_parse("#SBATCH -n 1"), Changes(options=options))


def test_a_quote_that_is_not_closed() -> None:
    with pytest.raises(UsageError, match="line 2: the quote"):
        _parse("#SBATCH -J 'a b")


def test_directives() -> None:
    script = _parse(
        "#SBATCH -n 1",
        "#DW jobdw type=scratch capacity=200GiB",
        "#DW stage_in type=file \\",
        "#DW source='/a b' destination=$DW_JOB_STRIPED/c",
        "#BB create_persistent name=x",
        "#BB_LUA pool=y",
        "#BBx no",
        "# DW no",
    )
    assert [(d.kind, d.words, d.line) for d in script.burst_buffer] == [
        ("DW", ("jobdw", "type=scratch", "capacity=200GiB"), 3),
        ("DW", ("stage_in", "type=file", "source=/a b", "destination=$DW_JOB_STRIPED/c"), 4),
        ("BB", ("create_persistent", "name=x"), 6),
        ("BB_LUA", ("pool=y",), 7),
    ]
    changed = rewrite(script, Changes(drop_burst_buffer=True))
    assert not re.search(rb"(?m)^#(DW|BB_LUA|BB )", changed)
    assert JobScript.parse(changed).burst_buffer == ()
    assert revert(changed) == script.data


def test_directives_stand_where_the_plugin_still_reads() -> None:
    """Slurm's plug-ins stop at a line of blanks; sbatch reads on."""
    script = _parse("#SBATCH -n 1", "  ", "#SBATCH -N 1")
    changed = rewrite(script, Changes(directives=("#DW jobdw x=1",), options={"time": "5"}))
    lines = changed.split(b"\n")
    assert lines.index(b"#DW jobdw x=1") < lines.index(b"  ")
    assert lines.index(b"#SBATCH --time=5") > lines.index(b"#SBATCH -N 1")
    assert revert(changed) == script.data


@pytest.mark.parametrize("line", ["jobdw", "#SBATCH -n 4", "#DW a\nrm -rf x", "#DW a\rb", "#DWx"])
def test_lines_that_are_no_directives(line: str) -> None:
    with pytest.raises(UsageError, match="burst buffer"):
        rewrite(_parse(), Changes(directives=(line,)))
