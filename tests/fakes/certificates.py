"""Certificates for names of this machine: one that signs itself, and those of an authority, sound or not."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def certificate_for(name: str, folder: Path) -> Path:
    """A file with a key and its certificate, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _written(folder / f"{name}.pem", key, _certificate(name, key, name, key, is_authority=True))


class Authority:
    """Signs what it is asked to, in a folder. `file` is what trusts it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = _certificate("authority", self._key, "authority", self._key, is_authority=True)
        self.file = folder / "authority.pem"
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def certificate(
        self, name: str, *, begins: timedelta = -DAY, ends: timedelta = DAY, also_for: tuple[str, ...] = ()
    ) -> Path:
        """A file with a key and a certificate that is valid from and until so long from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(
            name, key, "authority", self._key, is_authority=False, begins=begins, ends=ends, also_for=also_for
        )
        return _written(self._folder / f"{name}.pem", key, made)


def server_side(file: Path) -> ssl.SSLContext:
    """What a server with this certificate speaks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuers_key: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
    begins: timedelta = -DAY,
    ends: timedelta = DAY,
    also_for: tuple[str, ...] = (),
) -> x509.Certificate:
    now = datetime.now(UTC)
    names = [x509.DNSName(one) for one in (name, *also_for)]
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(issuers_key, hashes.SHA256())
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _written(file: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Path:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return file
