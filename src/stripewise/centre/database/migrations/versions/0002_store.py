# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles keep the cluster that they tell; a number may have been of several users."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Change the tables."""
    with op.batch_alter_table("job_source") as table:
        table.add_column(sa.Column("cluster_id", _KEY, nullable=True))
        table.create_foreign_key(
            op.f("fk_job_source_cluster_id"), "cluster", ["cluster_id"], ["id"]
        )
    op.execute(
        "UPDATE job_source SET cluster_id = (SELECT job.cluster_id FROM job JOIN cluster ON "
        "cluster.id = job.cluster_id WHERE job.id = job_source.job_id AND cluster.name <> '')"
    )
    with op.batch_alter_table("person_uid") as table:
        table.alter_column("person_id", existing_type=_KEY, nullable=True)
    unrecorded = sa.text("NOT is_recorded")
    op.create_index(
        "ix_job_unrecorded",
        "job",
        ["cluster_id", "uid"],
        sqlite_where=unrecorded,
        postgresql_where=unrecorded,
    )
