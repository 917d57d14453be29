# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts as people write them are understood, rewritten, and reverted byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, is_rewritten, revert, rewrite
from support.job_scripts import ALL, Case, combined_cases, written_cases

WRAP = ("wrapper", 'it\'s $(touch canary) `x` "q" \\ *', "--")
HEADER = Changes(
    options={"time": "0:10:00", "comment": 'a "b" #c \\', "exclusive": "", "array": None},
    notes=("a note\nof two lines \\",),
    directives=("#DW jobdw type=scratch capacity=1GiB",),
)
COMMANDS = Changes(
    exports={"SW_A": "it's $(touch canary)\n# <<< stripewise\n`x` \\", "SW_B": ""},
)


def test_there_are_enough() -> None:
    assert len(written_cases()) >= 170
    assert len({case.data for case in combined_cases()}) >= 150
    assert len({case.name for case in ALL}) == len(ALL)


def test_launch_lines_are_found() -> None:
    for case in ALL:
        script = JobScript.parse(case.data)
        found = [launch.program if not launch.problem else "?" for launch in script.launches]
        assert found == list(case.programs), case.name
        for launch in script.launches:
            assert bool(launch.program) != bool(launch.problem), case.name
            assert launch.words[0], case.name


@pytest.mark.extended(keep=50)
@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_rewritten_script_is_reverted_byte_for_byte(case: Case, tmp_path: Path) -> None:
    script = JobScript.parse(case.data)
    for changes in _all_changes(script):
        changed, refusal = _rewritten(script, changes)
        if refusal:
            assert _is_expected(refusal, script), refusal
            continue
        assert changed != case.data or changes == Changes(drop_burst_buffer=True)
        if changed != case.data:
            assert is_rewritten(changed)
            assert revert(changed) == case.data
        assert not is_rewritten(case.data)
        _check_line_ends(case.data, changed)
        if script.kind == "sh" and _is_shell(case.data, tmp_path):
            assert _is_shell(changed, tmp_path)


def _rewritten(script: JobScript, changes: Changes) -> tuple[bytes, str]:
    """The script with changes, or why it is not changed."""
    try:
        return rewrite(script, changes), ""
    except UsageError as error:
        return b"", str(error)


def _is_expected(message: str, script: JobScript) -> bool:
    """Whether a refusal is one of those that a script of this kind should meet."""
    if script.resources.is_heterogeneous:
        return "heterogeneous" in message
    if script.kind not in ("sh", "csh"):
        return "for no shell" in message
    return ("holds the launcher's options" in message and b'="' in script.data) or (
        script.kind == "csh" and b'"mpirun -np 4"' in script.data
    )


def _all_changes(script: JobScript) -> list[Changes]:
    changes = [HEADER, Changes(drop_burst_buffer=True)]
    if script.kind in ("sh", "csh"):
        exports = {"SW_B": "x!'y"} if script.kind == "csh" else COMMANDS.exports
        changes.append(Changes(exports=exports))
    for launch in script.launches:
        if not launch.problem and not launch.read_twice:
            changes.append(Changes(wrap=WRAP, step=launch.number))
        if not launch.problem:
            job = JobSettings(ranks=3)
            changes.append(Changes(job=job, wrap=("wrapper",), step=launch.number))
    return changes


def _check_line_ends(old: bytes, new: bytes) -> None:
    if old.count(b"\n") and old.count(b"\r\n") == old.count(b"\n"):
        lines = [line for line in new.splitlines(keepends=True) if b"stripewise" in line]
        assert all(line.endswith(b"\r\n") or b"<<< stripewise\n" in line for line in lines)


def _is_shell(data: bytes, directory: Path) -> bool:
    """Whether bash finds the syntax right."""
    path = directory / "script"
    path.write_bytes(data)
    return not subprocess.run([_bash(), "-n", path], capture_output=True).returncode


def _bash() -> str:
    return shutil.which("bash") or "bash"


@pytest.mark.parametrize("case", [c for c in ALL if "?" in c.programs], ids=str)
def test_an_uncertain_program_is_refused_with_its_line(case: Case) -> None:
    script = JobScript.parse(case.data, "job.sh")
    step = case.programs.index("?") + 1
    with pytest.raises(UsageError, match=r"job\.sh, line \d+: .*write"):
        rewrite(script, Changes(wrap=("x",), step=step))
