# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job script in a directory of its own on fast storage: nothing is lost, nothing is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from stripewise.run.jobs import Changes, JobScript, links_program, revert, rewrite
from stripewise.run.jobs._copies import copies_program
from stripewise.run.launch.agent._staging import LOCAL_TYPES

HOSTILE = (
    "a b", "$(touch canary)", "`touch canary`", "'; touch canary; '", '"', "*", "-rf", "new\nline",
    "end\n", "\\", "caf\udce9", "%s", "#x", "~", "--back", "{}",
)  # fmt: skip
SHELLS = [name for name in ("dash", "bash", "busybox") if shutil.which(name)]


class Job:
    """A directory, fast storage, and a script."""

    def __init__(self, top: Path, place: str = "$FAST", **given) -> None:
        self.top, self.work, self.fast, self.results = top, top / "w", top / "f", top / "r"
        for path in (self.work, self.fast, top / "study"):
            path.mkdir(exist_ok=True)
        self.program = top / "study" / "copies"
        self.variables: dict[str, str] = {}
        given = {"source": self.work, "results": self.results, "variable": "FAST", **given}
        self.program.write_bytes(copies_program(place, **given))

    def begin(self, code: str, number: int = 7, shell: str = "sh") -> subprocess.Popen[str]:
        script = self.top / f"script-{number}"
        script.write_text(f"#!/bin/bash\n{code}\n")
        script.chmod(0o700)
        environment = {"PATH": os.environ["PATH"], "FAST": str(self.fast), **self.variables}
        environment |= {"SLURM_JOB_ID": str(number), "SLURM_SUBMIT_DIR": str(self.work)}
        first = ["busybox", "sh"] if shell == "busybox" else [shell]
        return subprocess.Popen(
            [*first, str(self.program), str(script), "a b"],
            cwd=self.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="surrogateescape",
        )  # fmt: skip

    def run(self, code: str, number: int = 7, shell: str = "sh") -> tuple[int, str, str]:
        begun = self.begin(code, number, shell)
        said = begun.communicate(timeout=60)
        self.check_nothing_is_left()
        return begun.returncode, *said

    def check_nothing_is_left(self) -> None:
        assert list(self.fast.iterdir()) == []
        assert list((self.top / "study").iterdir()) == [self.program]
        assert not list(self.top.rglob("canary*"))

    @property
    def got(self) -> dict[str, str]:
        return contents(self.results)


def contents(top: Path) -> dict[str, str]:
    return {str(p.relative_to(top)): p.read_text() for p in top.rglob("*") if p.is_file()}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    made = Job(tmp_path, left_out=("other",))
    (made.work / "in").write_text("in\n")
    (made.work / "other").write_text("other\n")
    (made.work / "d").mkdir()
    (made.work / "d" / "x").write_text("x\n")
    return made


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_new_or_changed_comes_back(job, shell) -> None:
    code, out, err = job.run(
        "pwd; echo $FAST $SLURM_SUBMIT_DIR $STRIPEWISE_STAGE $1; ls; stat -c %a .. .; "
        "echo more >> in; mv d/x d/y; mkdir -p e/f; ln -s in l; mkfifo p; exit 5",
        shell=shell,
    )
    assert (code, err) == (5, "")
    where, same, *rest = out.splitlines()
    assert re.fullmatch(rf"{job.fast}/stripewise-7-\d+/work", where)
    assert same == f"{where} {where} {where} a b"
    assert rest[:3] == ["d", "in", "700"]
    assert job.got == {"in": "in\nmore\n", "l": "in\nmore\n", "d/y": "x\n"}
    assert os.readlink(job.results / "l") == "in"
    assert (job.results / "e" / "f").is_dir()
    assert contents(job.work) == {"in": "in\n", "other": "other\n", "d/x": "x\n"}


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_put_beside_the_directory_is_kept(job, shell) -> None:
    lines = "mkdir -p ../results; echo r >../results/r4; echo s >$SLURM_SUBMIT_DIR/../.s; echo >x"
    _, _, err = job.run(lines, shell=shell)
    kept = job.results / "beside.stripewise-7"
    assert f"put beside its directory, by paths with .., is in {kept}\n" in err
    assert contents(kept) == {"results/r4": "r\n", ".s": "s\n"}
    assert (job.results / "x").exists()


