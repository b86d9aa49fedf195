"""Makes a certificate authority, and certificates for "localhost", in a folder (openssl)."""

import pathlib
import subprocess


class Authority:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.ca = self.folder / "ca.pem"
        self._run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=test CA")
        self.certificate, self.key = self.sign("server", "localhost")
        self.stranger = self.folder / "stranger.pem"  # another authority
        self._run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "stranger.key", "-out", "stranger.pem", "-days", "30",
                  "-subj", "/CN=stranger")
        self.keystore = self.folder / "server.p12"
        self._run("pkcs12", "-export", "-in", "server.pem", "-inkey", "server.key", "-certfile", "ca.pem", "-out", "server.p12",
                  "-passout", "pass:secret")

    def _run(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def sign(self, name, host):
        """Returns the paths of a certificate for the host, and of its key."""
        self._run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={host}")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{host}\n")
        self._run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem",
                  "-days", "30", "-extfile", f"{name}.ext")
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"
