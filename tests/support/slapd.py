# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A directory server (slapd of OpenLDAP) that tests have to themselves.

Its URLs have the address: for "localhost" libldap checks a certificate by the machine's own name.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from support.ports import free_port

_START_SECONDS = 60
SERVICE = "cn=portal,dc=centre"
SERVICE_PASSWORD = "the password of the service"
PASSWORD = "correct horse battery"
PEOPLE = "ou=people,dc=centre"

# A bind with a name and an empty password succeeds here, as it does on servers in the field.
_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {directory}/slapd.pid
allow bind_anon_cred bind_anon_dn
TLSCertificateFile {directory}/cert.pem
TLSCertificateKeyFile {directory}/key.pem
TLSCACertificateFile {directory}/cert.pem
database mdb
suffix "dc=centre"
directory {directory}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{service}" read by self read by anonymous auth
"""


def _entry(dn: str, **values: Any) -> str:
    lines = [f"dn: {dn}"]
    for key, value in values.items():
        lines += [f"{key}: {one}" for one in (value if isinstance(value, list) else [value])]
    return "\n".join(lines) + "\n\n"


def _person(dn: str, uid: Any, password: str = PASSWORD) -> str:
    return _entry(dn, objectClass="inetOrgPerson", cn="x", sn="x", uid=uid, userPassword=password)


ENTRIES = "".join(
    [
        _entry("dc=centre", objectClass=["dcObject", "organization"], dc="centre", o="centre"),
        _entry(PEOPLE, objectClass="organizationalUnit", ou="people"),
        _entry("ou=guests,dc=centre", objectClass="organizationalUnit", ou="guests"),
        _entry(SERVICE, objectClass=["organizationalRole", "simpleSecurityObject"], cn="portal",
               userPassword=SERVICE_PASSWORD),
        _person(f"uid=alice,{PEOPLE}", "alice"),
        _person(f"uid=bob,{PEOPLE}", "bob", "another password"),
        _person(f"uid=a*b(c)\\\\d,{PEOPLE}", "a*b(c)\\d"),
        _person(f"uid=smith\\, j\\+x,{PEOPLE}", "smith, j+x"),
        _person(f"uid=twin,{PEOPLE}", "twin"),
        _person("uid=twin,ou=guests,dc=centre", "twin"),
        _person(f"uid=many,{PEOPLE}", ["many", "names"]),
    ]
)  # fmt: skip
"""People of a small centre, among them names that mean something in a filter or a DN."""


class Slapd:
    """A server; it can be stopped and started again.

    Attributes:
        certificate: Of the server, and what it is checked with.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._take_ports()
        self.certificate = directory / "cert.pem"
        self._process: subprocess.Popen[bytes] | None = None
        make_certificate(directory)
        (directory / "data").mkdir()
        text = _CONFIGURATION.format(directory=directory, service=SERVICE)
        (directory / "slapd.conf").write_text(text)
        (directory / "entries.ldif").write_text(ENTRIES)
        words = ["slapadd", "-f", directory / "slapd.conf", "-l", directory / "entries.ldif"]
        done = subprocess.run([_program(words[0]), *words[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def _take_ports(self) -> None:
        self.port, self.tls_port = free_port(), free_port()

    @property
    def plain_url(self) -> str:
        """Return the URL of the port where encryption starts on request."""
        return f"ldap://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        """Return the URL of the port that is encrypted."""
        return f"ldaps://127.0.0.1:{self.tls_port}"

    def start(self, *, anew: bool = False) -> None:
        """Start it, and wait until it answers.

        It starts again where somebody has taken one of its ports meanwhile: at others if it was
        never there before, and else when that one is free.

        Args:
            anew: It was there before, at these ports.
        """
        end = time.monotonic() + _START_SECONDS
        while not self._answers(end):
            said = (self.directory / "log").read_text(errors="replace")
            assert time.monotonic() < end, f"slapd did not start: {said}"
            if not anew:
                self._take_ports()
            time.sleep(0.2)

    def _answers(self, end: float) -> bool:
        """Start it; return whether it answers before it ends."""
        words = [_program("slapd"), "-f", self.directory / "slapd.conf", "-d", "0", "-h",
                 f"ldap://127.0.0.1:{self.port} ldaps://127.0.0.1:{self.tls_port}"]  # fmt: skip
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log)
        while self._process.poll() is None and time.monotonic() < end:
            with suppress(OSError):
                for port in (self.port, self.tls_port):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                return self._process.poll() is None
            time.sleep(0.05)
        return False

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None


@contextmanager
def running(directory: Path) -> Iterator[Slapd]:
    """Start a server in an empty directory; stop it at the end."""
    server = Slapd(directory)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def missing() -> str:
    """Return why there is no server here; "": there can be one."""
    for name in ("slapd", "slapadd", "openssl"):
        if shutil.which(_program(name)) is None:
            return f"no {name} (Debian: slapd, openssl)"
    return ""


def make_certificate(directory: Path) -> None:
    """Write cert.pem and key.pem of "localhost", good for two days."""
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    done = subprocess.run(
        [*words.split(), "-subj", "/CN=localhost", "-addext", names,
         "-keyout", directory / "key.pem", "-out", directory / "cert.pem"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _program(name: str) -> str:
    return shutil.which(name) or f"/usr/sbin/{name}"
