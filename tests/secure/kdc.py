"""Runs an MIT KDC on 127.0.0.1, from Debian packages that tests/deps.sh unpacks into the cache.

    with Kdc(folder) as kdc:
        kdc.keytab("alice")              # adds the principal alice@EXAMPLE.COM, returns its keytab
        kdc.kinit("alice", "-l", "20s")  # returns the path of a ticket cache
        kdc.env                          # KRB5_CONFIG for clients
        with Kdc(other, PARTNER, hosts=kdc) as partner:  # users of PARTNER.ORG may use the services of EXAMPLE.COM
"""

import os
import pathlib
import socket
import subprocess
import time

from cluster import CACHE, free_ports, stop, tail

REALM = "EXAMPLE.COM"
PARTNER = "PARTNER.ORG"
PACKAGES = CACHE / "kerberos"


class Kdc:
    def __init__(self, folder, realm=REALM, hosts=None):
        """All services are in the realm of the KDC `hosts`, by default in this realm."""
        self.folder = pathlib.Path(folder)
        self.realm, self.hosts = realm, hosts or self
        self.port, = free_ports(1)
        lib = next(PACKAGES.glob("usr/lib/*-linux-gnu"))
        self.env = {"KRB5_CONFIG": str(self.folder / "krb5.conf")}
        self._env = {**os.environ, **self.env, "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"), "LD_LIBRARY_PATH": str(lib)}
        self._plugins = lib / "krb5/plugins/kdb"
        self.process = None

    @staticmethod
    def program(name):
        return str(next(p for d in ("usr/sbin", "usr/bin") for p in [PACKAGES / d / name] if p.exists()))

    def _configure(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        realms = "".join(f" {k.realm} = {{\n  kdc = 127.0.0.1:{k.port}\n }}\n" for k in {self, self.hosts})
        (self.folder / "krb5.conf").write_text(f"""\
[libdefaults]
 default_realm = {self.realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
{realms}[domain_realm]
 localhost = {self.hosts.realm}
""")
        (self.folder / "kdc.conf").write_text(f"""\
[kdcdefaults]
 kdc_listen = 127.0.0.1:{self.port}
 kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
 {self.realm} = {{
  database_name = {self.folder}/principal
  key_stash_file = {self.folder}/stash
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }}
[dbmodules]
 db_module_dir = {self._plugins}
[logging]
 kdc = FILE:{self.folder}/kdc.log
""")

    def _run(self, program, *arguments):
        return subprocess.run([self.program(program), *arguments], env=self._env, check=True, capture_output=True, timeout=60)

    def start(self):
        log = self.folder / "krb5kdc.out"
        with open(log, "a", encoding="utf-8") as out:
            self.process = subprocess.Popen([self.program("krb5kdc"), "-n", "-r", self.realm], env=self._env, stdout=out, stderr=out)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the KDC does not answer\n" + tail(log))

    def __enter__(self):
        self._configure()
        self._run("kdb5_util", "-r", self.realm, "create", "-s", "-P", "master")
        for kdc in {self, self.hosts} if self.hosts is not self else ():  # both have the key of a cross-realm ticket
            kdc.admin(f"addprinc -pw trust krbtgt/{self.hosts.realm}@{self.realm}")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        stop(self.process)

    def admin(self, query):
        self._run("kadmin.local", "-r", self.realm, "-q", query)

    def keytab(self, principal):
        file = self.folder / f"{principal.split('/')[0]}.keytab"
        if not file.exists():
            for query in (f"addprinc -randkey {principal}", f"ktadd -k {file} {principal}"):
                self.admin(query)
        return file

    def shorten(self, principal, seconds):
        """Limits the life of the principal's tickets."""
        self.admin(f"modprinc -maxlife {seconds}seconds {principal}")

    def kinit(self, principal, *options):
        cache = self.folder / f"{principal.split('/')[0]}.{time.monotonic_ns()}.cc"
        self._run("kinit", *options, "-c", f"FILE:{cache}", "-k", "-t", str(self.keytab(principal)), principal)
        return cache
