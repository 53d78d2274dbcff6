"""Each output that a guide shows is that of its command, or says that it is an example."""

from __future__ import annotations

import difflib
import importlib.util
import shlex
from pathlib import Path

import click
import pytest
import typer

from airtoll.cli.app import app
from airtoll.report.summary import summarise
from airtoll.run import run

ROOT = Path(__file__).parents[2]


def _tool():
    spec = importlib.util.spec_from_file_location("guides", ROOT / "tools" / "guides.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


tool = _tool()
PAGES = [*tool.pages(), ROOT / "README.md", ROOT / "docs" / "index.md"]
by_page = pytest.mark.parametrize("page", tool.pages(), ids=lambda page: page.stem)


@pytest.mark.pages
@by_page
def test_every_output_is_that_of_its_command(page, tmp_path):
    text = page.read_text("utf-8")
    now = tool.updated(text, tmp_path, slow=False)
    changed = list(difflib.unified_diff(text.splitlines(), now.splitlines(), n=0))
    assert tool.same(text, now), "\n".join(changed)


@pytest.mark.slow
def test_the_slow_tables_are_up_to_date(tmp_path):
    for page in tool.pages():
        text = page.read_text("utf-8")
        if any(f"<!-- table: {name} -->" in text for name in tool.SLOW):
            assert tool.same(text, tool.updated(text, tmp_path))


@by_page
def test_a_block_without_a_command_is_called_an_example(page):
    assert tool.unexplained(page.read_text("utf-8")) == []


def test_changed_outputs_and_unmarked_blocks_are_found(tmp_path):
    page = "    airtoll policies show owe-ccmp\n\n<!-- shown: first 1 -->\n```\nopen\n```\n"
    now = tool.updated(page, tmp_path)
    assert now == page.replace("\nopen\n", "\nowe-ccmp\n")
    assert not tool.same(page, now)
    assert tool.unexplained(page) == []
    assert tool.unexplained("Look:\n\n```\nopen\n```\n") == ["open"]
    assert tool.unexplained("For example:\n\n```\nopen\n```\n") == []
    row = "| with a server | 5.3 s |"
    assert tool.unexplained(f"Look:\n\n| case | time |\n|---|---|\n{row}\n") == [row]
    written = f"<!-- table: server -->\n| case | time |\n|---|---|\n{row}\n<!-- end of table -->\n"
    assert tool.unexplained(written) == []


def commands(page: Path) -> list[str]:
    """The commands of a page, those in blocks of a shell included."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    return [line.partition(" #")[0] for line in lines if line.startswith("airtoll ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_has_its_options(page):
    for command in commands(page):
        words = shlex.split(command)[1:]
        if "..." in words:
            words.remove("...")
        group = typer.main.get_command(app)
        context = click.Context(group)
        while isinstance(group, click.Group):
            name = words.pop(0)
            found = group.get_command(context, name)
            assert found is not None, command
            group, context = found, click.Context(found, parent=context)
        try:
            group.make_context("airtoll", words, resilient_parsing=True)
        except click.UsageError as error:
            pytest.fail(f"{command}: {error.format_message()}")


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarise(
        run("quickstart", trials=4, out=tmp_path_factory.mktemp("tutorial") / "run").path
    )


def test_both_policies_cost_one_symbol(summary):
    for policy in ("wpa2-psk-ccmp", "wpa3-sae-gcmp-256"):
        rows = summary.decomposition.filter(cell=f"home/{policy}/udp")
        parts = dict(rows.select("part", "value").iter_rows())
        # 4 us of the 394 us (nearly) that a full frame takes in all.
        symbol = parts["airtime_security_s"] + parts["airtime_mac_phy_s"]
        assert symbol == pytest.approx(0.0100, abs=0.0003)
        assert rows["value"].sum() == pytest.approx(
            summary.analysis.overhead(f"home/{policy}/udp").value, abs=1e-4
        )
