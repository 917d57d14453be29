# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts are really run, before and after they are rewritten: they start the same.

The launchers are stand-ins that write down their arguments.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from stripewise.core import JobSettings
from stripewise.run.jobs import Changes, JobScript, links_program, revert, rewrite
from support.job_scripts import ALL, Case

LAUNCHERS = "srun mpirun mpiexec mpiexec.hydra mpiexec.mpich orterun aprun".split()
RECORDER = """#!/bin/sh
file=$(mktemp "$RECORDS/call.XXXXXXXX")
printf '%s\\0' "${0##*/}" "$OMP_NUM_THREADS" "$SW_VALUE" "$PWD" "$@" > "$file"
echo output
"""
PASS_ON = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
exec "$@"
"""
WRAP = ("wrapper", "", 'it\'s $(touch canary) `touch canary` "q" \\ * $HOME;touch canary\n#', "--")
RUN = [
    case
    for case in ALL
    if case.can_run and case.data.startswith((b"#!/bin/bash", b"#!/bin/sh", b"#! /bin/sh"))
]


class Sandbox:
    """A directory in which scripts run, with launchers that write their arguments down."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._programs = directory / "bin"
        self._programs.mkdir()
        for name in LAUNCHERS:
            self._write(name, RECORDER)
        for name in ("numactl", "map", "strace"):
            self._write(name, PASS_ON)
        self._write("module", "#!/bin/sh\n")
        self._runs = 0

    def _write(self, name: str, text: str) -> None:
        (self._programs / name).write_text(text)
        (self._programs / name).chmod(0o755)

    def run(self, data: bytes) -> tuple[Counter[tuple[bytes, ...]], int, bytes]:
        """Run a script; return the calls of launchers, the exit code and the output."""
        self._runs += 1
        base = self._directory / str(self._runs)
        work = self._directory / "work"
        shutil.rmtree(work, ignore_errors=True)
        for path in (base, work):
            path.mkdir()
        script = base / "job"
        script.write_bytes(data)
        shell = "sh" if data.startswith((b"#!/bin/sh", b"#! /bin/sh")) else "bash"
        done = subprocess.run(
            [shell, script],
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            env={
                "PATH": f"{self._programs}:/usr/bin:/bin",
                "RECORDS": str(base),
                "SLURM_SUBMIT_DIR": str(work),
                "SLURM_NTASKS": "4",
                "SLURM_JOB_ID": "12",
                "SCRATCH": str(work),
                "HOME": str(work),
                "BIN": "/opt/bin",
                "SW_DIRECTORY": str(self._directory),
                "LC_ALL": "C.UTF-8",
            },
        )
        calls = [tuple(p.read_bytes().split(b"\0")[:-1]) for p in base.glob("call.*")]
        assert not list(self._directory.rglob("canary"))
        return Counter(calls), done.returncode, done.stdout

    def write_links(self) -> str:
        """Write the program that makes links; return its path."""
        path = self._directory / "a $(touch canary)" / "links"
        path.parent.mkdir()
        path.write_bytes(links_program("SW_DIRECTORY", ["not there"]))
        return os.fspath(path)

    def made(self) -> bool:
        """Whether that program ran."""
        return (self._directory / "a $(touch canary)" / "links.made").is_dir()

    @property
    def directory(self) -> str:
        """What SW_DIRECTORY names."""
        return os.fspath(self._directory)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def _without(calls: Counter[tuple[bytes, ...]], words: tuple[bytes, ...]) -> Counter[tuple]:
    found: Counter[tuple] = Counter()
    for call, number in calls.items():
        found[_cut(call, words)] += number
    return found


def _cut(call: tuple[bytes, ...], words: tuple[bytes, ...]) -> tuple[bytes, ...]:
    for i in range(len(call)):
        if call[i : i + len(words)] == words:
            return call[:i] + call[i + len(words) :]
    return call


def test_most_scripts_run() -> None:
    assert len(RUN) > 150


