# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Knows the optional parts of the package: what each needs, and how to get it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from stripewise.core.errors import RuntimeMissingError

MODULES = {
    "adios2": ("adios2",),
    "client": ("httpx",),
    "darshan": ("darshan",),
    "db": ("alembic", "jsonschema", "psycopg", "sqlalchemy"),
    "models": ("sklearn",),
    "packs": ("minisign",),
    "parquet": ("pyarrow",),
    "report": ("jinja2", "vl_convert"),
    "tpe": ("optuna",),
    "tune": ("h5py", "netCDF4"),
    "web": (
        "argon2",
        "authlib",
        "fastapi",
        "httpx",
        "jinja2",
        "joserfc",
        "limits",
        "markdown_it",
        "python_multipart",
        "uvicorn",
        "vl_convert",
    ),
}
"""Extra to the modules that it brings."""
BRINGS = {"web": "db"}
"""Extra to another one that it brings."""
PURPOSES = {"client": "the portal's client", "db": "the statistics database", "web": "the portal"}
"""What an extra is for, as the subject of a sentence."""
_OURS = {"stripewise", *sys.stdlib_module_names}


def missing(extra: str) -> str:
    """Say which modules of an extra are not installed, with the remedy; "" if all are."""
    wanted = sorted({*MODULES[extra], *MODULES.get(BRINGS.get(extra, ""), ())})
    absent = [module for module in wanted if not _is_here(module)]
    if not absent:
        return ""
    verb = "is" if len(absent) == 1 else "are"
    return f"{', '.join(absent)} {verb} not installed; run: pip install 'stripewise[{extra}]'"


def require(extra: str, purpose: str) -> None:
    """Refuse to go on without an extra.

    Args:
        extra: Its name.
        purpose: What needs it, as the subject of a sentence: "the strategy tpe".

    Raises:
        RuntimeMissingError: A module is not installed.
    """
    if why := missing(extra):
        raise RuntimeMissingError(f"{purpose} is not available: {why}")


def explain(error: ImportError) -> str:
    """Say in a line that an optional package is missing, with the remedy; "" if it is another.

    Args:
        error: What importing a module of Stripewise came to.
    """
    name = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not name or name in _OURS:
        return ""
    extra = next((extra for extra, modules in MODULES.items() if name in modules), "")
    if why := extra and missing(extra):
        return f"{PURPOSES.get(extra, 'this')} is not available: {why}"
    return f"the Python package {name} is not installed; run: pip install 'stripewise[all]'"


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # hidden on purpose: None in sys.modules
        return False
