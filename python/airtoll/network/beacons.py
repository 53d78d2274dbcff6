"""Beacons and probe responses of captures: one network per BSS.

Takes capture files; gives drafts. Needs no key: beacons are not encrypted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Final, cast

from airtoll import _native
from airtoll.errors import CaptureError
from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import Element
from airtoll.network.model import Line, Pmf
from airtoll.network.radio import plain_phy
from airtoll.policies import Akm, Cipher
from airtoll.policies.suites import akm_of_selector, cipher_of_selector

if TYPE_CHECKING:
    from airtoll.border.answers import NetworkReport, OfferReport

FORMAT: Final = "beacons of a capture"
#: First octets of captures (pcap, in both orders and resolutions; pcapng) and of packed files.
_MAGIC: Final = (
    bytes.fromhex("d4c3b2a1"), bytes.fromhex("a1b2c3d4"), bytes.fromhex("4d3cb2a1"),
    bytes.fromhex("a1b23c4d"), bytes.fromhex("0a0d0d0a"), bytes.fromhex("28b52ffd"),
    bytes.fromhex("1f8b"),
)  # fmt: skip


def matches(first: bytes) -> bool:
    """Whether a file with these first octets is a capture, packed or not."""
    return first.startswith(_MAGIC)


def drafts(files: Sequence[str | PathLike[str]]) -> Iterator[Draft]:
    """One draft per BSS, in the order of the first frame. Raises ``CaptureError``."""
    names = [fspath(file) for file in files]
    try:
        found = _native.capture_networks(names)
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from error
    for one in found["networks"]:
        yield _draft(one, names[0] if len(names) == 1 else f"{len(names)} files")


def _draft(one: NetworkReport, source: str) -> Draft:
    draft = Draft(source, FORMAT, "heard")
    draft.ssid, draft.bssid = one["ssid"], one["bssid"]
    draft.country = one["country"]
    draft.width_mhz = one["width_mhz"]
    draft.beacon_interval_tu = one["beacon_interval_tu"]
    draft.signal_dbm, draft.stations = one["signal_dbm"], one["stations"]
    draft.basic_rates_mbps = tuple(one["basic_rates_mbps"])
    if one["frequency_mhz"] is not None:
        draft.at_frequency(one["frequency_mhz"])
    if one["at_6ghz"]:
        draft.band = "6"
    if one["channel"] is not None:
        draft.on_channel(one["channel"])
    draft.phy = one["phy"] or plain_phy(draft.band, tuple(one["rates_mbps"]))
    _secure(draft, one)
    draft.not_understood += [
        Line(0, f"element {name}", None, "not read", source) for name in one["other_elements"]
    ]
    return draft


def _secure(draft: Draft, one: NetworkReport) -> None:
    security = draft.security
    security.known = True
    elements: tuple[tuple[Element, str, OfferReport | None], ...] = (
        ("wpa", "WPA element", one["wpa"]),
        ("rsn", "RSN element", one["rsn"]),
        ("rsn", "RSNE Override", one["rsn_override"]),
        ("rsn", "RSNE Override 2", one["rsn_override_2"]),
    )
    for element, name, offer in elements:
        if offer is None:
            continue
        akms = [akm_of_selector(selector) for selector in offer["akms"]]
        security.strange_akms += [
            selector for selector, akm in zip(offer["akms"], akms, strict=True) if akm is None
        ]
        pairwise = [
            cipher for s in offer["pairwise"] if (cipher := cipher_of_selector(s)) is not None
        ]
        known = tuple(akm for akm in akms if akm is not None)
        security.offered.append(Offered(element, known, tuple(pairwise)))
        draft.understood.append(
            Line(0, name, ", ".join((*offer["akms"], *offer["pairwise"])), _words(known, pairwise))
        )
        if security.group is None and offer["group"] is not None:
            security.group = cipher_of_selector(offer["group"])
        if name in ("RSN element", "WPA element"):
            security.pmf = cast("Pmf", offer["pmf"])
    security.overriding = one["rsn_override"] is not None
    security.owe_transition = one["owe_transition"]
    if not security.offered and one["privacy"]:
        # The privacy bit alone tells WEP, without the length of its key.
        security.wep, security.wep_length_unknown = Cipher.WEP_104, True


def _words(akms: Sequence[Akm], pairwise: Sequence[Cipher]) -> str:
    return ", ".join((*akms, *pairwise)) or "suites that airtoll has no policy for"
