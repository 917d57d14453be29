# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a script is, which launch line is meant, and what is refused."""

from __future__ import annotations

import pytest

from stripewise.core import JobSettings
from stripewise.core.errors import UsageError
from stripewise.run.jobs import Changes, JobScript, quote, revert, rewrite
from support.work import calls_and_peak


def _parse(text: str, shell: str = "bash") -> JobScript:
    return JobScript.parse(f"#!/bin/{shell}\n{text}".encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"srun ./a\n", "sbatch demands an interpreter"),
        (b"\n#!/bin/bash\n", "the first line is '', and sbatch demands an interpreter"),
        (b"\xef\xbb\xbf#!/bin/bash\n", "byte order mark.*without BOM"),
        (b"\x7fELF\x02\x01\x00\x00", "NUL"),
        (b"#!/bin/bash\nsrun ./a\0", "NUL"),
        (b"#!/bin/bash\n" + b"#" * (4 << 20), "check that it is the right file"),
    ],
)
def test_what_is_no_script(data: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        JobScript.parse(data, "na\nme")
    assert str(caught.value).startswith("na\\x0ame: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("#!/bin/sh", "sh"), ("#! /bin/bash -l", "sh"), ("#!/usr/bin/env bash", "sh"),
        ("#!/usr/bin/env -S A=b zsh -f", "sh"), ("#!/bin/ksh", "sh"), ("#!/bin/dash\r", "sh"),
        ("#!/bin/csh -f", "csh"), ("#!/usr/bin/env tcsh", "csh"),
        ("#!/usr/bin/python3.11", "python"),
        ("#!/usr/bin/env python", "python"), ("#!/usr/bin/perl", "other"), ("#!", "other"),
    ],
)  # fmt: skip
def test_kinds(line: str, kind: str) -> None:
    assert JobScript.parse(f"{line}\n".encode()).kind == kind


def test_the_launch_line_that_is_meant() -> None:
    script = _parse("srun ./a\nsrun \\\n  -n 2 ./b\n")
    assert script.launch(2).program == "./b"
    assert (script.launch(2).first_line, script.launch(2).last_line) == (3, 4)
    with pytest.raises(
        UsageError, match=r"2 launch lines.*--step N \(1: line 2, srun ./a; 2: line 3"
    ):
        script.launch()
    for step in (0, 3, -1):
        with pytest.raises(UsageError, match=f"no launch line {step}"):
            script.launch(step)


