"""Access points and stations of a capture, as text and page list them.

Takes a report; gives rows, the busiest first. Missing is ``None``, never zero.
"""

from __future__ import annotations

from attrs import frozen

from airtoll.border.answers import Owned, StationSums
from airtoll.capture.reports import CaptureReport, by_kind

#: Protocol of a tunnel -> its name in text.
TUNNELS = {
    "ikev1": "IKEv1",
    "ikev2": "IKEv2",
    "wireguard": "WireGuard",
    "openvpn": "OpenVPN",
    "mobile-ip": "Mobile IP",
}


@frozen
class AccessPoint:
    """An access point: what it announces, and the frames of its BSS.

    ``security``: AKMs and ciphers; ``None``, as ``channel``, ``heard_mhz`` and ``pmf`` are, where
    no beacon or probe response was captured. ``retry_share`` is the share of frames with the retry
    bit.
    """

    bssid: str
    ssid: str | None
    channel: int | None
    heard_mhz: int | None
    security: tuple[str, ...] | None
    pmf: str | None
    frames: int
    retry_share: float | None


@frozen
class Station:
    """A station with its frames; rates are means of its data frames in Mb/s, airtime is in s."""

    address: str
    frames: int
    retry_share: float | None
    up_mbps: float | None
    down_mbps: float | None
    airtime_s: float


def access_points(report: CaptureReport) -> list[AccessPoint]:
    """Those that announce themselves, and those that only their frames show."""
    sums = {one["address"]: one for one in report.ledger["access_points"]}
    announced = {ap["bssid"] for ap in report.data["access_points"]}
    names = {session["bssid"]: session["ssid"] for session in report.sessions}
    rows = [
        AccessPoint(
            bssid=ap["bssid"],
            ssid=ap["ssid"],
            channel=ap["channel"],
            heard_mhz=ap["frequency_mhz"],
            security=(*ap["akms"], *ap["ciphers"]),
            pmf=ap["pmf"],
            frames=sums[ap["bssid"]]["frames"] if ap["bssid"] in sums else 0,
            retry_share=_retry_share(sums.get(ap["bssid"])),
        )
        for ap in report.data["access_points"]
    ]
    rows += [
        AccessPoint(
            bssid=address,
            ssid=names.get(address),
            channel=None,
            heard_mhz=None,
            security=None,
            pmf=None,
            frames=one["frames"],
            retry_share=_retry_share(one),
        )
        for address, one in sums.items()
        if address not in announced
    ]
    return sorted(rows, key=lambda row: -row.frames)


def stations(report: CaptureReport) -> list[Station]:
    """Every station of the ledger."""
    rows = [
        Station(
            address=one["address"],
            frames=one["frames"],
            retry_share=_retry_share(one),
            up_mbps=one["rate_up_mbps"],
            down_mbps=one["rate_down_mbps"],
            airtime_s=sum(by_kind(one["airtime_s"]).values()),
        )
        for one in report.ledger["stations"]
    ]
    return sorted(rows, key=lambda row: -row.frames)


def _retry_share(sums: Owned | StationSums | None) -> float | None:
    return None if sums is None or not sums["frames"] else sums["retries"] / sums["frames"]
