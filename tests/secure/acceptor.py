"""A server that proves its identity to a Kerberos client, and then breaks the rules. It calls libgssapi_krb5 by ctypes.

The key is that of KRB5_KTNAME.
"""

import contextlib
import ctypes
import socketserver
import struct

GSS = ctypes.CDLL("libgssapi_krb5.so.2")


class Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]

    def bytes(self):
        return ctypes.string_at(self.value, self.length) if self.length else b""


def buffer(data):
    kept = ctypes.create_string_buffer(data, len(data))
    made = Buffer(len(data), ctypes.cast(kept, ctypes.c_void_p))
    made.kept = kept
    return made


class Context:
    """An accepted login. The first token of the client is enough."""

    def __init__(self, token):
        self.handle, minor, out = ctypes.c_void_p(), ctypes.c_uint32(), Buffer()
        status = GSS.gss_accept_sec_context(
            ctypes.byref(minor), ctypes.byref(self.handle), None, ctypes.byref(buffer(token)), None, None, None, ctypes.byref(out),
            None, None, None)
        assert status == 0, (hex(status), minor.value)
        self.answer = out.bytes()

    def wrap(self, data, sealed):
        minor, out = ctypes.c_uint32(), Buffer()
        status = GSS.gss_wrap(ctypes.byref(minor), self.handle, int(sealed), ctypes.c_uint32(0), ctypes.byref(buffer(data)), None,
                              ctypes.byref(out))
        assert status == 0, hex(status)
        return out.bytes()


def exactly(sock, n):
    data = b""
    while len(data) < n:
        part = sock.recv(n - len(data))
        if not part:
            raise OSError("closed")
        data += part
    return data


def piece(sock):
    return exactly(sock, struct.unpack(">I", exactly(sock, 4))[0])


def accepting(offer, answer):
    """Returns a server that offers these protections (SASL's bits), and sends answer(context) after the client's first
    protected piece."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                exactly(self.request, 6)
                context = Context(piece(self.request))
                self.request.sendall(struct.pack(">II", 0, len(context.answer)) + context.answer)
                piece(self.request)
                wrapped = context.wrap(bytes([offer, 1, 0, 0]), False)
                self.request.sendall(struct.pack(">II", 0, len(wrapped)) + wrapped)
                piece(self.request)
                self.server.chosen += 1
                piece(self.request)
                self.request.sendall(answer(context))
                self.request.recv(1)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = allow_reuse_address = True

    server = Server(("127.0.0.1", 0), Handler)
    server.chosen = 0
    return server
