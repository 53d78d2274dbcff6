"""Tables of the capture page: access points, stations, deauthentications, link types, set-ups.

Takes parts of the JSON report; gives HTML fragments, empty where there is nothing to show. Text
from the air is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from airtoll.border.answers import Report, SessionReport
from airtoll.capture.networks import TUNNELS, access_points, stations
from airtoll.capture.reports import CaptureReport
from airtoll.capture.wanted import wanted_keys

_SHOWN = 50


def not_read(data: Report) -> str:
    """Link types that are not read, wrappers, rows of key logs, and keys that would open more."""
    lines = []
    for seen in data["link_types"]:
        if seen["not_read"]:
            name = f" ({seen['name']})" if seen["name"] else ""
            lines.append(
                f"Link type {seen['link_type']}{name}: {seen['not_read']:,} of "
                f"{seen['frames']:,} frames are not read."
            )
    for name, count in data["wrapped"].items():
        lines.append(f"{count:,} frames were inside {name}.")
    lines += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in wanted_keys(data)]
    lines += [
        f"{row['file']}: line {row['line']} is left out: {row['what']}."
        for row in data["skipped_keys"]
    ]
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def leaves(data: Report) -> str:
    """Deauthentications and disassociations, most frequent first."""
    rows = [
        (
            f"{leave['frames']:,}",
            leave["kind"],
            leave["bssid"],
            "AP" if leave["by"] == "ap" else "station",
            "all stations" if leave["to_all"] else "one station",
            f"{leave['words']} ({leave['reason_code']})",
            f"{leave['first_at_s']:,.3f} s",
            f"{leave['last_at_s']:,.3f} s",
        )
        for leave in data["leaves"]
    ]
    head = ("frames", "of", "BSS", "by", "for", "reason", "first", "last")
    return _table("h3", "Deauthentications and disassociations", head, rows, right=(0, 6, 7))


def networks(report: CaptureReport) -> str:
    """Access points and stations with their frames, retries and rates."""
    aps = [
        (
            ap.bssid,
            ap.ssid or "(not seen)",
            "" if ap.channel is None else str(ap.channel),
            "" if ap.heard_mhz is None else f"{ap.heard_mhz} MHz",
            "(not announced)" if ap.security is None else " / ".join(ap.security),
            ap.pmf or "",
            f"{ap.frames:,}",
            _share(ap.retry_share),
        )
        for ap in access_points(report)
    ]
    rows = [
        (
            one.address,
            f"{one.frames:,}",
            _share(one.retry_share),
            _rate(one.up_mbps),
            _rate(one.down_mbps),
            f"{one.airtime_s:,.3f} s",
        )
        for one in stations(report)
    ]
    ap_head = ("AP", "network", "channel", "heard at", "security", "PMF", "frames", "retries")
    station_head = ("station", "frames", "retries", "mean rate up", "mean rate down", "airtime")
    return _table("h2", "Access points", ap_head, aps, right=(2, 3, 6, 7)) + _table(
        "h2", "Stations", station_head, rows, right=(1, 2, 3, 4, 5)
    )


def set_up(session: SessionReport) -> str:
    """Tunnels, RADIUS and DHCP of a session, one sentence each."""
    lines = [
        f"{TUNNELS[tunnel['protocol']]}: {tunnel['messages']} messages in "
        f"{1000 * tunnel['duration_s']:,.2f} ms, {tunnel['at_s']:,.3f} s after the first frame."
        for tunnel in session["tunnels"]
    ]
    if "radius" in session["messages"]:
        at_server = session["eap_time_at_server_s"]
        took = "" if at_server is None else f", {1000 * at_server:,.2f} ms at the server"
        lines.append(f"RADIUS: {session['messages']['radius']} packets{took}.")
    tries = session["dhcp"]
    if tries is not None:
        named = (
            ("discover", tries["discover"]),
            ("offer", tries["offer"]),
            ("request", tries["request"]),
            ("acknowledgement", tries["ack"]),
            ("refusal", tries["nak"]),
            ("decline", tries["decline"]),
        )
        counts = ", ".join(f"{count} {name}" for name, count in named if count)
        lines.append(f"DHCP: {counts or 'no message of a join'}.")
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _rate(mbps: float | None) -> str:
    return "" if mbps is None else f"{mbps:,.1f} Mb/s"


def _table(
    heading: str,
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int],
) -> str:
    if not rows:
        return ""

    def cell(at: int, text: str, tag: str, scope: str = "") -> str:
        kind = ' class="n"' if at in right else ""
        return f"<{tag}{scope}{kind}>{escape(text)}</{tag}>"

    top = "".join(cell(at, name, "th", ' scope="col"') for at, name in enumerate(head))
    body = "".join(
        "<tr>" + "".join(cell(at, text, "td") for at, text in enumerate(row)) + "</tr>"
        for row in rows[:_SHOWN]
    )
    rest = len(rows) - _SHOWN
    more = f"<p>{rest:,} further ones are in the JSON report.</p>" if rest > 0 else ""
    return (
        f'<{heading}>{title}</{heading}><div class="scroll" tabindex="0"><table><thead>'
        f"<tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )
