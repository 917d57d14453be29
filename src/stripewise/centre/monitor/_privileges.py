# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines the user that the agent runs as, which is root only on request.

Some parameters of Lustre can be read only by root (debugfs). Reading them takes
CAP_DAC_READ_SEARCH, which lets a process read every file but write none that it could not write
before. setpriv of util-linux gives an ordinary user this capability and nothing else.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping

from stripewise.centre.monitor._host import PATH
from stripewise.core.errors import ConfigurationError, PolicyError, RuntimeMissingError
from stripewise.present import printable

OWN_USER = "stripewise"
OTHER_USER = "nobody"
ROOT = "root"
MARK = "STRIPEWISE_MONITOR_USER"
"""Variable with the user that the process was to become; its presence requires a check."""
_READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH; source: linux/capability.h
_CAPABILITIES = "-all,+dac_read_search"
_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def give_up_root(configured: str) -> str:
    """Continue as the configured user if root started this process; then it does not return.

    The process executes its command line again as that user, and calls this function again.

    Args:
        configured: agent.user of the configuration; "" for the default user.

    Returns:
        A sentence that states the user of this process and what it may not read.

    Raises:
        ConfigurationError: There is no such account.
        RuntimeMissingError: setpriv is not installed.
        PolicyError: The user cannot be changed here, or was not changed as intended.
    """
    wanted = os.environ.pop(MARK, "")
    if wanted:
        _verify(wanted)
    elif os.geteuid() == 0:
        user = configured or default_user()
        account = _account(user)
        if account.pw_uid != 0:
            _execute_again(account)
        lacks = "" if reads_everything(_own_status()) else ", without CAP_DAC_READ_SEARCH"
        return f"runs as root, since agent.user says so{lacks}"
    return _describe_user()


def default_user() -> str:
    """Return the user that root changes to if the configuration names none."""
    try:
        return pwd.getpwnam(OWN_USER).pw_name
    except KeyError:
        return OTHER_USER


def setpriv_words(user: str) -> list[str]:
    """Return the command prefix that runs a command as a user who may read everything.

    Raises:
        RuntimeMissingError: setpriv is not installed.
    """
    program = shutil.which("setpriv", path=PATH)
    if program is None:
        raise RuntimeMissingError(
            "setpriv is not installed, and the agent does not stay root: install util-linux, "
            "start the agent as another user, or say user = 'root' in [agent]"
        )
    group = pwd.getpwnam(user).pw_gid
    return [
        program, f"--reuid={user}", f"--regid={group}", "--init-groups",
        f"--inh-caps={_CAPABILITIES}", f"--ambient-caps={_CAPABILITIES}",
        f"--bounding-set={_CAPABILITIES}", "--no-new-privs", "--",
    ]  # fmt: skip


def wrong(status: str, uid: int, gid: int, groups: Collection[int]) -> str:
    """Return which rights a process has in excess or lacks; "" if they are as intended.

    Args:
        status: Text of /proc/PID/status.
        uid: Intended user, for all of its ids.
        gid: Intended group.
        groups: All groups that it may be in.
    """
    found = _fields(status)
    if found.get("Uid", "").split() != [str(uid)] * 4:
        return f"its user ids are {found.get('Uid')}"
    if found.get("Gid", "").split() != [str(gid)] * 4:
        return f"its group ids are {found.get('Gid')}"
    if not {int(one) for one in found.get("Groups", "").split()} <= {gid, *groups}:
        return f"its groups are {found.get('Groups')}"
    for name in _SETS:
        if _number(found.get(name, "")) != _READ_SEARCH:
            return f"{name} is {found.get(name)}"
    if found.get("NoNewPrivs") != "1":
        return "it may gain privileges again"
    return ""


def reads_everything(status: str) -> bool:
    """Return whether a process may read files of others, from its /proc/PID/status."""
    return bool(_number(_fields(status).get("CapEff", "")) & _READ_SEARCH)


def rights_remedy() -> str:
    """Return the remedy if this process may not read what only root may read."""
    return remedy_of(os.geteuid(), _own_status())


def remedy_of(user_id: int, status: str) -> str:
    """Return the remedy for a process, from its effective user and its /proc/PID/status."""
    if reads_everything(status):
        return (
            "the agent has CAP_DAC_READ_SEARCH: see that debugfs is mounted at /sys/kernel/debug, "
            "and that no container, SELinux or lockdown of the kernel forbids it"
        )
    if user_id == 0:
        return (
            "root runs the agent without the capability CAP_DAC_READ_SEARCH, as in a container: "
            "give it that"
        )
    return "run the agent as root, or with the capability CAP_DAC_READ_SEARCH"


def _account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise ConfigurationError(
            f"agent.user = {user!r}: there is no such account here: create it "
            f"(useradd --system {user}) or name another"
        ) from None


def _execute_again(account: pwd.struct_passwd) -> None:
    user = account.pw_name
    words = setpriv_words(user)
    own = {MARK: user, "HOME": account.pw_dir, "USER": user, "LOGNAME": user}
    environment = {**os.environ, **own}
    _try(words, environment, user)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(words[0], [*words, sys.executable, *sys.orig_argv[1:]], environment)


def _try(words: list[str], environment: Mapping[str, str], user: str) -> None:
    """Raise an error now for what would fail after this process has been replaced."""
    try:
        done = subprocess.run(
            [*words, sys.executable, "-c", "import stripewise"],
            env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _not_possible(user, str(error)) from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _not_possible(user, lines[-1] if lines else f"exit code {done.returncode}")


def _not_possible(user: str, why: str) -> PolicyError:
    return PolicyError(
        f"the agent cannot become the user {user} ({printable(why)}): start it as another user, "
        'or say user = "root" in [agent]'
    )


def _verify(user: str) -> None:
    account = _account(user)
    groups = os.getgrouplist(user, account.pw_gid)
    if what := wrong(_own_status(), account.pw_uid, account.pw_gid, groups):
        raise PolicyError(
            f"the agent was to run as {user} with CAP_DAC_READ_SEARCH alone, and {what}: "
            "start it as another user"
        )


def _describe_user() -> str:
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = f"uid {os.geteuid()}"
    if reads_everything(_own_status()):
        return f"runs as {name} with CAP_DAC_READ_SEARCH"
    return (
        f"runs as {name} without CAP_DAC_READ_SEARCH: what only root may read is left out, and "
        "each collector names what it misses"
    )


def _own_status() -> str:
    with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
        return file.read()


def _fields(status: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in status.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _number(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0
