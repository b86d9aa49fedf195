"""Signs tokens of OAUTHBEARER with openssl, and serves them like an OpenID provider.

    signer = Signer(folder)                 # writes folder/jwks.json, with which the broker checks the tokens
    with signer.provider(claims) as (url, asked):
        ...                                 # POST url gives {"access_token": ...}; `asked` has the requests
"""

import base64
import contextlib
import http.server
import json
import pathlib
import subprocess
import threading
import time


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    def __init__(self, folder):
        self.key = pathlib.Path(folder) / "jwt.key"
        subprocess.run(["openssl", "genrsa", "-out", self.key, "2048"], check=True, capture_output=True)
        text = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], check=True, capture_output=True, text=True).stdout
        modulus = bytes.fromhex(text.strip().split("=")[1])
        (pathlib.Path(folder) / "jwks.json").write_text(json.dumps({"keys": [
            {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": url64(modulus), "e": url64(b"\1\0\1")}]}))

    def token(self, life=3600, **claims):
        """Returns a token that is valid for `life` seconds."""
        now = int(time.time())
        body = {"sub": "loader", "scope": "read", "iat": min(now, now + life - 1), "exp": now + life, **claims}
        text = ".".join(url64(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT", "kid": "1"}, body))
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=text.encode(), check=True, capture_output=True)
        return f"{text}.{url64(signature.stdout)}"

    @contextlib.contextmanager
    def provider(self, status=200, **claims):
        """Gives a new token for each request. Yields the URL, and the list of (Authorization, body, token)."""
        signer, asked = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                token = signer.token(**claims)
                asked.append((self.headers.get("Authorization"), body.decode(), token))
                answer = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
                if status != 200:
                    answer = {"error": "invalid_client", "error_description": "unknown client"}
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/token", asked
        finally:
            server.shutdown()
            server.server_close()
