"""Study files: what is refused names file, key path, value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.study import load, parse, shipped, with_values

GOOD = """
[study]
name = "x"
title = "X"
[scenario.home]
phy = "802.11g"
rate_mbps = 54
[traffic.udp]
transport = "udp"
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rate_mbps = 54", "rate_mpbs = 54", "scenario.home.rate_mpbs: unknown key; did you mean"),
        ('phy = "802.11g"', 'phy = "802.11z"', "scenario.home.phy: '802.11z': input should be"),
        ("rate_mbps = 54", "rate_mbps = -1", "scenario.home.rate_mbps: -1: input should be"),
        ('transport = "udp"', 'transport = "sctp"', "traffic.udp.transport: 'sctp'"),
        ('transport = "udp"', 'transport = "udp"\nmss_bytes = 9', "mss_bytes"),
        ('"wpa2-psk-ccmp"', '"wpa2-psk-rc4"', "grid.policy: policy 'wpa2-psk-rc4'"),
        ('policy = ["open",', 'policy = ["wep-40",', "study.baseline: 'open' is not in grid"),
        ("rate_mbps = 54", "stations = []", "home.stations: []: needs at least 1 entry"),
        ("rate_mbps = 54", 'stations = "A"', "home.stations: 'A': must be a list, as [...]"),
        ("rate_mbps = 54", "stations = [3]", "home.stations[0]: 3: must be a table, as {"),
        ("rate_mbps = 54", 'hidden = [["A", "B", "C"]]', "home.hidden[0]: has 3 entries, at most"),
        ('name = "x"', 'nam = "x"', "study.nam"),
        ("[grid]", '[grid]\n"traffic.paylod_bytes" = [1]', "did you mean traffic.payload_bytes"),
        ("[grid]", '[grid]\n"traffic.payload_bytes" = [0]', "0 does not fit traffic.udp"),
        ("[grid]", '[grid]\nscenario = ["hom"]', "grid.scenario: 'hom' is not defined; defined"),
        ("[grid]", "[grid", "no valid TOML"),
        ("[scenario.home]", "[[scenario.home]]", "scenario.home"),
    ],
)
def test_mistakes_name_the_place(old: str, new: str, expected: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse(GOOD.replace(old, new), Path("my.toml"))
    text = str(caught.value)
    assert text.startswith("my.toml: ")
    assert expected in text
    assert "\n" not in text


def test_a_missing_study_says_what_is_shipped() -> None:
    with pytest.raises(StudyError, match="did you mean 'tripathi2008'"):
        load("tripati2008")
    with pytest.raises(StudyError, match="No such file"):
        load("nowhere.toml")


def test_shipped_studies_are_valid_and_named_after_their_files() -> None:
    for name in shipped():
        file = load(name)
        assert file.study.study.name == name
        assert make_plan(file.study).cells


def test_values_are_put_in_and_checked() -> None:
    file = parse(GOOD, Path("my.toml"))
    changed = with_values(file, {"traffic.udp.duration_s": 3})
    assert changed.study.traffic["udp"].duration_s == 3
    with pytest.raises(StudyError, match=r"traffic\.udp\.duration_s"):
        with_values(file, {"traffic.udp.duration_s": "long"})


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_axis_of_a_shipped_study_can_be_narrowed(name):
    file = load(name)
    for axis, levels in file.study.grid.items():
        if axis in file.study.study.against:
            continue
        for level in levels:
            wanted = [level]
            if axis == "policy":
                wanted = list(dict.fromkeys([file.study.study.baseline, level]))
            study = with_values(file, {f"grid.{axis}": wanted}).study
            assert list(study.grid[axis]) == wanted
            for pattern in study.exclude:
                assert all(set(kept) <= set(study.grid[key]) for key, kept in pattern.items())


def test_a_narrowed_study_has_the_cells_that_the_whole_one_has_of_them():
    whole = make_plan(load("roaming2026").study)
    part = make_plan(with_values(load("roaming2026"), {"grid.scenario": ["walk"]}).study)
    names = [cell.name for cell in part.cells]
    assert names == [cell.name for cell in whole.cells if cell.scenario == "walk"]


def test_as_printed_lengths_are_those_of_the_paper() -> None:
    file = load("tripathi2008")
    assert with_values(file, file.study.as_printed).study.traffic["udp"].duration_s == 1200


def test_factors_change_cells_and_their_names() -> None:
    text = GOOD.replace("[grid]", '[grid]\n"traffic.payload_bytes" = [100, 1472]')
    plan = make_plan(parse(text, Path("my.toml")).study)
    assert [cell.load.payload_bytes for cell in plan.cells[:2]] == [100, 1472]
    assert plan.cells[0].name == "home/open/udp?traffic.payload_bytes=100"
    assert len({trial.seed for trial in plan.trials()}) == len(list(plan.trials()))


def test_seeds_do_not_depend_on_the_grid_around_a_cell() -> None:
    small = make_plan(parse(GOOD, Path("my.toml")).study)
    large = make_plan(parse(GOOD.replace('"open",', '"open", "owe-ccmp",'), Path("my.toml")).study)
    seeds = {trial.key: trial.seed for trial in large.trials()}
    assert all(seeds[trial.key] == trial.seed for trial in small.trials())


def test_a_folder_does_not_hide_a_shipped_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quickstart").mkdir()
    (tmp_path / "elsewhere").mkdir()
    assert load("quickstart").path == shipped()["quickstart"]
    for folder in ("./quickstart", "elsewhere", str(tmp_path / "quickstart")):
        with pytest.raises(StudyError, match="is a folder; name a study file"):
            load(folder)
    (tmp_path / "quickstart").rmdir()
    (tmp_path / "quickstart").write_text(GOOD)
    assert load("quickstart").path == Path("quickstart")


def test_a_factor_of_the_grid_is_set_with_or_without_its_quotes():
    for key in ("grid.scenario.clients", 'grid."scenario.clients"'):
        study = with_values(load("quickstart"), {key: [1, 2]}).study
        assert study.grid["scenario.clients"] == (1, 2)


def test_a_factor_of_the_grid_without_its_table_is_refused_with_the_way_to_set_it():
    key = "scenario.radius.requests_per_s"
    with pytest.raises(StudyError, match=r"the grid varies it: grid\.scenario\.radius"):
        with_values(load("enterprise-move"), {key: 18.75})


@pytest.mark.parametrize("name", ["campus", "*"])
def test_a_key_of_a_scenario_that_the_grid_overrides_is_refused_with_the_key_of_the_grid(name: str):
    key = f"scenario.{name}.radius.requests_per_s"
    with pytest.raises(StudyError, match=r"the grid varies it: grid\.scenario\.radius\.requests"):
        with_values(load("enterprise-move"), {key: 18.75})
    # A run of an earlier version can still be opened.
    study = with_values(load("enterprise-move"), {key: 18.75}, recorded=True).study
    assert study.scenario["campus"].radius.requests_per_s == 18.75


def test_a_key_without_its_tables_is_refused_with_the_keys_that_end_with_it():
    file = load("enterprise-move")
    cases = {
        "radius.requests_per_s": r"grid\.scenario\.radius\.requests_per_s=\[\.\.\.\]$",
        "join.chain": r"scenario\.campus\.join\.chain$",
        "repetitions": r"trials\.repetitions$",
    }
    for key, named in cases.items():
        with pytest.raises(StudyError, match=f"keys that end with it: {named}"):
            with_values(file, {key: 18.75})
