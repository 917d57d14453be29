# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise settings script`: what it writes is run by a shell, and nothing is replaced."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from support.job_cluster import BURST, PERSISTENT, SCRIPT
from support.job_scripts import HOSTILE_NAMES

SLIDE = """\
#!/bin/bash
#SBATCH --partition=workq
#SBATCH -t 10:00:00
#SBATCH -A k01
#SBATCH --nodes=32
#SBATCH --ntasks=1024
#SBATCH -J slide

srun -n 1024 --hint=nomultithread ./wrf.exe
"""
"""As in Markomanolis (KAUST), ExPBB: 32 nodes without a burst buffer."""
GRANULARITY = ("--granularity", "368GiB", "--pool", "wlm_pool")


def run(path: Path, top: Path) -> list[str]:
    """Run a script with bash and an srun that writes down where it is and what it gets."""
    (top / "bin").mkdir(exist_ok=True)
    (top / "bb").mkdir(exist_ok=True)
    srun = top / "bin" / "srun"
    srun.write_text('#!/bin/sh\nprintf "%s|" "$PWD" "$@"\n')
    srun.chmod(0o755)
    environment = {"PATH": f"{top}/bin:/usr/bin:/bin", "DW_JOB_STRIPED": str(top / "bb")}
    environment |= {"DW_PERSISTENT_STRIPED_mine": str(top / "bb"), "SLURM_JOB_NUM_NODES": "32"}
    done = subprocess.run(["bash", path], cwd=path.parent, env=environment, capture_output=True)
    assert done.returncode == 0, done
    assert not list(top.rglob("canary*"))
    assert not list((top / "bb").iterdir())
    there, *words = os.fsdecode(done.stdout).split("|")[:-1]
    assert re.fullmatch(re.escape(f"{top}/bb") + "/stripewise-0-[0-9]+/work", there)
    return words


def test_the_script_of_the_slides(cluster, tmp_path) -> None:
    (cluster.work / "input").mkdir()
    cluster.write(SLIDE)
    words = ("--stage-in", f"{cluster.work}/input", "--stage-out", f"{cluster.work}/results")
    done = cluster.run("settings", "script", "run.sh", "--bb-nodes", "4", *words, *GRANULARITY)
    assert done.code == 0, done
    assert f"the next job does not find what a job leaves in {cluster.work}/results" in _joined(
        done.err
    )
    made = cluster.work / "run.bb.sh"
    assert done.out == "wrote run.bb.sh\n"
    assert [line for line in made.read_text().splitlines() if line.startswith("#DW")] == [
        "#DW jobdw type=scratch access_mode=striped capacity=1471GiB pool=wlm_pool",
        f"#DW stage_out type=directory source=$DW_JOB_STRIPED/ destination={made}.unsaved",
    ]
    assert "\n#SBATCH --signal=B:TERM@180\n" in made.read_text(), "in time for its copies"
    assert stat.S_IMODE(made.stat().st_mode) == 0o750
    assert subprocess.run(["bash", "-n", made], capture_output=True).stderr == b""
    assert run(made, tmp_path) == ["-n", "1024", "--hint=nomultithread", "./wrf.exe"]
    assert cluster.submitted == 0
    back = cluster.run("settings", "script", "--revert", "run.bb.sh", "-o", "back.sh")
    assert back.code == 0, back
    assert (cluster.work / "back.sh").read_text() == SLIDE


def _joined(text: str) -> str:
    return " ".join(text.split())


def test_srun_that_lacks_the_jobs_cpus(cluster) -> None:
    cluster.write(SLIDE.replace("-J slide", "-J slide -c 4"))
    done = cluster.run("settings", "script", "run.sh", "--bb-nodes", "4", "--print", *GRANULARITY)
    assert "run.sh, line 9: tasks of srun do not get the 4 CPUs each" in done.err
    assert "\nsrun -n 1024 --hint=nomultithread ./wrf.exe\n" in done.out


def test_print_writes_nothing(cluster) -> None:
    before = cluster.names
    done = cluster.run("settings", "script", "run.sh", "--bb-nodes", "2", "--print")
    assert done.code == 0, done
    assert "capacity=3GiB pool=wlm_pool" in done.out
    assert cluster.names == before
    assert "run.bb.sh.copies, which is only written without --print" in _joined(done.err)


