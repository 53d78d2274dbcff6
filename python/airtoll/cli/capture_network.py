"""The networks of a capture in text: access points, stations, tunnels, RADIUS and DHCP.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; prints tables on stdout. A table without
rows is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from airtoll.border.answers import Owned, SessionReport, StationSums
from airtoll.capture.reports import CaptureReport, by_kind
from airtoll.cli.columns import columns, say
from airtoll.observe.spreadsheet import printable

#: Rows of a table; the busiest come first.
_SHOWN = 15
_TUNNELS = {
    "ikev1": "IKEv1",
    "ikev2": "IKEv2",
    "wireguard": "WireGuard",
    "openvpn": "OpenVPN",
    "mobile-ip": "Mobile IP",
}


def set_up(sessions: list[SessionReport]) -> None:
    """Tunnels, RADIUS and DHCP of the sessions."""
    _table(
        "Tunnels and bindings that were set up",
        ("station", "AP", "protocol", "messages", "after s", "ms"),
        [
            (
                session["station"],
                session["bssid"],
                _TUNNELS[tunnel["protocol"]],
                str(tunnel["messages"]),
                f"{tunnel['at_s']:.3f}",
                f"{1000 * tunnel['duration_s']:.2f}",
            )
            for session in sessions
            for tunnel in session["tunnels"]
        ],
        right=range(3, 6),
    )
    _table(
        "RADIUS",
        ("station", "AP", "EAP", "packets", "ms at the server", "ms of waiting for it", "outcome"),
        [
            (
                session["station"],
                session["bssid"],
                session["eap_method"] or "?",
                str(session["messages"]["radius"]),
                _ms(session["eap_time_at_server_s"]),
                _ms(session["waits_s"]["server"]),
                session["outcome"],
            )
            for session in sessions
            if "radius" in session["messages"]
        ],
        right=range(3, 6),
    )
    _table(
        "DHCP messages",
        ("station", "AP", "discover", "offer", "request", "ack", "nak", "decline", "address ms"),
        [
            (
                session["station"],
                session["bssid"],
                str(tries["discover"]),
                str(tries["offer"]),
                str(tries["request"]),
                str(tries["ack"]),
                str(tries["nak"]),
                str(tries["decline"]),
                _ms(session["time_to_answer_s"]),
            )
            for session in sessions
            if (tries := session["dhcp"]) is not None
        ],
        right=range(2, 9),
    )


def access_points(report: CaptureReport) -> None:
    """Networks with their channels and security, and the frames of each."""
    sums = {one["address"]: one for one in report.ledger["access_points"]}
    rows = []
    for ap in report.data["access_points"]:
        own = sums.get(ap["bssid"])
        channel = "?" if ap["channel"] is None else str(ap["channel"])
        security = "/".join(part for part in (*ap["akms"], *ap["ciphers"]) if part)
        frames, retries = _frames(own)
        rows.append(
            (
                own["frames"] if own else 0,
                (
                    ap["bssid"],
                    printable(ap["ssid"] or "?"),
                    channel,
                    "?" if ap["frequency_mhz"] is None else str(ap["frequency_mhz"]),
                    security,
                    ap["pmf"],
                    frames,
                    retries,
                ),
            )
        )
    head = ("AP", "network", "channel", "heard at MHz", "security", "PMF", "frames", "retries")
    rows.sort(key=lambda row: -row[0])
    _table("Access points", head, [row for _, row in rows], right=range(6, 8))


def stations(report: CaptureReport) -> None:
    """Frames, retries and rates of each station."""
    busiest = sorted(report.ledger["stations"], key=lambda one: -one["frames"])
    head = ("station", "frames", "retries", "Mb/s up", "Mb/s down", "airtime s")
    _table(
        "Stations (rates are means of their data frames)",
        head,
        [
            (
                one["address"],
                *_frames(one),
                _rate(one["rate_up_mbps"]),
                _rate(one["rate_down_mbps"]),
                f"{sum(by_kind(one['airtime_s']).values()):.6f}",
            )
            for one in busiest
        ],
        right=range(1, 6),
    )


def _frames(sums: Owned | StationSums | None) -> tuple[str, str]:
    """Frames, and the share of those with the retry bit."""
    if sums is None or not sums["frames"]:
        return "0", "-"
    return str(sums["frames"]), f"{100 * sums['retries'] / sums['frames']:.1f} %"


def _rate(mbps: float | None) -> str:
    return "-" if mbps is None else f"{mbps:.1f}"


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.2f}"


def _table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: range
) -> None:
    if not rows:
        return
    say(f"\n{title}")
    columns([head, *rows[:_SHOWN]], right=right)
    if len(rows) > _SHOWN:
        say(f"{len(rows) - _SHOWN} further ones are in the JSON report")
