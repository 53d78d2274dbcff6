"""The text of a capture report: sessions, refusals, and the cost of security.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; prints what the page shows, on stdout. Text
from the air is printed without control characters.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from airtoll.border.answers import (
    ChannelReport,
    Report,
    RoamReport,
    SessionReport,
    TunnelReport,
)
from airtoll.capture.reports import CaptureReport, SessionTime, by_kind
from airtoll.observe.spreadsheet import printable

#: Groups of refusals in the text.
_SHOWN_REFUSALS = 15


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def time_of_day(unix_s: float, *, date: bool = False) -> str:
    """A time in UTC with milliseconds: ``13:07:21.250``, with ``date`` in ISO 8601."""
    moment = datetime.fromtimestamp(unix_s, UTC)
    if date:
        return moment.isoformat(timespec="microseconds")
    return moment.strftime("%H:%M:%S.") + f"{moment.microsecond // 1000:03d}"


def told(session: SessionReport) -> str:
    """A session in one line."""
    suites = "/".join(
        part for part in (session["akm"], session["eap_method"], session["cipher"]) if part
    )
    times = [
        f"{name} {1000 * value:.1f} ms"
        for name, value in (
            ("join", session["join_time_s"]),
            ("association", session["association_time_s"]),
            ("EAP", session["eap_time_s"]),
            ("keys", session["key_handshake_time_s"]),
        )
        if value is not None
    ]
    why = (
        f": {printable(session['reason'])}"
        if session["reason"] and session["outcome"] != "connected"
        else ""
    )
    parts = [
        f"{time_of_day(session['unix_s'])} #{session['frame']}",
        f"{session['station']} -> {printable(session['ssid'] or '?')} {session['bssid']}",
        suites or "?",
        session["outcome"] + why,
        *times,
    ]
    return "  ".join(parts)


def summarise(report: CaptureReport) -> None:
    """Print the report."""
    data = report.data
    closed = sum(data["undecrypted"].values())
    why = ", ".join(f"{count} {reason}" for reason, count in data["undecrypted"].items())
    begin = "" if data["start_s"] is None else f" from {time_of_day(data['start_s'], date=True)} on"
    _say(
        f"{data['frames']} frames in {data['duration_s']:.3f} s{begin}; "
        f"{data['protected']} protected, {data['decrypted']} decrypted"
        + (f", {closed} closed ({why})" if closed else "")
        + f"; {data['eapol_frames']} with EAPOL, {data['eap_frames']} with EAP"
    )
    if data["refused"]:
        refused = ", ".join(f"{count} {reason}" for reason, count in data["refused"].items())
        _say(f"opened, but a receiver refuses them: {refused}")
    if data["frames_without_time"]:
        _say(f"{data['frames_without_time']} frames have no time; the frame before gives it")
    _sessions(data)
    _channels(data["sessions"])
    _refusals(data)
    _roams(data["roams"])
    _tunnels(data["tunnels"])
    _cost(report)


def _tunnels(tunnels: TunnelReport) -> None:
    """Protected packets of wires by the outcome of their check."""
    checked = {"ESP": tunnels["esp"], "IKEv2": tunnels["ikev2"], "RADIUS": tunnels["radius"]}
    rows = [
        (name, str(of["verified"]), str(of["failed"]), str(of["no_key"]))
        for name, of in checked.items()
        if any(of.values())
    ]
    if not rows:
        return
    _say("\nProtected packets of wires")
    _columns([("protocol", "verified", "failed", "no key"), *rows], right=range(1, 4))
    inside = ", ".join(f"{count} {name}" for name, count in tunnels["ikev2_payloads"].items())
    if inside:
        _say(f"payloads inside IKEv2: {inside}")


def _sessions(data: Report) -> None:
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(data["outcomes"].items()))
    if not outcomes:
        _say("\nNo client was seen to get in.")
        return
    _say(f"\nSessions: {outcomes} (times in ms; - is unknown)")
    rows = [_HEAD, *(_cells(session) for session in data["sessions"])]
    _columns(rows, right=range(2, 3))
    rest = sum(data["outcomes"].values()) - len(data["sessions"])
    if rest > 0:
        _say(f"{rest} further sessions are not listed: --top N, --slowest, --station, --ap, --ssid")
    filtered = data["sessions_not_listed"] - rest
    if filtered > 0:
        _say(f"{filtered} sessions of other stations, APs or networks are left out")
    if data["sessions_left_out"]:
        _say(f"{data['sessions_left_out']} attempts beyond the table of sessions are only counted")


_HEAD = ("at s", "time UTC", "frame", "station", "network", "security", "PMF",
         "assoc", "EAP", "keys", "join", "data", "address", "outcome")  # fmt: skip
_TIMES: tuple[SessionTime, ...] = (
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "join_time_s",
    "time_to_data_s",
    "time_to_answer_s",
)


def _station(session: SessionReport) -> str:
    links = session["multi_link"]
    return session["station"] + (f" ({len(links['links'])} links)" if links else "")


def _cells(session: SessionReport) -> tuple[str, ...]:
    def milliseconds(key: SessionTime) -> str:
        value = session[key]
        return "-" if value is None else f"{1000 * value:.2f}"

    suites = (session["akm"], session["eap_method"], session["cipher"])
    outcome = session["outcome"]
    if session["rekeys"] or session["rekeys_left_out"]:
        outcome += f", {len(session['rekeys']) + session['rekeys_left_out']} rekeys"
    if session["reason"]:
        outcome += f": {printable(session['reason'])}"
    return (
        f"{session['at_s']:.3f}",
        time_of_day(session["unix_s"]),
        str(session["frame"]),
        _station(session),
        f"{printable(session['ssid'] or '?')} {session['bssid']}",
        "/".join(part for part in suites if part) or "?",
        session["pmf"] or "?",
        *(milliseconds(key) for key in _TIMES),
        outcome,
    )


def _channel(named: ChannelReport | None) -> str:
    if named is None:
        return "-"
    segment = f"+{named['segment_1']}" if named["segment_1"] else ""
    return f"{named['primary_channel']}{segment} (class {named['operating_class']})"


def _channels(sessions: list[SessionReport]) -> None:
    """Operating channels by station, AP and what both name; equal handshakes together."""
    counted: Counter[tuple[str, ...]] = Counter(
        (
            session["station"],
            session["bssid"],
            named["protocol"],
            _channel(named["station"]),
            _channel(named["access_point"]),
            named["mismatch"] or "",
        )
        for session in sessions
        for named in session["operating_channels"]
    )
    if not counted:
        return
    _say("\nOperating channels that handshakes name (- is not seen)")
    head = ("handshakes", "station", "AP", "protocol", "of the station", "of the AP", "mismatch")
    rows: list[tuple[str, ...]] = [head]
    rows += [(str(number), *row) for row, number in counted.items()]
    _columns(rows[: _SHOWN_REFUSALS + 1], right=range(1))
    if len(counted) > _SHOWN_REFUSALS:
        _say(f"{len(counted) - _SHOWN_REFUSALS} further ones are in the JSON report")


def _refusals(data: Report) -> None:
    groups = data["refusals"]
    if not groups:
        return
    _say("\nAttempts that did not connect, equal ones together")
    rows = [("attempts", "stations", "from s", "to s", "frame", "AP", "why")]
    rows += [
        (
            str(group["sessions"]),
            str(group["stations"]) if group["stations"] > 1 else group["station"],
            f"{group['first_at_s']:.3f}",
            f"{group['last_at_s']:.3f}",
            str(group["frame"]),
            f"{printable(group['ssid'] or '?')} {group['bssid']}",
            f"{group['outcome']}: {printable(group['reason'])}",
        )
        for group in groups[:_SHOWN_REFUSALS]
    ]
    _columns(rows)
    rest = len(groups) - _SHOWN_REFUSALS + data["refusals_left_out"]
    if rest > 0:
        _say(f"{rest} further groups are in the JSON report or not kept")


def _roams(roams: list[RoamReport]) -> None:
    if not roams:
        return
    _say("\nHand-overs")
    rows = [("at s", "frame", "station", "from", "to", "gap ms")]
    rows += [
        (
            f"{roam['at_s']:.3f}",
            str(roam["frame"]),
            roam["station"],
            roam["from"],
            roam["to"],
            f"{1000 * roam['handover_gap_s']:.2f}",
        )
        for roam in roams[:_SHOWN_REFUSALS]
    ]
    _columns(rows)
    if len(roams) > _SHOWN_REFUSALS:
        _say(f"{len(roams) - _SHOWN_REFUSALS} further hand-overs are in the JSON report")


def _cost(report: CaptureReport) -> None:
    """Airtime and octets by kind, and the same data under each cipher."""
    ledger = report.ledger
    total = ledger["total"]
    airtime, octets = by_kind(total["airtime_s"]), by_kind(total["octets"])
    timed, counted = sum(airtime.values()), sum(octets.values())
    if not counted:
        return
    _say("\nWhere the air went" if timed else "\nOctets by kind (no frame names a rate)")
    head = ("kind", "octets", "share", "airtime s", "share")
    rows: list[tuple[str, ...]] = [head if timed else head[:3]]
    for kind, number in octets.items():
        row = [kind.replace("_", " "), str(number), f"{100 * number / counted:.2f} %"]
        if timed:
            row += [f"{airtime[kind]:.6f}", f"{100 * airtime[kind] / timed:.2f} %"]
        rows.append(tuple(row))
    _columns(rows, right=range(1, 5))
    if timed and ledger["frames_without_rate"]:
        _say(f"{ledger['frames_without_rate']} frames name no rate: octets only")
    if ledger["security_share"] is not None:
        share, of = ledger["security_share"], "airtime"
    else:
        share, of = (octets["security"] + octets["key_exchange"]) / counted, "octets"
    _say(f"cost of security in this capture: {100 * share:.2f} % of the {of}")
    others = ledger["same_traffic_under"]
    least = min((other["data_airtime_s"] for other in others), default=0)
    if least <= 0:
        return
    _say("\nThe same data frames under each cipher")
    table = [("cipher", "octets a frame", "airtime s", "against open")]
    table += [
        (
            other["cipher"],
            str(other["octets_per_frame"]),
            f"{other['data_airtime_s']:.6f}",
            f"{100 * (other['data_airtime_s'] / least - 1):+.2f} %",
        )
        for other in others
    ]
    _columns(table, right=range(1, 4))


def _columns(rows: Sequence[tuple[str, ...]], right: range = range(0)) -> None:
    """Rows in columns as wide as their widest cell; the last one takes the rest."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        _say("  ".join(cells).rstrip())
