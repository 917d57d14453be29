# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The first form of the tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column(
            "login",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "action",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("target", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"], unique=False)
    op.create_table(
        "campaign",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "digest",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "suite",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "storage",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("is_emulated", sa.Boolean(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("digest", name=op.f("uq_campaign_digest")),
    )
    op.create_index(op.f("ix_campaign_made_at"), "campaign", ["made_at"], unique=False)
    op.create_table(
        "cluster",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster")),
        sa.UniqueConstraint("name", name=op.f("uq_cluster_name")),
    )
    op.create_table(
        "file_system",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("mount", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_system")),
        sa.UniqueConstraint("name", name=op.f("uq_file_system_name")),
    )
    op.create_table(
        "ledger",
        sa.Column(
            "digest",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "kind",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column(
            "outcome",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_ledger")),
    )
    op.create_index(op.f("ix_ledger_outcome"), "ledger", ["outcome"], unique=False)
    op.create_table(
        "login_attempt",
        sa.Column(
            "hash",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "nonce",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "verifier",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("next_path", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_login_attempt")),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("name", name=op.f("uq_person_name")),
    )
    op.create_table(
        "program",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "area",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_program")),
        sa.UniqueConstraint("name", name=op.f("uq_program_name")),
    )
    op.create_table(
        "project",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
        sa.UniqueConstraint("name", name=op.f("uq_project_name")),
    )
    op.create_table(
        "sample",
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("series_id", "at", name=op.f("pk_sample")),
        postgresql_partition_by="RANGE (at)",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "seen_file",
        sa.Column(
            "place",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("changed_ns", sa.BigInteger(), nullable=False),
        sa.Column(
            "digest",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_seen_file")),
    )
    op.create_table(
        "campaign_figure",
        sa.Column(
            "campaign_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("case", sa.Text(), nullable=False),
        sa.Column(
            "operation",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("ranks", sa.Integer(), nullable=False),
        sa.Column("run_count", sa.Integer(), nullable=False),
        sa.Column("median", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column(
            "unit",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_figure_campaign_id")
        ),
        sa.PrimaryKeyConstraint("campaign_id", "number", name=op.f("pk_campaign_figure")),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "file_system_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column(
            "kind",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_system_id"], ["file_system.id"], name=op.f("fk_event_file_system_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_at"), "event", ["at"], unique=False)
    op.create_table(
        "job",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "cluster_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("raw_id", sa.BigInteger(), nullable=True),
        sa.Column("submit_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "sluid",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("array_job_id", sa.BigInteger(), nullable=True),
        sa.Column("array_task_id", sa.BigInteger(), nullable=True),
        sa.Column("het_job_id", sa.BigInteger(), nullable=True),
        sa.Column("het_offset", sa.BigInteger(), nullable=True),
        sa.Column("is_recorded", sa.Boolean(), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "state",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("exit_signal", sa.Integer(), nullable=True),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("uid", sa.BigInteger(), nullable=True),
        sa.Column(
            "project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "partition",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "qos",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("node_list", sa.Text(), nullable=True),
        sa.Column("node_count", sa.Integer(), nullable=True),
        sa.Column("cpu_count", sa.Integer(), nullable=True),
        sa.Column("rank_count", sa.Integer(), nullable=True),
        sa.Column("restart_count", sa.Integer(), nullable=True),
        sa.Column("time_limit_seconds", sa.BigInteger(), nullable=True),
        sa.Column("eligible_at", sa.BigInteger(), nullable=True),
        sa.Column("start_at", sa.BigInteger(), nullable=True),
        sa.Column("end_at", sa.BigInteger(), nullable=True),
        sa.Column("run_seconds", sa.Double(), nullable=True),
        sa.Column(
            "program_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("source_count", sa.Integer(), nullable=False),
        sa.Column(
            "no_data_reason",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("io_seconds", sa.Double(), nullable=True),
        sa.Column("io_share", sa.Double(), nullable=True),
        sa.Column("read_bytes", sa.BigInteger(), nullable=True),
        sa.Column("write_bytes", sa.BigInteger(), nullable=True),
        sa.Column("read_seconds", sa.Double(), nullable=True),
        sa.Column("write_seconds", sa.Double(), nullable=True),
        sa.Column("meta_seconds", sa.Double(), nullable=True),
        sa.Column("meta_operations", sa.BigInteger(), nullable=True),
        sa.Column("file_count", sa.Integer(), nullable=True),
        sa.Column("shared_file_count", sa.Integer(), nullable=True),
        sa.Column("bytes_per_second", sa.Double(), nullable=True),
        sa.Column("finding_count", sa.Integer(), nullable=True),
        sa.Column(
            "top_finding",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("avoidable_seconds", sa.Double(), nullable=True),
        sa.Column("avoidable_node_seconds", sa.Double(), nullable=True),
        sa.Column(
            "pattern",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("slurm_read_bytes", sa.BigInteger(), nullable=True),
        sa.Column("slurm_write_bytes", sa.BigInteger(), nullable=True),
        sa.Column("server_read_bytes", sa.BigInteger(), nullable=True),
        sa.Column("server_write_bytes", sa.BigInteger(), nullable=True),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_job_cluster_id")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_job_person_id")),
        sa.ForeignKeyConstraint(["program_id"], ["program.id"], name=op.f("fk_job_program_id")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_job_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint(
            "cluster_id", "raw_id", "submit_at", name=op.f("uq_job_cluster_id_raw_id_submit_at")
        ),
    )
    op.create_index(
        op.f("ix_job_avoidable_node_seconds"), "job", ["avoidable_node_seconds"], unique=False
    )
    op.create_index(op.f("ix_job_avoidable_seconds"), "job", ["avoidable_seconds"], unique=False)
    op.create_index(op.f("ix_job_io_seconds"), "job", ["io_seconds"], unique=False)
    op.create_index(op.f("ix_job_io_share"), "job", ["io_share"], unique=False)
    op.create_index(op.f("ix_job_meta_operations"), "job", ["meta_operations"], unique=False)
    op.create_index(op.f("ix_job_name"), "job", ["name"], unique=False)
    op.create_index(
        op.f("ix_job_person_id_start_at"), "job", ["person_id", "start_at"], unique=False
    )
    op.create_index(
        op.f("ix_job_program_id_start_at"), "job", ["program_id", "start_at"], unique=False
    )
    op.create_index(
        op.f("ix_job_project_id_start_at"), "job", ["project_id", "start_at"], unique=False
    )
    op.create_index(op.f("ix_job_raw_id"), "job", ["raw_id"], unique=False)
    op.create_index(op.f("ix_job_read_bytes"), "job", ["read_bytes"], unique=False)
    op.create_index(op.f("ix_job_run_seconds"), "job", ["run_seconds"], unique=False)
    op.create_index(op.f("ix_job_start_at"), "job", ["start_at"], unique=False)
    op.create_index(op.f("ix_job_write_bytes"), "job", ["write_bytes"], unique=False)
    op.create_table(
        "member",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("is_manager", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_member_person_id")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_member_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_member")),
        sa.UniqueConstraint(
            "project_id", "person_id", name=op.f("uq_member_project_id_person_id")
        ),
    )
    op.create_index(op.f("ix_member_person_id"), "member", ["person_id"], unique=False)
    op.create_table(
        "paired_run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "digest",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "program_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("speedup", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("pair_count", sa.Integer(), nullable=False),
        sa.Column("elapsed_speedup", sa.Double(), nullable=True),
        sa.Column("saved_seconds", sa.Double(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=True),
        sa.Column("rank_count", sa.Integer(), nullable=True),
        sa.Column(
            "pattern",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "verification",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("configuration", sa.Text(), nullable=False),
        sa.Column("hints", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_paired_run_person_id")
        ),
        sa.ForeignKeyConstraint(
            ["program_id"], ["program.id"], name=op.f("fk_paired_run_program_id")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_paired_run_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_paired_run")),
        sa.UniqueConstraint("digest", name=op.f("uq_paired_run_digest")),
    )
    op.create_index(op.f("ix_paired_run_person_id"), "paired_run", ["person_id"], unique=False)
    op.create_index(op.f("ix_paired_run_program_id"), "paired_run", ["program_id"], unique=False)
    op.create_table(
        "person_uid",
        sa.Column(
            "cluster_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_person_uid_cluster_id")
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_person_uid_person_id")
        ),
        sa.PrimaryKeyConstraint("cluster_id", "uid", name=op.f("pk_person_uid")),
    )
    op.create_table(
        "principal",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "login",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "role",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "password",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_principal_person_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_principal")),
        sa.UniqueConstraint("login", name=op.f("uq_principal_login")),
    )
    op.create_table(
        "series",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "file_system_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "server",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "target",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "metric",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "unit",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("is_counter", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_system_id"], ["file_system.id"], name=op.f("fk_series_file_system_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
    )
    op.create_index(
        "uq_series", "series", ["file_system_id", "server", "target", "metric"], unique=True
    )
    op.create_table(
        "job_source",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "kind",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "digest",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "program_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "match_rule",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("start_at", sa.Double(), nullable=True),
        sa.Column("end_at", sa.Double(), nullable=True),
        sa.Column("uid", sa.BigInteger(), nullable=True),
        sa.Column(
            "user",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("rank_count", sa.Integer(), nullable=True),
        sa.Column("is_partial", sa.Boolean(), nullable=False),
        sa.Column("io_seconds", sa.Double(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("rows", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_source_job_id")),
        sa.ForeignKeyConstraint(
            ["program_id"], ["program.id"], name=op.f("fk_job_source_program_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_source")),
        sa.UniqueConstraint("digest", name=op.f("uq_job_source_digest")),
    )
    op.create_index(op.f("ix_job_source_job_id"), "job_source", ["job_id"], unique=False)
    op.create_table(
        "rollup",
        sa.Column(
            "series_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("resolution_seconds", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("covered_seconds", sa.Double(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_rollup_series_id")),
        sa.PrimaryKeyConstraint("series_id", "resolution_seconds", "at", name=op.f("pk_rollup")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "session",
        sa.Column(
            "hash",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "principal_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "csrf",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["principal_id"], ["principal.id"], name=op.f("fk_session_principal_id")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_session")),
    )
    op.create_index(op.f("ix_session_principal_id"), "session", ["principal_id"], unique=False)
    op.create_table(
        "token",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "principal_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "hash",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["principal_id"], ["principal.id"], name=op.f("fk_token_principal_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )
    op.create_index(op.f("ix_token_principal_id"), "token", ["principal_id"], unique=False)
    op.create_table(
        "finding",
        sa.Column(
            "source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "code",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "severity",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("phrase", sa.Text(), nullable=False),
        sa.Column("cost_seconds", sa.Double(), nullable=True),
        sa.Column("least_seconds", sa.Double(), nullable=True),
        sa.Column("most_seconds", sa.Double(), nullable=True),
        sa.Column("is_measured", sa.Boolean(), nullable=False),
        sa.Column("file_count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["job_source.id"], name=op.f("fk_finding_source_id")
        ),
        sa.PrimaryKeyConstraint("source_id", "number", name=op.f("pk_finding")),
    )
    op.create_index(op.f("ix_finding_code"), "finding", ["code"], unique=False)
    op.create_table(
        "job_file",
        sa.Column(
            "source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("file_class", sa.Text(), nullable=False),
        sa.Column(
            "interface",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("read_bytes", sa.BigInteger(), nullable=False),
        sa.Column("write_bytes", sa.BigInteger(), nullable=False),
        sa.Column("read_calls", sa.BigInteger(), nullable=False),
        sa.Column("write_calls", sa.BigInteger(), nullable=False),
        sa.Column("meta_operations", sa.BigInteger(), nullable=False),
        sa.Column("elapsed_seconds", sa.Double(), nullable=True),
        sa.Column("rank_count", sa.Integer(), nullable=False),
        sa.Column("stripe_count", sa.Integer(), nullable=True),
        sa.Column("stripe_bytes", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["job_source.id"], name=op.f("fk_job_file_source_id")
        ),
        sa.PrimaryKeyConstraint("source_id", "number", name=op.f("pk_job_file")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "job_io",
        sa.Column(
            "source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "file_system",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("read_bytes", sa.BigInteger(), nullable=False),
        sa.Column("write_bytes", sa.BigInteger(), nullable=False),
        sa.Column("cumulated_seconds", sa.Double(), nullable=False),
        sa.Column("meta_operations", sa.BigInteger(), nullable=False),
        sa.Column("file_count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["job_source.id"], name=op.f("fk_job_io_source_id")
        ),
        sa.PrimaryKeyConstraint("source_id", "file_system", name=op.f("pk_job_io")),
    )
    op.create_table(
        "job_pattern",
        sa.Column(
            "source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file_class", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("is_write", sa.Boolean(), nullable=False),
        sa.Column(
            "form",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("notation", sa.Text(), nullable=False),
        sa.Column("element_bytes", sa.BigInteger(), nullable=False),
        sa.Column("moved_bytes", sa.BigInteger(), nullable=False),
        sa.Column("lost_seconds", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["job_source.id"], name=op.f("fk_job_pattern_source_id")
        ),
        sa.PrimaryKeyConstraint("source_id", "number", name=op.f("pk_job_pattern")),
    )
    op.create_index(op.f("ix_job_pattern_form"), "job_pattern", ["form"], unique=False)
    op.create_table(
        "setting",
        sa.Column(
            "source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file_class", sa.Text(), nullable=False),
        sa.Column(
            "name",
            sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("requested", sa.Text(), nullable=True),
        sa.Column("applied", sa.Text(), nullable=True),
        sa.Column("effective", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["job_source.id"], name=op.f("fk_setting_source_id")
        ),
        sa.PrimaryKeyConstraint("source_id", "number", name=op.f("pk_setting")),
    )
