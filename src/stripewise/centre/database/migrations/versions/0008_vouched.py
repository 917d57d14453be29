# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the file of a profile belonged to somebody who is believed."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Change the tables; of what was taken in before it is not known, so it is not assumed."""
    op.add_column(
        "job_source",
        sa.Column("is_vouched", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
