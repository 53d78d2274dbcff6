"""AKM suites, cipher suites, EAP methods and tunnels: the tables of `airtoll-security`, typed.

Takes a name of the table; gives its facts. Never states a fact of its own: the native module does,
row by row.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from airtoll import _native

if TYPE_CHECKING:
    from airtoll.border.answers import AkmRow, CipherRow, EapRow


class _Name(str):
    """A name of one of the tables; it is equal to the plain string."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Akm(_Name):
    """An AKM suite, by its airtoll name (`sae`, `ft-psk`, `wpa-802.1x`)."""

    __slots__ = ()

    @property
    def selector(self) -> str:
        """OUI and suite type as hostapd prints them: ``00-0f-ac-8``."""
        return _akms()[self]["selector"]

    @property
    def suite_type(self) -> int:
        """The number behind the OUI (IEEE 802.11-2020 table 9-151)."""
        return _akms()[self]["suite_type"]

    @property
    def policy_word(self) -> str:
        """Its word in policy names (``ft-psk``); empty where no policy has it."""
        return _akms()[self]["policy_word"]

    @property
    def generations(self) -> tuple[str, ...]:
        """The generations whose policies may have it: wpa, wpa2, wpa3, owe."""
        return tuple(_akms()[self]["generations"])

    @property
    def authentication(self) -> str:
        """The 802.11 authentication algorithm of the first association: open, sae or ft."""
        return _akms()[self]["authentication"]

    @property
    def is_8021x(self) -> bool:
        """Whether 802.1X comes before the key handshake."""
        return _akms()[self]["is_8021x"]

    @property
    def is_psk(self) -> bool:
        """Whether the pre-shared key is the PMK."""
        return _akms()[self]["is_psk"]

    @property
    def is_sae(self) -> bool:
        """Whether the AKM authenticates with SAE."""
        return _akms()[self]["is_sae"]

    @property
    def uses_passphrase(self) -> bool:
        """Whether the user types a passphrase or a password of the network."""
        return self.is_psk or self.is_sae

    @property
    def is_ft(self) -> bool:
        """Whether the AKM uses the fast-transition key hierarchy."""
        return _akms()[self]["is_ft"]

    @property
    def is_192_bit(self) -> bool:
        """Whether the AKM belongs to WPA3-Enterprise's 192-bit mode."""
        return _akms()[self]["is_192_bit"]

    @property
    def requires_pmf(self) -> bool:
        """Whether protected management frames are mandatory."""
        return _akms()[self]["requires_pmf"]

    @property
    def requires_hash_to_element(self) -> bool:
        """Whether SAE must derive its password element by hash-to-element."""
        return _akms()[self]["requires_hash_to_element"]

    @property
    def has_forward_secrecy(self) -> bool:
        """Whether the AKM itself gives forward secrecy."""
        return _akms()[self]["has_forward_secrecy"]

    @property
    def caches_pmk(self) -> bool:
        """Whether both ends may keep the PMK for a later association."""
        return _akms()[self]["caches_pmk"]

    @property
    def is_draft(self) -> bool:
        """Whether no published standard has it, so that its frames are airtoll's assumption."""
        return _akms()[self]["is_draft"]


class EapMethod(_Name):
    """An EAP method, by its airtoll name (`tls`, `peap`)."""

    __slots__ = ()

    @property
    def number(self) -> int:
        """EAP method type (IANA)."""
        return _methods()[self]["number"]

    @property
    def gives_keys(self) -> bool:
        """Whether the method gives an MSK; such a method authenticates both ends."""
        return _methods()[self]["gives_keys"]

    @property
    def uses_tls(self) -> bool:
        """Whether the method runs TLS, which gives forward secrecy and sessions to resume."""
        return _methods()[self]["uses_tls"]

    @property
    def runs_tls13(self) -> bool:
        """Whether the method runs TLS 1.3 here."""
        return _methods()[self]["runs_tls13"]

    @property
    def uses_password(self) -> bool:
        """Whether the station has a password; without one it signs with its own key."""
        return _methods()[self]["uses_password"]

    @property
    def inner(self) -> str | None:
        """The authentication inside the TLS tunnel (`PAP`, `MSCHAPv2`)."""
        return _methods()[self]["inner"]


