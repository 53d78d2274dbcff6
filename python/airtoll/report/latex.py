"""LaTeX tables that fit the text of a paper.

Takes a grid of texts and a layout; gives LaTeX. The width is that of the texts in Computer Modern;
units move into headings, headings break, letters get smaller, long words wrap, and in the end the
least important columns are left out, unless the user chose the columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from airtoll.analyse.quantities import NOTHING, like_units
from airtoll.report.own import MARK


@frozen
class Layout:
    """The place of a table in a paper: its environment, and the text's width and height, pt.

    ``height_pt``: None where a table goes on on the next page.
    """

    environment: str
    width_pt: float
    height_pt: float | None
    needs: tuple[str, ...] = ()


#: Widths: ``article`` of 10 pt on A4; one column and the page of ``IEEEtran``; a turned page.
LAYOUTS: Final[Mapping[str, Layout]] = {
    "table": Layout("table", 345, 590),
    "column": Layout("table", 252, 590),
    "wide": Layout("table*", 510, 590),
    "landscape": Layout("sidewaystable", 550, 340, ("rotating",)),
    "long": Layout("longtable", 345, None, ("longtable",)),
}


@frozen
class Marked:
    """A text with the letters of its notes."""

    text: str
    letters: str


@frozen
class Bounded:
    """A value with how far its interval goes up and down, set as a superscript and a subscript."""

    value: str
    up: str
    down: str
    letters: str = ""


@frozen
class Stacked:
    """A value with half of its interval in a line of its own below it."""

    value: str
    half: str
    letters: str = ""


Text = str | Marked | Bounded | Stacked


@frozen
class Group:
    """Rows below a title, which may be empty."""

    title: str
    rows: tuple[tuple[Text, ...], ...]


@frozen
class Grid:
    """A table before it is set. ``numbers``: names of the columns of numbers.

    ``chosen``: the user chose the columns, so that none is left out. ``minor``: those that are left
    out first.
    """

    columns: tuple[str, ...]
    numbers: frozenset[str]
    groups: tuple[Group, ...]
    chosen: bool = False
    minor: tuple[str, ...] = ()


@frozen
class Typeset:
    """A table as LaTeX: its size as estimated, and the columns that it leaves out.

    ``fits``: its width the text; ``is_long``: for one page.
    """

    text: str
    width_pt: float
    height_pt: float
    left_out: tuple[str, ...]
    fits: bool
    is_long: bool


@frozen
class _Size:
    """Size of the letters and half the gap between columns, pt; ``command``: what sets both."""

    points: float
    gap: float
    command: str


def _size(points: int, gap: int) -> _Size:
    leading = round(1.2 * points, 1)
    # Not \small: its size depends on the class.
    command = (
        f"\\fontsize{{{points}}}{{{leading:g}}}\\selectfont\\setlength{{\\tabcolsep}}{{{gap}pt}}%\n"
    )
    return _Size(points, gap, command)


#: As the paper has it: 12 pt at most, whose text is wider, but less so than the letters.
_AS_IS: Final = _Size(12, 6, "")
_GROWS: Final = 390 / 345
_SIZES: Final = (_size(10, 6), _size(9, 4), _size(8, 3))
#: Computer Modern is wider than in proportion in small sizes, narrower in large ones.
_WIDER: Final = {12: 0.979, 10: 1.0, 9: 1.028, 8: 1.0626}
#: A value with the ends of its interval.
_INTERVAL: Final = re.compile(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]")
#: Heights, pt: the space around a caption, its lines, lines in units of their letters, the
#: space between groups. A table of unstated size is set in that of the paper.
_FLOAT_PT, _CAPTION_PT, _LINE, _GROUP_PT = 45.0, 12.0, 1.2, 6.0
#: Sums of rounded widths are that much too small at most.
_SAFE: Final = 0.99
#: Letters of notes and ends of intervals have seven tenths of the size, wider in proportion.
#: Behind them is a space, pt.
_SCRIPT, _BEHIND_PT = 0.8, 0.5
#: Lines of a heading, and the least width of a column whose words wrap, pt.
_HEAD_LINES: Final = 3
_LEAST_WORDS: Final = 50.0
#: A title wraps at the width of its table, or at this one, pt.
_LEAST_TITLE: Final = 150.0


@frozen(eq=False)
class _Column:
    """A column: its heading, texts, and the width at which words wrap, pt."""

    name: str
    head: str
    cells: tuple[Text, ...]
    is_number: bool
    wrap_pt: float | None = None

    def head_lines(self, size: _Size) -> list[str]:
        """The heading in at most three lines, as narrow as they can be, not below the texts."""
        return _heading_and_width(self, size)[0]

    def width(self, size: _Size) -> float:
        """The width with the heading, pt."""
        return _heading_and_width(self, size)[1]


@lru_cache(maxsize=2000)
def _heading_and_width(column: _Column, size: _Size) -> tuple[list[str], float]:
    own = column.wrap_pt
    if own is None:
        own = max((width_pt(cell, size.points) for cell in set(column.cells)), default=0.0)
    limit = max([own, *(width_pt(word, size.points) for word in column.head.split())])
    lines = _filled(column.head, limit, size)
    while len(lines) > _HEAD_LINES:
        limit *= 1.1
        lines = _filled(column.head, limit, size)
    return lines, max([own, *(width_pt(line, size.points) for line in lines)])


def typeset(
    grid: Grid,
    layout: Layout,
    *,
    caption: str | None = None,
    label: str = "",
    notes: Sequence[str] = (),
) -> Typeset:
    """The table in its layout.

    ``caption`` and ``notes`` (lines below) are LaTeX, all else is text; without a caption it is a
    ``tabular`` alone.
    """
    every = [
        _column(name, [row[at] for group in grid.groups for row in group.rows], grid.numbers)
        for at, name in enumerate(grid.columns)
    ]
    above = _FLOAT_PT + _CAPTION_PT * len(_filled(caption or "", layout.width_pt, _AS_IS))
    best: _Form | None = None
    out: tuple[str, ...] = ()
    for out in _leaving(every, grid):
        kept = [column for column in every if column.name not in out]
        for columns, size in _forms(kept, layout.width_pt, stacks=grid.chosen):
            one = _form(columns, size, grid.groups, above)
            if best is None or one.height < best.height:
                best = one
            if layout.height_pt is None or one.height <= layout.height_pt:
                break
        if best is not None:
            break
    fits = best is not None
    found = best or _form(_bounded(every), _SIZES[-1], grid.groups, above)
    text = _around(found.body, found.columns, found.size, layout, caption, label, notes)
    if out:
        text = f"% Left out for the width of {layout.width_pt:g} pt: {', '.join(out)}\n{text}"
    is_long = layout.height_pt is not None and found.height > layout.height_pt
    return Typeset(text, _total(found.columns, found.size), found.height, out, fits, is_long)


@frozen
class _Form:
    """A table in letters of one size: its rows in LaTeX, and its height, pt."""

    columns: Sequence[_Column]
    size: _Size
    body: list[str]
    height: float


def _form(columns: Sequence[_Column], size: _Size, groups: Sequence[Group], above: float) -> _Form:
    body, lines = _body(columns, groups, size, _total(columns, size))
    height = above + lines * _LINE * size.points + _GROUP_PT * len(groups)
    return _Form(columns, size, body, height)


def _leaving(columns: Sequence[_Column], grid: Grid) -> Iterator[tuple[str, ...]]:
    """The columns to leave out, none at first, then one more each time."""
    order = [] if grid.chosen else _least_important(columns, grid.minor)
    for count in range(len(order) + 1):
        yield tuple(name for name in grid.columns if name in order[:count])


def _column(name: str, cells: Sequence[Text], numbers: frozenset[str]) -> _Column:
    is_number = name in numbers
    unit = ""
    if is_number:
        unit, cells = _common_unit(cells)
    head = f"{name} ({unit})" if unit else name
    return _Column(name, head, tuple(_tight(cell) for cell in cells), is_number)


def _tight(cell: Text) -> Text:
    return _changed(cell, _value(cell).replace(" ± ", "±"))


def _changed(cell: Text, text: str) -> Text:
    return Marked(text, cell.letters) if isinstance(cell, Marked) else text


def _least_important(columns: Sequence[_Column], minor: Sequence[str]) -> list[str]:
    """The columns in the order in which they are left out: minor ones, then the last numbers.

    The first column, the first number and a last column of words stay.
    """
    numbers = [column.name for column in columns if column.is_number]
    words = [column.name for column in columns[1:-1] if not column.is_number]
    first = [name for name in minor if name in numbers]
    last = [name for name in numbers if name not in first]
    return [*first, *reversed(last[1:]), *reversed(words)]


def _forms(
    columns: list[_Column], limit: float, *, stacks: bool
) -> Iterator[tuple[list[_Column], _Size]]:
    """The ways to set columns within a width, the easiest to read first.

    ``stacks``: intervals may have lines of their own, before a column is left out.
    """
    limit *= _SAFE
    if _total(columns, _AS_IS) <= _GROWS * limit:
        yield columns, _AS_IS
    bounded = _bounded(columns)
    large, middle, small = _SIZES
    for those, size in (
        (columns, large), (columns, middle), (bounded, middle), (columns, small), (bounded, small),
    ):  # fmt: skip
        if _total(those, size) <= limit:
            yield those, size
    for size in (middle, small):
        wrapped = _wrapped(bounded, size, limit)
        if wrapped is not None:
            yield wrapped, size
    for size in (middle, small) if stacks else ():
        stacked = _stacked(bounded)
        narrow = stacked if _total(stacked, size) <= limit else _wrapped(stacked, size, limit)
        if narrow is not None:
            yield narrow, size


def _bounded(columns: Sequence[_Column]) -> list[_Column]:
    """Columns whose intervals are superscripts and subscripts, which take half of the width."""
    return [
        evolve(one, cells=tuple(map(_as_bounds, one.cells))) if one.is_number else one
        for one in columns
    ]


def _stacked(columns: Sequence[_Column]) -> list[_Column]:
    """Columns whose intervals stand below the values."""
    return [
        evolve(one, cells=tuple(map(_as_stack, one.cells))) if one.is_number else one
        for one in columns
    ]


def _as_stack(cell: Text) -> Text:
    if isinstance(cell, Bounded | Stacked):
        return cell
    value, sign, half = _value(cell).partition("±")
    return Stacked(value, sign + half, getattr(cell, "letters", "")) if sign else cell


def _as_bounds(cell: Text) -> Text:
    found = None if isinstance(cell, Bounded | Stacked) else _INTERVAL.fullmatch(_value(cell))
    if found is None:
        return cell
    value, low, high = map(Decimal, found.group(1, 2, 3))
    if not low <= value <= high:
        return cell
    return Bounded(found[1], f"{high - value:f}", f"{value - low:f}", getattr(cell, "letters", ""))


def _wrapped(columns: list[_Column], size: _Size, limit: float) -> list[_Column] | None:
    """Columns of words at the width that the others leave; None where that is too little."""
    words = [at for at, column in enumerate(columns) if not column.is_number]
    natural = {at: columns[at].width(size) for at in words}
    least = {
        at: min(natural[at], max(_longest_word(columns[at], size), _LEAST_WORDS)) for at in words
    }
    free = limit - _total(columns, size) + sum(natural.values())
    if not words or sum(least.values()) > free:
        return None
    low, high = 0.0, max(natural.values())
    for _ in range(40):
        cap = (low + high) / 2
        used = sum(max(least[at], min(natural[at], cap)) for at in words)
        low, high = (cap, high) if used <= free else (low, cap)
    found = list(columns)
    for at in words:
        width = max(least[at], min(natural[at], low))
        if width < natural[at]:
            found[at] = evolve(columns[at], wrap_pt=width)
    return found


@lru_cache(maxsize=2000)
def _longest_word(column: _Column, size: _Size) -> float:
    words = [word for cell in column.cells for word in _plain(cell).split()]
    return max(
        (width_pt(word, size.points) for word in [*words, *column.head.split()]), default=0.0
    )


def _total(columns: Sequence[_Column], size: _Size) -> float:
    """The width of a table, pt, without gaps at its ends."""
    return sum(one.width(size) for one in columns) + 2 * size.gap * (len(columns) - 1)


def _body(
    columns: Sequence[_Column], groups: Sequence[Group], size: _Size, width: float
) -> tuple[list[str], int]:
    """Heading and rows, with ``\\midrule`` between, and the lines that they take."""
    heads = [column.head_lines(size) for column in columns]
    depth = max(map(len, heads), default=0)
    padded = [[""] * (depth - len(lines)) + lines for lines in heads]
    found = [" & ".join(escape_latex(of[at]) for of in padded) + r" \\" for at in range(depth)]
    found.append(r"\midrule")
    count, row_at = depth, 0
    for number, group in enumerate(groups):
        if number:
            found.append(r"\addlinespace")
        for line in _filled(group.title, max(width, _LEAST_TITLE), size) if group.title else ():
            count += 1
            title = rf"\multicolumn{{{len(columns)}}}{{@{{}}l@{{}}}}{{{escape_latex(line)}}}"
            # A title alone at the end of a page would name nothing.
            found.append(title + r" \\*")
        for _ in group.rows:
            cells = [column.cells[row_at] for column in columns]
            below = [escape_latex(one.half) if isinstance(one, Stacked) else "" for one in cells]
            end = r" \\*" if any(below) else r" \\"
            found.append(" & ".join(map(_cell, cells)) + end)
            if any(below):
                found.append(" & ".join(below) + r" \\")
            count += any(below) + max(
                1 if one.wrap_pt is None else len(_filled(_plain(cell), one.wrap_pt, size))
                for one, cell in zip(columns, cells, strict=True)
            )
            row_at += 1
    return found, count


def _around(
    body: list[str],
    columns: Sequence[_Column],
    size: _Size,
    layout: Layout,
    caption: str | None,
    label: str,
    notes: Sequence[str],
) -> str:
    kinds = "@{}" + "".join(map(_kind, columns)) + "@{}"
    array = ("array",) if any(one.wrap_pt is not None for one in columns) else ()
    needs = ",".join((*array, "booktabs", *(layout.needs if caption is not None else ())))
    head = f"% {MARK}\n% \\usepackage{{{needs}}}\n"
    below = "".join(f"\n\\smallskip{{\\footnotesize {note}\\par}}\n" for note in notes)
    middle = body.index(r"\midrule")
    if layout.environment == "longtable" and caption is not None:
        named = "\\toprule\n" + "\n".join(body[: middle + 1]) + "\n"
        return (
            head + "{" + size.command + "\\setlength{\\LTcapwidth}{\\linewidth}%\n"
            + f"\\begin{{longtable}}{{{kinds}}}\n\\caption{{{caption}}}\n\\label{{{label}}}\\\\\n"
            + f"{named}\\endfirsthead\n{named}\\endhead\n\\bottomrule\n\\endfoot\n"
            + "\n".join(body[middle + 1 :]) + "\n\\end{longtable}}\n" + below
        )  # fmt: skip
    table = "\n".join(
        [f"\\begin{{tabular}}{{{kinds}}}", r"\toprule", *body, r"\bottomrule", r"\end{tabular}", ""]
    )
    if caption is None:
        return head + (f"{{{size.command}{table}}}\n" if size.command else table) + below
    return (
        head
        + f"\\begin{{{layout.environment}}}\n\\centering\n"
        + f"\\caption{{{caption}}}\n\\label{{{label}}}\n"
        + (f"{{{size.command}{table}\\par}}\n" if size.command else table)
        + below
        + f"\\end{{{layout.environment}}}\n"
    )


def _kind(column: _Column) -> str:
    if column.wrap_pt is not None:
        return rf">{{\raggedright\arraybackslash}}p{{{column.wrap_pt:.1f}pt}}"
    return "r" if column.is_number else "l"


def _cell(cell: Text) -> str:
    if isinstance(cell, str):
        return escape_latex(cell)
    letters = f"\\textsuperscript{{{cell.letters}}}" if cell.letters else ""
    if isinstance(cell, Bounded):
        return f"${cell.value}^{{+{cell.up}}}_{{-{cell.down}}}${letters}"
    return f"{escape_latex(_value(cell))}{letters}"


def _plain(cell: Text) -> str:
    return _value(cell) + ("" if isinstance(cell, str) else cell.letters)


def _filled(text: str, limit: float, size: _Size) -> list[str]:
    """Words in lines of at most this width, pt."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_pt(longer, size.points) <= limit:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def _common_unit(cells: Sequence[Text]) -> tuple[str, Sequence[Text]]:
    """The unit of all values, for the heading, and the values without it.

    Multiples of one unit become one, where no value gets too long or too short by it.
    """
    units = [_unit(_value(cell)) for cell in cells if _value(cell) not in ("", NOTHING)]
    if not units or "" in units:
        return "", cells
    for unit in dict.fromkeys(sorted(units, key=units.count, reverse=True)):
        found = [_in_unit(cell, unit) for cell in cells]
        whole = [cell for cell in found if cell is not None]
        if len(whole) == len(cells):
            return unit, whole
    return "", cells


