"""The HTML page of a capture report: what was there, airtime, sessions, hand-overs.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; gives one page that needs nothing else
(no scripts, nothing fetched). Text from the air is escaped: a capture is not trusted.
"""

from __future__ import annotations

from html import escape
from pathlib import PurePath
from typing import Any

from airtoll.capture.pictures import PHASES, airtime, legend, waits, waterfall
from airtoll.capture.reports import CaptureReport

_MAX_SESSIONS = 50
_MAX_OPEN = 3
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c22; --soft: #55555f; --line: #d9d7d0;
  --paper: #fff; --bad: #b3261e; --track: #f0efeb; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #b4b4bf; --line: #43434d;
  --paper: #17171c; --bad: #ff8a80; --track: #26262e; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin-bottom: .3rem; font-size: 1rem; } h3 small { font-weight: normal; color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; padding: 0; list-style: none; }
.tiles b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tiles span, figcaption, .legend, summary small { color: var(--soft); font-size: .87rem; }
.scroll { overflow-x: auto; } .scroll td { white-space: nowrap; }
table { border-collapse: collapse; margin: .8rem 0; overflow-wrap: normal; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; font-weight: normal; }
thead th { color: var(--soft); font-size: .87rem; border-bottom: 1px solid var(--line); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .n { white-space: normal; vertical-align: bottom; }
figure { margin: 1rem 0; } .failed { color: var(--bad); } .entry { white-space: nowrap; }
.key { display: inline-block; width: .75em; height: .75em; margin-right: .4em; }
.entry { margin-right: .9em; } .whole { display: flex; height: 2.4rem; background: var(--track); }
.whole.thin { height: .6rem; margin: .5rem 0; max-width: 40rem; }
.course { display: block; width: 100%; height: 9rem; margin-top: 1rem;
  border-bottom: 1px solid var(--soft); }
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


def page(report: CaptureReport) -> str:
    """The page as text."""
    data = report.data
    title = ", ".join(PurePath(file).name for file in data["files"])
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}: what security cost</title><style>{_STYLE}</style></head>",
        f"<body><main><h1>What security cost in {escape(title)}</h1>",
        _damage(data["damage"]),
        _tiles(data),
        _closed(data),
        "<h2>Airtime</h2>",
        airtime(report.ledger),
        "<h2>Sessions</h2>",
        _overview(report.sessions),
        legend(PHASES) if report.sessions else "",
    ]
    shown = report.sessions[:_MAX_SESSIONS]
    parts += [_session(session, index < _MAX_OPEN) for index, session in enumerate(shown)]
    more = len(report.sessions) - _MAX_SESSIONS
    if more > 0:
        parts.append(f"<p>{more} further sessions are in the JSON report.</p>")
    parts.append(_roams(data["roams"]))
    parts.append("</main></body></html>\n")
    return "".join(parts)


def _damage(damage: dict[str, Any] | None) -> str:
    if damage is None:
        return ""
    return (
        f'<p class="failed">{escape(damage["file"])} breaks at octet {damage["offset"]:,}: '
        f"{escape(damage['what'])}. What came before is here.</p>"
    )


def _tiles(data: dict[str, Any]) -> str:
    sessions = data["sessions"]
    connected = sum(session["outcome"] == "connected" for session in sessions)
    tiles = [
        (f"{data['frames']:,}", f"frames in {data['duration_s']:,.1f} s"),
        (f"{data['decrypted']:,} of {data['protected']:,}", "protected data frames opened"),
        (f"{connected} of {len(sessions)}", "sessions connected"),
        (f"{data['eapol_frames']:,} / {data['eap_frames']:,}", "frames with EAPOL / EAP"),
    ]
    share = data["ledger"]["security_share"]
    if share is not None:
        tiles.insert(0, (f"{100 * share:.2f} %", "of the airtime goes to security"))
    items = "".join(f"<li><b>{value}</b><span>{what}</span></li>" for value, what in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _closed(data: dict[str, Any]) -> str:
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


def _overview(sessions: list[dict[str, Any]]) -> str:
    if not sessions:
        return "<p>No client was seen to get in.</p>"
    columns = ("station", "AP", "network", "security", "PMF", "outcome", "EAP", "keys", "in all")
    head = "".join(
        f'<th scope="col"{_N if index > 5 else ""}>{name}</th>'
        for index, name in enumerate(columns)
    )
    rows = []
    for session in sessions[:_MAX_SESSIONS]:
        times = ("eap_time_s", "key_handshake_time_s", "negotiation_time_s")
        rows.append(
            f"<tr><td>{escape(session['station'])}</td><td>{escape(session['bssid'])}</td>"
            f"<td>{escape(session['ssid'] or '(not seen)')}</td><td>{_suites(session)}</td>"
            f"<td>{escape(session['pmf'])}</td><td>{_outcome(session)}</td>"
            + "".join(f"<td{_N}>{_time(session[name])}</td>" for name in times)
            + "</tr>"
        )
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


_N = ' class="n"'


def _session(session: dict[str, Any], unfolded: bool) -> str:
    name = escape(session["ssid"] or session["bssid"])
    reason = f'<p class="failed">{escape(session["reason"])}.</p>' if session["reason"] else ""
    folded = " open" if unfolded else ""
    return (
        f"<details{folded}><summary>{escape(session['station'])} to {name}: {_outcome(session)} "
        f"<small>{_suites(session)}, {len(session['steps']) + session['steps_left_out']} frames"
        f"</small></summary>{reason}{waits(session)}{waterfall(session)}</details>"
    )


def _suites(session: dict[str, Any]) -> str:
    parts = (session["akm"], session["eap_method"], session["cipher"])
    return escape(" / ".join(part for part in parts if part) or "unknown")


def _outcome(session: dict[str, Any]) -> str:
    outcome = escape(session["outcome"])
    return f'<span class="failed">{outcome}</span>' if outcome == "failed" else outcome


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:,.2f} ms"


def _roams(roams: list[dict[str, Any]]) -> str:
    if not roams:
        return ""
    rows = "".join(
        f"<tr><td>{escape(roam['station'])}</td><td>{escape(roam['from'])}</td>"
        f"<td>{escape(roam['to'])}</td><td{_N}>{roam['at_s']:.3f} s</td>"
        f"<td{_N}>{roam['handover_gap_s'] * 1000:,.1f} ms</td></tr>"
        for roam in roams
    )
    names = ("station", "from", "to", "at", "gap in its data")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<h2>Hand-overs</h2><div class="scroll" tabindex="0"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
