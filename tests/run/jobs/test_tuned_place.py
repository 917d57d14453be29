# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where scripts are written: never through a link that somebody put there."""

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.study.job_scripts._tuned_script import _written


@pytest.mark.parametrize("there", [False, True])
def test_a_link_in_the_way_is_not_followed(tmp_path, there):
    study, victim = tmp_path / "study", tmp_path / "victim"
    study.mkdir()
    if there:
        victim.write_text("precious")
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    target = tmp_path / "run.tuned.sh"
    target.symlink_to(victim)
    assert _written(target, study, b"#!/bin/sh\n", script) == study / "run.tuned.sh"
    assert (victim.read_text() if victim.exists() else None) == ("precious" if there else None)
    assert target.is_symlink()


def test_convert_does_not_follow_a_link_to_nothing(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n#SBATCH -n 2\nsrun ./a\n")
    (tmp_path / "run.bb.sh").symlink_to(tmp_path / "victim")
    words = [
        "settings",
        "script",
        str(script),
        "--bb-nodes",
        "2",
        "--granularity",
        "1GiB",
        "--pool",
        "p",
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code != 0
    assert not (tmp_path / "victim").exists()