def _value(cell: Text) -> str:
    if isinstance(cell, Bounded | Stacked):
        return cell.value
    return cell.text if isinstance(cell, Marked) else cell


def _unit(text: str) -> str:
    """The word behind the last space, where it is a unit."""
    unit = text.rpartition(" ")[2] if " " in text else ""
    return "" if re.fullmatch(r"[-+.,0-9\]\[()]*", unit) else unit


def _in_unit(cell: Text, unit: str) -> Text | None:
    """A value in this unit, without it; None where it would be hard to read."""
    text = _value(cell)
    if text in ("", NOTHING):
        return cell
    own = _unit(text)
    number = text.removesuffix(f" {own}")
    if own != unit:
        scales = like_units(own)
        if unit not in scales:
            return None
        places = Decimal(str(scales[own])) / Decimal(str(scales[unit]))
        number = re.sub(r"\d+(?:\.\d+)?", lambda found: _times(found[0], places), number)
        first = re.search(r"\d+(?:\.\d+)?", number)
        if first is None or not (float(first[0]) == 0 or 0.01 <= float(first[0]) < 10_000):
            return None
    return _changed(cell, number)


def _times(number: str, factor: Decimal) -> str:
    return f"{Decimal(number) * factor.normalize():f}"


@lru_cache(maxsize=20_000)
def width_pt(cell: Text, points: float) -> float:
    """The width of a text in Computer Modern of this size, pt."""
    scale = points * _WIDER.get(round(points), 1.0) / 1000
    if isinstance(cell, Bounded):
        ends = max(width_pt(f"+{cell.up}", points), width_pt(f"+{cell.down}", points))
        return width_pt(Marked(cell.value, cell.letters), points) + _SCRIPT * ends + _BEHIND_PT
    if isinstance(cell, Stacked):
        above = width_pt(Marked(cell.value, cell.letters), points)
        return max(above, width_pt(cell.half, points))
    if isinstance(cell, Marked):
        behind = _BEHIND_PT if cell.letters else 0.0
        return width_pt(cell.text, points) + _SCRIPT * width_pt(cell.letters, points) + behind
    return scale * sum(map(_thousandths, cell))


