"""An authority that everything here trusts, and what it certifies; keys and certificates made by openssl."""

from __future__ import annotations

import base64
import ssl
import subprocess
from pathlib import Path

RSA = ("-newkey", "rsa:2048", "-nodes", "-days", "30")


def openssl(*words: str | Path) -> None:
    """Runs openssl. subprocess.CalledProcessError where it fails."""
    subprocess.run(["openssl", *words], check=True, capture_output=True)


class Authority:
    """A certificate authority in a folder: `ca.crt`, and NAME.crt and NAME.key for each that it certifies."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        extension = "basicConstraints=critical,CA:TRUE"
        place = ("-keyout", folder / "ca.key", "-out", folder / "ca.crt")
        openssl("req", "-x509", *RSA, "-subj", "/CN=authority", *place, "-addext", extension)

    @property
    def certificate(self) -> Path:
        """The authority's own."""
        return self._folder / "ca.crt"

    @property
    def bundle(self) -> str:
        """The authority's own certificate in base64, as webhooks want it."""
        return base64.b64encode(self.certificate.read_bytes()).decode()

    def issue(self, name: str, *hosts: str) -> tuple[Path, Path]:
        """The certificate and the key of a server of these hosts, `DNS:name` or `IP:address`."""
        certificate, key = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        authority = ("-CA", self.certificate, "-CAkey", self._folder / "ca.key")
        extensions = (f"subjectAltName={','.join(hosts)}", "basicConstraints=critical,CA:FALSE")
        options = [word for extension in extensions for word in ("-addext", extension)]
        openssl("req", "-x509", *RSA, "-subj", f"/CN={name}", *authority, "-keyout", key, "-out", certificate, *options)
        return certificate, key

    def context(self, name: str, *hosts: str) -> ssl.SSLContext:
        """What a server in this process shows."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(name, *hosts))
        return context
