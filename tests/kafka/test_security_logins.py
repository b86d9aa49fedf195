"""Tests GSSAPI and OAUTHBEARER on a real broker, with the KDC of tests/secure and tokens of oidc.py."""

import time

import pytest

from cluster import CACHE
from kdc import REALM
from rig import Rig, value
from secrets_of import keys_of, secrets_in
from test_security import N, configure, modern

LIFE = 6  # seconds of a ticket or token that ends during a stream
CLIENT_SECRET = "S3cret-of-the-cl1ent"


@pytest.fixture
def rig(saltmill, secure, tmp_path):
    return Rig(saltmill, secure, tmp_path / "rig", "t")


def gssapi(tls=None, **more):
    return {"security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI",
            **({"ssl.ca.location": tls / "ca.crt"} if tls else {}), **{k.replace("_", "."): v for k, v in more.items()}}


def environment(secure, cache="/nonexistent", **more):
    """The module of libsasl2 for GSSAPI is a package that tests/deps.sh unpacks."""
    modules = next(CACHE.glob("sasl/usr/lib/*/sasl2"))
    return {**secure.kdc.env, "KRB5CCNAME": f"FILE:{cache}", "SASL_PATH": str(modules), **more}


def keytab(secure, user):
    return ["--principal", f"{user}@{REALM}", "--keytab", secure.kdc.keytab(user)]


def oauth(**more):
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
            "sasl.oauthbearer.config": "'principal=loader'", **{k.replace("_", "."): v for k, v in more.items()}}


def oidc(secure, url):
    return {"security.protocol": "SASL_SSL", "ssl.ca.location": secure.tls / "ca.crt", "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "loader",
            "sasl.oauthbearer.client.secret": "{env: CLIENT_SECRET}", "sasl.oauthbearer.token.endpoint.url": url}


def check_secrets(rig, text, *secrets):
    files = [p for p in rig.folder.rglob("*") if p.is_file()]
    assert files
    for data in (text.encode(), *(p.read_bytes() for p in files)):
        assert not secrets_in(data, [s.encode() if isinstance(s, str) else s for s in secrets])


@pytest.mark.parametrize("listener", ["gssapi", "gssapis"])
def test_gssapi(rig, secure, listener):
    """The brokers get the ticket of saltmill's keytab or the user's ticket cache, and librdkafka runs no `kinit`."""
    configure(rig, listener, gssapi(secure.tls if listener == "gssapis" else None))
    done, out = rig.load(*keytab(secure, "alice"), "--json", env=environment(secure))
    assert len(rig.check()) >= N
    check_secrets(rig, done.stdout + done.stderr, *keys_of(secure.kdc.keytab("alice")))
    rig.state = rig.folder / "again"
    rig.load(env=environment(secure, secure.kdc.kinit("alice")))
    assert len(rig.check()) >= N


def test_the_user_of_the_ticket(rig, secure):
    """bob may not read the topic, and alice may, because she is a superuser."""
    configure(rig, "gssapi", gssapi(), "patience: 3s")
    secure.call("hide", "t", "bob")
    try:
        done, _ = rig.load(*keytab(secure, "bob"), env=environment(secure), status=1)
        assert "topic t" in done.stderr and "loaded" not in done.stdout, done.stderr
        rig.load(*keytab(secure, "alice"), env=environment(secure))
    finally:
        secure.call("show", "t", "bob")
    assert len(rig.check()) >= N


def test_refused_tickets(rig, secure):
    """Each message names what is missing. Nothing is published."""
    alice, kdc = keytab(secure, "alice"), secure.kdc
    ended = kdc.kinit("alice", "-l", "1s")
    time.sleep(2)
    for words, env, p, status, found in (
            ([], {}, {}, 2, "found no valid Kerberos ticket"),
            ([], {"KRB5CCNAME": f"FILE:{ended}"}, {}, 2, "run `kinit"),
            (["--principal", f"bob@{REALM}", *alice[2:]], {}, {}, 2, "the keytab has no key of this principal"),
            (["--principal", f"bob@{REALM}"], {"KRB5CCNAME": f"FILE:{kdc.kinit('alice')}"}, {}, 2, f"expected one of bob@{REALM}"),
            (alice, {}, {"sasl_kerberos_service_name": "other"}, 1, f"Server other/localhost@{REALM} not found in Kerberos database"),
            (alice, {"SASL_PATH": "/nonexistent"}, {}, 1, "install libsasl2-modules-gssapi-mit"),
            (alice, modern(), {}, 2, "use a librdkafka that was built with libsasl2")):
        configure(rig, "gssapi", gssapi(**p), "patience: 3s")
        done, out = rig.load(*words, env={**environment(secure), **env}, status=status)
        assert found in done.stderr, (found, done.stderr)
        assert not out.exists()


