# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fetches what programs of others are made of, once, into `build/foreign`.

Sources are Debian's source packages, by a sources list of this test's own: the system's is not
touched. Python packages are in a virtual environment of their own.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from foreign.corpus import ROOT

PLACE = ROOT / "build" / "foreign"
SOURCES = PLACE / "sources"
BUILT = PLACE / "built"
PYTHON = PLACE / "venv" / "bin" / "python"

# What the Python programs import; about 250 MB to download, once.
_PACKAGES = "h5py netCDF4 pandas pyarrow tables xarray zarr".split()
_LIST = (
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    " http://deb.debian.org/debian bookworm main\n"
)
_LONGEST_SECONDS = 900


@cache
def source_of(package: str) -> Path:
    """Return the unpacked upstream source of a Debian package, fetched once per version."""
    options = _apt_options()
    uris = _run(["apt-get", "-q", *options, "source", "--print-uris", package])
    name = next(
        word.strip("'").rsplit("/", 1)[1].replace("%2b", "+")
        for word in uris.split()
        if ".orig.tar" in word and word.startswith("'http")
    )
    tree = SOURCES / name.split(".orig.tar")[0]
    if not tree.is_dir():
        only = ["--download-only", "--only-source", package]
        _run(["apt-get", "-q", *options, "source", *only], SOURCES)
        fresh = tree.with_suffix(".new")
        fresh.mkdir(exist_ok=True)
        _run(["tar", "xf", str(SOURCES / name), "-C", str(fresh), "--strip-components=1"])
        fresh.rename(tree)
    return tree


@cache
def python() -> Path:
    """Return the Python of the virtual environment with packages of PyPI, made once."""
    stamp = PLACE / "venv" / "complete"
    if not stamp.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(PLACE / "venv")])
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, *_PACKAGES])
        stamp.touch()
    return PYTHON


@cache
def _apt_options() -> tuple[str, ...]:
    """Return the options by which apt uses this test's list, whose index is fetched first."""
    lists = SOURCES / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    sources = SOURCES / "sources.list"
    sources.write_text(_LIST)
    options = (
        f"-oDir::Etc::sourcelist={sources}",
        "-oDir::Etc::sourceparts=/nonexistent",
        f"-oDir::State::lists={lists}",
        "-oAPT::Sandbox::User=root",
        f"-oDir::Cache={SOURCES}",
    )
    if not any(lists.glob("*Sources*")):
        _run(["apt-get", "-q", *options, "update"])
    return options


def _run(command: list[str], directory: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=_LONGEST_SECONDS
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout
