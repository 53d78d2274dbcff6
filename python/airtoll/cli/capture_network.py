"""The networks of a capture in text: access points, stations, tunnels, RADIUS and DHCP.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; prints tables on stdout. A table without
rows is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from airtoll.border.answers import SessionReport
from airtoll.capture import networks
from airtoll.capture.reports import CaptureReport
from airtoll.cli.columns import columns, say
from airtoll.observe.spreadsheet import printable

#: Rows of a table; the busiest come first.
_SHOWN = 15


def set_up(sessions: list[SessionReport]) -> None:
    """Tunnels, RADIUS and DHCP of the sessions."""
    _table(
        "Tunnels and bindings that were set up",
        ("station", "AP", "protocol", "messages", "after s", "ms"),
        [
            (
                session["station"],
                session["bssid"],
                networks.TUNNELS[tunnel["protocol"]],
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
    head = ("AP", "network", "channel", "heard at MHz", "security", "PMF", "frames", "retries")
    _table(
        "Access points",
        head,
        [
            (
                ap.bssid,
                printable(ap.ssid or "?"),
                "?" if ap.channel is None else str(ap.channel),
                "?" if ap.heard_mhz is None else str(ap.heard_mhz),
                "?" if ap.security is None else "/".join(ap.security),
                ap.pmf or "?",
                str(ap.frames),
                _share(ap.retry_share),
            )
            for ap in networks.access_points(report)
        ],
        right=range(6, 8),
    )


def stations(report: CaptureReport) -> None:
    """Frames, retries and rates of each station."""
    head = ("station", "frames", "retries", "Mb/s up", "Mb/s down", "airtime s")
    _table(
        "Stations (rates are means of their data frames)",
        head,
        [
            (
                one.address,
                str(one.frames),
                _share(one.retry_share),
                _rate(one.up_mbps),
                _rate(one.down_mbps),
                f"{one.airtime_s:.6f}",
            )
            for one in networks.stations(report)
        ],
        right=range(1, 6),
    )


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


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
