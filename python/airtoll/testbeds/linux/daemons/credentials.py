"""Keys, passwords and certificates of one run: made fresh, never reused.

Takes nothing but the system's randomness; gives a frozen :class:`Credentials` that can travel to
the machine that runs the trial. Never writes a file and never leaves a fixed key in a trial.

Certificates of EAP are chains of one algorithm with an issuing authority, as ``join.chain`` names
them; those of DNS over TLS have none.
"""

from __future__ import annotations

import datetime
import secrets
from typing import Any, Final

import attrs
from attrs import frozen

from airtoll.policies import Akm
from airtoll.testbeds.linux.hosts.plain import read

USER: Final = "airtoll-user"
#: Algorithms of certificates that the daemons of this testbed take, by their names in a study.
ALGORITHMS: Final = ("rsa2048", "rsa3072", "p256", "p384")
#: The 192-bit mode (WPA3 specification 3.4, section 3.5) has longer keys in their places.
_OF_192_BIT: Final = {"rsa2048": "rsa3072", "p256": "p384"}
_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz23456789"


@frozen
class Chain:
    """One certificate authority with a server and a client certificate, PEM text.

    An issuing authority between them follows each of the two.
    """

    authority: str
    server: str
    server_key: str
    client: str
    client_key: str


@frozen
class Credentials:
    """Everything secret in one run. WEP keys are 5 and 13 octets in hex.

    ``eap``: chains of EAP by algorithm.
    """

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
    eap: dict[str, Chain]
    dns: Chain

    def chain(self, algorithm: str, akm: Akm | None) -> Chain:
        """The chain of EAP for an algorithm of `ALGORITHMS` under an AKM."""
        longer = _OF_192_BIT if akm is not None and akm.is_192_bit else {}
        return self.eap[longer.get(algorithm, algorithm)]

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
        eap={algorithm: _chain(algorithm, issuing=True) for algorithm in ALGORITHMS},
        dns=_chain("p384", issuing=False),
    )


def _word(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _chain(algorithm: str, *, issuing: bool) -> Chain:
    """Certificates whose keys are of one algorithm, a name of `ALGORITHMS`."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    curve = {"p256": ec.SECP256R1, "p384": ec.SECP384R1}.get(algorithm)

    def key() -> Any:
        if curve is not None:
            return ec.generate_private_key(curve())
        size = int(algorithm.removeprefix("rsa"))
        return rsa.generate_private_key(public_exponent=65537, key_size=size)

    def pem(private: Any) -> str:
        return private.private_bytes(  # type: ignore[no-any-return]
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()

    def named(text: str) -> Any:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    digest = hashes.SHA384() if algorithm in ("rsa3072", "p384") else hashes.SHA256()
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    # The guest's clock may be anything: a wide validity keeps a trial from failing by the date.
    end = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)

    def certificate(name: str, private: Any, usage: Any, by: str, by_key: Any) -> str:
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(by))
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
        signed = builder.sign(by_key, digest)
        return signed.public_bytes(serialization.Encoding.PEM).decode()

    root, root_key = "airtoll run authority", key()
    signer, signer_key, between = root, root_key, ""
    if issuing:
        signer, signer_key = "airtoll run issuing authority", key()
        between = certificate(signer, signer_key, None, root, root_key)
    server, client = "radius.airtoll.test", USER
    server_key, client_key = key(), key()
    roles = ExtendedKeyUsageOID
    return Chain(
        authority=certificate(root, root_key, None, root, root_key),
        server=certificate(server, server_key, roles.SERVER_AUTH, signer, signer_key) + between,
        server_key=pem(server_key),
        client=certificate(client, client_key, roles.CLIENT_AUTH, signer, signer_key) + between,
        client_key=pem(client_key),
    )
