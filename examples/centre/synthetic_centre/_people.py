# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Projects and users of the synthetic centre; the names are no real people's."""

from __future__ import annotations

from dataclasses import dataclass

from synthetic_centre._programs import PROGRAMS, Program

FIRST_UID = 20_001
USERS_A_PROJECT = 5

PROJECTS = {
    "atm01": "Atmosphere", "atm02": "Atmosphere", "ocn01": "Ocean", "ocn02": "Ocean",
    "sol01": "Solid Earth", "bio01": "Bio", "bio02": "Bio", "eng01": "Engineering",
    "mat01": "Materials", "ast01": "Astrophysics", "qcd01": "Particle physics",
    "dat01": "Data science",
}  # fmt: skip
_NAMES = (
    "adachi albers amari aoki baker bauer becker chen costa dubois endo ferro fischer fujita "
    "garcia gomez gupta hansen hara hayashi hoshino ikeda ito jansen jung kato keller kim kondo "
    "kubo lange larsen lehmann li lopez maeda marino martin meyer mori nagai nguyen novak ono "
    "ortega park patel peters rossi sato schmid silva suzuki tanaka torres ueda vogel wang weber "
    "yamada"
).split()


@dataclass(frozen=True)
class User:
    """A user and the project that the jobs are for."""

    name: str
    uid: int
    project: str

    @property
    def group(self) -> str:
        """Unix group of all who work in the project's area."""
        return self.project[:3]

    @property
    def programs(self) -> tuple[Program, ...]:
        """Programs of the project's area."""
        area = PROJECTS[self.project]
        return tuple(one for one in PROGRAMS if one.area == area)


def users() -> tuple[User, ...]:
    """Return all users, five for each project."""
    return tuple(
        User(name, FIRST_UID + number, project)
        for number, (name, project) in enumerate(
            zip(_NAMES, (p for p in PROJECTS for _ in range(USERS_A_PROJECT)), strict=True)
        )
    )
