# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs have all figures that surveys of applications list; indexes for pages of the staff."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
_COUNTS = ("read_only_count", "write_only_count")
_SECONDS = ("cumulated_read_seconds", "cumulated_write_seconds", "cumulated_meta_seconds")


def upgrade() -> None:
    """Change the tables; figures of jobs that are there come with their next profile."""
    for name in _COUNTS:
        op.add_column("job", sa.Column(name, sa.Integer(), nullable=True))
    for name in _SECONDS:
        op.add_column("job", sa.Column(name, sa.Double(), nullable=True))
    op.create_index(op.f("ix_ledger_at"), "ledger", ["at"], unique=False)
    op.create_index(op.f("ix_job_source_job_id_kind"), "job_source", ["job_id", "kind"])
    op.drop_index(op.f("ix_job_source_job_id"), table_name="job_source")
