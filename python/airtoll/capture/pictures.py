"""Pictures of the capture page: where the airtime went, and handshakes as waterfalls.

Takes parts of the JSON report; gives HTML fragments. Labels are text beside the pictures and keep
their size on a phone. Text from the air is escaped.
"""

from __future__ import annotations

import math
from html import escape

from airtoll.border.answers import LedgerReport, SessionReport
from airtoll.capture.reports import by_kind

#: Kinds of airtime in the order in which bars stack, each with its colour.
KINDS = {
    "payload": "#2f6fc4",
    "headers": "#8db4e6",
    "security": "#c8374a",
    "key_exchange": "#7d1f3a",
    "management": "#e0952b",
    "control": "#b9b29c",
    "retries": "#6b6b76",
}
#: Phases of a session, each with its colour.
PHASES = {
    "probe": "#b9b29c",
    "authentication": "#e0952b",
    "association": "#8a7a2e",
    "eap": "#2f6fc4",
    "key_handshake": "#c8374a",
    "tunnel": "#4d8f5b",
}


def airtime(ledger: LedgerReport) -> str:
    """Shares of the whole, the course over time, and the same data under other ciphers."""
    total = by_kind(ledger["total"]["airtime_s"])
    octets_of = by_kind(ledger["total"]["octets"])
    whole = sum(total.values())
    if whole <= 0:
        return _octets(ledger)
    segments, rows = [], []
    for kind, colour in KINDS.items():
        share = 100 * total[kind] / whole
        if share > 0:
            segments.append(
                f'<span style="width:{share:.3f}%;background:{colour}" '
                f'title="{_words(kind)} {share:.2f} %"></span>'
            )
        octets = octets_of[kind]
        rows.append(
            f'<tr><th scope="row"><span class="key" style="background:{colour}"></span>'
            f'{_words(kind)}</th><td class="n">{share:.2f} %</td>'
            f'<td class="n">{_seconds(total[kind])}</td><td class="n">{octets:,}</td></tr>'
        )
    return (
        f'<figure id="airtime"><div class="whole" role="img" '
        f'aria-label="airtime by kind, {_seconds(whole)} in all">{"".join(segments)}</div>'
        f"{_course(ledger)}</figure>"
        '<table><thead><tr><th scope="col">airtime</th><th scope="col" class="n">share</th>'
        '<th scope="col" class="n">time</th><th scope="col" class="n">octets</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{_alternatives(ledger)}"
    )


