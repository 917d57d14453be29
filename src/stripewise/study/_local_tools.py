# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study needs from outside, on this machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import stripewise
from stripewise.knowledge import Memory, describe_machine, own_store, site_stores
from stripewise.launch import Handle, LocalLauncher, sweep
from stripewise.model import ProgramFacts, Verification
from stripewise.policy import Policy, load_policy
from stripewise.runtime import find_runtime
from stripewise.study._ledger import Ledger
from stripewise.study._looking import look, look_first
from stripewise.study._options import CLASSES, StudyOptions
from stripewise.study._resources import resource_warnings
from stripewise.study._sandbox import Sandbox
from stripewise.study._tools import Tools
from stripewise.study._verifiable import unreadable
from stripewise.study._verify import Reference
from stripewise.study._workspace import SandboxWorkspace, other_file_system
from stripewise.tunables import Space, Tunable, build_configuration, find_space, get


def make_tools(options: StudyOptions, ledger: Ledger) -> Tools:
    """Return the local launcher, the sandbox and the rest.

    Raises:
        RuntimeMissingError: The runtime library is not built.
        UsageError: A knob that does not exist is named.
    """
    for name in (*options.only, *options.exclude):
        get(name)
    for text in resource_warnings(options):
        ledger.warn(text)
    runtime = find_runtime()
    policy = load_policy()
    workspace = SandboxWorkspace(options)
    if warning := other_file_system(options):
        ledger.warn(warning)
    return Tools(
        launcher=LocalLauncher(runtime),
        workspace=workspace,
        look=look,
        look_first=partial(look_first, workspace),
        compare=_Verifier(workspace.sandbox),
        unreadable=lambda run_id: unreadable(workspace.sandbox.outputs(run_id)),
        find_space=partial(search_space, options, policy),
        configure=build_configuration,
        sweep=sweep,
        find_again=_find_again,
        policy=policy,
        provenance=_provenance(options, policy),
        memory=_memory(options, policy) if options.memory else None,
    )


def _memory(options: StudyOptions, policy: Policy) -> Memory:
    machine = describe_machine(options.study_directory)
    return Memory(own_store(), site_stores(policy.knowledge), machine)


def search_space(options: StudyOptions, policy: Policy, facts: ProgramFacts) -> Space:
    """Return the knobs that may be tried on a program."""

    def why_not(tunable: Tunable) -> str:
        if tunable.name in options.exclude:
            return "excluded by --exclude"
        return policy.why_not(tunable)

    return find_space(
        facts,
        why_not,
        classes=CLASSES[options.allow],
        only=options.only,
        ladders=options.ladders,
    )


class _Verifier:
    """Compares the two baselines with one another once, then each candidate with them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._baselines: tuple[str, ...] = ()
        self._reference: Reference | None = None

    def __call__(self, baselines: Sequence[str], candidate: str, layout: bool) -> Verification:
        if self._reference is None or self._baselines != tuple(baselines):
            first, second = (self._sandbox.outputs(run_id) for run_id in baselines)
            self._baselines, self._reference = tuple(baselines), Reference(first, second)
        return self._reference.verify(self._sandbox.outputs(candidate), layout=layout)


def _find_again(run_id: str, record_directory: Path) -> Handle | None:
    """Return a handle of a run that ended although its submission was never recorded."""
    if not (record_directory / "result.json").exists():
        return None
    return Handle("local", run_id, {"record_directory": str(record_directory.absolute())})


def _provenance(options: StudyOptions, policy: Policy) -> dict[str, str]:
    described = {
        "stripewise": stripewise.__version__,
        "python": platform.python_version(),
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "cores": str(len(os.sched_getaffinity(0))),
        "storage": _storage(options.study_directory),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "directory": str(options.origin),
    }
    if policy.sources:
        described["policy"] = ", ".join(policy.sources)
    return described


def _storage(path: Path) -> str:
    """Return type and source of the file system that holds a path."""
    best, found = "", "unknown"
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return found
    for source, mount, kind, *_ in (line.split() for line in lines):
        inside = str(path) == mount or str(path).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, found = mount, f"{kind} on {mount} ({source})"
    return found
