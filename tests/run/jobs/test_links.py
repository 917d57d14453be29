# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Links to the burst buffer: whatever a program does to them, its files are as without links."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from stripewise.run.jobs import links_program, replaced_links

HOSTILE = (
    "a b", "$(touch canary)", "`touch canary`", "'; touch canary; '", '"', "*", "-rf", "new\nline",
    "end\n", "\\", "caf\udce9", "%s", "#x", "~", "a'b", "!x",
)  # fmt: skip
"""Each names a file of its own."""


class Job:
    """A job's directory and its burst buffer."""

    def __init__(self, top: Path, *names: str) -> None:
        self.work, self.bb, self.program = top / "work", top / "bb", top / "study" / "links"
        for path in (self.work, self.bb, self.program.parent):
            path.mkdir()
        self.take(*names)

    def take(self, *names: str) -> None:
        self.program.write_bytes(links_program("BB", names))

    def words(self, code: str) -> list[str]:
        return ["sh", str(self.program), "sh", "-c", code]

    def environment(self, number: int = 1) -> dict[str, str]:
        made = {"BB": str(self.bb), "SLURM_SUBMIT_DIR": str(self.work), "PATH": os.environ["PATH"]}
        return {**made, "SLURM_JOB_ID": str(number)}

    def run(self, code: str, number: int = 1) -> subprocess.CompletedProcess[str]:
        environment = self.environment(number)
        return subprocess.run(
            self.words(code), cwd=self.work, env=environment, capture_output=True, text=True
        )

    def stage_out(self) -> dict[str, str]:
        """Bring all back as the burst buffer does; return what the directory holds."""
        links = [path for path in self.work.rglob("*") if path.is_symlink()]
        assert not links, "the burst buffer would write through these"
        found = _contents(self.work) | _contents(self.bb)
        assert not list(self.program.parent.glob("links.made/*"))
        return found


def _contents(top: Path) -> dict[str, str]:
    return {str(p.relative_to(top)): p.read_text() for p in top.rglob("*") if p.is_file()}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path, "out", "big")


def test_an_output_is_made_on_the_burst_buffer(job) -> None:
    done = job.run("echo one > out; readlink out; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{job.bb}/out\n", "")
    assert os.listdir(job.work) == []
    assert job.stage_out() == {"out": "one\n"}


@pytest.mark.parametrize("staged", [True, False])
def test_an_input_is_read_there_and_put_back(job, staged) -> None:
    (job.work / "big").write_text("in")
    if staged:
        (job.bb / "big").write_text("in")
    done = job.run(f"cat big; readlink big; echo more > {job.bb}/seen")
    assert done.stdout == f"in{job.bb}/big\n"
    assert (job.work / "big").read_text() == "in"
    assert os.listdir(job.work) == ["big"]


def test_an_input_that_the_script_made_after_it_was_staged(job) -> None:
    (job.bb / "big").write_text("old")
    os.utime(job.bb / "big", (1, 1))
    (job.work / "big").write_text("new")
    assert job.run("cat big").stdout == "new"


def test_an_input_that_is_a_link_to_what_others_share(job, tmp_path) -> None:
    (tmp_path / "shared").write_text("in")
    (job.work / "big").symlink_to(tmp_path / "shared")
    assert job.run("cat big; echo x >> big").stdout == "in"
    assert os.readlink(job.work / "big") == str(tmp_path / "shared")
    assert (tmp_path / "shared").read_text() == "in"
    assert (job.bb / "big").read_text() == "inx\n"


def test_links_and_directories_of_the_user_stay(job) -> None:
    (job.work / "out").symlink_to("../elsewhere")
    (job.work / "big").mkdir()
    job.run("echo one > out")
    assert (job.work.parent / "elsewhere").read_text() == "one\n"
    assert (job.work / "big").is_dir()
    assert os.listdir(job.bb) == []