@pytest.mark.parametrize(
    ("shell", "text", "message"),
    [
        ("bash", "./a\n", "no launch line found; write"),
        ("bash", "echo 'open\nsrun ./a\n", r"line 2 is not understood.*bash -n"),
        ("python3", "import os\n", "write the launch line in a shell script"),
        ("perl", "", "the script is for perl"),
    ],
)
def test_no_launch_line(shell: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _parse(text, shell).launch()


def test_a_script_that_is_not_read_to_its_end() -> None:
    script = _parse("srun ./a\nexit\nDon't read on.\n")
    assert script.launch().program == "./a"
    assert "line 4" in script.problem
    script = _parse("srun ./a\necho )\nsrun ./b\n")
    with pytest.raises(UsageError, match="there may be more launch lines"):
        script.launch()
    assert script.launch(1).program == "./a"


def test_many_launch_lines_are_listed_in_part() -> None:
    with pytest.raises(UsageError, match="and 91 more"):
        _parse("srun ./a\n" * 100).launch()


def test_what_a_launch_line_says() -> None:
    launch = _parse(
        "A=b time srun -N 2-4 -n8 --ntasks-per-node 4 -c2 --label './my a' $X \\\n 'c d' > out &\n"
    ).launch()
    assert launch.words[:3] == ("srun", "-N", "2-4")
    assert launch.words[-3:] == ("./my a", "$X", "c d")
    assert launch.arguments == ("$X", "c d")
    assert (launch.nodes, launch.ranks, launch.ranks_per_node, launch.cpus_per_rank) == (
        2,
        8,
        4,
        2,
    )
    assert not launch.is_plain
    assert launch.text.startswith("srun -N")
    assert _parse("srun -n $N ./a\n").launch().ranks is None
    assert _parse("N=4\nsrun -n $N ./a\n").launch().ranks == 4
    assert _parse("mpirun --map-by ppr:2:node -np 4 ./a\n").launch().ranks == 4
    assert _parse("aprun -n4 -N2 -d 8 ./a\n").launch().cpus_per_rank == 8


def test_bytes_that_are_not_utf_8() -> None:
    launch = JobScript.parse(b"#!/bin/sh\nsrun ./\xe9 '\xff'\n").launch()
    assert launch.program == "./\udce9"
    assert launch.arguments == ("\udcff",)


@pytest.mark.parametrize(
    ("line", "job", "expected"),
    [
        ("srun ./a", {"ranks": 2}, "srun --ntasks=2 ./a"),
        ("srun -n4 -N $N ./a -n 9", {"ranks": 2}, "srun -n2 -N $N ./a -n 9"),
        ('srun "--ntasks=$N" ./a', {"ranks": 2}, "srun --ntasks=2 ./a"),
        ("srun ./a", {"threads": 2}, "env OMP_NUM_THREADS=2 srun --cpus-per-task=2 ./a"),
        ("mpirun -np 4 ./a", {"ranks": 2}, "mpirun -np 2 ./a"),
        ("mpiexec ./a", {"ranks": 2}, "mpiexec -n 2 ./a"),
        ("mpiexec.hydra -n 4 ./a", {"ranks_per_node": 2}, "mpiexec.hydra -ppn 2 -n 4 ./a"),
        ("mpirun -ppn 4 ./a", {"ranks_per_node": 2}, "mpirun -ppn 2 ./a"),
        ("orterun -n 4 ./a", {"ranks_per_node": 2}, "orterun --map-by ppr:2:node -n 4 ./a"),
        ("aprun -n 4 -N2 ./a", {"ranks": 8, "ranks_per_node": 4}, "aprun -n 8 -N4 ./a"),
        ("aprun -n 4 ./a", {"threads": 2}, "env OMP_NUM_THREADS=2 aprun -d 2 -n 4 ./a"),
        ("exec srun ./a", {"threads": 2}, "exec env OMP_NUM_THREADS=2 srun --cpus-per-task=2 ./a"),
    ],
)
def test_resources_in_the_line(line: str, job: dict[str, int], expected: str) -> None:
    script = _parse(f"{line}\n")
    changed = rewrite(script, Changes(job=JobSettings(**job)))
    assert f"\n{expected}\n" in changed.decode()
    assert revert(changed) == script.data


@pytest.mark.parametrize(
    ("line", "job", "message"),
    [
        ("mpirun -np 4 ./a", {"ranks_per_node": 2}, "mpiexec.hydra or orterun"),
        ("srun --export=NONE ./a", {"threads": 2}, "--export=ALL"),
        ("srun --multi-prog x", {"ranks": 2}, "--multi-prog"),
        ('M="mpirun -np 4"\n$M ./a', {"ranks": 2}, r"line 3: the variable \$M holds"),
        ("ibrun ./a", {"ranks": 2}, "options of ibrun are not known"),
    ],
)
def test_resources_that_are_refused(line: str, job: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rewrite(_parse(f"{line}\n"), Changes(job=JobSettings(**job)))


@pytest.mark.parametrize(
    "line", ["X=`srun ./a`", 'echo "`srun ./a`"', "parallel -j 2 srun ./a {} ::: 1 2"]
)
def test_what_reads_words_twice_cannot_carry_quotes(line: str) -> None:
    script = _parse(f"{line}\n")
    assert b"srun w ./a" in rewrite(script, Changes(wrap=("w",)))
    with pytest.raises(UsageError, match=r"(`|parallel) reads .* once more.*instead"):
        rewrite(script, Changes(wrap=("a b",)))


def test_statements_are_replaced_as_a_whole() -> None:
    script = _parse("true\nsrun ./a && # why\n  srun \\\n ./b <<X |\nsrun ./no\nX\n cat\ntrue\n")
    changed = rewrite(script, Changes(wrap=("w",), step=2)).decode()
    assert changed == (
        "#!/bin/bash\ntrue\n# >>> stripewise: 6 lines replaced by 6\n"
        "#| srun ./a && # why\n#|   srun \\\n#|  ./b <<X |\n#| srun ./no\n#| X\n#|  cat\n"
        "srun ./a && # why\n  srun \\\n w ./b <<X |\nsrun ./no\nX\n cat\n"
        "# <<< stripewise\ntrue\n"
    )


def test_a_comment_of_csh_never_ends_in_a_backslash() -> None:
    script = _parse("srun \\\n ./a\n", "csh")
    changed = rewrite(script, Changes(wrap=("w",), notes=("x\\",), exports={"A": "b!'c"}))
    comments = [line for line in changed.split(b"\n") if line.startswith(b"#")]
    assert not any(line.endswith(b"\\") for line in comments)
    assert b"\nsetenv A 'b\\!'\"'\"'c'\n" in changed
    assert revert(changed) == script.data


@pytest.mark.parametrize("changes", [Changes(within=("sh", "D")), Changes(exports={"A": "b"})])
def test_no_commands_in_scripts_for_no_shell(changes: Changes) -> None:
    with pytest.raises(UsageError, match="write the launch line in a shell script"):
        rewrite(_parse("x\n", "python"), changes)


@pytest.mark.parametrize("name", ["", "A B", "A=b", "1A", "A;x", "$(x)", "É"])
def test_names_of_variables(name: str) -> None:
    with pytest.raises(UsageError, match="not a valid name of an environment variable"):
        rewrite(_parse("x\n"), Changes(exports={name: "b"}))


def test_the_encoding_of_a_python_script_stays_on_its_second_line() -> None:
    script = JobScript.parse(b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\nprint('\xe9')\n")
    changed = rewrite(script, Changes(options={"time": "5"}))
    assert changed.split(b"\n")[1] == b"# -*- coding: latin-1 -*-"
    assert revert(changed) == script.data


def test_a_rewritten_script_is_not_rewritten_again() -> None:
    changed = rewrite(_parse("srun ./a\n"), Changes(wrap=("w",)))
    with pytest.raises(UsageError, match="already has lines of stripewise"):
        rewrite(JobScript.parse(changed), Changes(wrap=("w",)))


def test_no_changes() -> None:
    script = _parse("srun ./a\nsrun ./b\n")
    assert rewrite(script, Changes()) == script.data
    with pytest.raises(UsageError, match="no lines of stripewise"):
        revert(script.data)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"# <<< stripewise\n", b""),
        (b"# >>> stripewise: 1 line replaced by 1\n", b""),
        (b"replaced by 1", b"replaced by 2"),
        (b"1 line replaced", b"7 lines replaced"),
        (b"#| srun", b"srun"),
        (b"\nsrun w", b"\n\nsrun w"),
        (b"# >>> stripewise:", b"# >>> stripewise"),
    ],
)
def test_damaged_marks(old: bytes, new: bytes) -> None:
    changed = rewrite(_parse("srun ./a\n"), Changes(wrap=("w",)))
    assert old in changed
    with pytest.raises(UsageError, match=r"line \d+: the lines of stripewise"):
        revert(changed.replace(old, new))


