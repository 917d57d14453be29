# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""run.tuned.sh on a persistent burst buffer, and on storage of the nodes."""

from __future__ import annotations

import os
import shutil
import stat

import pytest

from stripewise.core import Configuration
from stripewise.run.jobs import revert
from stripewise.run.tiers import TierRequest
from stripewise.study.job_scripts._tuned_script import COPIES_FILE, TASK_FILE
from stripewise.study.workspace._snapshot import SnapshotEntry
from support.job_scripts import HOSTILE_NAMES
from support.tuned_scripts import (
    HINTS,
    SCRIPT,
    Left,
    directives,
    job,
    on_fast,
)


def persistent(**given) -> dict:
    return {"jobs": {"pool": None, "ask": TierRequest(persistent="mine", nodes=4), **given}}


def test_lines_for_a_persistent_burst_buffer_stay_as_they_are(left) -> None:
    own = b"#DW persistentdw name=mine\n#DW  stage_out type=file source=$X/a destination=/b/a\n"
    data = SCRIPT.replace(b"export", own + b"cd $DW_PERSISTENT_STRIPED_mine\nexport")
    request = TierRequest(persistent="mine", nodes=4)
    made = left.write(Configuration((HINTS,)), data, **persistent(own=request, ask=request))
    text = made.read_bytes()
    assert own in text
    assert text.count(b"persistentdw") == 1
    assert b"stays" not in text
    assert revert(text) == data


def test_a_persistent_burst_buffer(left) -> None:
    made = left.write(job(burst_buffer_nodes=4), **persistent())
    assert directives(made) == ["#DW persistentdw name=mine"]
    (left.work / "big.dat").write_text("big")
    left._program(left.work / "solve", "#!/bin/sh\ncat big.dat > out\n")
    assert left.run(made) == ["BB||1"]
    assert (left.work / "out").read_text() == "big"
    assert revert(made.read_bytes()) == SCRIPT


def test_a_hybrid_job_on_a_persistent_burst_buffer(left) -> None:
    winner = job(burst_buffer_nodes=4, burst_buffer_files="big*")
    made = left.write(winner, **persistent())
    assert "\ncd " not in made.read_text()
    assert left.run(made)[0] == f"{left.work}||1"
    pair = "%{SLURM_SUBMIT_DIR}/big*=%{DW_PERSISTENT_STRIPED_mine}"
    assert f"@STRIPEWISE_REDIRECT={pair}\0".encode() in (left.study / TASK_FILE).read_bytes()
    made = left.write(winner, **persistent(links=True, seen=lambda: ("big.out",)))
    left._program(left.work / "solve", "#!/bin/sh\necho x > big.out\n")
    left.run(made)
    assert (left.work / "big.out").read_text() == "x\n"


def test_a_directory_of_the_nodes(left) -> None:
    made = left.write(job(burst_buffer_nodes=1), **on_fast())
    assert made == left.work / "run.tuned.sh"
    program = left.study / COPIES_FILE
    assert stat.S_IMODE(program.stat().st_mode) == 0o600
    assert f"|| exec sh {program} " in made.read_text()
    for name in ("big.dat", "small.nml"):
        (left.work / name).write_text(name)
    (left.work / "in").mkdir()
    left._program(left.work / "solve", "#!/bin/sh\nls; cat big.dat > out\n")
    assert left.run(made) == ["BB||1"]
    assert (left.work / "out").read_text() == "big.dat"
    assert revert(made.read_bytes()) == SCRIPT


def test_directories_that_the_user_names_for_the_nodes(left) -> None:
    for name in ("in a", "out a"):
        (left.work / name).mkdir()
    shutil.copy(left.work / "solve", left.work / "in a" / "solve")
    named = {"stage_in": f"{left.work}/in a", "stage_out": f"{left.work}/out a"}
    made = left.write(job(burst_buffer_nodes=1), **named, **on_fast(f"{left.top}/$BB"))
    left._program(left.work / "in a" / "solve", "#!/bin/sh\necho x > out\n")
    assert left.run(made) == ["BB||1"]
    assert os.listdir(left.work / "out a") == ["out"]


def test_a_hybrid_job_on_a_directory_of_the_nodes(left) -> None:
    winner = job(burst_buffer_nodes=1, burst_buffer_files="big*")
    (left.work / "big.dat").write_text("big")
    left._program(left.work / "solve", "#!/bin/sh\ncat $STRIPEWISE_STAGE/big.dat\n")
    for place, variable in (("$FAST", "FAST"), (f"{left.top}/$BB", "STRIPEWISE_STAGE")):
        made = left.write(winner, **on_fast(place))
        assert left.run(made) == [f"{left.work}||1", f"task {left.study / TASK_FILE}"]
        pair = f"@STRIPEWISE_REDIRECT=%{{SLURM_SUBMIT_DIR}}/big*=%{{{variable}}}\0"
        assert pair.encode() in (left.study / TASK_FILE).read_bytes()
    links = on_fast(f"{left.top}/$BB", links=True, seen=lambda: ("big.dat", "big.out"))
    made = left.write(winner, **links)
    left._program(left.work / "solve", "#!/bin/sh\necho x > big.out; echo y >> big.dat\n")
    assert left.run(made) == [f"{left.work}||1"]
    assert (left.work / "big.out").read_text() == "x\n"
    assert (left.work / "big.dat").read_text() == "bigy\n"
    assert not list(left.work.glob("*.stripewise*"))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_on_a_directory_of_the_nodes(tmp_path, name) -> None:
    left = Left(tmp_path, f"w{name}" if name != "-dash" else name, f"{name}.sh")
    left.study = tmp_path / f"study {name}"
    left.study.mkdir()
    left.entries[name] = SnapshotEntry("file")
    (left.work / name).write_text("in")
    left._program(left.work / "solve", '#!/bin/sh\nfor i in ./*; do cp "$i" "$i-new"; done\n')
    made = left.write(job(burst_buffer_nodes=1), **on_fast())
    assert left.run(made)
    assert (left.work / f"{name}-new").read_text() == "in"
    assert revert(made.read_bytes()) == SCRIPT