class Cipher(StrEnum):
    """A pairwise cipher suite of the link, by its airtoll name."""

    NONE = "open"
    WEP_40 = "wep-40"
    WEP_104 = "wep-104"
    TKIP = "tkip"
    CCMP_128 = "ccmp-128"
    CCMP_256 = "ccmp-256"
    GCMP_128 = "gcmp-128"
    GCMP_256 = "gcmp-256"

    @property
    def selector(self) -> str | None:
        """OUI and suite type in an RSNE, as hostapd prints them; None for ``open``."""
        return _ciphers()[self]["selector"]

    @property
    def wpa_selector(self) -> str | None:
        """The same in the element of WPA version 1; None for suites that it does not know."""
        return _ciphers()[self]["wpa_selector"]

    @property
    def mpdu_octets(self) -> int:
        """Octets added to each MPDU: the header and the ICV or MIC."""
        return _ciphers()[self]["mpdu_octets"]

    @property
    def msdu_octets(self) -> int:
        """Octets added to each MSDU before fragmentation: TKIP's Michael."""
        return _ciphers()[self]["msdu_octets"]

    @property
    def ht_allowed(self) -> bool:
        """Whether HT, VHT and HE rates may be used (802.11-2020 clause 12.2.4, 12.6.1.1.2)."""
        return _ciphers()[self]["permits_high_throughput"]


class ManagementCipher(StrEnum):
    """A group management cipher suite, by its airtoll name."""

    BIP_CMAC_128 = "bip-cmac-128"
    BIP_CMAC_256 = "bip-cmac-256"
    BIP_GMAC_128 = "bip-gmac-128"
    BIP_GMAC_256 = "bip-gmac-256"

    @property
    def selector(self) -> str:
        """OUI and suite type in an RSNE, as hostapd prints them."""
        return str(_ciphers()[self]["selector"])


@cache
def akm_of(word: str, generation: str, cipher: Cipher) -> Akm | None:
    """The AKM that a policy's word names in a generation (``wpa``, ``wpa2``, ``wpa3``, ``owe``).

    A suite that takes only this pairwise cipher goes before one that takes any.
    """
    rows = [
        row
        for row in _akms().values()
        if row["policy_word"] == word
        and generation in row["generations"]
        and row["pairwise"] in (None, cipher)
    ]
    rows.sort(key=lambda row: row["pairwise"] is None)
    return Akm(rows[0]["name"]) if rows else None


@cache
def akm_of_selector(selector: str) -> Akm | None:
    """The AKM of OUI and suite type as hostapd prints them; None where the table has none."""
    return next((akm for akm in akms() if akm.selector == selector), None)


@cache
def cipher_of_selector(selector: str) -> Cipher | None:
    """The cipher of OUI and suite type, of an RSN element or one of WPA version 1."""
    return next((c for c in Cipher if selector in (c.selector, c.wpa_selector)), None)


@cache
def akm_words(generation: str) -> tuple[str, ...]:
    """The words for AKMs in policy names of a generation, in the order of the table."""
    words = (row["policy_word"] for row in _akms().values() if generation in row["generations"])
    return tuple(dict.fromkeys(words))


@cache
def akms() -> tuple[Akm, ...]:
    """Every AKM suite, in the order of the table."""
    return tuple(map(Akm, _akms()))


@cache
def eap_methods() -> tuple[EapMethod, ...]:
    """Every EAP method, in the order of the table."""
    return tuple(map(EapMethod, _methods()))


@cache
def esp_suites() -> dict[tuple[str, str], str]:
    """(encryption, integrity) of each ESP transform -> its name in the table."""
    return {
        (row["encryption"], row["integrity"]): row["name"]
        for row in _native.tunnel_suites()
        if row["name"].startswith("esp-")
    }


@cache
def _akms() -> dict[str, AkmRow]:
    return {row["name"]: row for row in _native.akm_suites()}


@cache
def _methods() -> dict[str, EapRow]:
    return {row["name"]: row for row in _native.eap_methods()}


@cache
def _ciphers() -> dict[str, CipherRow]:
    return {row["name"]: row for row in _native.cipher_suites()}
