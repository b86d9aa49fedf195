"""Looks for delegation tokens, and for keys of a keytab."""

import base64
import pathlib
import re


def secrets_in(text, keys):
    """Returns what looks like a delegation token (Token.encodeToUrlString), or like a key of the keytab."""
    found = [k for k in keys if k in text or k.hex().encode() in text or base64.b64encode(k) in text]
    found += re.findall(rb"delegation=[^ &\"]{8,}", text)
    for word in re.findall(rb"[A-Za-z0-9_-]{60,}", text):
        whole = word[:-1] if len(word) % 4 == 1 else word
        raw = base64.urlsafe_b64decode(whole + b"=" * (-len(whole) % 4))
        if b"DELEGATION_TOKEN" in raw or b"WEBHDFS delegation" in raw:
            found.append(word)
    return found


def keys_of(keytab):
    """Returns the keys of a keytab of format 0x502: its entries end with the key, and the number of its version."""
    data, at, keys = pathlib.Path(keytab).read_bytes(), 2, []
    while at < len(data):
        n = int.from_bytes(data[at:at + 4], "big", signed=True)
        at += 4
        if n > 0:
            keys.append(data[at:at + n][-36:-4])  # 32 bytes of AES256, then the 4 bytes of the version
        at += abs(n)
    return keys