def test_edits_of_the_user_outside_the_marks_are_kept() -> None:
    changed = rewrite(_parse("srun ./a\n"), Changes(wrap=("w",), notes=("n",)))
    edited = changed.replace(b"#!/bin/bash\n", b"#!/bin/bash -x\n") + b"echo more\n"
    assert revert(edited) == b"#!/bin/bash -x\nsrun ./a\necho more\n"


def test_quotes() -> None:
    assert quote("./a-b_c.d,e:f@g%h+i=j") == "./a-b_c.d,e:f@g%h+i=j"
    assert quote("") == "''"
    assert quote("=ls") == "'=ls'"
    assert quote("it's") == "'it'\"'\"'s'"
    with pytest.raises(UsageError, match="NUL"):
        quote("a\0")


def test_what_is_done_for_each_line_does_not_grow_with_the_script() -> None:
    line = "for i in 1 2; do srun -n $i ./a 'x y' \"$b\" $i; done\n"
    few, many = (
        calls_and_peak(lambda lines=lines: _parse(line * lines).launches)[0] for lines in (20, 160)
    )
    assert len(_parse(line * 160).launches) == 160
    assert many < 8.5 * few


def test_an_argument_of_the_program_is_no_option() -> None:
    assert _parse("srun -n 2 ./a --multi-prog\n").launch().program == "./a"


def test_line_ends_that_sbatch_refuses() -> None:
    assert not _parse("echo a\rb\nsrun ./a\n").dos_problem
    script = JobScript.parse(b"#!/bin/bash\ncat <<E\nx\r\nE\nsrun ./a\n", "run.sh")
    assert script.dos_problem.startswith("run.sh, line 3 has a DOS line ending")
    assert "dos2unix run.sh" in script.dos_problem


@pytest.mark.parametrize("line", ['"a\nb/srun"', "srun '-y\n' ./a", "A='srun -n\n4'\nA=b\n$A"])
def test_problems_are_one_line(line: str) -> None:
    script = JobScript.parse(f"#!/bin/bash\n{line}\n".encode(), "run.sh")
    with pytest.raises(UsageError, match=r"^run\.sh, line") as caught:
        rewrite(script, Changes(wrap=("x",)))
    assert "\n" not in str(caught.value)


def test_resources_that_cannot_be_set_are_refused_with_their_line() -> None:
    script = JobScript.parse(b"#!/bin/bash\nmpirun -n 2 ./a\n", "run.sh")
    with pytest.raises(UsageError, match=r"^run\.sh, line 2: ranks_per_node: MPICH's mpirun and"):
        rewrite(script, Changes(job=JobSettings(ranks_per_node=2)))


def test_a_script_for_csh_is_checked_with_csh() -> None:
    with pytest.raises(UsageError, match="check the script with tcsh -n"):
        _parse("echo it's\n", "tcsh").launch()