def test_the_granularity_without_slurm(cluster, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin/nothing")
    done = cluster.run("settings", "script", "run.sh", "--bb-nodes", "2", "--print", *GRANULARITY)
    assert "capacity=735GiB" in done.out
    said = cluster.run("settings", "script", "run.sh", "--bb-nodes", "2", "--print")
    said.error("no Slurm on this host", "--granularity, such as 368GiB")


def test_nothing_is_replaced(cluster) -> None:
    (cluster.work / "run.bb.sh").symlink_to("nowhere")
    words = ("settings", "script", "run.sh", "--bb-nodes", "2")
    cluster.run(*words).error("run.bb.sh exists", "--output")
    cluster.run(*words, "-o", "run.sh").error("run.sh exists")
    cluster.run(*words, "-o", f"{cluster.work}/./run.sh").error("exists")
    cluster.run(*words, "-o", "no/such/run.sh").error("no/such/run.sh")
    assert cluster.script.read_text() == SCRIPT
    assert not (cluster.work / "nowhere").exists()
    assert cluster.run(*words, "-o", "mine.sh").code == 0
    assert cluster.run(*words, "-o", "mine.sh").code == 0, "a named file is meant"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), ("--bb-nodes N, --persistent NAME, --tier directory, or --revert",)),
        (("--revert", "--bb-nodes", "1"), ("choose what to do",)),
        (("--revert", "--tier", "directory"), ("choose what to do",)),
        (("--persistent", "a", "--bb-nodes", "1"), ("--persistent NAME",)),
        (("--persistent", "a b"), ("'a b'", "there are none")),
        (("--persistent", "a", "--tier", "directory", "--place", "$A"), ("choose what to do",)),
        (("--persistent", "a", "--tier", "lua", "--place", "$A"), ("lua",)),
        (("--revert",), ("run.sh",)),
        (("--bb-nodes", "9"), ("9 nodes", "has 8")),
        (("--bb-nodes", "1", "--pool", "nope"), ("'nope'", "wlm_pool")),
        (("--bb-nodes", "1", "--tier", "nope"), ("nope", "datawarp")),
        (("--bb-nodes", "1", "--tier", "none"), ("--tier none",)),
        (("--bb-nodes", "1", "--tier", "directory"), ("TMPDIR",)),
        (("--tier", "directory", "--place", "l/$A"), ("absolute path", "$TMPDIR")),
        (("--tier", "directory", "--place", "/l", "--stage-out", "res"), ("res", "absolute")),
        (
            ("--tier", "directory", "--place", "/l", "--stage-in", "/l", "--stage-out", "/r"),
            ("/l", "no such"),
        ),
        (("--bb-nodes", "1", "--tier", "lua", "--place", "$BB"), ("template",)),
        (("--bb-nodes", "1", "--tier", "lua", "--template", "bin"), ("--template", "UTF-8")),
        (("--bb-nodes", "1", "--stage-in", "/no/such", "--stage-out", "/r"), ("/no/such",)),
        (("--bb-nodes", "1", "--stage-out", "results"), ("absolute",)),
        (("--bb-nodes", "-1"), ("--bb-nodes",)),
    ],
)
def test_bad_requests(cluster, words, says) -> None:
    (cluster.work / "bin").write_bytes(b"\xff\xfe")
    before = cluster.names
    cluster.run("settings", "script", "run.sh", *words).error(*says)
    assert cluster.names == before


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\x7fELF\0", "NUL"),
        (b"echo\n", "#!/bin/bash"),
        (b"#!/bin/sh\n#DW persistentdw name=mine\nsrun ./a\n", "persistent"),
        (b"#!/bin/sh\n#BB destroy_persistent name=x\nsrun ./a\n", "job of its own"),
        (b"#!/bin/sh\n#DW jobdw type=scratch capacity=lots\nsrun ./a\n", "lots"),
    ],
)
def test_scripts_that_are_none(cluster, data, says) -> None:
    cluster.write(data)
    cluster.run("settings", "script", "run.sh", "--bb-nodes", "1").error(says)
    cluster.run("settings", "script", "missing.sh", "--bb-nodes", "1").error(
        "missing.sh", "job script"
    )
    cluster.run("settings", "script", ".", "--bb-nodes", "1").error("job script")
    assert cluster.names == {"run.sh", "input.txt"}


