"""Runs a broker with authentication, which uses TLS with its own certificate authority, SASL, and client certificates.
Three listeners need authentication. `tls` requires a client certificate, `scram` is TLS with SCRAM, and `plain` is SASL
PLAIN without TLS.
"""

import subprocess

from broker import Broker, SERVER
from cluster import free_ports

USER = "loader"
PASSWORD = "Pa55-of-the-l0ader"
KEY_PASSWORD = "k3y-of-the-l0ader"
MODULE = "org.apache.kafka.common.security"

LISTENERS = """\
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
allow.everyone.if.no.acl.found=true
ssl.keystore.type=PEM
ssl.keystore.location={folder}/tls/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/tls/ca.crt
listener.name.tls.ssl.client.auth=required
listener.name.scram.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512
listener.name.scram.scram-sha-256.sasl.jaas.config={module}.scram.ScramLoginModule required;
listener.name.scram.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;
listener.name.plain.sasl.enabled.mechanisms=PLAIN
listener.name.plain.plain.sasl.jaas.config={module}.plain.PlainLoginModule required user_{user}="{password}";
"""


def openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)


def authority(folder, name):
    """Makes a key and a certificate that may sign other certificates."""
    openssl("req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", 2, "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")


def certificate(folder, name, signer, *extensions):
    """Makes `name`.key and `name`.crt, signed by `signer`."""
    openssl("req", "-newkey", "rsa:2048", "-noenc", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
    (folder / f"{name}.ext").write_text("".join(f"{e}\n" for e in extensions))
    openssl("x509", "-req", "-days", 2, "-in", folder / f"{name}.csr", "-extfile",
            folder / f"{name}.ext", "-CA", folder / f"{signer}.crt", "-CAkey", folder / f"{signer}.key",
            "-CAcreateserial", "-out", folder / f"{name}.crt")


class SecureBroker(Broker):
    def __init__(self, folder):
        super().__init__(folder)
        self.tls = self.folder / "tls"
        self.tls.mkdir()
        ports = dict(zip(("tls", "scram", "plain"), free_ports(3)))
        self.listeners = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        self._make_certificates()
        more = "".join(f",{n.upper()}://{at}" for n, at in self.listeners.items())
        text = SERVER.format(port=self.port, controller=self.controller, folder=self.folder)
        lines = [line + more if line.startswith(("listeners=", "advertised.listeners=")) else
                 line + ",TLS:SSL,SCRAM:SASL_SSL,PLAIN:SASL_PLAINTEXT"
                 if line.startswith("listener.security.protocol.map=") else line
                 for line in text.splitlines()]
        self.properties.write_text("\n".join(lines) + "\n" + LISTENERS.format(
            folder=self.folder, module=MODULE, user=USER, password=PASSWORD))

    def _make_certificates(self):
        tls = self.tls
        for name in ("ca", "other"):
            authority(tls, name)
        certificate(tls, "broker", "ca", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        certificate(tls, "client", "ca", "extendedKeyUsage=clientAuth")
        certificate(tls, "stranger", "other", "extendedKeyUsage=clientAuth")
        (tls / "broker.pem").write_text((tls / "broker.key").read_text() + (tls / "broker.crt").read_text())
        openssl("pkcs8", "-topk8", "-in", tls / "client.key", "-passout", f"pass:{KEY_PASSWORD}",
                "-out", tls / "client.locked.key")

    def format(self):
        scram = [word for n in ("256", "512") for word in
                 ("--add-scram", f"SCRAM-SHA-{n}=[name={USER},password={PASSWORD}]")]
        super().format(*scram)
