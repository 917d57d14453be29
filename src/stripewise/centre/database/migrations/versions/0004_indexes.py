# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Indexes by which lists of a million jobs are sorted and searched.

Those of sorted columns end with the key, so that pages go on within equal values; those of
patterns and findings hold all that is asked of them for one job.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
_SORTED = (
    *("start_at", "run_seconds", "io_seconds", "io_share", "read_bytes", "write_bytes"),
    *("meta_operations", "avoidable_seconds", "avoidable_node_seconds", "name", "raw_id"),
)


def upgrade() -> None:
    """Change the indexes."""
    for column in _SORTED:
        op.drop_index(op.f(f"ix_job_{column}"), table_name="job")
        op.create_index(op.f(f"ix_job_{column}_id"), "job", [column, "id"])
    in_array = sa.text("array_job_id IS NOT NULL")
    op.create_index(
        "ix_job_array", "job", ["array_job_id"], sqlite_where=in_array, postgresql_where=in_array
    )
    op.drop_index(op.f("ix_job_source_job_id_kind"), table_name="job_source")
    op.create_index(op.f("ix_job_source_job_id_kind_id"), "job_source", ["job_id", "kind", "id"])
    op.drop_index(op.f("ix_job_pattern_form"), table_name="job_pattern")
    op.create_index(
        "ix_job_pattern_form", "job_pattern", ["form", "source_id", "is_write", "lost_seconds"]
    )
    op.drop_index(op.f("ix_finding_code"), table_name="finding")
    op.create_index(op.f("ix_finding_code_source_id"), "finding", ["code", "source_id"])
