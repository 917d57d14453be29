# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines all errors of Stripewise; the CLI makes of each a line and an exit code.

A message says what is wrong, the value, and the remedy.
"""

from __future__ import annotations


class StripewiseError(Exception):
    """Root of all errors of Stripewise."""

    exit_code = 1


class UsageError(StripewiseError, ValueError):
    """The request cannot be carried out as written (arguments, values, combinations)."""

    exit_code = 2


class ConfigurationError(UsageError):
    """A configuration or a policy is malformed, unknown or impossible."""

    exit_code = 3


class PolicyError(StripewiseError, PermissionError):
    """The site's or the user's policy forbids it."""

    exit_code = 4


class RuntimeMissingError(StripewiseError, FileNotFoundError):
    """The runtime library, a plug-in or an optional package is not there, or for another MPI."""

    exit_code = 5


class ProgramError(StripewiseError, RuntimeError):
    """The user's program cannot be started, fails, or does no I/O that can be seen."""

    exit_code = 6


class StudyError(StripewiseError, RuntimeError):
    """A study cannot go on: directory in use, journal damaged, inputs gone."""

    exit_code = 7


class StorageError(StripewiseError, OSError):
    """The disk is full, read-only, or refuses."""

    exit_code = 8


class ContainerError(StripewiseError, ValueError):
    """A container file is not one, is damaged, or is of another version."""

    exit_code = 9


class TraceError(StripewiseError, ValueError):
    """A trace, log or profile is of no known form, cannot be read, or is too large."""

    exit_code = 9


class LoginError(StripewiseError, PermissionError):
    """Somebody may not log in; the message is for them."""

    exit_code = 4


class LoginServiceError(StripewiseError, ConnectionError):
    """A directory or an identity provider cannot be reached, or does not do as it is to."""

    exit_code = 8
