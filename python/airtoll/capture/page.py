"""The HTML page of a capture report: counts, airtime, sessions, hand-overs.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; gives one page without scripts that fetches
nothing. Text from the air is escaped: a capture is not trusted.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from pathlib import PurePath

from airtoll.border.answers import Damage, Report, RoamReport, SessionReport
from airtoll.capture import page_network
from airtoll.capture.pictures import PHASES, airtime, legend, waits, waterfall
from airtoll.capture.reports import CaptureReport, SessionTime

_MAX_SESSIONS = 50
_MAX_OPEN = 3
_MAX_REFUSALS = 20
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c22; --soft: #55555f; --line: #d9d7d0;
  --paper: #fff; --bad: #b3261e; --track: #f0efeb; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #b4b4bf; --line: #43434d;
  --paper: #17171c; --bad: #ff8a80; --track: #26262e; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin-bottom: .3rem; font-size: 1rem; } h3 small { font-weight: normal; color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; padding: 0; list-style: none; }
.tiles b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tiles span, figcaption, .legend, summary small { color: var(--soft); font-size: .87rem; }
.scroll { overflow-x: auto; } .scroll td { white-space: nowrap; }
table { border-collapse: collapse; margin: .8rem 0; overflow-wrap: normal; }
small { font-size: max(.85em, 12px); }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; font-weight: normal;
  vertical-align: top; }
thead th { vertical-align: bottom; }
.scroll td, .scroll th { padding-right: .7rem; }
thead th { color: var(--soft); font-size: .87rem; border-bottom: 1px solid var(--line); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .n { white-space: normal; vertical-align: bottom; }
figure { margin: 1rem 0; } .failed { color: var(--bad); } .entry { white-space: nowrap; }
.key { display: inline-block; width: .75em; height: .75em; margin-right: .4em; }
.entry { margin-right: .9em; } .whole { display: flex; height: 2.4rem; background: var(--track); }
.whole.thin { height: .6rem; margin: .5rem 0; max-width: 40rem; }
.course { display: block; width: 100%; height: 9rem; margin-top: 1rem;
  border-bottom: 1px solid var(--soft); }
.waterfall .ticks { display: grid; grid-template-columns: minmax(8rem, 2fr) 3fr 5rem; gap: .5rem;
  font-size: .75rem; color: var(--soft); border-top: 1px solid var(--soft); }
.ticks .scale { position: relative; height: 1.3rem; margin-right: .5rem; }
.ticks .scale span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.ticks .scale span:first-child { transform: none; }
.ticks .scale span:last-child { transform: translateX(-100%); }
.axis { display: flex; justify-content: space-between; font-size: .8rem; color: var(--soft); }
.waterfall ol { list-style: none; margin: 0; padding: 0; }
.waterfall li { display: grid; grid-template-columns: minmax(8rem, 2fr) 3fr 5rem;
  gap: .5rem; font-size: .8rem; line-height: 1.45; align-items: center; }
.waterfall li:nth-child(odd) { background: var(--track); }
.track { position: relative; height: .9rem; margin-right: .5rem; }
.track i { position: absolute; top: 44%; height: 1px; background: var(--soft); opacity: .5; }
.track b { position: absolute; top: 8%; height: 84%; width: .45rem; border-radius: .1rem; }
details { margin: .8rem 0; } summary { cursor: pointer; }
@media (max-width: 30rem) { td, th { padding-right: .6rem; } .n + .n { padding-left: .2rem; } }
"""


def page(report: CaptureReport, *, note: str = "") -> str:
    """The page as text. ``note``: a line below its title."""
    data = report.data
    title = ", ".join(PurePath(file).name for file in data["files"])
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}: what security cost</title><style>{_STYLE}</style></head>",
        f"<body><main><h1>What security cost in {escape(title)}</h1>",
        f"<p>{escape(note)}</p>" if note else "",
        _damage(data["damage"]),
        _tiles(data),
        _closed(data),
        page_network.not_read(data),
        "<h2>Airtime</h2>",
        airtime(report.ledger),
        "<h2>Sessions</h2>",
        _overview(report.sessions),
        _left_out(data),
        _refusals(data),
        page_network.leaves(data),
        legend(PHASES) if report.sessions else "",
    ]
    shown = report.sessions[:_MAX_SESSIONS]
    parts += [_session(session, index < _MAX_OPEN) for index, session in enumerate(shown)]
    parts.append(_roams(data["roams"]))
    parts.append(page_network.networks(report))
    parts.append("</main></body></html>\n")
    return "".join(parts)


