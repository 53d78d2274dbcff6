"""Networks that a radio hears: results of ``iw scan``, and captures of a monitor interface.

Takes a host and frequencies, a text or a capture; gives announcements. The text of iw is turned
back into the elements that it was printed from, so that one reader interprets the elements of all
receivers. Never joins a network.

The text is that of iw 5.19 (scan.c), with ``-u``, which also prints elements that iw does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from airtoll import _native
from airtoll.border.answers import AnnouncedBss
from airtoll.network.iw import KEY_MANAGEMENT
from airtoll.policies.suites import Akm
from airtoll.testbeds.lab.air import announced
from airtoll.testbeds.linux.hosts.host import Host, HostError

#: Scans of one channel take a tenth of a second, of all channels some seconds.
_LIMIT_S: Final = 60.0
#: Tries of a radio that is busy with another scan.
_TRIES: Final = 5
_IEEE: Final = bytes((0x00, 0x0F, 0xAC))
_WPA: Final = bytes((0x00, 0x50, 0xF2))
_WFA: Final = bytes((0x50, 0x6F, 0x9A))
#: Suites as iw prints them -> number behind the OUI; others it prints as ``00-0f-ac:24``.
_CIPHERS: Final = {
    "WEP-40": 1, "TKIP": 2, "CCMP": 4, "WEP-104": 5, "AES-128-CMAC": 6, "NO-GROUP": 7, "GCMP": 8,
}  # fmt: skip
_AKMS: Final = {word: Akm(name).suite_type for word, name in KEY_MANAGEMENT.items()}
_MFP: Final = {"MFP-required": 1 << 6, "MFP-capable": 1 << 7}
_OFFSETS: Final = {"no secondary": 0, "above": 1, "below": 3}
#: Octets of elements whose presence alone counts, by their titles.
_PRESENT: Final = {"HT capabilities": (45, 26), "VHT capabilities": (191, 12)}
_HE_CAPABILITIES: Final = 35


async def hear(
    host: Host, interface: str, frequencies_mhz: Sequence[int] = ()
) -> list[AnnouncedBss]:
    """Listen for beacons on these channels, or on all; results of earlier scans are dropped.

    Raises ``HostError`` where the radio cannot scan.
    """
    await host.run(["ip", "link", "set", interface, "up"])
    where = ["freq", *map(str, frequencies_mhz)] if frequencies_mhz else []
    command = ["iw", "dev", interface, "scan", "-u", *where, "flush", "passive"]
    for left in reversed(range(_TRIES)):
        done = await host.run(command, limit_s=_LIMIT_S, check=False)
        if done.status == 0:
            return parse_iw(done.stdout)
        if not left or "busy" not in done.stderr.lower():
            words = (done.stderr.strip() or "no message").splitlines()
            raise HostError(f"{host.name}: {interface} cannot scan: {words[-1]}")
        # Another scan of the driver or of NetworkManager is under way.
        await host.run(["sleep", "1"])
    return []


async def heard(host: Host, interface: str) -> list[AnnouncedBss]:
    """Results of earlier scans of a radio that another program drives."""
    return parse_iw((await host.run(["iw", "dev", interface, "scan", "dump", "-u"])).stdout)


def captured(files: Sequence[Path]) -> list[AnnouncedBss]:
    """The networks that captures of the air announce, by BSSID.

    Raises ``CaptureError`` where a file is no capture.
    """
    from airtoll.errors import CaptureError

    try:
        rows = _native.captured_networks(list(files))
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from error
    return [announced(*row) for row in rows]


def parse_iw(text: str) -> list[AnnouncedBss]:
    """The networks in a text of ``iw dev X scan`` or ``scan dump``."""
    found: list[AnnouncedBss] = []
    for part in re.split(r"^BSS ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        address = re.match(r"([0-9a-f]{2}(?::[0-9a-f]{2}){5})\b", head)
        if address is None:
            continue
        found.append(_network(address[1], body))
    return found


def _network(bssid: str, body: str) -> AnnouncedBss:
    def number(pattern: str) -> float | None:
        match = re.search(pattern, body, re.MULTILINE)
        return None if match is None else float(match[1])

    frequency = number(r"^\tfreq: (\d+)")
    capability = re.search(r"^\tcapability: .*\(0x([0-9a-f]+)\)", body, re.MULTILINE)
    return announced(
        bssid,
        0 if capability is None else int(capability[1], 16) & 0xFFFF,
        round(number(r"^\tbeacon interval: (\d+)") or 0),
        elements(body),
        None if frequency is None else round(frequency),
        number(r"^\tsignal: (-?[\d.]+) dBm"),
    )


def elements(body: str) -> bytes:
    """The elements that iw printed of a network, as on the air, as far as they are read here."""
    out = bytearray()
    for title, lines in _sections(body):
        out += _element(title, lines)
    return bytes(out)


def _sections(body: str) -> list[tuple[str, list[str]]]:
    """Title and lines of every element; what follows the colon is the first line."""
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("\t\t") and found:
            found[-1][1].append(line.strip())
        elif line.startswith("\t"):
            title, colon, rest = line.strip().partition(":")
            # "WFA 0x1c, data: ..." and "Vendor specific: OUI ..." keep their words.
            found.append((title, [rest.strip()] if colon else []))
    return found


def _element(title: str, lines: list[str]) -> bytes:
    first = lines[0] if lines else ""
    said = {key.strip(): value.strip() for key, _, value in
            (line.removeprefix("*").partition(":") for line in lines)}  # fmt: skip
    if title == "SSID":
        return _tlv(0, _unescaped(first))
    if title in ("Supported rates", "Extended supported rates"):
        return _tlv(1 if title == "Supported rates" else 50, _rates(first))
    if title == "DS Parameter set" and (match := re.search(r"channel (\d+)", first)):
        return _tlv(3, bytes((int(match[1]),)))
    if title == "TIM" and (match := re.search(r"DTIM Period (\d+)", first)):
        return _tlv(5, bytes((0, int(match[1]), 0, 0)))
    if title == "Country" and len(first) >= 2:
        return _tlv(7, first[:2].encode() + b" ")
    if title == "BSS Load" and "station count" in said:
        used = int(said.get("channel utilisation", "0/255").partition("/")[0])
        return _tlv(11, int(said["station count"]).to_bytes(2, "little") + bytes((used, 0, 0)))
    if title in ("RSN", "WPA"):
        return _security(title == "WPA", said)
    if title == "HT operation" and "primary channel" in said:
        second = _OFFSETS.get(said.get("secondary channel offset", ""), 0)
        second |= 4 if said.get("STA channel width") == "any" else 0
        return _tlv(61, bytes((int(said["primary channel"]), second)) + bytes(20))
    if title == "VHT operation" and "channel width" in said:
        centres = [int(said.get(f"center freq segment {one}", "0")) for one in (1, 2)]
        return _tlv(192, bytes((int(said["channel width"].split()[0]), *centres, 0, 0)))
    if title in _PRESENT:
        number, octets = _PRESENT[title]
        return _tlv(number, bytes(octets))
    if title == "HE capabilities":
        return _tlv(255, bytes((_HE_CAPABILITIES,)))
    if title == "WPS":
        return _tlv(221, _WPA + bytes((4,)))
    return _raw(title, first)


def _raw(title: str, first: str) -> bytes:
    """An element that iw does not know and printed octet by octet."""
    if match := re.fullmatch(r"Unknown IE \((\d+)\)", title):
        return _tlv(int(match[1]), _hex(first))
    if match := re.fullmatch(r"Unknown Extension ID \((\d+)\)", title):
        return _tlv(255, bytes((int(match[1]),)) + _hex(first))
    if match := re.fullmatch(r"WFA (0x[0-9a-f]+), data", title):
        return _tlv(221, _WFA + bytes((int(match[1], 16),)) + _hex(first))
    if title == "OWE Transition Mode":
        return _tlv(221, _WFA + bytes((0x1C,)))
    return b""


def _security(wpa: bool, said: dict[str, str]) -> bytes:
    oui = _WPA if wpa else _IEEE
    body = bytearray(b"\x01\x00")
    body += _suites([said["Group cipher"]], _CIPHERS, oui) if "Group cipher" in said else b""
    # Words are separated by a space, and names of key managements contain one.
    for key, names in (("Pairwise ciphers", _CIPHERS), ("Authentication suites", _AKMS)):
        if key in said:
            told = re.findall(r"(?:FT/)?IEEE 802\.1X(?:/\S+)?|\S+", said[key])
            body += len(told).to_bytes(2, "little") + _suites(told, names, oui)
    if "Capabilities" in said:
        # RSNs print the number behind the words; of MFP the words say enough.
        match = re.search(r"\(0x([0-9a-f]+)\)", said["Capabilities"])
        words = said["Capabilities"].split()
        bits = sum(bit for word, bit in _MFP.items() if word in words)
        body += (int(match[1], 16) if match else bits).to_bytes(2, "little")
        if "Group mgmt cipher suite" in said:
            body += b"\x00\x00" + _suites([said["Group mgmt cipher suite"]], _CIPHERS, oui)
    return _tlv(221, _WPA + b"\x01" + body) if wpa else _tlv(48, bytes(body))


def _suites(names: Sequence[str], numbers: dict[str, int], oui: bytes) -> bytes:
    out = bytearray()
    for name in names:
        if name in numbers:
            out += oui + bytes((numbers[name],))
        elif match := re.fullmatch(r"([0-9a-f]{2})-([0-9a-f]{2})-([0-9a-f]{2}):(\d+)", name):
            out += bytes(int(part, 16) for part in match.groups()[:3]) + bytes((int(match[4]),))
        else:
            out += bytes(4)
    return bytes(out)


def _rates(text: str) -> bytes:
    rates = re.findall(r"([\d.]+)(\*?)", text)
    return bytes(round(float(rate) * 2) & 0x7F | (0x80 if star else 0) for rate, star in rates)


def _unescaped(text: str) -> bytes:
    r"""A name as iw escapes it: octets that are not printable are ``\x00``."""
    octets = text.encode()
    return re.sub(rb"\\x([0-9a-f]{2})", lambda hit: bytes((int(hit[1], 16),)), octets)


def _hex(text: str) -> bytes:
    return bytes(int(word, 16) for word in re.findall(r"\b[0-9a-f]{2}\b", text))


def _tlv(number: int, body: bytes) -> bytes:
    return bytes((number, len(body[:255]))) + body[:255]
