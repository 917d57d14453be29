# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Policy files: the site's, and the user's own, which can only narrow it."""

from __future__ import annotations

from pathlib import Path

from stripewise.errors import ConfigurationError
from stripewise.inputs import POLICY, read_input
from stripewise.policy._places import SITE_POLICY, user_policy_path
from stripewise.policy._policy import Policy


def load_policy(site: Path | None = None, user: Path | None = None) -> Policy:
    """Read the site's policy and the user's own; the result allows what both allow.

    A file that does not exist restricts nothing; one that exists and cannot be read is an
    error, so that no limit is passed over.  The site's path cannot be changed from outside
    of the program; the arguments are for tests.

    Raises:
        ConfigurationError: A policy cannot be read or is malformed.
    """
    policy = Policy()
    for path in (site or SITE_POLICY, user or user_policy_path()):
        text = _read(path)
        if text is not None:
            from stripewise.policy._parse import parse_policy

            policy = policy.narrowed(parse_policy(text, str(path)))
    return policy


def _read(path: Path) -> str | None:
    try:
        return read_input(path, POLICY).decode("utf-8")
    except FileNotFoundError as error:
        if path.is_symlink():
            raise ConfigurationError(f"{path}: policy is a link to nothing: repair it") from error
        return None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: policy is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or "error"
        raise ConfigurationError(
            f"{path}: policy cannot be read ({reason}): ask who owns it to make it readable"
        ) from error
