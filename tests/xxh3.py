"""Computes XXH3-128 with xxHash's own library, and changes manifests with the right digest."""

import ctypes
import json

ZEROS = "0" * 32


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3_128(data, seed=0):
    """Returns the digest in hexadecimal."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_128bits_withSeed
    xxh3.argtypes, xxh3.restype = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64], Hash128
    h = xxh3(data, len(data), seed)
    return f"{h.high:016x}{h.low:016x}"


def sealed(manifest):
    """Returns the text of a manifest (a dict). The digest covers all bytes of the text except the digest's own
    digits."""
    manifest["digests"]["manifest"] = ZEROS
    text = json.dumps(manifest, indent=2) + "\n"
    before, behind = text.rsplit(ZEROS, 1)
    return f"{before}{xxh3_128((before + behind).encode())}{behind}"


def edit_manifest(load, change):
    """Applies change(dict) to the manifest of a published load, as if saltmill had written it that way."""
    path = load / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(sealed(manifest))
