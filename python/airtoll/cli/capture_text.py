"""The text of a capture report: sessions, refusals, and the cost of security.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; prints what the page shows, on stdout. Text
from the air is printed without control characters. Networks and what sessions set up beside the
link are in :mod:`airtoll.cli.capture_network`.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Literal

from airtoll.border.answers import (
    ChannelReport,
    LeaveReport,
    Report,
    RoamReport,
    SessionReport,
    TunnelReport,
)
from airtoll.capture.reports import CaptureReport, SessionTime, by_kind
from airtoll.capture.wanted import wanted_keys
from airtoll.cli import capture_network
from airtoll.cli.columns import columns, say
from airtoll.observe.spreadsheet import printable

#: Groups of refusals in the text.
_SHOWN_REFUSALS = 15


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
    say(
        f"{data['frames']} frames in {data['duration_s']:.3f} s{begin}; "
        f"{data['protected']} protected, {data['decrypted']} decrypted"
        + (f", {closed} closed ({why})" if closed else "")
        + f"; {data['eapol_frames']} with EAPOL, {data['eap_frames']} with EAP"
    )
    for line in not_read(data):
        say(line)
    for sentence in wanted_keys(data):
        say(sentence)
    if data["refused"]:
        refused = ", ".join(f"{count} {reason}" for reason, count in data["refused"].items())
        say(f"opened, but a receiver refuses them: {refused}")
    if data["frames_without_time"]:
        say(f"{data['frames_without_time']} frames have no time; the frame before gives it")
    _sessions(data)
    capture_network.set_up(data["sessions"])
    _channels(data["sessions"])
    _refusals(data)
    _leaves(data)
    _roams(data["roams"])
    capture_network.access_points(report)
    capture_network.stations(report)
    _tunnels(data["tunnels"])
    _cost(report)


def not_read(data: Report) -> list[str]:
    """Sentences on link types that are not read, and on wrappers around frames."""
    lines = []
    for seen in data["link_types"]:
        if not seen["not_read"]:
            continue
        name = f" ({seen['name']})" if seen["name"] else ""
        what = "is not read"
        if seen["not_read"] < seen["frames"]:
            what = "holds link types that are not read"
        lines.append(f"link type {seen['link_type']}{name} {what}: {seen['not_read']} frames")
    wrapped = ", ".join(f"{count} in {name}" for name, count in data["wrapped"].items())
    if wrapped:
        lines.append(f"frames inside others: {wrapped}")
    return lines


def leave_in_words(leave: LeaveReport) -> str:
    """Deauthentications or disassociations of one kind in a sentence."""
    whom = "all stations" if leave["to_all"] else "single stations"
    by = "the AP" if leave["by"] == "ap" else "stations"
    many = "" if leave["frames"] == 1 else "s"
    return (
        f"{leave['frames']} {leave['kind']}{many} of {whom} of {leave['bssid']} by {by}: "
        f"{leave['words']} ({leave['reason_code']})"
    )


def _leaves(data: Report) -> None:
    leaves = data["leaves"]
    if not leaves:
        return
    say("\nDeauthentications and disassociations")
    rows = [("frames", "of", "BSS", "by", "for", "reason", "from s", "to s", "frame")]
    rows += [
        (
            str(leave["frames"]),
            leave["kind"],
            leave["bssid"],
            "AP" if leave["by"] == "ap" else "station",
            "all stations" if leave["to_all"] else "one station",
            f"{leave['words']} ({leave['reason_code']})",
            f"{leave['first_at_s']:.3f}",
            f"{leave['last_at_s']:.3f}",
            str(leave["frame"]),
        )
        for leave in leaves[:_SHOWN_REFUSALS]
    ]
    columns(rows)
    rest = len(leaves) - _SHOWN_REFUSALS
    if rest > 0:
        say(f"{rest} further kinds are in the JSON report")
    if data["leaves_left_out"]:
        say(f"{data['leaves_left_out']} frames of further kinds are only counted")


_OUTCOMES: dict[Literal["verified", "failed", "no_key", "unchecked"], str] = {
    "verified": "verified",
    "failed": "failed",
    "no_key": "no key",
    "unchecked": "opened without a check",
}


def _tunnels(tunnels: TunnelReport) -> None:
    """Protected packets of wires by the outcome of their check."""
    checked = {"ESP": tunnels["esp"], "IKEv2": tunnels["ikev2"], "RADIUS": tunnels["radius"]}
    rows = [
        (name, *(str(of[outcome]) for outcome in _OUTCOMES))
        for name, of in checked.items()
        if any(of.values())
    ]
    if not rows:
        return
    say("\nProtected packets of wires")
    columns([("protocol", *_OUTCOMES.values()), *rows], right=range(1, 5))
    inside = ", ".join(f"{count} {name}" for name, count in tunnels["ikev2_payloads"].items())
    if inside:
        say(f"payloads inside IKEv2: {inside}")


def _sessions(data: Report) -> None:
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(data["outcomes"].items()))
    if not outcomes:
        say("\nNo client was seen to get in.")
        return
    say(f"\nSessions: {outcomes} (times in ms; - is unknown)")
    rows = [_HEAD, *(_cells(session) for session in data["sessions"])]
    columns(rows, right=range(2, 3))
    for session in data["sessions"]:
        counted = messages_in_words(session)
        if counted:
            say(f"join of {session['station']} at {session['at_s']:.3f} s: {counted}")
    rest = sum(data["outcomes"].values()) - len(data["sessions"])
    if rest > 0:
        say(f"{rest} further sessions are not listed: --top N, --slowest, --station, --ap, --ssid")
    filtered = data["sessions_not_listed"] - rest
    if filtered > 0:
        say(f"{filtered} sessions of other stations, APs or networks are left out")
    if data["sessions_left_out"]:
        say(f"{data['sessions_left_out']} attempts beyond the table of sessions are only counted")


#: Kinds of messages in the order of a join, and their words; other kinds keep their names.
_KINDS = {
    "authentication": "authentication",
    "sae": "SAE",
    "association": "association",
    "eap": "EAP",
    "4-way": "4-way",
}
#: Phases of a join, and the kinds of their messages, the more particular one first.
_OF_PHASE = {
    "authentication": ("sae", "authentication"),
    "association": ("association",),
    "eap": ("eap",),
    "key_handshake": ("4-way",),
}


def messages_in_words(session: SessionReport) -> str:
    """``10 messages (SAE 4, association 2, 4-way 4), 2.88 ms (SAE 0.73 ms, ...)``.

    Empty for a session without messages of a join.
    """
    counts = session["messages"]
    if not counts:
        return ""
    order = [kind for kind in _KINDS if kind in counts]
    order += [kind for kind in counts if kind not in _KINDS]
    told = ", ".join(f"{_KINDS.get(kind, kind)} {counts[kind]}" for kind in order)
    words = f"{sum(counts.values())} messages ({told})"
    if session["join_time_s"] is None:
        return words
    parts = []
    for phase in session["phases"]:
        kinds = _OF_PHASE.get(phase["phase"], ())
        kind = next((one for one in kinds if one in counts), phase["phase"])
        parts.append(f"{_KINDS.get(kind, kind)} {1000 * phase['duration_s']:.2f} ms")
    inside = f" ({', '.join(parts)})" if parts else ""
    return f"{words}, {1000 * session['join_time_s']:.2f} ms{inside}"


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
    say("\nOperating channels that handshakes name (- is not seen)")
    head = ("handshakes", "station", "AP", "protocol", "of the station", "of the AP", "mismatch")
    rows: list[tuple[str, ...]] = [head]
    rows += [(str(number), *row) for row, number in counted.items()]
    columns(rows[: _SHOWN_REFUSALS + 1], right=range(1))
    if len(counted) > _SHOWN_REFUSALS:
        say(f"{len(counted) - _SHOWN_REFUSALS} further ones are in the JSON report")


def _refusals(data: Report) -> None:
    groups = data["refusals"]
    if not groups:
        return
    say("\nAttempts that did not connect, equal ones together")
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
    columns(rows)
    rest = len(groups) - _SHOWN_REFUSALS + data["refusals_left_out"]
    if rest > 0:
        say(f"{rest} further groups are in the JSON report or not kept")


def _roams(roams: list[RoamReport]) -> None:
    if not roams:
        return
    say("\nHand-overs")
    rows = [("at s", "frame", "station", "from", "to", "gap ms", "idle ms")]
    rows += [
        (
            f"{roam['at_s']:.3f}",
            str(roam["frame"]),
            roam["station"],
            roam["from"],
            roam["to"],
            f"{1000 * roam['handover_gap_s']:.2f}",
            f"{1000 * roam['idle_s']:.2f}" if roam["idle_s"] else "-",
        )
        for roam in roams[:_SHOWN_REFUSALS]
    ]
    columns(rows)
    if len(roams) > _SHOWN_REFUSALS:
        say(f"{len(roams) - _SHOWN_REFUSALS} further hand-overs are in the JSON report")


def _cost(report: CaptureReport) -> None:
    """Airtime and octets by kind, and the same data under each cipher."""
    ledger = report.ledger
    total = ledger["total"]
    airtime, octets = by_kind(total["airtime_s"]), by_kind(total["octets"])
    timed, counted = sum(airtime.values()), sum(octets.values())
    if not counted:
        return
    say("\nWhere the air went" if timed else "\nOctets by kind (no frame names a rate)")
    head = ("kind", "octets", "share", "airtime s", "share")
    rows: list[tuple[str, ...]] = [head if timed else head[:3]]
    for kind, number in octets.items():
        row = [kind.replace("_", " "), str(number), f"{100 * number / counted:.2f} %"]
        if timed:
            row += [f"{airtime[kind]:.6f}", f"{100 * airtime[kind] / timed:.2f} %"]
        rows.append(tuple(row))
    columns(rows, right=range(1, 5))
    if timed and ledger["frames_without_rate"]:
        say(f"{ledger['frames_without_rate']} frames name no rate: octets only")
    if ledger["security_share"] is not None:
        share, of = ledger["security_share"], "airtime"
    else:
        share, of = (octets["security"] + octets["key_exchange"]) / counted, "octets"
    joins = report.data["outcomes"].get("connected", 0)
    when = ""
    if joins and octets["key_exchange"]:
        # Key exchanges are paid once a join: their share falls with the length of the traffic.
        many = "a join" if joins == 1 else f"{joins} joins"
        when = f" of {report.data['duration_s']:.1f} s with {many}"
    say(f"cost of security in this capture: {100 * share:.2f} % of the {of}{when}")
    others = ledger["same_traffic_under"]
    least = min((other["data_airtime_s"] for other in others), default=0)
    if least <= 0:
        return
    say("\nThe same data frames under each cipher")
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
    columns(table, right=range(1, 4))
