"""LaTeX tables fit the text of a paper: as estimated, and as LaTeX measures them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.report.latex import LAYOUTS, Bounded, Grid, Group, Marked, typeset, width_pt
from airtoll.report.paper_tables import PaperForm, as_latex, paper_tables
from airtoll.report.printed_rows import printed_rows
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.view_tables import ViewTables
from airtoll.report.views import VIEWS
from airtoll.report.where import Where
from airtoll.run import run

pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed: apt-get install texlive-latex-recommended",
)


@pytest.fixture(scope="module")
def paper(everything: type, tmp_path_factory: pytest.TempPathFactory) -> RunSummary:
    folder = tmp_path_factory.mktemp("paper") / "run"
    run("tripathi2008", testbed=everything(), out=folder, trials=3, jobs=1)
    return summarise(folder)


def tables(summary: RunSummary, name: str, layout: str, *where: str) -> ViewTables:
    view = VIEWS[name](summary)
    return ViewTables(summary, name, view, Where.of(where), None, PaperForm(LAYOUTS[layout]))


def measured(text: str, folder: Path, options: str = "10pt") -> list[float]:
    """The widths of the tables of a text, pt, by LaTeX."""
    tabular = re.compile(r"\\begin\{tabular\}.*?\\end\{tabular\}", re.DOTALL)
    boxed = tabular.sub(
        lambda found: rf"\setbox0\hbox{{{found[0]}}}\typeout{{WIDE \the\wd0}}\box0 ", text
    )
    packages = r"\usepackage{array,booktabs,longtable,rotating,textcomp}"
    (folder / "paper.tex").write_text(
        rf"\documentclass[{options},a4paper]{{article}}{packages}"
        rf"\begin{{document}}{boxed}\end{{document}}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in done.stdout
    return [float(found) for found in re.findall(r"WIDE ([\d.]+)pt", done.stdout)]


#: Every table in the narrowest layout, and one table in every layout; the rest is thorough.
LAID_OUT = [
    pytest.param(
        name,
        layout,
        marks=[pytest.mark.thorough] * (name != "delays" and layout != "column"),
    )
    for name in VIEWS
    if name != "parts"
    for layout in LAYOUTS
]


@pytest.mark.parametrize(("name", "layout"), LAID_OUT)
def test_every_table_of_a_run_fits_every_layout(paper: RunSummary, name: str, layout: str) -> None:
    found = tables(paper, name, layout).typeset()
    assert found
    for one in found:
        assert one.fits
        assert rf"\begin{{{LAYOUTS[layout].environment}}}" in one.text
        assert one.text.count("\\caption{") == one.text.count("\\label{") == 1
        # Its answer is not what a narrow page leaves out.
        answer = {"change", "throughput by rule", "throughput overhead by rule", "ours", "policy"}
        assert not (answer | {"verdict"}) & set(one.left_out)
        # The caption has a symbol of a column only where there is the column.
        has_n = re.search(r"(^|& )n( &| \\\\)", one.text, re.MULTILINE) is not None
        assert ("$n$" in one.text) is has_n
    labels = [re.search(r"\\label\{(.*?)\}", one.text)[1] for one in found]
    assert len(set(labels)) == len(labels)


@pdflatex
@pytest.mark.parametrize("options", ["10pt", "12pt"])
def test_latex_measures_no_more_than_the_text(
    paper: RunSummary, tmp_path: Path, options: str
) -> None:
    rows = printed_rows(paper, "tripathi2008")
    form = PaperForm(LAYOUTS["table"])
    compared = as_latex(paper, paper_tables(rows), {}, form)
    found = [
        one
        for name in ("costs", "answers", "delays")
        for one in tables(paper, name, "table").typeset()
    ]
    text = "\\clearpage\n".join(one.text for one in (*compared, *found))
    widths = measured(text, tmp_path, options)
    assert len(widths) == len(compared) + len(found)
    assert max(widths) <= {"10pt": 345, "12pt": 390}[options]


@pdflatex
def test_the_estimate_is_the_width_that_latex_measures(tmp_path: Path) -> None:
    rows = (
        ("WPA2-Personal, CCMP-128", Marked("24.858 ± 0.031 Mb/s", "a,b"), "1.23 %"),
        ("Quick zephyrs & {vexed} jumps", "1.5 Mb/s", "-0.3 [-0.9, 1.1] %"),
    )
    grid = Grid(
        ("policy", "throughput", "overhead"),
        frozenset({"throughput", "overhead"}),
        (Group("", rows),),
    )
    for layout in ("table", "column", "wide"):
        found = typeset(grid, LAYOUTS[layout])
        at = 12 if "fontsize" not in found.text else 10
        (width,) = measured(found.text, tmp_path, f"{at}pt")
        assert width == pytest.approx(found.width_pt, rel=0.015)


def set_in_an_article(rows: tuple[tuple[str, ...], ...], *numbers: str) -> str:
    grid = Grid(("policy", *numbers), frozenset(numbers), (Group("", rows),))
    return typeset(grid, LAYOUTS["table"]).text


def test_units_that_all_values_share_are_in_the_heading() -> None:
    rows = tuple(("p", text) for text in ("1.50 ± 0.20 ms", "950 us", "–", "0.0120 s"))
    text = typeset(
        Grid(("policy", "gap"), frozenset({"gap"}), (Group("", rows),)), LAYOUTS["table"]
    ).text
    assert "policy & gap (ms) \\\\" in text
    for shown in ("1.50$\\pm$0.20", "0.950", "--", "12.0"):
        assert f"p & {shown} \\\\" in text
    # Three seconds and a nanosecond are not told in one unit.
    rows = (("p", "3.0 s"), ("p", "1.0 ns"))
    text = typeset(
        Grid(("policy", "gap"), frozenset({"gap"}), (Group("", rows),)), LAYOUTS["table"]
    ).text
    assert "p & 3.0 s \\\\" in text


def test_a_narrow_page_keeps_the_columns_that_the_user_chose() -> None:
    numbers = tuple(f"quantity {n}" for n in range(9))
    group = Group("", (("WPA2-Personal", *["24.858 [24.840, 24.891] Mb/s"] * 9),))
    grid = Grid(("policy", *numbers), frozenset(numbers), (group,))
    left = typeset(grid, LAYOUTS["column"])
    assert left.fits
    assert left.width_pt <= 252
    # The last numbers go first.
    assert left.left_out == numbers[-len(left.left_out) :]
    kept = typeset(Grid(grid.columns, grid.numbers, grid.groups, chosen=True), LAYOUTS["column"])
    assert not kept.left_out
    assert not kept.fits
    assert kept.width_pt > 252


def test_intervals_go_below_their_values_before_a_chosen_column_is_too_wide(
    tmp_path: Path,
) -> None:
    numbers = tuple(f"n{n}" for n in range(6))
    cells = [Marked("24.858 ± 0.031 Mb/s", "a"), *["24.858 ± 0.031 Mb/s"] * 5]
    group = Group("", (("Open", *cells), ("WEP-40", *["24.858 Mb/s"] * 6)))
    grid = Grid(("policy", *numbers), frozenset(numbers), (group,), chosen=True)
    narrow = typeset(grid, LAYOUTS["column"])
    assert narrow.fits
    assert narrow.width_pt <= 252
    values = " & ".join(["24.858\\textsuperscript{a}", *["24.858"] * 5])
    halves = " & ".join(["$\\pm$0.031"] * 6)
    assert f"Open & {values} \\\\*\n & {halves} \\\\\n" in narrow.text
    assert "WEP-40 & 24.858 &" in narrow.text
    # Where there is room, an interval stays beside its value.
    wide = typeset(grid, LAYOUTS["landscape"])
    assert "24.858$\\pm$0.031" in wide.text
    assert wide.height_pt < narrow.height_pt
    if shutil.which("pdflatex"):
        (width,) = measured(narrow.text, tmp_path)
        assert width == pytest.approx(narrow.width_pt, rel=0.015)


def test_ends_of_an_interval_are_what_they_are_away_from_the_value() -> None:
    numbers = tuple(f"q{n}" for n in range(5))
    rows = (("p", *["24.858 [24.840, 24.891] Mb/s"] * 5),)
    text = set_in_an_article(rows, *numbers)
    assert "$24.858^{+0.033}_{-0.018}$" in text
    assert width_pt(Bounded("24.858", "0.033", "0.018"), 10) < width_pt(
        "24.858 [24.840, 24.891]", 10
    )


def test_what_all_rows_share_is_in_the_caption_and_one_level_has_one_table(
    paper: RunSummary,
) -> None:
    found = [one.text for one in tables(paper, "costs", "table").typeset()]
    assert len(found) > 1
    for text in found:
        caption = re.search(r"\\caption\{(.*)\}\n", text)[1]
        (traffic,) = [word for word in ("TCP", "UDP") if f"; {word}" in caption]
        assert traffic not in text.split("\\midrule")[1]
    one = tables(paper, "costs", "table", "policy=wpa2-psk-ccmp", "scenario=single").typeset()
    (text,) = [found.text for found in one]
    assert "WPA2-Personal, CCMP-128" in text.split("\\label")[0]
    assert "WPA2-Personal" not in text.split("\\midrule")[1]
    assert "UDP, the air alone" in text.split("\\midrule")[1]


def test_places_that_no_chosen_column_tells_are_titles_above_their_rows(paper: RunSummary) -> None:
    words = ["show", str(paper.path), "costs", "--latex", "--where", "scenario=single"]
    called = [*words, "--columns", "policy,throughput of all trials"]
    done = CliRunner().invoke(app, called)
    assert done.exit_code == 0, done.output
    for body in done.stdout.split("\\midrule")[1:]:
        groups = re.split(r"\\multicolumn.*\\\\\*\n", body.split("\\bottomrule")[0])
        for group in groups:
            assert len(re.findall(r"^Open & ", group, re.MULTILINE)) <= 1
    told = CliRunner().invoke(app, [*words, "--columns", "where,policy,throughput of all trials"])
    assert "multicolumn" not in told.stdout


@pytest.mark.thorough
def test_what_a_page_has_no_room_for_is_said(paper: RunSummary) -> None:
    def called(*words: str) -> tuple[str, str]:
        done = CliRunner().invoke(app, ["show", str(paper.path), "costs", "--latex", *words])
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    text, said = called("--where", "traffic=udp", "--where", "scenario=single")
    assert "note: 345 pt have no room for " in said
    assert "% Left out for the width of 345 pt: " in text
    wide, said = called("--where", "traffic=udp", "--where", "scenario=single", "--layout", "wide")
    assert "\\begin{table*}" in wide
    assert not said
    names = "policy,throughput of all trials,mean delay,fairness"
    chosen, said = called("--columns", names, "--text-width", "150")
    assert "note: about " in said
    assert "fairness" in chosen
    named, _ = called("--caption", "Costs & more", "--label", "tab:mine")
    caption = r"\\caption\{Costs \\& more: one client; TCP.*\}\n\\label\{tab:mine-1\}"
    assert re.search(caption, named)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--latex", "--layout", "poster"), "choose from table, column, wide, landscape, long"),
        (("--csv", "--layout", "wide"), "go with --latex"),
    ],
)
def test_a_layout_that_does_not_act_is_refused(
    paper: RunSummary, words: tuple[str, ...], said: str
) -> None:
    done = CliRunner().invoke(app, ["show", str(paper.path), "costs", *words])
    assert done.exit_code != 0
    assert said in str(done.exception)
