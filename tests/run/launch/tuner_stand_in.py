# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submits one run and waits for it, as the tuner does; tests kill it.

Arguments: directory, run id, command...  The handle is left in <directory>/handle.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from stripewise.run.launch import LocalLauncher, RunRequest

directory, run_id, *command = Path(sys.argv[1]), *sys.argv[2:]
(directory / "work").mkdir(parents=True, exist_ok=True)
launcher = LocalLauncher(None)
handle = launcher.submit(
    RunRequest(run_id, tuple(command), directory / "work", directory / "record")
)
data = {"launcher": handle.launcher, "run_id": handle.run_id, "data": dict(handle.data)}
(directory / "handle.tmp").write_text(json.dumps(data))
(directory / "handle.tmp").rename(directory / "handle.json")
launcher.wait(handle)
print(launcher.collect(handle).status, flush=True)
