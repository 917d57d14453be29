# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines all errors of Stripewise, which the CLI reports as a line with an exit code.

A message says what is wrong, and gives the value and the remedy.
"""

from __future__ import annotations


class StripewiseError(Exception):
    """Base class of all errors of Stripewise."""

    exit_code = 1


class UsageError(StripewiseError, ValueError):
    """The request cannot be carried out as written (arguments, values, combinations)."""

    exit_code = 2


class ConfigurationError(UsageError):
    """A configuration or a policy is malformed, unknown or impossible."""

    exit_code = 3


class PolicyError(StripewiseError, PermissionError):
    """The policy of the site or the user forbids a setting or an action."""

    exit_code = 4


class RuntimeMissingError(StripewiseError, FileNotFoundError):
    """The runtime library, a plug-in or an optional package is missing or for another MPI."""

    exit_code = 5


class ProgramError(StripewiseError, RuntimeError):
    """The user's program cannot be started, fails, or does no I/O that can be observed."""

    exit_code = 6


class StudyError(StripewiseError, RuntimeError):
    """A study cannot continue: directory in use, journal damaged, or input missing."""

    exit_code = 7


class StorageError(StripewiseError, OSError):
    """The disk is full, read-only, or refuses."""

    exit_code = 8


class ContainerError(StripewiseError, ValueError):
    """A file is not a container, is damaged, or has another version."""

    exit_code = 9


class TraceError(StripewiseError, ValueError):
    """A trace, log or profile has an unknown format, cannot be read, or is too large."""

    exit_code = 9


class LoginError(StripewiseError, PermissionError):
    """A login is refused; the message is for the person who tried to log in."""

    exit_code = 4


class LoginServiceError(StripewiseError, ConnectionError):
    """A directory or an identity provider cannot be reached, or breaks its protocol."""

    exit_code = 8