def test_a_script_is_not_converted_twice(cluster) -> None:
    assert cluster.run("settings", "script", "run.sh", "--bb-nodes", "1", "-o", "a.sh").code == 0
    cluster.run("settings", "script", "a.sh", "--bb-nodes", "2").error(
        "already has lines of stripewise"
    )


def test_lines_of_its_own_get_another_number_of_nodes(cluster) -> None:
    own = SCRIPT.replace(
        "srun",
        "#DW jobdw type=scratch access_mode=striped capacity=2GiB\n"
        "#DW stage_out type=directory source=$DW_JOB_STRIPED/r destination=/res\n"
        "cd $DW_JOB_STRIPED\nsrun",
    )
    cluster.write(own)
    out = cluster.run("settings", "script", "run.sh", "--bb-nodes", "4", "--print").out
    assert "capacity=7GiB" in out
    assert out.count("\ncd ") == 1
    assert "\n#DW stage_out type=directory source=$DW_JOB_STRIPED/r destination=/res\n" in out
    out = cluster.run("settings", "script", "run.sh", "--bb-nodes", "0", "--print").out
    assert "\n#DW" not in out


def test_a_persistent_burst_buffer(cluster, tmp_path) -> None:
    words = ("--persistent", "mine")
    said = cluster.run("settings", "script", "run.sh", *words)
    said.error("'mine'", "there are none")
    cluster.set(burst=BURST + PERSISTENT)
    cluster.run("settings", "script", "run.sh", "--persistent", "hers").error(
        "'hers'", "there are mine"
    )
    done = cluster.run("settings", "script", "run.sh", *words)
    assert done.code == 0, done
    made = cluster.work / "run.bb.sh"
    lines = [line for line in made.read_text().splitlines() if line.startswith("#DW")]
    assert lines == ["#DW persistentdw name=mine"]
    assert run(made, tmp_path)[0] == "-n"
    assert cluster.run("settings", "script", "--revert", "run.bb.sh", "--print").out == SCRIPT


