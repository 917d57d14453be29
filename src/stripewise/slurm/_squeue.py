# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The output of squeue."""

from __future__ import annotations

from stripewise.slurm._states import JobStatus, parse_count, parse_state, said

_RECORD, _FIELD = "\x1e", "\x1f"
FORMAT = _RECORD + _FIELD.join(("%A", "%T", "%D", "%N", "%j", "%r"))
"""Job id (each element of an array has its own), state, nodes, their names, job name, reason.

The separators are control characters since a reason may hold all that a burst buffer's program
said, over many lines.
"""


def parse_squeue(text: str) -> tuple[JobStatus, ...]:
    """Return the jobs that `squeue -h -o FORMAT` lists; what is no record is left out."""
    found = []
    for record in text.split(_RECORD):
        fields = record.strip("\n").split(_FIELD)
        if len(fields) == 6 and fields[0].strip().isdecimal():
            found.append(
                JobStatus(
                    job_id=int(fields[0]),
                    state=parse_state(fields[1]),
                    nodes=parse_count(fields[2]),
                    node_list=said(fields[3]),
                    name=fields[4],
                    reason=said(fields[5]),
                )
            )
    return tuple(found)
