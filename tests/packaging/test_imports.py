# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packages use one another by their public names alone, and so does the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "stripewise").rglob("*.py"))
REFERENCE = (ROOT / "docs" / "reference" / "python.md").read_text()
NOT_FOR_USERS = {"cli", "testing"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """The module and the name of each import of one of our own."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stripewise"):
            yield from ((str(node.module), alias.name) for alias in node.names)


def is_module(name: str) -> bool:
    place = SOURCE.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


_OWNER = 3
"""Parts of the name of a room's package: its own sub-packages share what is private."""


def private_owner(module: str, name: str) -> str | None:
    """The package that keeps what is imported to itself; None if it is public."""
    full = f"{module}.{name}"
    parts = (full if is_module(full) else module).split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and place > 1:
            return ".".join(parts[: min(place, _OWNER)])
    return None


def test_what_a_private_module_is() -> None:
    assert (
        private_owner("stripewise.study.procedure._loop", "run_study")
        == "stripewise.study.procedure"
    )
    assert private_owner("stripewise.run.launch", "_local") == "stripewise.run.launch"
    assert private_owner("stripewise.study.procedure", "run_study") is None


@pytest.mark.extended(keep=321)
def test_no_module_reaches_into_another_package() -> None:
    wrong = []
    for path in MODULES:
        for module, name in imported(path):
            owner = private_owner(module, name)
            if owner is not None and not f"{name_of(path)}.".startswith(f"{owner}."):
                wrong.append(f"{name_of(path)}: {module} {name}")
    assert wrong == []


def test_a_command_uses_what_its_packages_offer() -> None:
    wrong = []
    for path in (path for path in MODULES if path.parent.name == "cli"):
        for module, name in imported(path):
            offered = getattr(import_module(module), "__all__", None)
            if offered is None or module.startswith("stripewise.cli"):
                continue
            if name not in offered and not is_module(f"{module}.{name}"):
                wrong.append(f"{name_of(path)}: {module}.{name}")
    assert wrong == []


def test_the_reference_has_each_package() -> None:
    places = [path.parent for path in (SOURCE / "stripewise").rglob("__init__.py")]
    names = [".".join(path.relative_to(SOURCE).parts) for path in places]
    for name in names:
        room = name.split(".")[1:2]
        if room and room[0] not in NOT_FOR_USERS and getattr(import_module(name), "__all__", None):
            assert f"::: {name}\n" in REFERENCE, name


def test_the_calls_in_the_reference_exist() -> None:
    table = [line for line in REFERENCE.splitlines() if line.startswith("| `")]
    calls = [call for line in table for call in re.findall(r"`([\w.]+)\.(\w+)", line)]
    assert len(calls) > 30
    for package, name in calls:
        assert name in import_module(f"stripewise.{package}").__all__, f"{package}.{name}"
