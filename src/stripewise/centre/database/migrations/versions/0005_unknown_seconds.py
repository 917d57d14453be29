# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The seconds that a source spent on a file system may be unknown."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Change the tables."""
    with op.batch_alter_table("job_io") as table:
        table.alter_column("cumulated_seconds", existing_type=sa.Double(), nullable=True)
