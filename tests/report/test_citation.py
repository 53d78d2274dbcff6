"""BibTeX of airtoll from CITATION.cff, of studies and runs, and of the papers behind them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from airtoll.errors import AirtollError
from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.report.citation import citation, cited
from airtoll.run import run
from airtoll.study import shipped

ROOT = Path(__file__).resolve().parents[2]


def keys(subject: str | None) -> list[str]:
    return [entry.key for entry in cited(subject)]


def test_the_reader_of_the_citation_file_agrees_with_yaml():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    whole = yaml.safe_load(text)
    found = citation(text)
    assert found["authors"] == [one["name"] for one in whole["authors"]]
    for key in ("title", "version", "license", "doi", "date-released"):
        assert found.get(key) == whole.get(key), key


def test_a_release_with_a_doi_and_a_date_has_them():
    found = citation(
        'title: "A"\nauthors:\n  - name: B\ndoi: 10.1/x\ndate-released: "2027-01-02"\n'
    )
    assert found == {"title": "A", "authors": ["B"], "doi": "10.1/x", "date-released": "2027-01-02"}


def test_a_study_brings_its_papers():
    assert keys(None) == ["airtoll"]
    assert keys("tripathi2008") == ["airtoll", "airtoll-study-tripathi2008", "tripathi2008"]
    assert keys("agarwal2005")[-1] == "agarwal2005"
    assert keys("quickstart") == ["airtoll", "airtoll-study-quickstart"]
    assert keys("nxp-chips") == ["airtoll", "nxp-chips"]


@pytest.mark.parametrize("name", sorted({*shipped(), *list_datasets()}))
def test_every_entry_is_balanced_and_has_a_title(name):
    for entry in cited(name):
        text = re.sub(r"\\[{}]", "", entry.text())
        assert text.count("{") == text.count("}")
        assert not re.search(r"(?<!\\)[&%$#_]", "".join(text.split("\n")[1:]))
        assert dict(entry.fields)["title"]
        assert not re.search(r"[\s,{}]", entry.key)


def test_authors_of_a_paper_are_people_and_a_company_is_one_name():
    (*_, paper) = cited("tepsic2014")
    names = load_dataset("tepsic2014").meta["dataset"]["authors"]
    assert dict(paper.fields)["author"].split(" and ") == names
    (*_, chip) = cited("nxp-chips")
    assert dict(chip.fields)["author"] == "{NXP Semiconductors}"


def test_a_run_is_cited_with_its_seed_and_study(small_study, tmp_path):
    result = run(small_study(), out=tmp_path / "run", trials=1, seed=42)
    (_, entry) = cited(str(result.path))
    fields = dict(entry.fields)
    assert fields["title"] == "A small study"
    assert "seed 42" in fields["note"]
    # The author of an own study is not known.
    assert "author" not in fields
    assert result.folder.manifest()["study"]["sha256"] in fields["note"]
    assert fields["year"] == result.folder.manifest()["started"][:4]


def test_an_unknown_name_is_refused():
    with pytest.raises(AirtollError, match="no study, data set or run folder"):
        cited("telepathy")
