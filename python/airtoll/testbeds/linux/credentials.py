"""Keys, passwords and certificates of one run: made fresh, never reused.

Takes nothing but the system's randomness; gives a frozen :class:`Credentials` that can travel to
the machine that runs the trial. Never writes a file and never leaves a fixed key in a trial.

Two certificate chains: RSA-2048 with SHA-256 for ordinary EAP, P-384 with SHA-384 for the
192-bit mode (WPA3 specification 3.4, section 3.5).
"""

from __future__ import annotations

import datetime
import secrets
from typing import Any, Final

import attrs
from attrs import frozen

from airtoll.testbeds.linux.plain import read

USER: Final = "airtoll-user"
_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz23456789"


@frozen
class Chain:
    """One certificate authority with a server and a client certificate, PEM text."""

    authority: str
    server: str
    server_key: str
    client: str
    client_key: str


@frozen
class Credentials:
    """Everything secret in one run. WEP keys are 5 and 13 octets in hex."""

    ssid: str
    passphrase: str
    wep_40: str
    wep_104: str
    password: str
    radius_secret: str
    ike_secret: str
    rrb_key: str
    mobility_domain: str
    mobility_key: str
    rsa: Chain
    p384: Chain

    def wep(self, bits: int) -> str:
        """The WEP key of 40 or 104 bits, hex."""
        return self.wep_40 if bits == 40 else self.wep_104

    def to_json(self) -> dict[str, object]:
        """Plain values, for the way to another machine."""
        return attrs.asdict(self)

    @staticmethod
    def from_json(data: object) -> Credentials:
        """The credentials of :meth:`to_json`; raises ``TestbedError`` naming a wrong field."""
        return read(Credentials, data)


def fresh() -> Credentials:
    """New credentials. Needs the ``cryptography`` package (with airtoll[linux])."""
    return Credentials(
        ssid="airtoll-" + _word(6),
        passphrase=_word(20),
        wep_40=secrets.token_hex(5),
        wep_104=secrets.token_hex(13),
        password=_word(16),
        radius_secret=_word(24),
        ike_secret=_word(32),
        rrb_key=secrets.token_hex(32),
        mobility_domain=secrets.token_hex(2),
        mobility_key=secrets.token_hex(16),
        rsa=_chain(elliptic=False),
        p384=_chain(elliptic=True),
    )


def _word(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _chain(*, elliptic: bool) -> Chain:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def key() -> Any:
        if elliptic:
            return ec.generate_private_key(ec.SECP384R1())
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def pem(private: Any) -> str:
        return private.private_bytes(  # type: ignore[no-any-return]
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()

    digest = hashes.SHA384() if elliptic else hashes.SHA256()
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    # The guest's clock may be anything: a wide validity keeps a trial from failing by the date.
    end = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)
    root_key = key()
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "airtoll run authority")])

    def certificate(name: str, private: Any, usage: Any) -> str:
        own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = (
            x509.CertificateBuilder()
            .subject_name(own if usage else root_name)
            .issuer_name(root_name)
            .public_key(private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=usage is None, path_length=None), True)
        )
        if usage:
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
            builder = builder.add_extension(
                x509.SubjectAlternativeName([x509.DNSName(name)]), False
            )
        signed = builder.sign(root_key, digest)
        return signed.public_bytes(serialization.Encoding.PEM).decode()

    server_key, client_key = key(), key()
    return Chain(
        authority=certificate("authority", root_key, None),
        server=certificate("radius.airtoll.test", server_key, ExtendedKeyUsageOID.SERVER_AUTH),
        server_key=pem(server_key),
        client=certificate(USER, client_key, ExtendedKeyUsageOID.CLIENT_AUTH),
        client_key=pem(client_key),
    )
