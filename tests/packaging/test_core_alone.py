# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every command where the core alone is installed: it works, or one line says what to install.

One process, in which only what the core's own dependencies bring can be imported, runs them all.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

import click
import pytest

from stripewise.cli._main import main
from stripewise.core.errors import RuntimeMissingError

ROOT = Path(__file__).parents[2]
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
MISSING = RuntimeMissingError.exit_code
PLAIN_CODES = {0, 1, 2, 3, 4, 6, 7, 8, 9}
"""What commands come to that need no extra, with the words that they get here."""
ENDLESS = {
    *("centre monitor", "centre monitor once", "doctor monitor"),
    *("doctor", "machine probe", "doctor build", "doctor site"),
}
"""Commands that go on for ever, become another process, build, or measure: their help alone."""
WORDS = {
    "simulate": ["--on", "hopper", "--pattern", "<1D, (BLOCK), (1000000)>", "--ranks", "4"],
    "machine show": ["hopper"],
    "bench show": ["limits"],
    "bench kernel": ["no-such-kernel"],
    "bench metadata": ["--no-such-option"],
    "bench run": ["no-such-suite"],
    "knowledge train": ["no-such-kernel"],
    "run": ["--trace", "t.trace", "--", "cp", "there", "copy"],
    "profile": ["t.trace"],
    "tune": ["--strategy", "tpe", "--", "true"],
    "knowledge verify": ["there"],
    "centre export": ["out"],
}
"""What a command is called with; others get a word for each argument that they require."""
NEEDS = {
    "centre serve": "web",
    "tune": "tpe",
    "knowledge install": "packs",
    "knowledge verify": "packs",
    "profile t.trace --html page.html": "report",
    "profile t.trace --picture page.svg": "report",
    "bench advise hopper --format html": "report",
    "bench advise hopper --html page.html": "report",
    "profile t.trace --export t.parquet": "parquet",
    "profile there.darshan": "darshan",
    "centre serve --port 0 --db there.sqlite": "web",
}
"""Extra that a command, or a whole line, has to name; all of `centre` but its agent name db."""
PLAIN = (
    "bench advise hopper",
    "bench advise hopper --format markdown -o a.md",
    "profile t.trace --export t.json",
    "profile t.trace --as info",
    "profile t.trace --as calls",
    "profile t.trace --as pattern",
    "run -- true",
    "profile t.trace --json",
    "centre export --db there.sqlite --format parquet out",
    "centre ingest there",
)
"""Further lines: they need what their command needs."""

DARSHAN = b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little") + bytes(4096)
SIGNATURE = "untrusted comment: of somebody\n" + "A" * 100 + "\n"

# Python reads it at its start, in programs that a command starts as well.
_SITE = """
import json, os, sys
from importlib.machinery import PathFinder

_blocked = set(json.loads(os.environ["BLOCKED"]))

class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in _blocked:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Core if one is PathFinder else one for one in sys.meta_path]
for name in [name for name in sys.modules if name.partition(".")[0] in _blocked]:
    del sys.modules[name]
"""
_RUN = """
import contextlib, io, json, sys
from stripewise.cli import main

for line in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(line)
            code = 0
        except SystemExit as left:
            code = left.code
    print("\\0" + json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


def leaves(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with the words that lead to it."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            inner = click.Context(found, info_name=name, parent=context)
            for path, leaf in leaves(found, inner):
                yield f"{name} {path}".strip(), leaf
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield "", command


def words_for(leaf: click.Command) -> list[str]:
    """Return the least words that a command can be called with."""
    found: list[str] = []
    for one in leaf.params:
        if one.required:
            kind = one.type
            word = kind.choices[0] if isinstance(kind, click.Choice) else "there"
            word = "1" if kind is click.INT else str(word)
            found += [one.opts[0], word] if isinstance(one, click.Option) else [word]
    return found


def core_distributions() -> set[str]:
    """Return what the core's dependencies bring, themselves included."""
    found: set[str] = set()
    waiting = list(CORE)
    while waiting:
        text = waiting.pop()
        name = re.split(r"[\s<>=!~;\[(]", text)[0].lower().replace("_", "-")
        if name not in found and "extra ==" not in text:
            found.add(name)
            try:
                waiting += requires(name) or []
            except PackageNotFoundError:  # for another system or Python
                pass
    return found


def blocked() -> list[str]:
    core = {*core_distributions(), "stripewise"}
    return sorted(
        module
        for module, places in packages_distributions().items()
        if not core & {one.lower().replace("_", "-") for one in places}
    )


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Code, output and errors of every line."""
    commands = dict(leaves(main, click.Context(main)))
    lines = [[*path.split(), "--help"] for path in commands]
    # a trace is made before it is read
    for path, leaf in sorted(commands.items(), key=lambda one: one[0] != "run"):
        if path not in ENDLESS:
            lines.append([*path.split(), *WORDS.get(path, words_for(leaf))])
    lines += [line.split() for line in (*NEEDS, *PLAIN) if line not in commands]
    done = run(lines, tmp_path_factory.mktemp("core"))
    return dict(zip(map(" ".join, lines), done, strict=True))


def run(lines: Sequence[Sequence[str]], place: Path) -> list[Any]:
    for name in ("there", "there.sqlite"):
        (place / name).write_bytes(b"something")
    (place / "there.minisig").write_text(SIGNATURE)
    (place / "there.darshan").write_bytes(DARSHAN)
    (place / "sitecustomize.py").write_text(_SITE)
    environment = {
        **os.environ,
        "BLOCKED": json.dumps(blocked()),
        "HOME": str(place),
        "PYTHONPATH": str(place),
        "STRIPEWISE_DB": str(place / "fleet.sqlite"),
    }
    done = subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(lines)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, cwd=place,
        env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(part.splitlines()[0]) for part in done.stdout.split("\0")[1:]]


def test_the_core_can_be_told_from_the_rest() -> None:
    assert {"click", "numpy", "pydantic", "pydantic-core", "rich", "scipy"} <= core_distributions()
    assert {"sqlalchemy", "fastapi", "jinja2", "h5py", "httpx"} <= set(blocked())
    assert not {"stripewise", "click", "numpy", "pydantic", "rich"} & set(blocked())


def test_every_command_has_help(outcomes: dict[str, tuple[int, str, str]]) -> None:
    helps = {line: told for line, told in outcomes.items() if line.endswith("--help")}
    assert len(helps) > 70
    assert {line for line, (code, out, _) in helps.items() if code or "Usage:" not in out} == set()


def test_every_command_works_or_names_what_is_missing(
    outcomes: dict[str, tuple[int, str, str]],
) -> None:
    wrong = []
    for line, (code, _, err) in outcomes.items():
        if line.endswith("--help"):
            continue
        errors = [one for one in err.splitlines() if one.startswith("stripewise: error:")]
        called = " ".join(line.split()[:2])
        extra = NEEDS.get(line) or NEEDS.get(called) or NEEDS.get(line.split()[0], "")
        if line.startswith("centre ") and called != "centre monitor":
            extra = extra or "db"
        is_right = "Traceback" not in err and "bug in Stripewise" not in err
        if extra:
            remedy = f"pip install 'stripewise[{extra}]'"
            is_right &= code == MISSING and len(errors) == 1 and errors[0].endswith(remedy)
        else:
            is_right &= code in PLAIN_CODES and len(errors) <= 1
        if not is_right:
            wrong.append(f"{line}: {code}, {err.strip()}")
    assert not wrong, "\n".join(wrong)