@pytest.mark.extended(keep=54)
@pytest.mark.parametrize("case", RUN, ids=str)
def test_calls_are_the_same_but_for_the_wrapper(case: Case, sandbox: Sandbox) -> None:
    script = JobScript.parse(case.data)
    before, code, output = sandbox.run(case.data)
    seen = 0
    for launch in script.launches:
        if launch.problem or launch.read_twice:
            continue
        changed = rewrite(script, Changes(wrap=WRAP, step=launch.number))
        after, new_code, _ = sandbox.run(changed)
        words = tuple(word.encode() for word in WRAP)
        assert _without(after, words) == before
        assert new_code == code
        wrapped = [call for call in after if _cut(call, words) != call]
        seen += len(wrapped)
        for call in wrapped:
            following = call[call.index(words[0]) + len(words)]
            if launch.is_plain:
                assert following == launch.program.encode("utf-8", "surrogateescape")
        again, _, again_output = sandbox.run(revert(changed))
        assert (again, again_output) == (before, output)
    if before and not any(launch.read_twice for launch in script.launches):
        assert seen or "?" in case.programs


@pytest.mark.extended(keep=40)
@pytest.mark.parametrize("case", RUN, ids=str)
def test_links_around_a_launch_line_change_no_call(case: Case, sandbox: Sandbox) -> None:
    script = JobScript.parse(case.data)
    before, code, output = sandbox.run(case.data)
    program = sandbox.write_links()
    for launch in script.launches:
        if launch.problem or launch.read_twice:
            continue
        changed = rewrite(script, Changes(around=("sh", program), step=launch.number))
        if b"env -i" not in case.data:  # there Slurm's variables are missing too
            assert sandbox.run(changed) == (before, code, output)
        assert revert(changed) == script.data
    unclear = any(launch.problem or launch.read_twice for launch in script.launches)
    assert sandbox.made() or not before or unclear or b"env -i" in case.data


def test_settings_reach_the_ranks(sandbox: Sandbox) -> None:
    text = (
        b"#!/bin/bash\n#SBATCH -n 9\n#SBATCH -J x\nexport OMP_NUM_THREADS=1\n"
        b"if true; then time srun -N2 --ntasks=$NOT_SET \\\n -c1 ./a 'b c'; fi\n"
    )
    value = "it's $(touch canary)\n# <<< stripewise\n`touch canary` \\"
    changes = Changes(
        wrap=("w",),
        job=JobSettings(ranks=4, ranks_per_node=2, threads=3),
        exports={"SW_VALUE": value},
    )
    changed = rewrite(JobScript.parse(text), changes)
    ((call, _),) = sandbox.run(changed)[0].items()
    expected = ["srun", "3", value, f"{sandbox.directory}/work"]
    expected += ["--ntasks-per-node=2", "-N2", "--ntasks=4", "-c3", "w", "./a", "b c"]
    assert [word.decode() for word in call] == expected
    assert b"\n#SBATCH --ntasks=4\n" in changed
    assert revert(changed) == text


@pytest.mark.parametrize(
    "word",
    [
        "./my prog", "a'b", 'a"b', "$(touch canary)", "`touch canary`", "a;touch canary",
        "a\ntouch canary", "a\\", "$HOME", "~", "*", "-x", "#c", "a#b", "!!", "{a,b}", "=ls",
        "", "\udce9\udcff", "é→", "&", "|x", "<(x)", "\t", "\r", "A=b",
    ],
)  # fmt: skip
def test_hostile_words_arrive_as_they_are(word: str, sandbox: Sandbox) -> None:
    script = JobScript.parse(b'#!/bin/bash\nX=$(true; srun -n 2 ./a)\necho "$X"\n')
    changed = rewrite(script, Changes(wrap=(word, word), exports={"SW_VALUE": word}))
    ((call, _),) = sandbox.run(changed)[0].items()
    raw = word.encode("utf-8", "surrogateescape")
    assert call[2] == raw
    assert call[4:] == (b"-n", b"2", raw, raw, b"./a")
    assert revert(changed) == script.data
