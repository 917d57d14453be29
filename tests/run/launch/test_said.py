# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is repeated of a run that failed."""

import pytest

from stripewise.run.launch import _records

SLURM = (
    "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\n"
    "slurmstepd-n1: error: *** STEP 59.0 ON n1 CANCELLED AT 2026-11-23T21:27:34 ***\n"
    "srun: error: n1: tasks 0-1: Killed\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no such file: a.cfg\n" + SLURM, "no such file: a.cfg"),
        ("srun: error: n1: task 0: Exited with exit code 3\n", "srun: error: n1: task 0: Exited"),
        ("srun: error: Unable to create step\n", "srun: error: Unable to create step"),
        ("", ""),
    ],
)
def test_the_program_is_heard_before_slurm(tmp_path, text, said):
    path = tmp_path / "stderr"
    path.write_text(text)
    assert _records.last_line(path).startswith(said)
    assert bool(_records.last_line(path)) == bool(said)
