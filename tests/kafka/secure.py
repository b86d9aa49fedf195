"""Runs a broker with authentication, which uses TLS with its own certificate authority, SASL, and client certificates.
Each listener needs authentication: `tls` a client certificate, `scram` SCRAM over TLS, `plain` SASL PLAIN without TLS,
`gssapi` and `gssapis` (over TLS) a ticket of the KDC, `oauth` a token without signature, and `oidc` one of oidc.py (over
TLS).
"""

import subprocess

from broker import Broker, SERVER
from cluster import free_ports
from oidc import Signer
from kdc import REALM, Kdc

USER = "loader"
PASSWORD = "Pa55-of-the-l0ader"
KEY_PASSWORD = "k3y-of-the-l0ader"
MODULE = "org.apache.kafka.common.security"
PROTOCOLS = {"tls": "SSL", "scram": "SASL_SSL", "plain": "SASL_PLAINTEXT", "gssapi": "SASL_PLAINTEXT", "gssapis": "SASL_SSL",
             "oauth": "SASL_PLAINTEXT", "oidc": "SASL_SSL"}

LISTENERS = """\
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:alice
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
listener.name.oauth.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.oauth.oauthbearer.sasl.jaas.config={module}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
listener.name.oauth.oauthbearer.connections.max.reauth.ms=3600000
listener.name.oidc.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.oidc.oauthbearer.sasl.jaas.config={module}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
listener.name.oidc.oauthbearer.sasl.server.callback.handler.class={module}.oauthbearer.OAuthBearerValidatorCallbackHandler
listener.name.oidc.oauthbearer.connections.max.reauth.ms=3600000
listener.name.oidc.oauthbearer.sasl.oauthbearer.jwks.endpoint.url=file://{folder}/jwks.json
listener.name.oidc.oauthbearer.sasl.oauthbearer.clock.skew.seconds=0
"""

# Users log in as kafka/localhost demands, so these listeners have the name localhost.
KERBEROS = """\
listener.name.{name}.sasl.enabled.mechanisms=GSSAPI
listener.name.{name}.sasl.kerberos.service.name=kafka
listener.name.{name}.gssapi.connections.max.reauth.ms=3600000
listener.name.{name}.gssapi.sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab="{keytab}" principal="kafka/localhost@{realm}";
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
    def __init__(self, folder, kdc=None):
        super().__init__(folder)
        self.tls = self.folder / "tls"
        self.tls.mkdir()
        self.own_kdc = kdc is None
        self.kdc = kdc or Kdc(self.folder / "kdc")
        self.signer = Signer(self.folder)
        self.listeners = {name: f"{'localhost' if 'gssapi' in name else '127.0.0.1'}:{port}"
                          for name, port in zip(PROTOCOLS, free_ports(len(PROTOCOLS)))}
        self._make_certificates()
        more = "".join(f",{n.upper()}://{at}" for n, at in self.listeners.items())
        protocols = "".join(f",{n.upper()}:{p}" for n, p in PROTOCOLS.items())
        text = SERVER.format(port=self.port, controller=self.controller, folder=self.folder)
        lines = [line + more if line.startswith(("listeners=", "advertised.listeners=")) else
                 line + protocols if line.startswith("listener.security.protocol.map=") else line
                 for line in text.splitlines()]
        self.properties.write_text("\n".join(lines) + "\n" + LISTENERS.format(
            folder=self.folder, module=MODULE, user=USER, password=PASSWORD))

    def __enter__(self):
        if self.own_kdc:
            self.kdc.__enter__()
        with open(self.properties, "a", encoding="utf-8") as out:
            for name in ("gssapi", "gssapis"):
                out.write(KERBEROS.format(name=name, keytab=self.kdc.keytab("kafka/localhost"), realm=REALM))
        return super().__enter__()

    def __exit__(self, *_):
        super().__exit__()
        if self.own_kdc:
            self.kdc.stop()

    def _command(self, main, *arguments, **how):
        java, *words = super()._command(main, *arguments, **how)
        return [java, f"-Djava.security.krb5.conf={self.kdc.env['KRB5_CONFIG']}",
                f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://{self.folder}/jwks.json", *words]

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
