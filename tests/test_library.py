"""airtoll as a library: studies without files, calls of packages, examples of docstrings."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import airtoll
from airtoll.errors import StudyError, UsageError
from airtoll.study import Study, as_toml, built, load, parse, shipped

PACKAGE = Path(airtoll.__file__).parent
WITH_EXAMPLES = sorted(
    ".".join(("airtoll", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for file in PACKAGE.rglob("*.py")
    if ">>> " in file.read_text("utf-8")
)

TABLES = {
    "study": {"name": "mine", "title": "My network"},
    "trials": {"repetitions": 2},
    "scenario": {"home": {"phy": "802.11a", "rate_mbps": 54, "stations": [{"name": "A"}]}},
    "traffic": {"udp": {"transport": "udp", "duration_s": 0.1}},
    "grid": {"policy": ["open", "wpa2-psk-ccmp"]},
}


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted
    assert result.failed == 0


def test_every_public_name_has_an_example() -> None:
    texts = {name: (PACKAGE / file).read_text("utf-8") for name, file in {
        "run": "run/api.py", "check": "run/api.py", "analyse": "analyse/analysis.py",
        "advise": "advising/advise.py", "built": "study/built.py", "Study": "__init__.py",
    }.items()}  # fmt: skip
    for name in ("run", "check", "analyse", "advise", "built", "Study"):
        lines = [line for line in texts[name].splitlines() if line.lstrip().startswith(">>> ")]
        assert any(f"{name}(" in line for line in lines), name


def test_importing_airtoll_imports_no_library() -> None:
    code = (
        "import airtoll, sys; "
        "sys.exit(any(name in sys.modules for name in ('polars', 'numpy', 'pydantic')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_optional_parts_are_imported_when_asked_for() -> None:
    optional = {
        "distributed", "dask", "scipy", "matplotlib", "pandas", "asyncssh", "cryptography",
        "airtoll.report.identified", "airtoll.report.playground", "airtoll.run.identifying",
        "airtoll.lesson",
    }  # fmt: skip
    code = (
        "import sys, airtoll.cli.app, airtoll.run, airtoll.analyse; "
        f"sys.exit(', '.join({optional!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_packages_are_called_and_stay_packages() -> None:
    from airtoll import analyse, run
    from airtoll.run import check

    assert run.check is check
    assert callable(analyse)
    assert "study" in run.__call__.__wrapped__.__annotations__


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_study_survives_the_way_through_text(name: str) -> None:
    file = load(name)
    again = built(file.study)
    assert again.study == file.study
    assert parse(again.text, again.path).sha256 == again.sha256


def test_a_built_study_gives_the_rows_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(as_toml(TABLES), "utf-8")
    runs = [
        airtoll.run(study, out=tmp_path / f"run{number}")
        for number, study in enumerate((Study(**TABLES), TABLES, path))
    ]
    rows = [one.observations() for one in runs]
    assert rows[0].equals(rows[1])
    assert rows[0].equals(rows[2])
    analysis = airtoll.analyse(runs[0], level=0.9)
    assert analysis.level == 0.9
    assert any("WPA2" in sentence for sentence in runs[0].answer())
    resumed = airtoll.run(TABLES, out=runs[0].path, resume=True)
    assert resumed.observations().equals(rows[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario": {"home": {"phi": "802.11a"}}}, "mine.toml: scenario.home.phi"),
        ({"grid": {"policy": ["wpa9"]}}, "wpa9"),
        ({"trials": {"repetitions": {1, 2}}}, "trials.repetitions: a set is no value"),
        ({"study": 3}, "study.toml: study"),
    ],
)
def test_a_mistake_of_a_built_study_is_one_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(StudyError, match=words) as raised:
        built({**TABLES, **change})
    assert "\n" not in str(raised.value)


def test_texts_of_any_characters_are_said_in_toml() -> None:
    title = 'a "quote", a \\ and a tab\there: é'
    study = built({**TABLES, "study": {"name": "mine", "title": title.replace("\t", " ")}})
    assert study.study.study.title == title.replace("\t", " ")


def test_options_of_a_table_do_not_go_with_a_run(tmp_path: Path) -> None:
    done = airtoll.run(TABLES, out=tmp_path / "run")
    with pytest.raises(UsageError, match="only level="):
        airtoll.analyse(done, margin=0.1)
