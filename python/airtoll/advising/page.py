"""The screen as a page that fits a phone: one column, no script, nothing from the network.

Takes a :class:`Screen`; gives HTML.
"""

from __future__ import annotations

from html import escape

from airtoll.advising.screen import Screen

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 40rem; padding: 1rem; font: 1rem/1.45 system-ui, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1rem; margin: 1.1rem 0 .2rem; }
p { margin: .2rem 0; }
footer { margin-top: 1.5rem; font-size: .8rem; opacity: .8; }
"""


def page(screen: Screen) -> str:
    """The HTML text."""
    parts = []
    for section in screen.sections:
        lines = "".join(f"<p>{escape(line)}</p>" for line in section.lines)
        head = f"<h2>{escape(section.title)}</h2>" if section.title else ""
        parts.append(f"<section>{head}{lines}</section>")
    answer = escape(screen.answer)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{answer}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{answer}</h1>{''.join(parts)}"
        "<footer>airtoll advise</footer></body></html>\n"
    )
