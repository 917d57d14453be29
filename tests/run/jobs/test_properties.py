# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Of scripts that are generated: reading never fails in an unknown way, reverting is exact."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, is_rewritten, quote, revert, rewrite
from support.job_scripts import ALL

PIECES = [
    b"srun -n 4 ./a", b"mpirun -np 2 ./b x", b"aprun -n1 ./c", b"#SBATCH -n 4 -t 5",
    b"#SBATCH hetjob", b"#DW jobdw x=1", b"#BB a \\", b"\n", b"\r\n", b"\\\n", b"\\", b"'", b'"',
    b"`", b"$(", b")", b"((", b"))", b"${", b"}", b"{", b"<<EOF", b"<<-'X'", b"EOF\n", b"X\n",
    b" ", b"\t", b"&&", b"||", b"|", b";", b";;", b"&", b"case x in", b"esac", b"if ", b"then ",
    b"fi", b"for i in", b"do ", b"done", b"[[", b"]]", b"#", b"\xff", "é".encode(), b"A=b ",
    b"A=(", b"time ", b"exec ", b"env ", b"$A", b"$'", b"f()", b"<(", b"> x", b"2>&1",
    b"function ", b"eval ", b"# <<<", b"\x0c", b"!",
]  # fmt: skip
SCRIPTS = st.builds(
    lambda shell, pieces: shell + b"".join(pieces),
    st.sampled_from([b"#!/bin/bash\n", b"#!/bin/csh\n", b"#!/bin/sh\r\n", b"#!/usr/bin/python\n"]),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)), max_size=40),
)
CHANGES = st.builds(
    Changes,
    wrap=st.lists(st.text(max_size=6), max_size=3).map(tuple),
    around=st.lists(st.text(max_size=6), max_size=2).map(tuple),
    step=st.one_of(st.none(), st.integers(1, 3)),
    directives=st.sampled_from([(), ("#DW jobdw y=2", "#BB z")]),
    drop_burst_buffer=st.booleans(),
    options=st.dictionaries(
        st.sampled_from(["time", "n", "comment", "exclusive"]),
        st.one_of(st.none(), st.text(max_size=6)),
        max_size=3,
    ),
    job=st.builds(JobSettings, ranks=st.one_of(st.none(), st.just(7))),
    within=st.sampled_from([(), ("sh", "it's")]),
    exports=st.dictionaries(st.sampled_from(["A", "B_1"]), st.text(max_size=9), max_size=2),
    notes=st.lists(st.text(max_size=9), max_size=2).map(tuple),
)
RELAXED = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@RELAXED
@given(
    st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda b: b"#!/bin/sh\n" + b))
)
@example(b"#!/bin/bash\n" + b"(" * 5000)
@example(b"#!/bin/bash\n" + b"$((" * 3000)
@example(b"#!/bin/bash\n" + b'"$(' * 3000)
@example(b"#!/bin/bash\n" + b"${a:-" * 3000)
@example(b"#!/bin/bash\n" + b"case x in a) " * 3000)
@example(b"#!/bin/bash\n" + b"`" * 3001)
@example(b"#!/bin/csh\n" + b"(" * 3000)
@example(b"#!/bin/bash\necho " + b"$(( " * 50 + b" ) " * 100)
@example(b"#!/bin/bash\n" + b"(( " * 50 + b"a" + b" ) " * 100)
@example(b"#!/bin/bash\necho {" + b"," * 100_000)
@example(b"#!/bin/bash\n" + b"a " * 100_000)
@example(b"#!")
@example(b"#!/usr/bin/env")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(UsageError):
        assert JobScript.parse(data).data == data
    with contextlib.suppress(UsageError):
        revert(data)


@RELAXED
@given(SCRIPTS, CHANGES)
def test_reverting_is_exact(data: bytes, changes: Changes) -> None:
    try:
        script = JobScript.parse(data)
        changed = rewrite(script, changes)
    except UsageError:
        return
    if changed != data:
        assert is_rewritten(changed)
        assert revert(changed) == data


@RELAXED
@given(SCRIPTS)
@example(b"#!/bin/csh\nsrun -n 4 ./a\\")
@example(b"#!/bin/bash\nsrun -n 4 ./a\\")
def test_positions_are_those_of_the_file(data: bytes) -> None:
    try:
        script = JobScript.parse(data)
    except UsageError:
        return
    for option in script.options:
        assert data[option.start : option.end].strip() == data[option.start : option.end]
        assert data.count(b"\n", 0, option.start) == option.line - 1
    for launch in script.launches:
        assert 0 <= launch.start < launch.end <= len(data)
        assert data.count(b"\n", 0, launch.start) == launch.first_line - 1
        assert all(launch.start <= a < b <= launch.end for a, b in launch.spans)
        assert len(launch.spans) == len(launch.words)
        assert all(place == 0 or data[place - 1 : place] == b"\n" for place in script.breaks[:-1])


@RELAXED
@given(SCRIPTS)
def test_a_syntax_that_bash_takes_stays_one(data: bytes) -> None:
    if not data.startswith(b"#!/bin/bash") or b"\r" in data or b"\0" in data:
        return
    try:
        script = JobScript.parse(data)
    except UsageError:
        return
    for launch in script.launches:
        if launch.problem or launch.read_twice:
            continue
        if _is_shell(data):
            changed = rewrite(script, Changes(wrap=("w", "it's"), step=launch.number))
            assert _is_shell(changed), changed


def _is_shell(data: bytes) -> bool:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        return not subprocess.run(
            [shutil.which("bash") or "bash", "-n", file.name], capture_output=True
        ).returncode


WORDS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)


@RELAXED
@given(st.lists(WORDS, min_size=1, max_size=4), st.booleans())
def test_quoted_words_are_read_back(words: list[str], is_csh: bool) -> None:
    """What is quoted for a shell is read as the same words."""
    words = [word for word in words if word != ":"]  # is srun's own, quoted or not
    if is_csh and any("\n" in word for word in words):
        with pytest.raises(UsageError, match="line break"):
            [quote(word, "csh") for word in words]
        return
    kind = "csh" if is_csh else "sh"
    line = " ".join(quote(word, kind) for word in words)
    launch = JobScript.parse(f"#!/bin/{kind}\nsrun -n 2 ./a {line}\n".encode()).launch()
    assert list(launch.arguments) == words
    assert launch.program == "./a"
    assert launch.is_plain
    if not is_csh:
        assert shlex.split(line) == words


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_cut_script_is_read_or_refused(case) -> None:  # type: ignore[no-untyped-def]
    for end in range(0, len(case.data), 7):
        with contextlib.suppress(UsageError):
            script = JobScript.parse(case.data[:end])
            changed = rewrite(script, Changes(notes=("x",)))
            assert revert(changed) == script.data
