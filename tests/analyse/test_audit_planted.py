"""Planted mistakes are found, and clean data give none (a short form of the benchmark)."""

import copy
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from airtoll.analyse.audit import KINDS, audit
from airtoll.errors import DatasetError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
planting = importlib.import_module("audit_planting")


def test_clean_data_give_no_finding():
    rng = np.random.default_rng(3)
    for _ in range(12):
        assert audit(planting.dataset(planting.clean(rng))) == []


@pytest.mark.parametrize("name", [n for n in planting.PLANTS if n != "copied figures"])
def test_planted_mistakes_are_found(name):
    rng = np.random.default_rng(8)
    kind, plant = planting.PLANTS[name]
    for _ in range(2):
        study = copy.deepcopy(planting.clean(rng))
        wanted = plant(study, rng)
        found = audit(planting.dataset(study))
        assert any(planting.is_it(f, kind, wanted) for f in found)


def test_every_kind_is_planted():
    planted = {kind for kind, _ in planting.PLANTS.values()}
    assert set(KINDS) - planted == {"conservation"}  # of runs alone


def test_the_page_shows_the_recorded_rates():
    result = json.loads((BENCHMARKS / "results" / "audit.json").read_text())
    page = (BENCHMARKS.parent / "docs" / "audit.md").read_text()
    assert planting.table(result) in page
    assert set(result["detected"]) == set(planting.PLANTS)
    for kind in KINDS:
        assert f"| `{kind}` |" in page


def test_a_claim_without_its_keys_is_an_error_of_the_data_set():
    study = planting.clean(np.random.default_rng(1))
    study[1]["claim"].append({"where": "1", "says": "it costs least", "kind": "lowest"})
    with pytest.raises(DatasetError, match=r"it costs least.*'select'"):
        audit(planting.dataset(study))
    study[1]["claim"] = [{"where": "1", "says": "so it is", "kind": "belief"}]
    with pytest.raises(DatasetError, match="'belief': allowed are arithmetic"):
        audit(planting.dataset(study))
