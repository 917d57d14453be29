# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Adds how much slower a job was than earlier runs of its program.

Jobs that are in the database get these figures when anything of them is stored again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns, which are empty at first, and the index to find such jobs."""
    op.add_column("job", sa.Column("slower_factor", sa.Double(), nullable=True))
    op.add_column("job", sa.Column("usual_io_seconds", sa.Double(), nullable=True))
    op.add_column("job", sa.Column("earlier_count", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_job_slower_factor_id"), "job", ["slower_factor", "id"])
