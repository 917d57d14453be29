# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Loads the policies of site and user: which tunables and resources a study may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from stripewise.core import SITE_POLICY, Configuration, user_policy_path
from stripewise.core.errors import ConfigurationError, PolicyError
from stripewise.core.inputs import POLICY, read_input
from stripewise.settings.tunables import Layer, SafetyClass, Tunable, all_settings, find

_MCA_PREFIX = "OMPI_MCA_"
_LAYOUT_WORDS = ("strip", "iodevice", "layout", "pool")
"""Words in the names of tunables that set the layout of files, independent of their class."""


@dataclass(frozen=True)
class Policy:
    """Policy for tunables, the layout of files and resources; a limit of None means no limit.

    Attributes:
        allowed: Groups of globs for names of tunables, one group per policy file; a tunable must
            match in every group.
        denied: Globs for names of tunables that may not be used.
        lock_layout: Whether tunables that change the layout of files or stripes are forbidden.
        max_trials / max_runs: Maximum numbers of trials and runs of one study.
        max_bytes: Maximum bytes that a study may write in total.
        max_concurrency: Maximum number of simultaneous runs.
        knowledge: Files of the site with results of earlier studies.
        models: The site's directories of performance models.
        hybrid: How hybrid jobs place large files on the burst buffer, "links" or "redirect"; empty
            for no preference.
        pack_keys: Public keys for verifying signatures; packs signed with them may be installed.
        reports: Directory in which runs leave a report; empty if they leave none.
        sources: Policy files from which the policy was read.
    """

    allowed: tuple[tuple[str, ...], ...] = ()
    denied: tuple[str, ...] = ()
    lock_layout: bool = False
    max_trials: int | None = None
    max_runs: int | None = None
    max_bytes: int | None = None
    max_concurrency: int | None = None
    knowledge: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    hybrid: str = ""
    pack_keys: tuple[str, ...] = ()
    reports: str = ""
    sources: tuple[str, ...] = ()

    def narrowed(self, other: Policy) -> Policy:
        """Return a policy that allows only what both allow."""
        caps = ("max_trials", "max_runs", "max_bytes", "max_concurrency")
        lists = ("allowed", "denied", "knowledge", "models", "pack_keys", "sources")
        both: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in lists}
        both |= {name: _smaller(getattr(self, name), getattr(other, name)) for name in caps}
        both["reports"] = other.reports or self.reports
        both["hybrid"] = other.hybrid or self.hybrid  # the user's own policy permits nothing more
        return Policy(lock_layout=self.lock_layout or other.lock_layout, **both)

    def why_not(self, tunable: Tunable) -> str:
        """Return the reason why a tunable may not be used; empty if it may."""
        by_name = any(word in tunable.key.lower() for word in _LAYOUT_WORDS)
        if self.lock_layout and (tunable.safety is SafetyClass.LAYOUT or by_name):
            return "policy: the layout of files is locked"
        if tunable.layer is Layer.ENVIRONMENT:
            return self._why_not_variable(tunable.key)
        return self._why_not_name(tunable.name)

    def check(self, configuration: Configuration) -> None:
        """Raise an error if the policy forbids a setting of a configuration.

        Raises:
            PolicyError: A setting is not allowed.
        """
        for where, name, why in self._refusals(configuration):
            if why:
                origin = f" (from {' and '.join(self.sources)})" if self.sources else ""
                raise PolicyError(f"{where}: {name} is not allowed, {why}{origin}; take it out")

    def _refusals(self, configuration: Configuration) -> Iterator[tuple[str, str, str]]:
        """Yield the place and name of each setting, and why it is not allowed, or ""."""
        for where, layer, key, _ in all_settings(configuration):
            name, tunable = f"{layer.value}.{key}", find(layer, key)
            if tunable is not None:
                yield where, name, self.why_not(tunable)
            elif self.lock_layout:
                why = "policy: the layout of files is locked and this setting is unknown"
                yield where, name, why
            else:
                yield where, name, self._why_not_name(name)
        for variable in configuration.job.environment:
            yield "job", f"environment.{variable}", self._why_not_variable(variable)

    def _why_not_variable(self, variable: str) -> str:
        """Return why a variable may not be set; as it may contain any hint, it must be named."""
        if not (self.allowed or self.denied or self.lock_layout):
            return ""
        if variable.startswith(_MCA_PREFIX):
            return "policy: MCA parameters belong in job.mca"
        name = f"environment.{variable}"
        if any(fnmatchcase(name, glob) for glob in self.denied):
            return "policy: denied"
        explicit = [
            any(g.startswith("environment.") and fnmatchcase(name, g) for g in group)
            for group in self.allowed
        ]
        if explicit and all(explicit):
            return ""
        return "policy: environment variables must be allowed by name"

    def _why_not_name(self, name: str) -> str:
        for glob in self.denied:
            if fnmatchcase(name, glob):
                return f"policy: denied by {glob!r}"
        for group in self.allowed:
            if not any(fnmatchcase(name, glob) for glob in group):
                return "policy: not among the tunables that are allowed"
        return ""


def _smaller(first: int | None, second: int | None) -> int | None:
    caps = [cap for cap in (first, second) if cap is not None]
    return min(caps, default=None)


# Policy files: the site's, and the user's own, which can only restrict it further.


def load_policy(site: Path | None = None, user: Path | None = None) -> Policy:
    """Read the site's and the user's policy, and return one that allows what both allow.

    A file that does not exist restricts nothing; one that exists and cannot be read is an error,
    so that no limit is ignored.  The site's path cannot be changed from outside of the program;
    the arguments are for tests.

    Raises:
        ConfigurationError: A policy cannot be read or is malformed.
    """
    policy = Policy()
    for path in (site or SITE_POLICY, user or user_policy_path()):
        text = _read(path)
        if text is not None:
            from stripewise.settings._policy_text import parse_policy

            policy = policy.narrowed(parse_policy(text, str(path)))
    return policy


def _read(path: Path) -> str | None:
    try:
        return read_input(path, POLICY).decode("utf-8")
    except FileNotFoundError as error:
        if path.is_symlink():
            raise ConfigurationError(f"{path}: policy is a dangling link: repair it") from error
        return None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: policy is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or "error"
        raise ConfigurationError(
            f"{path}: policy cannot be read ({reason}): ask its owner to make it readable"
        ) from error
