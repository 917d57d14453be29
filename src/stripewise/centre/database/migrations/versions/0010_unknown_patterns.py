# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a pattern moved, and what a gain saves, may be unknown, with the reason."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
_NOT_TOLD = "the profile does not tell the bytes of its files"


def upgrade() -> None:
    """Change the tables; a pattern that moved nothing was one of which it was not known."""
    with op.batch_alter_table("job_pattern") as table:
        table.add_column(sa.Column("missing", sa.Text(), nullable=True))
        table.alter_column("moved_bytes", existing_type=sa.BigInteger(), nullable=True)
    with op.batch_alter_table("paired_run") as table:
        table.alter_column("saved_seconds", existing_type=sa.Double(), nullable=True)
    op.get_bind().execute(
        sa.text("UPDATE job_pattern SET moved_bytes = NULL, missing = :why WHERE moved_bytes = 0"),
        {"why": json.dumps({"moved_bytes": _NOT_TOLD})},
    )
