# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a login by OpenID Connect, and what an address asks."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from stripewise.centre.portal._settings import OidcSettings
from support.fake_oidc import CLIENT

CALLBACK = "http://portal.centre/login/oidc"
SECRET = "s/e cret%"


def settings(issuer: str, **changes: Any) -> OidcSettings:
    values = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET,
              "username_claim": "uid", "allow_plain": True}  # fmt: skip
    return OidcSettings.model_validate({**values, **changes})


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))
