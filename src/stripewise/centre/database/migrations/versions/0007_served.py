# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the servers of a storage counted for jobs, and how far agents got."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    """Change the tables."""
    _make_tags()
    _make_loads()
    _make_sums()
    op.create_table(
        "monitor_state",
        sa.Column("agent", _text(255), nullable=False),
        sa.Column("part", _text(255), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("agent", "part", name=op.f("pk_monitor_state")),
    )


def _make_tags() -> None:
    op.create_table(
        "job_tag",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("cluster_id", _KEY, nullable=False),
        sa.Column("text", _text(255), nullable=False),
        sa.Column("raw_id", sa.BigInteger()),
        sa.Column("user", _text(255)),
        sa.Column("uid", sa.BigInteger()),
        sa.Column("program", _text(255)),
        sa.Column("host", _text(255)),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], op.f("fk_job_tag_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_tag")),
    )
    op.create_index("uq_job_tag", "job_tag", ["cluster_id", "text"], unique=True)
    op.create_index(op.f("ix_job_tag_raw_id"), "job_tag", ["raw_id"])


def _counted(has_operations: bool) -> list[sa.Column[object]]:
    return [
        sa.Column("operations", sa.BigInteger(), nullable=not has_operations),
        sa.Column("moved_bytes", sa.BigInteger()),
        sa.Column("busy_seconds", sa.Double()),
        sa.Column("parts", sa.Text()),
    ]


def _make_loads() -> None:
    op.create_table(
        "job_load",
        sa.Column("file_system_id", _KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("tag_id", _KEY, nullable=False),
        sa.Column("kind", _text(64), nullable=False),
        sa.Column("server", _text(255), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        *_counted(False),
        sa.Column("job_id", _KEY),
        sa.ForeignKeyConstraint(
            ["file_system_id"], ["file_system.id"], op.f("fk_job_load_file_system_id")
        ),
        sa.ForeignKeyConstraint(["tag_id"], ["job_tag.id"], op.f("fk_job_load_tag_id")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], op.f("fk_job_load_job_id")),
        sa.PrimaryKeyConstraint(
            *("file_system_id", "at", "tag_id", "kind", "server"), name=op.f("pk_job_load")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_job_load_job", "job_load", ["job_id", "at"])
    op.create_index("ix_job_load_tag", "job_load", ["tag_id", "at"])


def _make_sums() -> None:
    op.create_table(
        "job_served",
        sa.Column("job_id", _KEY, nullable=False),
        sa.Column("file_system_id", _KEY, nullable=False),
        sa.Column("kind", _text(64), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=False),
        sa.Column("last_at", sa.Double(), nullable=False),
        *_counted(True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], op.f("fk_job_served_job_id")),
        sa.ForeignKeyConstraint(
            ["file_system_id"], ["file_system.id"], op.f("fk_job_served_file_system_id")
        ),
        sa.PrimaryKeyConstraint("job_id", "file_system_id", "kind", name=op.f("pk_job_served")),
    )