def _octets(ledger: LedgerReport) -> str:
    """Octets by kind, where no frame names a rate."""
    octets = by_kind(ledger["total"]["octets"])
    whole = sum(octets.values())
    if not whole:
        return "<p>No frame of the air is in the capture.</p>"
    rows = "".join(
        f'<tr><th scope="row"><span class="key" style="background:{colour}"></span>{_words(kind)}'
        f'</th><td class="n">{octets[kind]:,}</td>'
        f'<td class="n">{100 * octets[kind] / whole:.2f} %</td></tr>'
        for kind, colour in KINDS.items()
    )
    return (
        "<p>No frame names a rate, so that octets stand for airtime.</p>"
        '<table><thead><tr><th scope="col">kind</th><th scope="col" class="n">octets</th>'
        f'<th scope="col" class="n">share</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _course(ledger: LedgerReport) -> str:
    steps, step_s = ledger["seconds"], ledger["step_s"]
    last = max(step["second"] for step in steps) + step_s
    highest = max(sum(by_kind(step["airtime_s"]).values()) for step in steps)
    if last <= step_s or highest <= 0:
        return ""
    bars = []
    for step in steps:
        x, y = 1000 * step["second"] / last, 100.0
        width = max(1000 * step_s / last * 0.92, 0.4)
        for kind, colour in KINDS.items():
            height = 100 * by_kind(step["airtime_s"])[kind] / highest
            if height > 0:
                y -= height
                bars.append(
                    f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
                    f'fill="{colour}"/>'
                )
    share = 100 * highest / step_s
    every = "second" if step_s == 1 else f"{step_s} seconds"
    return (
        f'<svg class="course" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" '
        f'aria-label="airtime by kind over time">{"".join(bars)}</svg>'
        f'<div class="axis"><span>0 s</span><span>{last} s</span></div>'
        f"<figcaption>One bar for every {every}; the highest is {share:.1f} % of its time on the "
        "air.</figcaption>"
    )


def _alternatives(ledger: LedgerReport) -> str:
    others = ledger["same_traffic_under"]
    least = min((other["data_airtime_s"] for other in others), default=0)
    if least <= 0:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(other["cipher"])}</th>'
        f'<td class="n">{other["octets_per_frame"]}</td>'
        f'<td class="n">{_seconds(other["data_airtime_s"])}</td>'
        f'<td class="n">{100 * (other["data_airtime_s"] / least - 1):+.2f} %</td></tr>'
        for other in others
    )
    return (
        "<h3>The same data frames under each cipher</h3>"
        '<table><thead><tr><th scope="col">cipher</th><th scope="col" class="n">octets a frame'
        '</th><th scope="col" class="n">airtime</th><th scope="col" class="n">against open</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def waterfall(session: SessionReport) -> str:
    """One row for each frame of the join, on an axis from its first frame to its last."""
    columns = session["steps"]
    rows_of = zip(
        columns["at_s"],
        columns["frame"],
        columns["from"],
        columns["phase"],
        columns["again"],
        columns["what"],
        strict=True,
    )
    steps = [step for step in rows_of if step[_PHASE] in PHASES]
    if not steps:
        return ""
    times = [step[0] for step in steps]
    first = times[0]
    span = max(max(times) - first, 1e-6)
    rows = []
    before = first
    for at_s, frame, sender, phase, again, what in steps:
        left, right = 100 * (before - first) / span, 100 * (at_s - first) / span
        arrow, words = ("\N{RIGHTWARDS ARROW}", "from the station")
        if sender == "ap":
            arrow, words = ("\N{LEFTWARDS ARROW}", "from the AP")
        name = escape(what) + (", again" if again else "")
        rows.append(
            f'<li><span class="what"><span title="{words}">{arrow}</span> '
            f'<span title="frame {frame}">{name} <small>#{frame}</small></span>'
            f'</span><span class="track"><i style="left:{min(left, right):.2f}%;'
            f'width:{max(right - left, 0):.2f}%"></i>'
            f'<b style="left:{right:.2f}%;background:{PHASES[phase]}"></b></span>'
            f'<span class="n">{_milliseconds(at_s - first)}</span></li>'
        )
        before = at_s
    more = session["steps_left_out"]
    note = f"<figcaption>{more:,} further frames are not drawn.</figcaption>" if more else ""
    return (
        f'<figure class="waterfall"><ol aria-label="frames of the join over time">'
        f"{''.join(rows)}</ol>{_ticks(span)}{note}</figure>"
    )


#: Index of the phase in a step that a waterfall draws.
_PHASE = 3


def _ticks(span: float) -> str:
    """The axis below a waterfall: round times from 0 to ``span`` seconds."""
    power = 10.0 ** math.floor(math.log10(span))
    rounds = (power * part for part in (0.5, 1.0, 2.0, 5.0))
    step = next(step for step in rounds if span / step < _MOST_TICKS)
    marks = [number * step for number in range(int(span / step + 1e-9) + 1)]
    texts = "".join(
        f'<span style="left:{100 * mark / span:.2f}%">{_round(mark)}</span>' for mark in marks
    )
    return (
        f'<div class="ticks" aria-hidden="true"><span></span><span class="scale">{texts}</span>'
        "<span></span></div>"
    )


#: Ticks of an axis, which a phone has room for, 0 not counted.
_MOST_TICKS = 4


def _round(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def legend(colours: dict[str, str]) -> str:
    """Colours with their names."""
    keys = (
        f'<span class="entry"><span class="key" style="background:{colour}"></span>'
        f"{_words(name)}</span>"
        for name, colour in colours.items()
    )
    return f'<p class="legend">{" ".join(keys)}</p>'


def waits(session: SessionReport) -> str:
    """Waiting times by the party that caused them, as one bar."""
    parts = {side: session["waits_s"][side] for side in ("station", "ap", "server", "air")}
    whole = sum(parts.values())
    if whole <= 0:
        return ""
    colours = ("#2f6fc4", "#e0952b", "#4d8f5b", "#6b6b76")
    names = {"ap": "AP"}
    segments = "".join(
        f'<span style="width:{100 * value / whole:.3f}%;background:{colour}"></span>'
        for (_, value), colour in zip(parts.items(), colours, strict=True)
        if value > 0
    )
    words = " ".join(
        f'<span class="entry"><span class="key" style="background:{colour}"></span>'
        f"{names.get(side, side)} {_milliseconds(value)}</span>"
        for (side, value), colour in zip(parts.items(), colours, strict=True)
    )
    seen = session["waits_s"]["server_seen"]
    how = {
        "radius": "The server's part was taken from RADIUS on the wire.",
        "air": "Without RADIUS in the capture, the AP's own part of the server's time is in it.",
    }.get(seen or "", "")
    return (
        f'<div class="whole thin" role="img" aria-label="who kept whom waiting">{segments}</div>'
        f'<p class="legend">Kept waiting by: {words} {how}</p>'
    )


def _words(name: str) -> str:
    return escape({"eap": "EAP"}.get(name, name.replace("_", " ")))


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.2f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.3f} s" if seconds >= 1 else f"{seconds * 1000:,.3f} ms"
