# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Optional parts of the package: what each needs, and how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from stripewise.errors import RuntimeMissingError

MODULES = {
    "adios2": ("adios2",),
    "client": ("httpx",),
    "darshan": ("darshan",),
    "db": ("alembic", "jsonschema", "psycopg", "sqlalchemy"),
    "ldap": ("bonsai",),
    "models": ("sklearn",),
    "packs": ("minisign",),
    "parquet": ("pyarrow",),
    "report": ("jinja2", "vl_convert"),
    "slurmdbd": ("pymysql",),
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
    ),
}
"""Extra to the modules that it brings."""


def missing(extra: str) -> str:
    """Say which modules of an extra are not installed, with the remedy; "" if all are."""
    absent = [module for module in MODULES[extra] if not _is_here(module)]
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


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # hidden on purpose: None in sys.modules
        return False