def test_what_cannot_be_kept_elsewhere_stays(job) -> None:
    job.results.mkdir()
    (job.results / "beside.stripewise-7").write_text("")
    begun = job.begin("mkdir ../results; echo r > ../results/r4")
    assert "not all results could be copied" in begun.communicate(timeout=60)[1]
    assert begun.returncode == 1
    assert [path.read_text() for path in job.fast.glob("*/results/r4")] == ["r\n"]


def test_hidden_inputs(job) -> None:
    for name in (".rc", "..x", ".git/config"):
        (job.work / name).parent.mkdir(exist_ok=True)
        (job.work / name).write_text(name)
    assert job.run("cat .rc ..x .git/config; echo more >> .rc")[1] == ".rc..x.git/config"
    assert job.got == {".rc": ".rcmore\n"}


def test_modes_and_times_are_kept(job) -> None:
    (job.work / "in").chmod(0o750)
    os.utime(job.work / "in", (1, 1))
    _, out, _ = job.run("stat -c '%a %Y' in; umask 077; echo x > y; chmod 711 y")
    assert out == "750 1\n"
    assert stat.S_IMODE((job.results / "y").stat().st_mode) == 0o711


def test_an_output_that_a_job_before_left_beside_the_script(job) -> None:
    assert job.run("echo new > other")[0] == 0
    assert job.got == {"other": "new\n"}
    assert (job.work / "other").read_text() == "other\n"
    job.run("echo newer > other", number=8)
    assert job.got == {"other": "newer\n"}, "results of a job that has ended are replaced"


def test_a_result_that_somebody_changed_meanwhile_stays(job) -> None:
    code, _, err = job.run(f"echo mine > {job.results}/out; echo new > out")
    assert (code, job.got) == (0, {"out": "mine\n", "out.stripewise-7": "new\n"})
    assert err.startswith(f"stripewise: {job.results}/out was changed meanwhile: the result is in")


