"""The font of every figure, cut once to the characters that figures use.

Takes matplotlib's own font files; gives the same fonts without their other scripts and their
shaping tables, for this process alone. Every PDF holds a font cut to its characters: cut from these
it need not be cut from the whole font each time. Never changes an installed font.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fontTools import subset
from matplotlib.font_manager import FontProperties, fontManager

#: Latin with its accents, Greek, punctuation, superscripts, letterlike signs, arrows, operators,
#: geometric shapes. Whatever is not among them comes from the whole font.
_BLOCKS = ((0x20, 0x250), (0x370, 0x400), (0x2000, 0x2400), (0x25A0, 0x2600))
_WEIGHTS = ("normal", "bold")


@cache
def cut_fonts() -> TemporaryDirectory[str]:
    """Let this process draw with cut fonts from now on; the folder that holds them goes with it."""
    folder = TemporaryDirectory(prefix="airtoll-font-")
    for weight in _WEIGHTS:
        whole = Path(fontManager.findfont(FontProperties(family="DejaVu Sans", weight=weight)))
        path = Path(folder.name) / whole.name
        _cut(whole, path)
        fontManager.addfont(path)
        # Of equals the first is taken; the whole font stays behind it as the fallback.
        fontManager.ttflist.insert(0, fontManager.ttflist.pop())
    return folder


def _cut(whole: Path, path: Path) -> None:
    options = subset.Options(
        glyph_names=True, layout_features=[], legacy_kern=True, name_IDs=["*"], notdef_outline=True
    )
    options.drop_tables += ["FFTM"]
    font = subset.load_font(str(whole), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for block in _BLOCKS for code in range(*block)])
    cutter.subset(font)
    subset.save_font(font, str(path), options)
