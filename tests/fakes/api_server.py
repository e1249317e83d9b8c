"""What can go wrong at an API server, one call at a time, and certificates for one that speaks TLS."""

import ipaddress
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scripts.cluster_server import Call, Handler, status

type Fault = Callable[[Handler, Call], bool]  # answers and says so, or leaves the call to others


class Faulty(Handler):
    """A server on which each call passes the faults first."""

    faults: list[Fault]
    ended: threading.Event

    def respond(self, call: Call) -> None:
        if not any(fault(self, call) for fault in list(self.faults)):
            super().respond(call)


def faulty() -> type[Faulty]:
    """A handler class with a list of faults of its own."""
    return type("OwnFaulty", (Faulty,), {"faults": [], "ended": threading.Event()})


def refuses(code: int, path: str, times: int | None = None) -> Fault:
    """Answers this code on paths that start so; `times` times, or always."""
    left = [times]

    def fault(handler: Handler, call: Call) -> bool:
        if not call.path.startswith(path) or left[0] == 0:
            return False
        left[0] = None if left[0] is None else left[0] - 1
        handler.send(code, status(code))
        return True

    return fault


def gone_at(token: str, path: str, times: int | None = None) -> Fault:
    """410 for the page of this token."""
    refused = refuses(410, path, times)
    return lambda handler, call: call.query.get("continue") == token and refused(handler, call)


def wants(authorization: str) -> Fault:
    """401 for whoever sends something else."""

    def fault(handler: Handler, call: Call) -> bool:
        if call.authorization == authorization:
            return False
        handler.send(401, status(401))
        return True

    return fault


def drips(path: str, *, in_headers: bool) -> Fault:
    """A byte every 20 ms, so that no timeout of a single read is ever reached."""

    def fault(handler: Handler, call: Call) -> bool:
        if call.path != path:
            return False
        handler.close_connection = True
        start = b"HTTP/1.1 200 OK\r\nX-Slow: " if in_headers else b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        try:
            handler.wfile.write(start)
            while not handler.ended.wait(0.02):  # type: ignore[attr-defined]
                handler.wfile.write(b" ")
        except OSError:
            handler.ended.set()  # type: ignore[attr-defined]
        return True

    return fault


def says(body: bytes, path: str) -> Fault:
    """This body, whatever was asked."""

    def fault(handler: Handler, call: Call) -> bool:
        if call.path == path:
            handler.send(200, body)
        return call.path == path

    return fault


def breaks_off(path: str) -> Fault:
    """Half an answer, then the connection's end."""

    def fault(handler: Handler, call: Call) -> bool:
        if call.path != path:
            return False
        handler.close_connection = True
        handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"items": [')
        return True

    return fault


def hangs_up(path: str, times: int) -> Fault:
    """The connection's end, without an answer: what becomes of one that was kept for too long."""
    left = [times]

    def fault(handler: Handler, call: Call) -> bool:
        if call.path != path or left[0] == 0:
            return False
        left[0] -= 1
        handler.close_connection = True
        return True

    return fault


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that signs itself: its file, and a server's context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "made up")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file, key_file = folder / "ca.pem", folder / "key.pem"
    file.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    return file, context
