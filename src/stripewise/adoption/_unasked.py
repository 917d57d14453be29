# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What may be set for a program without being asked, and the last look before it is."""

from __future__ import annotations

import os

from stripewise.errors import ConfigurationError
from stripewise.model import Configuration
from stripewise.policy import SITE_DIRECTORY, user_directory
from stripewise.tunables import (
    Layer,
    SafetyClass,
    Tunable,
    all_settings,
    check_configuration,
    find,
)

LAYOUT = frozenset({"mpiio.striping_factor", "mpiio.striping_unit"})
"""Settings of the layout that leave every byte of a file where it is: they say on which targets of
the storage the file lies."""
OF_MCA = frozenset({"mca.io", "mca.fcoll"})
"""Parameters of Open MPI that are set unasked: each chooses a component that writes the same."""


def why_not_unasked(tunable: Tunable) -> str:
    """Return why a tunable is never set without being asked; "" if it may be."""
    if tunable.safety is not SafetyClass.SAFE and tunable.name not in LAYOUT:
        return f"class {tunable.safety}: set only by a configuration that is named"
    if tunable.layer in (Layer.ENVIRONMENT, Layer.JOB):
        return f"{tunable.layer.settings.lower()} are not set unasked"
    if tunable.layer is Layer.MCA and tunable.name not in OF_MCA:
        return "this parameter of Open MPI is not set unasked"
    return ""


def check_unasked(configuration: Configuration) -> None:
    """Accept settings, or refuse them all.

    Raises:
        ConfigurationError: One is unknown, impossible, or not to be set without being asked.
        PolicyError: The policy forbids one.
    """
    if configuration.is_empty:
        return
    problems = list(check_configuration(configuration))
    for _, layer, key, _ in all_settings(configuration):
        tunable = find(layer, key)
        why = why_not_unasked(tunable) if tunable else "it is not known"
        problems += [f"{layer.value}.{key}: {why}"] if why else []
    if configuration.job.environment:
        problems.append("variables are not set unasked")
    if problems:
        raise ConfigurationError(f"what was kept for this program is not set: {problems[0]}")
    if any(os.path.lexists(home / "policy.toml") for home in (SITE_DIRECTORY, user_directory())):
        from stripewise.policy import load_policy

        load_policy().check(configuration)
