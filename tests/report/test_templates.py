"""Compiled templates are kept beside the compiled modules."""

from __future__ import annotations

import sys

import jinja2
import pytest

from airtoll.report.templates import _environment, page

VALUES = {"title": "A run of `ten` cells"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def files(folder):
    return sorted(folder.rglob("*.html.*"))


def test_a_template_is_compiled_once(folder, monkeypatch):
    first = page("waiting.html.j2", VALUES)
    kept = files(folder)
    assert kept
    assert all(path.suffix == ".pyc" and "jinja" in path.name for path in kept)

    def refused(*_args, **_kwargs):
        raise AssertionError("compiled again")

    monkeypatch.setattr(jinja2.Environment, "compile", refused)
    assert page("waiting.html.j2", VALUES) == first
    assert "another" in page("waiting.html.j2", {"title": "another"})


@pytest.mark.parametrize("content", [b"", b"not the code of a template", None])
def test_a_damaged_file_is_written_anew(folder, content):
    first = page("waiting.html.j2", VALUES)
    whole = {path: path.read_bytes() for path in files(folder)}
    for path, octets in whole.items():
        path.write_bytes(octets[: len(octets) // 2] if content is None else content)
    assert page("waiting.html.j2", VALUES) == first
    assert {path: path.read_bytes() for path in files(folder)} == whole


def test_a_page_needs_no_folder_that_can_be_written(folder, monkeypatch):
    first = page("waiting.html.j2", VALUES)
    (folder / "file").touch()
    monkeypatch.setattr(sys, "pycache_prefix", str(folder / "file"))
    assert page("waiting.html.j2", VALUES) == first


def test_nothing_is_kept_where_the_interpreter_keeps_nothing(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    page("waiting.html.j2", VALUES)
    assert files(folder) == []


def test_a_table_with_an_empty_value_has_a_key_below_it_and_others_have_none() -> None:
    frame = '{% from "parts.html.j2" import scroll %}{% call scroll("T") %}<table><tr>'
    end = "</tr></table>{% endcall %}"
    for cells, count in (
        ('<td class="n">–</td><td>1</td>', 1),
        ("<td>5.0 | – | 2.7</td>", 1),
        ("<td>0</td><th>2 – 3</th>", 0),
        ("<td>channel 1 – 2</td>", 0),
    ):
        page = _environment().from_string(frame + cells + end).render()
        assert page.count("no value, which is not zero") == count
