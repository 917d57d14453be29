# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clusters, and whose jobs run on them."""

from __future__ import annotations

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.fleet.tables._base import Base, Key, Long, Name, Word


class Cluster(Base):
    """A cluster with job ids of its own."""

    __tablename__ = "cluster"
    id: Mapped[Key]
    name: Mapped[Word] = mapped_column(unique=True)


class Person(Base):
    """A user name of the centre; the same one on all its clusters."""

    __tablename__ = "person"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)


class PersonUid(Base):
    """The number that a user has on a cluster, as Slurm says it.

    Attributes:
        person_id: NULL: it has been of several users.
    """

    __tablename__ = "person_uid"
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"), primary_key=True)
    uid: Mapped[Long] = mapped_column(primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))


class Project(Base):
    """An account of Slurm."""

    __tablename__ = "project"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)


class Member(Base):
    """Who has run jobs for a project, or manages it."""

    __tablename__ = "member"
    __table_args__ = (UniqueConstraint("project_id", "person_id"),)
    id: Mapped[Key]
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    is_manager: Mapped[bool] = mapped_column(default=False)


class Program(Base):
    """An executable by its name, without directories.

    Attributes:
        area: Field of research, as the centre names it; NULL: not told.
    """

    __tablename__ = "program"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)
    area: Mapped[Name | None]