def _thousandths(sign: str) -> int:
    found = _WIDTHS.get(sign)
    if found is None:
        found = _WIDTHS.get(unicodedata.normalize("NFD", sign)[0], 1000)
    return found


#: Widths of signs of cmr10, of some of cmsy10 and cmmi10, in thousandths of the size, from the
#: metrics of the fonts.
_WIDTHS: Final[Mapping[str, int]] = {
    **dict.fromkeys(" !',.:;[]`il", 278),
    **dict.fromkeys("()t", 389),
    **dict.fromkeys("/0123456789agno\"–", 500),
    **dict.fromkeys("ceéz", 445),
    **dict.fromkeys("bdhknpuqvxyµ", 556),
    **dict.fromkeys("jf", 306),
    **dict.fromkeys("<>+=&±−@K", 778),
    **dict.fromkeys("DOGQ", 785),
    **dict.fromkeys("AHNUVXYR", 750),
    **dict.fromkeys("BCTw", 722),
    **dict.fromkeys("EFPL", 681),
    **dict.fromkeys("{}^~\\*$", 525),
    "#": 833, "%": 833, "-": 333, "?": 472, "I": 361, "J": 514, "M": 917, "S": 556, "W": 1028,
    "Z": 611, "_": 300, "m": 833, "r": 392, "s": 395, "|": 278, "→": 1000,
}  # fmt: skip

#: Control characters, line ends, and the signs that turn the direction of text around.
CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "<": r"$<$",
    ">": r"$>$",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    **{mark: "\\" + mark for mark in "&%$#_{}"},
}


#: The sign of a number, which is no hyphen.
_NEGATIVE: Final = re.compile(r"(?<![\w.,)-])-(?=\d)")


def escape_latex(text: str) -> str:
    """One line of text that LaTeX prints as it is; control characters are spaces."""
    plain = _NEGATIVE.sub("−", CONTROLS.sub(" ", text))
    escaped = "".join(_LATEX.get(mark, mark) for mark in plain)
    # Behind the end of a row these would be its arguments.
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped[:1] in ("[", "*") else escaped