def test_oauth(rig, secure):
    """Both versions of librdkafka log in with a token without signature. They crash when such a token ends."""
    configure(rig, "oauth", oauth())
    for number, env in enumerate(({}, modern())):
        rig.state = rig.folder / f"state{number}"
        rig.load(env=env)
        assert len(rig.check()) >= N
    configure(rig, "oauth", oauth(sasl_oauthbearer_config="'principal=loader lifeSeconds=3'"))
    done, _ = rig.load(status=2)
    assert "leave lifeSeconds out" in done.stderr, done.stderr


def test_oidc(rig, secure):
    """librdkafka fetches a signed token. Neither the token nor the client's secret is printed or written."""
    with secure.signer.provider() as (url, asked):
        configure(rig, "oidc", {**oidc(secure, url), "debug": "all"})
        done, _ = rig.load(env={**modern(), "CLIENT_SECRET": CLIENT_SECRET})
        assert len(rig.check()) >= N and asked and asked[0][0].startswith("Basic ")
        check_secrets(rig, done.stdout + done.stderr, CLIENT_SECRET, *(token for _, _, token in asked))
        # Debian 12's librdkafka has no OIDC
        done, _ = rig.load(env={"CLIENT_SECRET": CLIENT_SECRET}, status=2)
        assert "use a librdkafka that was built with libcurl" in done.stderr and CLIENT_SECRET not in done.stderr, done.stderr


def test_refused_tokens(rig, secure):
    env = {**modern(), "CLIENT_SECRET": CLIENT_SECRET}
    for claims, found in (({"life": -5}, "Must supply an unexpired token"),
                          ({"status": 401}, "Failed to acquire SASL OAUTHBEARER token")):
        with secure.signer.provider(**claims) as (url, asked):
            configure(rig, "oidc", oidc(secure, url), "patience: 5s")
            done, out = rig.load(env=env, status=1)
        assert "refuse the connection" in done.stderr and found in done.stderr, (claims, done.stderr)
        assert not out.exists()
        check_secrets(rig, done.stdout + done.stderr, CLIENT_SECRET, *(token for _, _, token in asked))
    # a token without a signature
    configure(rig, "oidc", {**oauth(), "security.protocol": "SASL_SSL", "ssl.ca.location": secure.tls / "ca.crt"}, "patience: 5s")
    done, out = rig.load(status=1)
    assert "invalid_token" in done.stderr and not out.exists(), done.stderr
    configure(rig, "oauth", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"})
    done, out = rig.load(status=2)
    assert "expected `sasl.oauthbearer.method: oidc`" in done.stderr and not out.exists(), done.stderr


def stream_beyond(rig, secure, *words, env):
    """Streams until three lives of a login are over, and checks that each message is in one load."""
    process = rig.stream(*words, env=env)
    begin, sent = time.monotonic(), 0
    while time.monotonic() - begin < 3 * LIFE:
        secure.produce(rig.topic, [(0, None, value(sent))])
        sent += 1
        time.sleep(0.5)
    rig.wait_for(process, sent)
    out, err = rig.end(process)
    rig.check()
    return out + err


@pytest.mark.parametrize("how", ["gssapi", "oidc"])
def test_stream_outlives_its_login(rig, secure, how):
    """The broker closes a connection when its ticket or token has ended. The stream goes on with a new one."""
    rig.topic = f"long.{how}"
    secure.create(rig.topic, 1)
    if how == "gssapi":
        user = keytab(secure, "short")
        secure.kdc.shorten("short", LIFE)
        configure(rig, how, gssapi(), "roll: {time: 1s}")
        stream_beyond(rig, secure, *user, env=environment(secure))
        return
    with secure.signer.provider(life=LIFE) as (url, asked):
        configure(rig, how, oidc(secure, url), "roll: {time: 1s}")
        text = stream_beyond(rig, secure, env={**modern(), "CLIENT_SECRET": CLIENT_SECRET})
    assert len(asked) > 2
    check_secrets(rig, text, CLIENT_SECRET, *(token for _, _, token in asked))
