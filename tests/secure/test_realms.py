"""Tests users of another realm, and ticket caches that libkrb5 cannot change. The servers are in EXAMPLE.COM. Their rule
(hadoop.security.auth_to_local) names visitor@PARTNER.ORG visitor_partner, and no other user of that realm."""

import re
import resource
import signal

import pytest
from kdc import PARTNER, Kdc
from test_secured import ROWS, expected, hfiles, loaded, places, table_files  # noqa: F401  (`loaded` is a fixture)


@pytest.fixture(scope="module")
def partner(kdc, tmp_path_factory):
    with Kdc(tmp_path_factory.mktemp("partner") / "kdc", PARTNER, hosts=kdc) as server:
        yield server


def of_partner(partner, user):
    """Returns the options and the environment of a user of PARTNER.ORG."""
    return ["--principal", f"{user}@{PARTNER}", "--keytab", partner.keytab(user)], partner.env


def test_user_of_another_realm(rig, run, loaded, partner, tmp_path):  # noqa: F811
    """krb5.conf names the servers' realm, or --server-principal does. The table and its files belong to the user's name at the
    servers. Tokens then log in without a ticket."""
    login, env = of_partner(partner, "visitor")
    out, tables = loaded("realms"), ["tables", "--hbase", rig.hbase.master]
    for words in ([], ["--server-principal", "hbase/_HOST"], ["--server-principal", "hbase/_HOST@EXAMPLE.COM", "--protection", "privacy"]):
        done = run(*tables, *words, *login, env=env)
        assert done.returncode == 0 and done.stdout.startswith("TABLE"), (words, done.stderr)
    apply = ["apply", out, *places(rig), *login]
    done = run(*apply, "--check-access", env=env)
    assert done.returncode == 2 and re.search("^rights  refused", done.stdout, re.M), done.stdout
    rig.hbase.admin("grant", "visitor_partner", "@default", "RWC")
    done = run(*apply, "--check-access", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(*apply, "--create", env=env)
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "realms") == expected()
    owners = table_files(rig, "realms")
    assert set(owners.values()) == {"visitor_partner"} and len(owners) == len(hfiles(out))
    file = tmp_path / "tokens"
    done = run("tokens", file, rig.hdfs.url("/bulk"), "--hbase", rig.hbase.master, *login, env=env)
    assert done.returncode == 0, done.stderr
    assert [line.split()[::2] for line in done.stdout.splitlines()] == [
        ["HBASE_AUTH_TOKEN", "visitor"], ["HDFS_DELEGATION_TOKEN", "visitor_partner"]]
    done = run("tokens", file, rig.hdfs.url("/bulk"), "--renew", *login, env=env)  # HDFS knows the renewer's name
    assert done.returncode == 0, done.stderr
    alone = {"HADOOP_TOKEN_FILE_LOCATION": str(file)}
    done = run("scan", out.parent / "job.yaml", "--hbase", rig.hbase.master, "--quiet", env=alone)
    assert done.stdout.startswith(f"{ROWS} rows, {ROWS} cells"), done.stderr
    done = run("load", out.parent / "job.yaml", "-o", rig.hdfs.url("/bulk/realms"), "--quiet", env=alone)
    assert done.returncode == 0, done.stderr
    assert rig.hdfs.list("/bulk")["realms"]["owner"] == "visitor_partner"


def test_user_without_a_name(rig, run, partner, tmp_path):
    """The realms trust each other, but no rule of the servers names this user."""
    login, env = of_partner(partner, "stranger")
    for words in (["tables", "--hbase", rig.hbase.master], ["tokens", tmp_path / "tokens", rig.hdfs.url("/bulk")]):
        done = run(*words, *login, env=env)
        assert done.returncode == 2 and re.search(
            r"No rules applied.*; add a rule for this realm to hadoop\.security\.auth_to_local of the servers", done.stderr), done.stderr


def test_no_trust_path(rig, run, kdc, partner, tmp_path):  # noqa: ARG001
    """The KDC of EXAMPLE.COM gives no tickets for servers of PARTNER.ORG."""
    config = tmp_path / "krb5.conf"
    config.write_text((kdc.folder / "krb5.conf").read_text().replace("localhost = EXAMPLE.COM", f"localhost = {PARTNER}"))
    for words, env in ((["tables", "--hbase", rig.hbase.master, "--server-principal", f"hbase/_HOST@{PARTNER}"], {}),
                       (["tables", "--hbase", rig.hbase.master, "--server-principal", "elsewhere/_HOST"], {"KRB5_CONFIG": str(config)}),
                       (["tokens", tmp_path / "tokens", rig.hdfs.url("/bulk")], {"KRB5_CONFIG": str(config)})):
        done = run(*words, user="alice", env=env)
        assert done.returncode == 2 and f"found no trust path to the servers' realm {PARTNER}: Server krbtgt/{PARTNER}@EXAMPLE.COM not " \
            "found in Kerberos database; add this principal to the KDCs of both realms" in done.stderr, done.stderr


def fixed_files():
    """Lets no file grow, so that libkrb5 cannot add a ticket to its cache."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_fixed_ticket_cache(rig, run, kdc):
    """With a cache that does not grow, each connection queries the KDC once."""
    log, cache = kdc.folder / "kdc.log", kdc.kinit("alice")

    def queries(service):
        return len(re.findall(rf"TGS_REQ .* alice@EXAMPLE.COM for {service}/localhost@", log.read_text()))

    def logins():
        return rig.hbase.server_log.read_text().count("Auth successful for alice@EXAMPLE.COM (auth:KERBEROS)")
    before = queries("hbase"), logins(), cache.stat().st_size
    done = run("tables", "--hbase", rig.hbase.master, cache=cache, preexec_fn=fixed_files)
    assert done.returncode == 0, done.stderr
    assert cache.stat().st_size == before[2]
    assert queries("hbase") - before[0] == logins() - before[1] > 0
    before = queries("HTTP")
    done = run("verify", rig.hdfs.url("/none"), cache=cache, preexec_fn=fixed_files)
    assert "/none" in done.stdout + done.stderr, done
    assert queries("HTTP") - before == 2  # to get a token, and to cancel it
