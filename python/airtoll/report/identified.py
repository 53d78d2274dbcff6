"""The HTML page of an identification: models side by side, intervals, fits and experiments.

Takes the outcome of ``airtoll identify`` as plain values; gives one page without scripts that
fetches nothing. Runs nothing and fits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c22; --soft: #55555f; --line: #d9d7d0;
  --paper: #fff; --bad: #b3261e; --track: #f0efeb; --mark: #0072B2; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #b4b4bf; --line: #43434d;
  --paper: #17171c; --bad: #ff8a80; --track: #26262e; --mark: #56B4E9; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; overflow-wrap: normal; }
td, th { text-align: left; padding: .15rem .9rem .15rem 0; font-weight: normal;
  vertical-align: top; }
thead th { color: var(--soft); font-size: .87rem; border-bottom: 1px solid var(--line); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.failed { color: var(--bad); } p, figcaption { max-width: 46rem; }
.rows { list-style: none; padding: 0; margin: 0; }
.rows li { display: grid; grid-template-columns: minmax(9rem, 2fr) 3fr; gap: .5rem;
  font-size: .85rem; }
.track { position: relative; height: 1.1rem; background: var(--track); }
.track i { position: absolute; top: 45%; height: 2px; background: var(--mark); }
.track b, .track u { position: absolute; top: 15%; height: 70%; width: 3px; }
.track b { background: var(--mark); } .track u { background: var(--ink); }
"""


def identified_page(found: Mapping[str, Any], title: str) -> str:
    """The page as text. ``found``: what ``airtoll identify --json`` prints."""
    models: Sequence[Mapping[str, Any]] = found["models"]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>",
        f"<body><main><h1>{escape(title)}</h1>",
        _answer(models),
        "<h2>Mechanisms by their error on overheads that the fit has not seen</h2>",
        _models(models),
        "<h2>Costs per frame</h2>",
        _costs(models),
        "<h2>Held-out overheads and 90 % intervals</h2>",
        _predictions(models[0]),
        "<h2>Experiments that tell the mechanisms apart</h2>",
        _experiments(found["experiments"]),
        "<h2>Readings of the fit</h2>",
        _list(found["fitted_on"]),
        "<h2>Settings that the study does not state</h2>",
        _settings(found["settings"], found["open"]),
        "</main></body></html>\n",
    ]
    return "".join(parts)


def _answer(models: Sequence[Mapping[str, Any]]) -> str:
    best = models[0]
    score = best["held_out"]
    text = (
        f"{best['name']} predicts {score['n']} held-out overheads with an error of "
        f"{score['rms_points']:.2f} points (root mean square); "
        f"{100 * score['coverage_90']:.0f} % lie in their 90 % intervals, whose median half-width "
        f"is {score['half_width_points']:.1f} points."
    )
    impossible = [m["name"] for m in models if m["at_limit"]]
    if impossible:
        text += (
            f" Physically impossible is the fit of {', '.join(impossible)}: no cost of the search "
            "is large enough for the readings."
        )
    return f"<p>{escape(text)}</p>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """A table of HTML cells: the first ``texts`` columns are text, the others numbers."""

    def line(cells: Sequence[str], tag: str) -> str:
        made = (
            f"<{tag}>{cell}</{tag}>" if i < texts else f'<{tag} class="n">{cell}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = line([escape(h) for h in heads], "th")
    body = "".join(line(row, "td") for row in rows)
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _models(models: Sequence[Mapping[str, Any]]) -> str:
    tables = sorted({name for m in models for name in m["held_out"]["kendall"]})
    heads = ["mechanism", "RMS, points", "median", "inside", "half-width", "noise", "log evidence"]
    rows = []
    for m in models:
        score = m["held_out"]
        name = escape(m["name"])
        if m["at_limit"]:
            name += ' <span class="failed">(impossible)</span>'
        order = [score["kendall"].get(table) for table in tables]
        rows.append(
            [
                name,
                f"{score['rms_points']:.2f}",
                f"{score['median_points']:.2f}",
                f"{100 * score['coverage_90']:.0f} %",
                f"{score['half_width_points']:.1f}",
                f"{m['noise_points']:.1f}",
                f"{m['log_evidence']:.1f}",
                *("ties" if tau is None or tau != tau else f"{tau:.2f}" for tau in order),
            ]
        )
    return _table([*heads, *(f"tau-b, {name}" for name in tables)], rows)


def _costs(models: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for m in models for name in m["fitted"]))
    rows = []
    for m in models:
        cells = []
        for name in names:
            if name not in m["fitted"]:
                cells.append("")
            elif name in m["at_limit"]:
                cells.append('<span class="failed">no limit</span>')
            else:
                low, high = m["intervals_90"][name]
                cells.append(f"{m['fitted'][name]:.0f} ({low:.0f} to {high:.0f})")
        if m["fitted"]:
            rows.append([escape(m["name"]), *cells])
    return "<p>Microseconds, with 90 % intervals.</p>" + _table(["mechanism", *names], rows)


def _predictions(model: Mapping[str, Any]) -> str:
    rows = model["predictions"]
    ends = [v for r in rows for v in (*r["interval_90"], r["observed_points"])]
    low, high = min(*ends, 0.0), max(ends)
    scale = 100 / (high - low) if high > low else 0.0

    def at(value: float) -> str:
        return f"{(value - low) * scale:.1f}%"

    lines = []
    for r in rows:
        first, last = r["interval_90"]
        words = (
            f"{r['reading']}: printed {r['observed_points']:.2f}, predicted "
            f"{r['predicted_points']:.2f} ({first:.2f} to {last:.2f})"
        )
        lines.append(
            f"<li><span>{escape(words)}</span><span class='track'>"
            f"<i style='left:{at(first)};width:{(last - first) * scale:.1f}%'></i>"
            f"<b style='left:{at(r['predicted_points'])}'></b>"
            f"<u style='left:{at(r['observed_points'])}'></u></span></li>"
        )
    caption = (
        f"{model['name']}, points of overhead: the dark mark is printed, the coloured predicted."
    )
    figure = f"<ul class='rows'>{''.join(lines)}</ul>"
    return f"<figure>{figure}<figcaption>{escape(caption)}</figcaption></figure>"


def _experiments(experiments: Sequence[Mapping[str, Any]]) -> str:
    if not experiments:
        return "<p>No cell of the study with one UDP sender could be varied.</p>"
    parts = ["<p>Overheads in percent that each mechanism predicts at its fitted costs.</p>"]
    for one in experiments:
        parts.append(f"<h3>{escape(one['title'])}</h3>")
        heads = ["mechanism", *(f"{level:g}" for level in one["levels"])]
        rows = [
            [escape(name), *(f"{value:.2f}" for value in values)]
            for name, values in one["overheads"].items()
        ]
        parts.append(_table(heads, rows))
    return "".join(parts)


def _list(names: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(name)}</li>' for name in names)}</ul>"


def _settings(used: Mapping[str, str], known: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    parts = []
    for dataset, choices in known.items():
        words = f"{dataset}: used is {used[dataset]!r}. Errors of the open readings:"
        rows = [
            [escape(c["setting"]), f"{100 * c['error']:.1f} %", f"{c['criterion']:.1f}"]
            for c in choices
        ]
        table = _table(["setting", "error", "criterion"], rows)
        parts.append(f"<p>{escape(words)}</p>{table}")
    return "".join(parts)
