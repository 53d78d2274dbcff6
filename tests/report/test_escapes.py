"""Names of a study do not become markup of the report's texts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from airtoll.report import report_text
from airtoll.report.latex import escape_latex
from airtoll.report.text import escape_markdown
from airtoll.run import run

STUDY = r"""
[study]
name = "names"
title = "\\input /etc/hostname <b>bold</b> | *x* [a](javascript:1)"
question = "# What do `ticks` cost?"
[scenario."\\input /etc/hostname "]
[scenario."a | b"]
[scenario."<img src=x onerror=alert(1)>"]
[scenario."50 % & $x_1^2$ ~ {y} #3"]
[traffic."p | q"]
transport = "udp"
duration_s = 0.05
[trials]
repetitions = 2
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "names.toml").write_text(STUDY)
    return run(folder / "names.toml", out=folder / "run").path


@pytest.mark.parametrize("runs", [1, 2])
def test_rows_of_markdown_have_as_many_cells_as_the_heading(named: Path, runs: int) -> None:
    text = report_text([named] * runs, form="markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    # A pipe behind a backslash is no border (GFM, tables).
    widths = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}
    assert len(widths) == 1
    assert len(rows) >= 10
    assert not re.search(r"(?<!\\)<(?!!-- airtoll report -->$)", text, re.MULTILINE)
    if runs == 1:
        assert text.startswith(
            r"# \\input /etc/hostname \<b\>bold\</b\> \| \*x\* [a\](javascript:1)" + "\n"
        )
        assert "\n\\# What do \\`ticks\\` cost?\n" in text


@pytest.mark.parametrize("runs", [1, 2])
def test_latex_has_no_command_of_a_name(named: Path, runs: int) -> None:
    text = report_text([named] * runs, form="latex")
    commands = set(re.findall(r"\\[A-Za-z]+", text))
    assert commands <= {
        r"\begin", r"\end", r"\toprule", r"\midrule", r"\bottomrule", r"\pm",
        r"\textbackslash", r"\textbar", r"\textasciitilde", r"\textasciicircum",
        r"\usepackage", r"\caption", r"\label", r"\centering", r"\multicolumn", r"\addlinespace",
        r"\fontsize", r"\selectfont", r"\setlength", r"\tabcolsep", r"\par", r"\raggedright",
        r"\arraybackslash",
    }  # fmt: skip
    assert r"\textbackslash{}input /etc/hostname" in text
    assert r"50 \% \& \$x\_1\textasciicircum{}2\$ \textasciitilde{} \{y\} \#3" in text
    ends = {line.count(" & ") for line in text.splitlines() if line.endswith(r" \\")}
    assert len(ends) == 1


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", "a_b"),
        ("_a_", r"\_a\_"),
        (r"a\|b", r"a\\\|b"),
        ("1. a", r"1\. a"),
        ("29.85 ± 0.25", "29.85 ± 0.25"),
        ("4.227 [4.194, 4.326] ms", "4.227 [4.194, 4.326] ms"),
        ("[a]: x", r"[a\]: x"),
        ("- a", r"\- a"),
        ("-3 %", "-3 %"),
        ("a\nb\x1b[31m", "a b [31m"),
    ],
)
def test_signs_of_markdown(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("[x]", "{[}x]"),
        ("*x", "{*}x"),
        (r"\%", r"\textbackslash{}\%"),
        ("a\n\nb", "a b"),
        ("1 ± 2 – 3", r"1 $\pm$ 2 -- 3"),
    ],
)
def test_signs_of_latex(text: str, escaped: str) -> None:
    assert escape_latex(text) == escaped


def test_a_reader_of_markdown_shows_the_names(named: Path) -> None:
    """Pandoc reads the page as GFM: no element but those of the report."""
    if shutil.which("pandoc") is None:
        pytest.skip("pandoc is not installed: apt-get install it")
    page = subprocess.run(
        ["pandoc", "-f", "gfm", "-t", "html"],
        input=report_text([named], form="markdown"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert not re.search(r"<(?:b|img|a|em|code)\b", page)
    assert "p | q" in page
