# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's TaskProlog, which gives the emulated storages only to tasks.

It prints `export NAME=value` lines, which slurmstepd puts into the environment of the task.
It uses only the standard library, because it runs before every task.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

PERSISTENT = "DW_PERSISTENT_STRIPED_"
RANKS_PER_NODE_AT = 32
"""Offset of `ranks_per_node` in a mapping: native/include/stripewise/emulate.h."""


def main(directory: Path, library: str) -> None:
    """Print the variables of a task; nothing for the shell of a batch script."""
    if "SLURM_STEP_TASKS_PER_NODE" not in os.environ:
        return
    clocks = directory / "clocks"
    persistent = [name[len(PERSISTENT) :] for name in os.environ if name.startswith(PERSISTENT)]
    names = ["scratch", os.environ.get("SLURM_JOB_ID", "-"), *persistent]
    found = [clocks / name for name in names]
    found = [path for path in found if path.exists()]
    tasks = os.environ["SLURM_STEP_TASKS_PER_NODE"]
    ranks = int(tasks.split(",")[0].split("(")[0] or 1)
    for path in found:
        with path.open("r+b") as stream:
            stream.seek(RANKS_PER_NODE_AT)
            if struct.unpack("<I", stream.read(4))[0] != ranks:
                stream.seek(RANKS_PER_NODE_AT)
                stream.write(struct.pack("<I", ranks))
    # Nodes on one host would give their shared memory the same names, by host and local rank.
    own = directory / "tmp" / os.environ.get("SLURMD_NODENAME", "")
    print(f"export OMPI_MCA_btl_vader_backing_directory={own}")
    print("export OMPI_MCA_btl_tcp_if_include=lo")
    if found:
        print("export STRIPEWISE_EMULATE=" + ":".join(map(str, found)))
        present = os.environ.get("LD_PRELOAD", "")
        if library not in present:
            print("export LD_PRELOAD=" + ":".join(filter(None, (library, present))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