def test_a_persistent_burst_buffer_without_slurm(cluster, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin/nothing")
    cluster.write(SLIDE.replace("/bin/bash", "/bin/csh"))
    done = cluster.run("settings", "script", "run.sh", "--persistent", "mine", "--print")
    assert done.code == 0, done
    assert ' != "$SLURM_JOB_ID" ) exec sh ' in done.out
    words = ("--persistent", "my-own", "--tier", "rabbit", "--print")
    out = cluster.run("settings", "script", "run.sh", *words).out
    assert "#DW persistentdw name=my-own\n" in out


def test_the_sites_own_lines(cluster) -> None:
    """The job copies by itself, so lines of the site that would are left out."""
    lines = "#BB_LUA pool={pool} capacity={capacity}\n\n#BB_LUA in={stage_in}\n"
    (cluster.work / "site").write_text(lines)
    words = ("--tier", "lua", "--template", "site", "--place", "${BB_DIR}", *GRANULARITY)
    out = cluster.run("settings", "script", "run.sh", "--bb-nodes", "2", "--print", *words).out
    assert "\n#BB_LUA pool=wlm_pool capacity=736GiB\n" in out
    assert "in=" not in out


FAST = ("--tier", "directory", "--place", "$FAST")


def run_there(path: Path, top: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that copies its files to $FAST; its launcher is its program."""
    (top / "bin").mkdir(exist_ok=True)
    srun = top / "bin" / "srun"
    srun.write_text('#!/bin/sh\nshift 2; exec "$@"\n')
    srun.chmod(0o755)
    environment = {"PATH": f"{top}/bin:/usr/bin:/bin", "FAST": str(top / "fast")}
    environment |= {"SLURM_JOB_ID": "7", "STRIPEWISE_IN_PLACE": "6"}
    done = subprocess.run([path], cwd=path.parent, env=environment, capture_output=True, text=True)
    assert list((top / "fast").iterdir()) == []
    assert not list(top.rglob("canary*"))
    return done


def test_a_directory_of_the_nodes(cluster, tmp_path) -> None:
    (tmp_path / "fast").mkdir()
    script = SCRIPT.replace(
        "./writer out.dat input.txt", "sh -c 'pwd; ls; cat input.txt >out; exit 3'"
    )
    cluster.write(script)
    (cluster.work / "old.stripewise").mkdir()
    done = cluster.run("settings", "script", "run.sh", *FAST)
    assert done.code == 0, done
    assert done.err.strip() == ""
    assert cluster.names == {
        "run.sh",
        "run.bb.sh",
        "run.bb.sh.copies",
        "input.txt",
        "old.stripewise",
    }
    ran = run_there(cluster.work / "run.bb.sh", tmp_path)
    assert ran.returncode == 3, ran
    where, *seen = ran.stdout.splitlines()
    assert re.fullmatch(rf"{tmp_path}/fast/stripewise-7-\d+/work", where)
    assert seen == ["input.txt", "run.sh"], "neither scripts of ours nor studies"
    assert cluster.names == {
        "run.sh", "run.bb.sh", "run.bb.sh.copies", "input.txt", "old.stripewise", "out",
    }  # fmt: skip
    assert (cluster.work / "out").read_text() == "input\n"
    assert cluster.run("settings", "script", "--revert", "run.bb.sh", "--print").out == script
    cluster.run("settings", "script", "run.sh", *FAST).error("run.bb.sh exists", "--output")
    (cluster.work / "run.bb.sh").unlink()
    cluster.run("settings", "script", "run.sh", *FAST).error("run.bb.sh.copies exists", "--output")


def test_directories_that_are_copied_to_the_nodes(cluster, tmp_path) -> None:
    for name in ("fast", "in a"):
        (tmp_path / name).mkdir()
    (tmp_path / "in a" / "x").write_text("x")
    cluster.write(SCRIPT.replace("./writer out.dat input.txt", "sh -c 'ls; cat x > y'"))
    words = (*FAST, "--stage-in", f"{tmp_path}/in a", "--stage-out", f"{tmp_path}/out $(x)")
    done = cluster.run("settings", "script", "run.sh", *words, "--print")
    assert "the script needs" in done.err
    assert "run.bb.sh.copies, which is only written without --print" in " ".join(done.err.split())
    assert cluster.run("settings", "script", "run.sh", *words).code == 0
    ran = run_there(cluster.work / "run.bb.sh", tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "x\n"), ran
    assert [path.name for path in (tmp_path / "out $(x)").iterdir()] == ["y"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_that_are_copied_to_the_nodes(cluster, tmp_path, name) -> None:
    (tmp_path / "fast").mkdir()
    code = 'sh -c \'for i in ./*; do cp "$i" "$i-new"; done\''
    path = cluster.write(SCRIPT.replace("./writer out.dat input.txt", code), f"{name}.sh")
    (cluster.work / name).write_text("x")
    cluster.script.unlink()
    done = cluster.run("settings", "script", *FAST, "--", f"{name}.sh")
    assert done.code == 0, done
    ran = run_there(path.with_name(f"{name}.bb.sh"), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    assert (cluster.work / "input.txt-new").read_text() == "input\n"
    assert (cluster.work / f"{name}-new").read_text() == "x"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names(cluster, tmp_path, name) -> None:
    text = SCRIPT.replace("solve", "a;$(touch$IFS-canary)")
    path = cluster.write(text, f"{name}.sh")
    done = cluster.run("settings", "script", "--bb-nodes", "2", "--", f"{name}.sh")
    assert done.code == 0, done
    assert done.out.count("\n") == 1
    made = path.with_name(f"{name}.bb.sh")
    assert run(made, tmp_path)[0] == "-n"
    assert (
        cluster.run("settings", "script", "--revert", "--print", "--", f"{name}.bb.sh").out == text
    )
    cluster.run("settings", "script", "--bb-nodes", "2", "--", f"{name}.bb.sh").error(
        "already has lines"
    )


@pytest.mark.parametrize("how", [("--bb-nodes", "4", *GRANULARITY), ("--tier", "directory")])
def test_what_lies_above_the_directory_is_refused(cluster, tmp_path, how) -> None:
    if "directory" in how:
        how = (*how, "--place", str(tmp_path))
    for line in (
        "mkdir -p ../results; mv out.dat ../results/r4.dat && echo saved",
        'ROOT=$(dirname "$SLURM_SUBMIT_DIR"); mv out.dat $ROOT/results',
        "mv out.dat ${SLURM_SUBMIT_DIR%/*}/results",
        "mkdir ../results && cd ../results",
        "cp ../results/out.dat .",
    ):
        cluster.write(f"{SCRIPT}{line}\n")
        cluster.run("settings", "script", "run.sh", *how).error(
            "run.sh, line 6: ../results", "which alone is copied: start from the directory above"
        )
        assert "run.bb.sh" not in cluster.names