def _damage(damage: Damage | None) -> str:
    if damage is None:
        return ""
    return (
        f'<p class="failed">{escape(damage["file"])} breaks at octet {damage["offset"]:,}: '
        f"{escape(damage['what'])}. The part before the damage is in this report.</p>"
    )


def _tiles(data: Report) -> str:
    outcomes = data["outcomes"]
    connected, sessions = outcomes.get("connected", 0), sum(outcomes.values())
    tiles = [
        (f"{data['frames']:,}", f"frames in {data['duration_s']:,.1f} s{_begin(data)}"),
        (f"{data['decrypted']:,} of {data['protected']:,}", "protected data frames opened"),
        (f"{connected:,} of {sessions:,}", "sessions connected"),
        (f"{data['eapol_frames']:,} / {data['eap_frames']:,}", "frames with EAPOL / EAP"),
    ]
    share = data["ledger"]["security_share"]
    if share is not None:
        tiles.insert(0, (f"{100 * share:.2f} %", "of the airtime goes to security"))
    items = "".join(f"<li><b>{value}</b><span>{what}</span></li>" for value, what in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _begin(data: Report) -> str:
    if data["start_s"] is None:
        return ""
    moment = datetime.fromtimestamp(data["start_s"], UTC)
    return f", from {moment:%Y-%m-%d %H:%M:%S} UTC on"


def _closed(data: Report) -> str:
    rows = [(f"data frames closed: {why}", n) for why, n in data["undecrypted"].items()]
    rows += [(f"management frames closed: {why}", n) for why, n in data["undecrypted_mgmt"].items()]
    rows += [
        (f"opened, but a receiver refuses them: {why}", n) for why, n in data["refused"].items()
    ]
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escape(words)}</th><td class="n">{count:,}</td></tr>'
        for words, count in rows
    )
    return f"<table><tbody>{body}</tbody></table>"


def _overview(sessions: list[SessionReport]) -> str:
    if not sessions:
        return "<p>No client was seen to get in.</p>"
    columns = ("at", "station, AP", "network", "security, PMF", "outcome", *_TIMES.values())
    head = "".join(
        f'<th scope="col"{_N if name in _TIMES.values() else ""}>{name}</th>' for name in columns
    )
    rows = []
    for session in sessions[:_MAX_SESSIONS]:
        moment = datetime.fromtimestamp(session["unix_s"], UTC)
        rows.append(
            f"<tr><td>{session['at_s']:,.3f} s<br><small>{moment:%H:%M:%S}."
            f"{moment.microsecond // 1000:03d} UTC<br>frame {session['frame']}</small></td>"
            f"<td>{escape(session['station'])}<br><small>{escape(session['bssid'])}</small></td>"
            f"<td>{escape(session['ssid'] or '(not seen)')}</td><td>{_suites(session)}<br>"
            f"<small>PMF {escape(session['pmf'] or 'unknown')}</small></td>"
            f"<td>{_outcome(session)}</td>"
            + "".join(f"<td{_N}>{_time(session[name])}</td>" for name in _TIMES)
            + "</tr>"
        )
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


_N = ' class="n"'
#: Times of a session, each with its heading.
_TIMES: dict[SessionTime, str] = {
    "association_time_s": "association",
    "eap_time_s": "EAP",
    "key_handshake_time_s": "keys",
    "join_time_s": "join",
    "time_to_data_s": "to data",
    "time_to_answer_s": "to address",
}


def _left_out(data: Report) -> str:
    shown = min(len(data["sessions"]), _MAX_SESSIONS)
    rest = sum(data["outcomes"].values()) - shown
    lines = []
    if rest > 0:
        lines.append(f"{rest:,} further sessions are in the JSON report.")
    if data["sessions_left_out"]:
        lines.append(f"{data['sessions_left_out']:,} attempts beyond the table are only counted.")
    return f"<p>{' '.join(lines)}</p>" if lines else ""


def _refusals(data: Report) -> str:
    groups = data["refusals"]
    if not groups:
        return ""
    rows = "".join(
        f"<tr><td{_N}>{group['sessions']:,}</td><td{_N}>{group['stations']:,}</td>"
        f"<td>{escape(group['ssid'] or '(not seen)')} {escape(group['bssid'])}</td>"
        f"<td{_N}>{group['first_at_s']:,.3f} s</td><td{_N}>{group['last_at_s']:,.3f} s</td>"
        f"<td{_N}>{group['frame']}</td>"
        f'<td class="failed">{escape(group["outcome"])}: {escape(group["reason"])}</td></tr>'
        for group in groups[:_MAX_REFUSALS]
    )
    names = ("attempts", "stations", "network", "first", "last", "frame", "why")
    head = "".join(f'<th scope="col"{_N if n not in ("network", "why") else ""}>{n}</th>'
                   for n in names)  # fmt: skip
    rest = len(groups) - _MAX_REFUSALS + data["refusals_left_out"]
    more = f"<p>{rest:,} further groups are left out.</p>" if rest > 0 else ""
    return (
        '<h3>Attempts that did not connect, equal ones together</h3><div class="scroll" '
        f'tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{more}"
    )