CASES = {
    "removed and made": "echo a > out; rm out; echo b > out",
    "removed": "echo a > out; rm out",
    "renamed over": "echo a > out; echo b > tmp; mv tmp out",
    "renamed over by an older one": "echo b > tmp; sleep 0.05; echo a > out; mv tmp out",
    "renamed": "echo a > out; mv out other",
    "kept under another name": "echo a > out; mv out out.bak; echo b > out",
    "a second name": "echo a > out; ln out other; echo b >> out",
    "one over the other": "echo a > out; sleep 0.05; echo b > big; mv out big",
    "one over the other, which was an input": "cat big > out; echo b >> out; mv out big",
    "swapped": "echo a > out; echo b > big; mv out t; mv big out; mv t big",
    "rotated": "echo 1 > out; mv out big; echo 2 > out; mv out .hid; echo 3 > out",
    "nothing at all": ":",
    "made by the tasks": "echo a > out & echo b > big & wait",
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
@pytest.mark.parametrize("inputs", [(), ("big",), ("out", "big")])
def test_it_is_as_without_links(job, code, inputs) -> None:
    plain = job.work.parent / "plain"
    plain.mkdir()
    for top in (plain, job.work):
        for name in inputs:
            (top / name).write_text(f"input {name}\n")
    subprocess.run(["sh", "-c", code], cwd=plain, stderr=subprocess.DEVNULL)
    job.run(code)
    expected = _contents(plain)
    removed = {name: f"input {name}\n" for name in inputs if name not in expected}
    assert job.stage_out() == {**removed, **expected}, "an input of the user's is never removed"


def test_a_replaced_link_is_said(job) -> None:
    done = job.run("echo a > out; rm out; echo b > out")
    assert "stripewise: out: the program replaced its link" in done.stderr
    assert replaced_links(job.program) == ("out",)
    assert os.listdir(job.bb) == []


def test_what_is_written_after_the_link_was_replaced_is_kept(job) -> None:
    job.run("exec 3> out; rm out; echo b > out; sleep 0.1; echo late >&3")
    assert job.stage_out() == {"out": "b\n", "out.stripewise-replaced": "late\n"}


def test_a_job_that_died(job, tmp_path) -> None:
    (job.work / "big").write_text("in")
    job.run("echo a > out; kill -KILL $PPID")
    assert (job.work / "out").is_symlink()
    assert (job.work / "big").is_symlink()
    job.bb.rename(tmp_path / "gone")
    job.bb = tmp_path / "next"
    job.bb.mkdir()
    done = job.run("cat big; echo b > out", number=2)
    assert done.stdout == "in"
    assert job.stage_out() == {"big": "in", "out": "b\n"}
    assert os.listdir(job.work) == ["big"]


def test_an_input_that_was_set_aside_is_not_written_over(job) -> None:
    (job.work / "big").write_text("new")
    (job.work / "big.stripewise-kept").write_text("old")
    done = job.run("echo x >> big")
    assert "see which is right" in done.stderr
    assert _contents(job.work) == {"big": "newx\n", "big.stripewise-kept": "old"}


def test_in_a_loop(job) -> None:
    for number in range(3):
        job.run(f"echo {number} >> out")
    assert job.stage_out() == {"out": "0\n1\n2\n"}


def test_files_in_directories(job) -> None:
    job.take("d/out", "none/out")
    (job.work / "d").mkdir()
    job.run("echo a > d/out; mkdir none; echo b > none/out; mv d/out d/new")
    assert (job.bb / "d" / "new").read_text() == "a\n"
    assert job.stage_out() == {"d/new": "a\n", "none/out": "b\n"}


@pytest.mark.extended(keep=7)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_data(tmp_path, name) -> None:
    job = Job(tmp_path, name, "other")
    (job.work / "other").write_text("")
    code = "import os,sys; open(sys.argv[1], 'w').write('x'); print(os.path.islink(sys.argv[1]))"
    words = ["sh", job.program, "python3", "-c", code, name]
    done = subprocess.run(words, cwd=job.work, env=job.environment(), capture_output=True)
    assert done.stdout == b"True\n", done
    assert (job.bb / name).read_text() == "x"
    assert os.listdir(job.work) == ["other"]
    assert not list(tmp_path.rglob("canary*"))


def test_signals_reach_the_command(job) -> None:
    code = "trap 'echo told > out; exit 3' TERM; echo > ready; while :; do sleep 0.05; done"
    running = subprocess.Popen(job.words(code), cwd=job.work, env=job.environment())
    while not (job.work / "ready").exists():
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 3
    assert job.stage_out()["out"] == "told\n"


def test_the_command_has_its_input(job) -> None:
    words = ["sh", str(job.program), "cat"]
    done = subprocess.run(
        words, cwd=job.work, env=job.environment(), input=b"x", capture_output=True
    )
    assert done.stdout == b"x"


def test_without_a_burst_buffer_nothing_runs(job) -> None:
    environment = {**job.environment(), "BB": ""}
    done = subprocess.run(
        job.words("touch ran"), cwd=job.work, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "names no directory on the burst buffer" in done.stderr
    assert os.listdir(job.work) == []
