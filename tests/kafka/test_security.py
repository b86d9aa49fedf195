"""Tests TLS, SASL and client certificates on a real broker. Refused connections end soon, and saltmill never prints secrets."""

import json
import os
import subprocess

import pytest

from cluster import CACHE, HANG_SECONDS, hear
from rig import Rig, value
from secure import KEY_PASSWORD, PASSWORD, USER
from topics_rig import Topics

N = 1000
WRONG = "Wr0ng-passw0rd"
ENV = {"LOADER_PASSWORD": PASSWORD, "KEY_PASSWORD": KEY_PASSWORD, "WRONG": WRONG}
SECRETS = (PASSWORD, KEY_PASSWORD, WRONG)


@pytest.fixture
def rig(saltmill, secure, tmp_path):
    return Rig(saltmill, secure, tmp_path / "rig", "t")


def modern():
    """Finds a librdkafka whose SCRAM current brokers accept. The librdkafka of Debian 12 is too old."""
    folder = CACHE / "rdkafka"
    if not (folder / "librdkafka.so.1").exists():
        pytest.fail(f"no librdkafka in {folder}: run `make deps` (tests/deps.sh test)")
    return {"LD_LIBRARY_PATH": str(folder)}


def properties(secure, protocol, mechanism=None, password="{env: LOADER_PASSWORD}", ca="ca", user=USER, **more):
    p = {"security.protocol": protocol}
    if mechanism:
        p |= {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    if "SSL" in protocol:
        p["ssl.ca.location"] = secure.tls / f"{ca}.crt"
    return p | {k.replace("_", "."): v for k, v in more.items()}


def configure(rig, listener, p, more=""):
    """Makes the job for this listener."""
    text = ", ".join(f"{k}: {v}" for k, v in p.items())
    rig.configure(f"start: earliest\n    {more}\n    properties: {{{text}}}")
    rig.job.write_text(rig.job.read_text().replace(rig.kafka.brokers, rig.kafka.listeners.get(listener, listener)))


def certificate(secure, name="client", key="client.locked"):
    return {"ssl_certificate_location": secure.tls / f"{name}.crt", "ssl_key_location": secure.tls / f"{key}.key",
            **({"ssl_key_password": "{env: KEY_PASSWORD}"} if "locked" in key else {})}


def no_secret_in(rig, *done):
    """Checks that the secret is neither printed nor written."""
    text = "".join(d.stdout + d.stderr for d in done)
    files = [p for p in rig.folder.rglob("*") if p.is_file() and "secret" not in p.name]
    assert files
    for s in SECRETS:
        assert s not in text
        for p in files:
            assert s.encode() not in p.read_bytes(), p


def check_load(rig, env, *more):
    done, out = rig.load(*more, env={**ENV, **env})
    assert len(rig.check()) == N
    rig.run("verify", out)
    no_secret_in(rig, done)
    return done


def topic_id(rig):
    """Returns data that the state recorded from the broker over the secured connection."""
    return json.loads((rig.state / "topic.json").read_text()).get("id")


def test_plain(rig, secure):
    configure(rig, "plain", properties(secure, "SASL_PLAINTEXT", "PLAIN"))
    check_load(rig, {})
    assert topic_id(rig) == secure.call("id", "t")[0]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_over_tls(rig, secure, mechanism):
    configure(rig, "scram", properties(secure, "SASL_SSL", mechanism))
    check_load(rig, modern())


def test_client_certificate(rig, secure):
    configure(rig, "tls", properties(secure, "SSL", **certificate(secure)))
    done = check_load(rig, {}, "--json")
    assert json.loads(done.stdout)["read"] == N
    assert topic_id(rig) == secure.call("id", "t")[0]


def test_certificate_and_password_from_files(rig, secure):
    """PEM text comes from files, as with mounted secrets. The client's key is in no file of the load."""
    (rig.folder / "secret-user").write_text(USER + "\n")
    (rig.folder / "secret-password").write_text(PASSWORD + "\r\n")
    p = properties(secure, "SASL_SSL", "SCRAM-SHA-512", password="{file: secret-password}",
                   user="{file: secret-user}")
    configure(rig, "scram", p)
    check_load(rig, modern())
    p = properties(secure, "SSL", ssl_certificate_pem=f"{{file: {secure.tls}/client.crt}}",
                   ssl_key_pem=f"{{file: {secure.tls}/client.key}}")
    configure(rig, "tls", p)
    rig.state = rig.folder / "again"
    check_load(rig, {})


@pytest.mark.parametrize("listener", ["scram", "plain", "tls"])
def test_debug_shows_no_secret(rig, secure, listener):
    """The run shows all output of librdkafka. The test also checks the system's view of the process."""
    p = {"scram": lambda: properties(secure, "SASL_SSL", "SCRAM-SHA-256", user="{env: LOADER_PASSWORD}"),
         "plain": lambda: properties(secure, "SASL_PLAINTEXT", "PLAIN"),
         "tls": lambda: properties(secure, "SSL", **certificate(secure))}[listener]()
    configure(rig, listener, {**p, "debug": "all"}, "patience: 3s")
    env = {**os.environ, **ENV, "SALTMILL_CRASH_AT": ""}
    process = subprocess.Popen([rig.saltmill, "load", rig.job, "-o", rig.folder / "out", "--state", rig.state],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    words = open(f"/proc/{process.pid}/cmdline").read()
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert "librdkafka: " in err and "sasl" in err if listener != "tls" else "SSL" in err
    no_secret_in(rig, subprocess.CompletedProcess([], 0, out + words, err))


@pytest.fixture(params=["system", "modern"])
def library(request):
    return modern() if request.param == "modern" else {}


REFUSED = {
    "wrong password": ("plain", "SASL_PLAINTEXT", {"mechanism": "PLAIN", "password": "{env: WRONG}"},
                       "Authentication failed"),
    "wrong password, SCRAM": ("scram", "SASL_SSL", {"mechanism": "SCRAM-SHA-256", "password": "{env: WRONG}"},
                              "invalid credentials"),
    "unknown user": ("scram", "SASL_SSL", {"mechanism": "SCRAM-SHA-512", "user": "nobody"},
                     "invalid credentials"),
    "another mechanism": ("plain", "SASL_PLAINTEXT", {"mechanism": "SCRAM-SHA-512"}, "mechanisms: PLAIN"),
    "wrong authority": ("scram", "SASL_SSL", {"mechanism": "SCRAM-SHA-512", "ca": "other"},
                        "certificate verify failed"),
    "no client certificate": ("tls", "SSL", {}, "certificate"),
    "no TLS": ("tls", "PLAINTEXT", {}, "Disconnected"),
    "no login": ("plain", "PLAINTEXT", {}, "Disconnected"),
    "TLS to a plain port": (None, "SSL", {}, "SSL"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(rig, secure, library, case):
    """The load ends soon with the broker's error, and publishes nothing."""
    listener, protocol, how, word = REFUSED[case]
    configure(rig, listener or secure.brokers, properties(secure, protocol, **how))
    done, out = rig.load(status=1, env={**ENV, **library})  # in less than the 300 s for which it waits for brokers
    last = done.stderr.splitlines()[-1]
    assert "refuse the connection" in last and word in last
    assert not out.exists() and rig.loads() == []
    no_secret_in(rig, done)


def test_stranger(rig, secure, library):
    """The client certificate is from an authority that the broker does not know."""
    configure(rig, "tls", properties(secure, "SSL", **certificate(secure, "stranger", "stranger")))
    done, out = rig.load(status=1, env={**ENV, **library})
    assert "refuse the connection: " in done.stderr and "alert" in done.stderr
    assert not out.exists()


def test_old_scram_is_explained(rig, secure):
    """If librdkafka is too old for the brokers, they report wrong credentials."""
    version = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
    configure(rig, "scram", properties(secure, "SASL_SSL", "SCRAM-SHA-256"))
    if "librdkafka 2.0" in version:
        done, _ = rig.load(status=1, env=ENV)
        assert "use librdkafka 2.6.1 or later" in done.stderr
    done, _ = rig.load(status=1, env={**ENV, **modern(), "LOADER_PASSWORD": WRONG})
    assert "2.6.1" not in done.stderr


@pytest.mark.parametrize("p,word", [
    ({"ssl_key_password": "{env: WRONG}"}, "ssl.key.location"),
    ({"ssl_ca_location": "/nowhere/ca.crt"}, "ssl.ca.location"),
    ({"ssl_key_password": "{env: UNSET}"}, "found no environment variable UNSET"),
    ({"ssl_key_password": "{file: nowhere}"}, "nowhere"),
], ids=["key", "authority", "environment", "file"])
def test_wrong_usage(rig, secure, p, word):
    configure(rig, "tls", properties(secure, "SSL", **{**certificate(secure), **p}))
    done, out = rig.load(status=2, env=ENV)
    assert word in done.stderr and f"{rig.job}:" in done.stderr
    assert not out.exists()
    no_secret_in(rig, done)


def test_broker_comes_back(rig, secure):
    """A stream with TLS survives its broker's restart. After the start, a failed handshake does not count as a
    refusal."""
    configure(rig, "tls", properties(secure, "SSL", **certificate(secure)), "roll: {time: 1s}")
    process = rig.stream(env=ENV)
    process.stdout.readline()
    secure.stop()
    said = hear(process, "no broker answers at")
    secure.start()
    secure.produce("t", [(0, None, value(1))])
    rig.wait_for(process, N + 1)
    out, err = rig.end(process)
    rig.check()
    no_secret_in(rig, subprocess.CompletedProcess([], 0, out, said + err))


def test_a_topic_that_may_not_be_seen(saltmill, secure, tmp_path):
    """Brokers omit a topic of a pattern from their lists if the user may not read the topic. The stream reports the
    topic as not readable instead of deleted."""
    names = ["seen.a", "seen.b"]
    login = ", ".join(f"{k}: {v}" for k, v in properties(secure, "SASL_PLAINTEXT", "PLAIN").items())
    rig = Topics(saltmill, secure, tmp_path / "rig", names, (1, 1), key="pattern: 'seen[.].*'",
                 more=f"start: earliest\n    properties: {{{login}}}")
    rig.job.write_text(rig.job.read_text().replace(secure.brokers, secure.listeners["plain"]))
    for round in range(3):
        for name in names:
            secure.produce(name, [(0, None, value(round * 10 + i)) for i in range(10)])
        if round == 1:
            secure.call("hide", "seen.b", USER)
        if round == 2:
            secure.call("show", "seen.b", USER)
        done, _ = rig.load(env=ENV)
        kept = "the brokers deny access to topic seen.b" in done.stderr
        assert kept == (round == 1) and "no longer exists" not in done.stderr, done.stderr
        assert rig.positions() == {("seen.a", 0): 10 * round + 10, ("seen.b", 0): (10, 10, 30)[round]}
    rig.check()
    secure.call("delete", "seen.b")
    done, _ = rig.load(env=ENV)
    assert "topic seen.b no longer exists" in done.stderr and "not readable" not in done.stderr
