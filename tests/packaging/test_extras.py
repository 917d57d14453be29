# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The package without its extras: what needs none works, the rest says how to get it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from stripewise.core.errors import RuntimeMissingError
from stripewise.core.extras import MODULES, missing, require
from stripewise.run.runtime import find_runtime

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {
    "argon2": "argon2-cffi",
    "markdown_it": "markdown-it-py",
    "minisign": "py-minisign",
    "python_multipart": "python-multipart",
    "sklearn": "scikit-learn",
    "vl_convert": "vl-convert-python",
}
NOT_EXTRAS = {"all", "dev", "docs", "mutation"}

Run = Callable[..., subprocess.CompletedProcess[str]]


def packages(extra: str) -> set[str]:
    names = {re.split(r"[<>=\[]", text)[0] for text in PROJECT["optional-dependencies"][extra]}
    return names - {"stripewise"}


@pytest.fixture
def without_extras(tmp_path: Path) -> Run:
    """Run the command line in a Python that lacks every optional module."""
    hidden = sorted(module for modules in MODULES.values() for module in modules)
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r}))\n"
        "from stripewise.cli import main; main(sys.argv[1:])"
    )

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
        )

    return run


def test_each_extra_brings_the_modules_that_it_is_asked_for() -> None:
    extras = set(PROJECT["optional-dependencies"]) - NOT_EXTRAS
    assert extras == set(MODULES)
    for extra, modules in MODULES.items():
        assert {PACKAGES.get(module, module) for module in modules} == packages(extra), extra


def test_what_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing("report") == ""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert missing("report") == (
        "jinja2, vl_convert are not installed; run: pip install 'stripewise[report]'"
    )
    with pytest.raises(
        RuntimeMissingError, match="a page is not available: jinja2, vl_convert are"
    ):
        require("report", "a page")


def test_run_needs_no_extra(without_extras: Run) -> None:
    done = without_extras("run", "--", "dd", "if=/dev/zero", "of=out", "bs=4096", "count=8")
    assert done.returncode == 0, done.stderr
    assert "32 KiB" in done.stderr


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words",
    [
        ("doctor",),
        ("settings", "tunables"),
        ("settings", "strategies"),
        ("settings", "--help"),
        ("tune", "--help"),
    ],
)
def test_other_commands_start_without_extras(without_extras: Run, words: tuple[str, ...]) -> None:
    done = without_extras(*words)
    assert done.returncode == 0, done.stderr


def test_a_page_without_its_extra_is_refused_in_one_line(
    without_extras: Run, tmp_path: Path
) -> None:
    without_extras("run", "--keep-containers", "evidence", "--", "cp", "/bin/true", "out")
    assert list((tmp_path / "evidence").iterdir())
    done = without_extras("profile", "evidence", "--html", "page.html")
    assert done.returncode == RuntimeMissingError.exit_code
    assert done.stderr == (
        "stripewise: error: a page or a picture is not available: jinja2, vl_convert are "
        "not installed; run: pip install 'stripewise[report]'\n"
    )
    assert not (tmp_path / "page.html").exists()


@pytest.mark.long
def test_the_wheel_alone_runs_a_program(tmp_path: Path) -> None:
    wheels, place = tmp_path / "wheels", tmp_path / "venv"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", wheels, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    (wheel,) = wheels.glob("stripewise-*.whl")
    inside = [place / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*inside, "install", wheel], check=True)
    installed = subprocess.run([*inside, "list"], capture_output=True, text=True, check=True)
    names = {line.split()[0].lower() for line in installed.stdout.splitlines()}
    for extra in PROJECT["optional-dependencies"]:
        assert not names & {name.lower() for name in packages(extra)}, extra
    done = subprocess.run(
        [place / "bin" / "stripewise", "run", "--", "true"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"STRIPEWISE_RUNTIME_DIR": str(find_runtime().directory)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
