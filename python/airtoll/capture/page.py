"""The HTML page of a capture report: handshake waterfalls and the airtime picture.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; gives one page that needs nothing else
(inline SVG, no scripts). Text from the air (SSIDs, names) is escaped: a capture is not trusted.
"""

from __future__ import annotations

from html import escape
from typing import Any

from airtoll.capture.reports import CaptureReport

_WIDTH = 860
_ROW = 15
_COLOURS = {
    "payload": "#3b7dd8",
    "headers": "#9dbfe8",
    "security": "#d1495b",
    "key_exchange": "#8d2340",
    "management": "#e8a33d",
    "control": "#c9c4b5",
    "retries": "#5c5c66",
}
_SIDES = {"station": "#3b7dd8", "ap": "#e8a33d"}
_MAX_SESSIONS = 50
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1c1c22; background: #fff; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .8rem .15rem 0; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; } figure { margin: 1rem 0 2rem; } .failed { color: #b3261e; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
"""


def page(report: CaptureReport) -> str:
    """The page as text."""
    data = report.data
    title = ", ".join(data["files"])
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        _counts(data),
        "<h2>Airtime</h2>",
        _legend(_COLOURS),
        _airtime(report.ledger),
        "<h2>Sessions</h2>",
        _legend(_SIDES),
    ]
    parts += [_session(session) for session in report.sessions[:_MAX_SESSIONS]]
    more = len(report.sessions) - _MAX_SESSIONS
    if more > 0:
        parts.append(f"<p>{more} further sessions are in the JSON report.</p>")
    parts.append(_roams(data["roams"]))
    parts.append("</body></html>\n")
    return "".join(parts)


def _counts(data: dict[str, Any]) -> str:
    rows = [
        ("frames", data["frames"]),
        ("protected data frames", data["protected"]),
        ("decrypted", data["decrypted"]),
        ("protected management frames", data["protected_mgmt"]),
        ("frames with EAPOL", data["eapol_frames"]),
        ("frames with EAP", data["eap_frames"]),
    ]
    rows += [(f"closed: {why}", count) for why, count in data["undecrypted"].items()]
    share = data["ledger"]["security_share"]
    if share is not None:
        rows.append(("airtime that security takes", f"{100 * share:.2f} %"))
    body = "".join(f"<tr><th>{escape(k)}</th><td class=n>{v}</td></tr>" for k, v in rows)
    damage = data["damage"]
    broken = (
        f"<p class=failed>{escape(damage['file'])} breaks at octet {damage['offset']}: "
        f"{escape(damage['what'])}.</p>"
        if damage
        else ""
    )
    return f"{broken}<table>{body}</table>"


def _legend(colours: dict[str, str]) -> str:
    keys = (
        f'<span class=key style="background:{colour}"></span>{escape(name.replace("_", " "))}'
        for name, colour in colours.items()
    )
    return f"<p>{''.join(keys)}</p>"


def _airtime(ledger: dict[str, Any]) -> str:
    steps = ledger["seconds"]
    if not any(ledger["total"]["airtime_s"].values()):
        return "<p>No frame names a rate, so there is no airtime to show.</p>"
    last = max(step["second"] for step in steps) + ledger["step_s"]
    width = _WIDTH * ledger["step_s"] / last
    highest = max(sum(step["airtime_s"].values()) for step in steps)
    bars = []
    for step in steps:
        x, y = _WIDTH * step["second"] / last, 160.0
        for kind, colour in _COLOURS.items():
            height = 150 * step["airtime_s"][kind] / highest
            if height <= 0:
                continue
            y -= height
            bars.append(
                f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width - 0.3, 0.3):.2f}" '
                f'height="{height:.2f}" fill="{colour}"/>'
            )
    share = 100 * highest / ledger["step_s"]
    return (
        f'<figure><svg id="airtime" viewBox="0 0 {_WIDTH} 180" role="img" '
        f'aria-label="airtime by kind over time"><line x1="0" y1="160" x2="{_WIDTH}" y2="160" '
        f'stroke="#999"/>{"".join(bars)}'
        f'<text x="0" y="176" font-size="11">0 s</text>'
        f'<text x="{_WIDTH}" y="176" font-size="11" text-anchor="end">{last} s</text></svg>'
        f"<figcaption>Time on air by kind; the highest bar is {share:.1f} % of its time."
        "</figcaption></figure>"
    )


def _session(session: dict[str, Any]) -> str:
    name = escape(session["ssid"] or "(SSID not seen)")
    what = [session["akm"], session["eap_method"], session["cipher"]]
    suites = escape(" / ".join(part for part in what if part))
    style = ' class="failed"' if session["outcome"] == "failed" else ""
    heading = (
        f"<h3{style}>{escape(session['station'])} to {name} ({escape(session['bssid'])}): "
        f"{suites}, {escape(session['outcome'])}</h3>"
    )
    times = [
        f"{label} {session[key] * 1000:.2f} ms"
        for key, label in (
            ("association_time_s", "association"),
            ("eap_time_s", "EAP"),
            ("key_handshake_time_s", "key handshake"),
            ("negotiation_time_s", "negotiation"),
        )
        if session[key] is not None
    ]
    waits = ", ".join(f"{side} {s * 1000:.2f} ms" for side, s in session["waits_s"].items())
    reason = f" {escape(session['reason'])}." if session["reason"] else ""
    text = f"<p>{escape('; '.join(times))}. Kept waiting by: {escape(waits)}.{reason}</p>"
    return heading + text + _waterfall(session["steps"])


def _waterfall(steps: list[dict[str, Any]]) -> str:
    if not steps:
        return ""
    last = max(step["at_s"] for step in steps) or 1e-6
    height = _ROW * len(steps) + 20
    rows = []
    for index, step in enumerate(steps):
        x = 240 + (_WIDTH - 330) * step["at_s"] / last
        y = _ROW * index + 14
        colour = _SIDES[step["from"]]
        rows.append(
            f'<text x="0" y="{y}" font-size="11">{escape(step["what"])}</text>'
            f'<rect x="{x:.1f}" y="{y - 9}" width="5" height="10" fill="{colour}"/>'
            f'<text x="{x + 8:.1f}" y="{y}" font-size="10" fill="#666">'
            f"{step['at_s'] * 1000:.2f} ms</text>"
        )
    return (
        f'<figure><svg class="waterfall" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="frames of the session over time">{"".join(rows)}</svg></figure>'
    )


def _roams(roams: list[dict[str, Any]]) -> str:
    if not roams:
        return ""
    rows = "".join(
        f"<tr><td>{escape(roam['station'])}</td><td>{escape(roam['from'])}</td>"
        f"<td>{escape(roam['to'])}</td><td class=n>{roam['at_s']:.3f} s</td>"
        f"<td class=n>{roam['handover_gap_s'] * 1000:.1f} ms</td></tr>"
        for roam in roams
    )
    head = "<tr><th>station</th><th>from</th><th>to</th><th>at</th><th>gap</th></tr>"
    return f"<h2>Hand-overs</h2><table>{head}{rows}</table>"
