# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the optional extras of the package: the modules they need, and how to install them."""

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
"""Extra to the modules that it installs."""
BRINGS = {"web": "db"}
"""Extra to another extra that it includes."""
PURPOSES = {"client": "the portal's client", "db": "the statistics database", "web": "the portal"}
"""Purpose of an extra, as the subject of a sentence."""
_OURS = {"stripewise", *sys.stdlib_module_names}


def missing(extra: str) -> str:
    """Return which modules of an extra are missing, with the remedy; empty if none is."""
    wanted = sorted({*MODULES[extra], *MODULES.get(BRINGS.get(extra, ""), ())})
    absent = [module for module in wanted if not _is_here(module)]
    if not absent:
        return ""
    verb = "is" if len(absent) == 1 else "are"
    return f"{', '.join(absent)} {verb} not installed; run: pip install 'stripewise[{extra}]'"


def require(extra: str, purpose: str) -> None:
    """Raise an error if an extra is not installed.

    Args:
        extra: Name of the extra.
        purpose: The feature that needs it, as the subject of a sentence: "the strategy tpe".

    Raises:
        RuntimeMissingError: A module of the extra is not installed.
    """
    if why := missing(extra):
        raise RuntimeMissingError(f"{purpose} is not available: {why}")


def explain(error: ImportError) -> str:
    """Return a line about a missing optional package, with the remedy; empty for other errors.

    Args:
        error: Error of an import of a module of Stripewise.
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
    except ValueError:  # hidden on purpose by None in sys.modules
        return False