def test_two_jobs_at_a_time(job) -> None:
    one = job.begin("echo 1 > a; sleep 1; ls", 1)
    two = job.begin("echo 2 > b; sleep 1; ls", 2)
    assert one.communicate()[0] == "a\nd\nin\n"
    assert two.communicate()[0] == "b\nd\nin\n"
    assert job.got == {"a": "1\n", "b": "2\n"}
    job.check_nothing_is_left()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(tmp_path, name, shell) -> None:
    job = Job(tmp_path)
    (job.work / name).write_text("in")
    (job.work / f"d{name}").mkdir()
    (job.work / f"d{name}" / name).write_text("deep")
    code, _, err = job.run(
        'for i in ./*; do [ -f "$i" ] && cp "$i" "$i.new"; done; '
        'for i in ./*/*; do echo x >> "$i"; done; :',
        shell=shell,
    )
    assert (code, err) == (0, "")
    assert job.got == {f"{name}.new": "in", f"d{name}/{name}": "deepx\n"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_directories(tmp_path, name) -> None:
    top = tmp_path / f"top{name}"
    top.mkdir()
    job = Job(top, source=top / "w", results=top / f"r{name}")
    (job.work / "in").write_text("in")
    job.fast.rename(top / f"f{name}")
    job.fast = top / f"f{name}"
    assert job.run("cat in > out")[0] == 0
    assert contents(top / f"r{name}") == {"out": "in"}


@pytest.mark.parametrize("place", ["{fast}/$A/${{B}}", "{fast}/$A/$B/"])
def test_a_place_with_variables(tmp_path, place) -> None:
    job = Job(tmp_path, place=place.format(fast=tmp_path / "f"), variable="")
    there = job.fast / "$(touch canary)" / "b c"
    there.mkdir(parents=True)
    job.variables = {"A": "$(touch canary)", "B": "b c"}
    begun = job.begin("pwd; echo $FAST; echo x > out")
    out, err = begun.communicate()
    assert err == ""
    where, fast = out.splitlines()
    assert (Path(where).parent.parent, fast) == (there, str(job.fast))
    assert job.got == {"out": "x\n"}
    assert list(there.iterdir()) == []
    job.variables = {"A": "a"}
    begun = job.begin("pwd")
    assert "B: is not set in this job" in begun.communicate()[1]
    assert begun.returncode


def test_a_place_that_is_not_there(job) -> None:
    job.variables = {"FAST": str(job.top / "no")}
    code, out, err = job.run("pwd")
    assert (code, out) == (1, "")
    assert "no: there is no such directory in this job" in err


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.extended
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("kind", ["script", "its command", "both"])
def test_slurms_signal(job, shell, kind) -> None:
    """Slurm signals the batch script alone, or all of a job; results come back in both cases."""
    began = job.top / "began"
    begun = job.begin(f"echo one > out; touch {began}; sleep 60; echo two >> out", shell=shell)
    wait_for(began)
    if kind != "its command":
        begun.send_signal(signal.SIGTERM)
    if kind != "script":
        found = [
            int(entry.name) for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and str(job.top).encode() in _words(entry)
        ]  # fmt: skip
        for pid in found:
            if pid != begun.pid:
                with suppress(ProcessLookupError):  # the first signal may have ended it
                    os.kill(pid, signal.SIGTERM)
    _, err = begun.communicate(timeout=60)
    assert begun.returncode == 128 + signal.SIGTERM, err
    assert job.got == {"out": "one\n"}
    job.check_nothing_is_left()


def _words(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_script_that_ends_in_order_after_a_signal(job) -> None:
    began = job.top / "began"
    begun = job.begin(f"trap 'echo saved > out; exit 0' TERM; touch {began}; sleep 60 & wait")
    wait_for(began)
    begun.send_signal(signal.SIGTERM)
    begun.communicate(timeout=60)
    assert begun.returncode == 0
    assert job.got == {"out": "saved\n"}
    job.check_nothing_is_left()


@pytest.mark.extended
def test_what_the_script_left_behind_writes_no_more(job) -> None:
    loop = "(trap '' HUP; while :; do echo x >> out; sleep 0.01; done)"
    job.run(f"{loop} & until [ -s out ]; do sleep 0.02; done")
    assert set(job.got) == {"out"}


def test_what_reads_the_output_of_the_script_ends_by_itself(job) -> None:
    job.run("exec > >(sleep 0.2; cat > log)\necho said")
    assert job.got == {"log": "said\n"}


def test_inputs_that_have_no_room(job) -> None:
    """Not a byte of the job's files is run with half of its inputs."""
    (job.work / "in").unlink()
    os.mkfifo(job.work / "sub")
    job.variables = {"PATH": f"{job.top}/bin:{os.environ['PATH']}"}
    (job.top / "bin").mkdir()
    copy = job.top / "bin" / "cp"
    copy.write_text("#!/bin/sh\nexit 1\n")
    copy.chmod(0o700)
    code, out, err = job.run("echo ran")
    assert (code, out) == (1, "")
    assert "not all inputs could be copied" in err
    assert not job.got


def test_results_that_could_not_be_written(job) -> None:
    """That is known before a job's time is spent."""
    job.results.write_text("a file in the way")
    code, out, err = job.run("echo ran")
    assert (code, out) == (1, "")
    assert (
        err == f"stripewise: {job.results}: nothing can be written there, so that results "
        "would be lost\n"
    )


@pytest.mark.parametrize("outlives", [True, False])
def test_results_that_have_no_room_stay_where_they_are(tmp_path, outlives) -> None:
    job = Job(tmp_path, outlives=outlives)
    begun = job.begin(f"echo x > out; rmdir {job.results}; echo in the way > {job.results}")
    _, err = begun.communicate()
    assert begun.returncode == 1
    where = f"they are in {job.fast}/" if outlives else "what is not there is lost with the burst"
    assert f"not all results could be copied to {job.results}: {where}" in err
    (kept,) = job.fast.glob("*/*/out")
    assert kept.read_text() == "x\n"


def test_some_files_alone(job) -> None:
    job = Job(job.top, results=None, files=("in",))
    _, out, _ = job.run(
        "pwd; echo $SLURM_SUBMIT_DIR; echo more >> $FAST/in; echo new > $FAST/out; echo here > log"
    )
    assert out == f"{job.work}\n{job.work}\n"
    assert contents(job.work) == {
        "in": "in\nmore\n", "out": "new\n", "log": "here\n", "other": "other\n", "d/x": "x\n",
    }  # fmt: skip
    _, _, err = job.run("echo mine > in; sleep 0.1; echo more >> $FAST/in")
    assert "was changed meanwhile" in err
    assert (job.work / "in").read_text() == "mine\n"
    assert (job.work / "in.stripewise-7").read_text() == "in\nmore\nmore\n"


def test_links_lead_to_these_files(job) -> None:
    job = Job(job.top, results=None, files=("in", "out"), links=True)
    links = job.top / "links"
    links.write_bytes(links_program("FAST", ["in", "out"]))
    _, out, err = job.run(f"sh {links} sh -c 'readlink in; echo more >> in; echo new > out'")
    assert out.startswith(f"{job.fast}/stripewise-7-"), err
    assert err == ""
    assert not [path for path in job.work.iterdir() if path.is_symlink()]
    assert (job.work / "in").read_text() == "in\nmore\n"
    assert (job.work / "out").read_text() == "new\n"


@pytest.mark.parametrize(
    ("kind", "nodes"), [("xfs", 2), ("ext2/ext3", 8), ("lustre", 2), ("xfs", 1)]
)
def test_several_nodes_cannot_share_storage_of_one(job, kind, nodes) -> None:
    (job.top / "bin").mkdir()
    program = job.top / "bin" / "stat"
    program.write_text(f"#!/bin/sh\necho {kind}\n")
    program.chmod(0o700)
    job.variables = {"PATH": f"{job.top}/bin:{os.environ['PATH']}"}
    job.variables["SLURM_JOB_NUM_NODES"] = str(nodes)
    code, out, err = job.run("echo ran")
    if nodes > 1 and kind != "lustre":
        assert (code, out) == (1, "")
        assert f"{job.fast} is storage of each node, which the {nodes} nodes" in err
        assert err.count("\n") == 1
    else:
        assert (code, out, err) == (0, "ran\n", "")


def test_the_study_knows_the_same_file_systems() -> None:
    text = copies_program("/x").decode()
    (line,) = re.findall(r"\n +(bcachefs .*)\) ;;\n", text)
    assert tuple(line.split(" | ")) == LOCAL_TYPES


@pytest.mark.parametrize("shell", ["sh", "csh"])
def test_the_script_starts_itself_again_once_in_each_job(tmp_path, shell) -> None:
    assert shutil.which(shell), f"there is no {shell}: make setup-dev installs it"
    program = tmp_path / "around 'x'"
    program.write_text(
        'echo around; STRIPEWISE_IN_PLACE=$SLURM_JOB_ID; export STRIPEWISE_IN_PLACE\n"$@"\n'
    )
    data = f"#!{shutil.which(shell)}\n#SBATCH -n 1\necho $1\nexit 4\n".encode()
    changed = rewrite(JobScript.parse(data), Changes(within=("sh", str(program))))
    assert revert(changed) == data
    script = tmp_path / "run.sh"
    script.write_bytes(changed)
    script.chmod(0o700)
    for inherited in ({}, {"STRIPEWISE_IN_PLACE": "6"}):
        environment = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", **inherited}
        done = subprocess.run([script, "a;b"], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (4, "around\na;b\n"), done


def at_once(job: Job, *codes: str) -> list[str]:
    """Run jobs that all have copied their inputs before any of them goes on; what they said."""
    gate = job.top / "gate"
    begun = [
        job.begin(
            f"echo > {job.top}/began-{n}; until [ -e {gate} ]; do sleep 0.02; done; {code}", n
        )
        for n, code in enumerate(codes, 1)
    ]
    for number in range(1, len(codes) + 1):
        wait_for(job.top / f"began-{number}")
    gate.touch()
    return [one.communicate(timeout=60)[1] for one in begun]


def test_elements_of_an_array_that_run_at_once(tmp_path) -> None:
    """Each brings back its own results, also where old ones lie; nothing of another's is lost."""
    job = Job(tmp_path, source=None, results=None)
    for name in ("r.1", "r.2", "r.3", "all", "same"):
        (job.work / name).write_text("OLD\n")
    edit = "sed -i s/OLD/new/ same; echo {0} >> all; echo {0} > r.{0}"
    said = at_once(job, *(edit.format(n) for n in (1, 2, 3)))
    got = contents(job.work)
    assert [got[f"r.{n}"] for n in (1, 2, 3)] == ["1\n", "2\n", "3\n"]
    assert got["same"] == "new\n", "all of them changed it so"
    mine = [text for name, text in got.items() if name.startswith("all")]
    assert sorted(mine) == ["OLD\n1\n", "OLD\n2\n", "OLD\n3\n"]
    assert sum("all was changed meanwhile" in text for text in said) == 2
    assert len(got) == 7
    job.check_nothing_is_left()


def test_what_was_moved_here_meanwhile_stays(tmp_path) -> None:
    """Files that the job never had are not among those that its script removed."""
    job = Job(tmp_path, source=None, results=None)
    for name in ("gone", "stays"):
        (job.work / name).write_text(name)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "gone").write_text("another")
    code, _, err = job.run(f"mv {tmp_path}/old {job.work}/case; rm gone")
    assert code == 0
    moved = "removed.stripewise-7/gone"
    assert contents(job.work) == {"stays": "stays", "case/gone": "another", moved: "gone"}
    assert "what the script removed is in" in err


def test_a_place_that_somebody_cleans_up(tmp_path) -> None:
    """Inputs that vanish there, since they are old, were not removed by the script."""
    job = Job(tmp_path, source=None, results=None)
    (job.work / "in").write_text("in")
    os.utime(job.work / "in", (1, 1))
    job.run(f"find {job.fast} -type f -mtime +1 -delete; [ ! -e in ] && echo x > out")
    assert contents(job.work) == {"in": "in", "out": "x\n"}


def test_a_system_whose_find_knows_no_times_of_change(tmp_path) -> None:
    job = Job(tmp_path, source=None, results=None)
    (job.work / "in").write_text("in")
    (tmp_path / "bin").mkdir()
    find = tmp_path / "bin" / "find"
    find.write_text('#!/bin/sh\ncase "$*" in *-newerc*) exit 1 ;; esac\nexec /usr/bin/find "$@"\n')
    find.chmod(0o700)
    job.variables = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    assert job.run("sleep 0.01; echo new > out")[0] == 0
    assert contents(job.work) == {"in": "in", "out": "new\n"}


IN_PLACES_OF_OTHERS = {
    "d to e": ("mkdir d; echo 1 > d/a; mkdir -p d/s/t; echo 2 > d/s/a", "mv d e"),
    "d and e": (
        "mkdir d e; echo 1 > d/a; echo 2 > e/a",
        "[ -e t ] || { mv d t; mv e d; mv t e; }; touch t",
    ),
    "d below e": ("mkdir -p d/s e; echo 1 > d/s/a", "mv d e/"),
    "file to directory": ("echo old > out", "rm out; mkdir out; echo new > out/f"),
    "directory to file": ("mkdir -p out/s; echo old > out/f", "rm -r out; echo new > out"),
    "directory to link": ("mkdir d e; echo 1 > d/x", "rm -r d; ln -s e d"),
    "link to directory": (
        "mkdir e; echo 1 > e/x; ln -s e latest", "rm latest; mkdir latest; echo 2 > latest/x"
    ),
    "directories": ("mkdir -p e/f g/h; echo 1 > g/h/x", "rm -r e g"),
    "names of a file": ("echo a > a; ln a b; mkdir d; ln a d/c", "echo more >> a; cat b"),
    "one of two names": ("echo a > a; ln a b", "cp a t; echo more >> t; mv t a; echo x >> b"),
    "modes": (
        "mkdir d; touch a b; chmod 755 b",
        "umask 77; mkdir -p e/f; touch e/f/x; mkdir -m 2775 g; chmod 750 d; chmod 600 a b",
    ),
    "read-only": ("mkdir d; touch d/x", "mkdir e; echo 1 > e/y; chmod 555 d e; chmod 400 e/y"),
}  # fmt: skip


@pytest.mark.extended(keep=6)
@pytest.mark.parametrize("case", IN_PLACES_OF_OTHERS)
def test_a_directory_looks_as_it_would_without_fast_storage(tmp_path, case) -> None:
    before, script = IN_PLACES_OF_OTHERS[case]
    seen = []
    for way in ("plain", "fast"):
        (tmp_path / way).mkdir()
        job = Job(tmp_path / way, source=None, results=None)
        make = f"{before}; find . -type f -exec touch -d 2005-05-05 {{}} +"
        subprocess.run(["bash", "-c", make], cwd=job.work, check=True)
        said = []
        for number in (1, 2):
            if way == "plain":
                done = subprocess.run(
                    ["bash", "-c", script], cwd=job.work, capture_output=True, text=True
                )
                said.append((done.returncode, done.stdout))
            else:
                said.append(job.run(script, number)[:2])
        shutil.rmtree(job.work / "removed.stripewise-1", ignore_errors=True)
        shutil.rmtree(job.work / "removed.stripewise-2", ignore_errors=True)
        seen.append((said, looks(job.work)))
    assert seen[0] == seen[1]


def looks(top: Path) -> dict[str, tuple[str, str]]:
    """What there is below a directory, with its modes and contents."""
    return {
        str(p.relative_to(top)): (
            "" if p.is_symlink() else stat.filemode(p.stat().st_mode),
            os.readlink(p) if p.is_symlink() else p.read_text() if p.is_file() else "",
        )
        for p in top.rglob("*")
    }


def test_what_is_in_the_way_and_was_changed_meanwhile_stays(tmp_path) -> None:
    job = Job(tmp_path, source=None, results=None, outlives=True)
    (job.work / "d").mkdir()
    (job.work / "d" / "x").write_text("x")
    code, _, err = job.run(f"echo mine > {job.work}/d/y; rm -r d; echo new > d")
    assert (code, (job.work / "d" / "y").read_text()) == (0, "mine\n")
    assert (job.work / "d.stripewise-7").read_text() == "new\n"
    assert "d is a directory, which was changed meanwhile" in err
    (job.work / "f").write_text("f")
    script = f"echo mine > {job.work}/f; rm f; mkdir -p f/s; echo new > f/s/x; echo 1 > other"
    code, _, err = job.run(script, 8)
    assert "f was changed meanwhile, and is no directory: the result is in" in err
    assert (code, contents(job.work)["f"]) == (0, "mine\n")
    assert contents(job.work)["f.stripewise-8/s/x"] == "new\n"
    assert contents(job.work)["other"] == "1\n"


def test_two_jobs_that_replace_a_link_by_a_directory(tmp_path) -> None:
    job = Job(tmp_path, source=None, results=None)
    (job.work / "old").mkdir()
    (job.work / "latest").symlink_to("old")
    said = at_once(job, *(f"rm -rf latest; mkdir latest; echo {n} > latest/{n}" for n in (1, 2)))
    assert not any("changed meanwhile" in text for text in said)
    assert {name: text for name, text in contents(job.work).items() if "removed" not in name} == {
        "latest/1": "1\n", "latest/2": "2\n",
    }  # fmt: skip


def test_the_program_of_a_running_job_is_removed(tmp_path) -> None:
    job = Job(tmp_path, source=None, results=None)
    begun = job.begin(f"rm {job.program}; echo new > out")
    _, err = begun.communicate(timeout=60)
    assert (begun.returncode, err, contents(job.work)) == (0, "", {"out": "new\n"})