def _session(session: SessionReport, unfolded: bool) -> str:
    name = escape(session["ssid"] or session["bssid"])
    reason = f'<p class="failed">{escape(session["reason"])}.</p>' if session["reason"] else ""
    folded = " open" if unfolded else ""
    return (
        f"<details{folded}><summary>{escape(session['station'])} to {name}: {_outcome(session)} "
        f"<small>{_suites(session)}, "
        f"{len(session['steps']['at_s']) + session['steps_left_out']} frames</small></summary>"
        f"{reason}{_links(session)}{_channels(session)}{page_network.set_up(session)}"
        f"{waits(session)}{waterfall(session)}{_renewals(session)}</details>"
    )


def _links(session: SessionReport) -> str:
    """The devices and links of a multi-link association."""
    known = session["multi_link"]
    if known is None:
        return ""
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape('unknown' if value is None else str(value))}</td>"
            for value in (link["link_id"], link["station"], link["bssid"])
        )
        + "</tr>"
        for link in known["links"]
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("link", "station", "BSSID"))
    return (
        f"<p>Multi-link association of {escape(known['station_mld'])} with "
        f"{escape(known['ap_mld'])}; times are those of the link of the handshake.</p>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _channels(session: SessionReport) -> str:
    """Handshakes whose ends name different channels, or the number of those that agree."""
    named = session["operating_channels"]
    agreed = sum(
        one["mismatch"] is None and one["station"] is not None and one["access_point"] is not None
        for one in named
    )
    lines = [
        f'<p class="failed">Operating channels differ, {one["protocol"]} handshake of frame '
        f"{one['frame']}: {escape(one['mismatch'])}.</p>"
        for one in named
        if one["mismatch"] is not None
    ]
    if agreed:
        lines.append(f"<p>Handshakes whose ends name the same operating channel: {agreed}.</p>")
    return "".join(lines)


def _renewals(session: SessionReport) -> str:
    """The rekeys after the join, and the end."""
    events: list[tuple[float, int, str, float | None]] = [
        (rekey["at_s"], rekey["frame"], f"rekey, {rekey['protocol']}", rekey["duration_s"])
        for rekey in session["rekeys"]
    ]
    if session["end"] is not None:
        end = session["end"]
        events.append((end["at_s"], end["frame"], end["words"], None))
    if not events:
        return ""
    rows = "".join(
        f"<tr><td{_N}>{at_s:,.3f} s</td><td{_N}>{frame}</td><td>{escape(what)}</td>"
        f"<td{_N}>{_time(lasts)}</td></tr>"
        for at_s, frame, what, lasts in events
    )
    more = session["rekeys_left_out"]
    note = f"<p>{more:,} further rekeys are left out.</p>" if more else ""
    return (
        '<div class="scroll" tabindex="0"><table><thead><tr>'
        f'<th scope="col"{_N}>after</th><th scope="col"{_N}>frame</th>'
        f'<th scope="col">after the join</th><th scope="col"{_N}>lasts</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _suites(session: SessionReport) -> str:
    parts = (session["akm"], session["eap_method"], session["cipher"])
    return escape(" / ".join(part for part in parts if part) or "unknown")


def _outcome(session: SessionReport) -> str:
    outcome = escape(session["outcome"])
    return f'<span class="failed">{outcome}</span>' if outcome == "failed" else outcome


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:,.2f} ms"


def _roams(roams: list[RoamReport]) -> str:
    if not roams:
        return ""
    rows = "".join(
        f"<tr><td>{escape(roam['station'])}</td><td>{escape(roam['from'])}</td>"
        f"<td>{escape(roam['to'])}</td><td{_N}>{roam['at_s']:.3f} s</td>"
        f"<td{_N}>{roam['handover_gap_s'] * 1000:,.1f} ms</td>"
        f"<td{_N}>{_time(roam['idle_s'] or None)}</td></tr>"
        for roam in roams
    )
    names = ("station", "from", "to", "at", "gap in its data", "idle beside it")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<h2>Hand-overs</h2><div class="scroll" tabindex="0"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
