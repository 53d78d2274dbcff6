"""Sentences about what an interval over the seeds does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.report import page_of
from airtoll.report.assumed import assumptions
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.testbeds.contract import Measured, Row

STUDY = """
[study]
name = "devices"
title = "Devices"
[trials]
repetitions = 4
[scenario.home]
phy = "802.11g"
stations = [{{ name = "A"{profile} }}]
[scenario.hall]
phy = "802.11g"
stations = [{{ name = "B" }}]
[traffic.udp]
transport = "udp"
duration_s = 0.2
[profile_set.air]
label = "the air alone"
[profile_set.slow]
label = "a slow router"
"bcm" = "wrt54g-v7"
[grid]
policy = ["open", "wpa2-psk-ccmp"]
scenario = ["home", "hall"]
{grid}
"""


@pytest.mark.parametrize(
    ("end", "policy", "is_told"),
    [
        ("access-point", "wireguard", True),
        ("server", "wireguard", False),
        ("access-point", "wpa2-psk-ccmp", False),
    ],
)
def test_a_fitted_number_that_acts_is_named_with_its_error(
    tmp_path: Path, end: str, policy: str, is_told: bool
) -> None:
    study = tmp_path / "devices.toml"
    text = STUDY.format(profile="", grid="").split("[profile_set.air]")[0]
    ap = f'ap = {{ profile = "mt7621" }}\ntunnel_end = "{end}"\n'
    text = text.replace('phy = "802.11g"\n', f'phy = "802.11g"\n{ap}')
    study.write_text(f'{text}[grid]\npolicy = ["open", "{policy}"]\nscenario = ["home"]\n')
    lines = headline(summarise(run(study, out=tmp_path / "run", trials=2, jobs=1).path))
    told = [line for line in lines if line.startswith("Fitted numbers act here")]
    assert len(told) == is_told
    assert (
        not is_told or "mt7621 tunnel.wireguard (packet_cycles, serial_cycles): median " in told[0]
    )
    assert not is_told or told[0].endswith("error 5.6 %.")


@pytest.mark.parametrize(
    ("profile", "where"),
    [("", "take no time (profile ideal"), (', profile = "mt7621"', "take no time in 2 of 4 cells")],
)
def test_devices_without_a_profile_take_no_time(tmp_path: Path, profile: str, where: str) -> None:
    study = tmp_path / "devices.toml"
    study.write_text(
        STUDY.format(profile=profile, grid="").split("[profile_set.air]")[0]
        + ('[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\nscenario = ["home", "hall"]\n')
    )
    result = run(study, out=tmp_path / "run", jobs=1)
    lines = headline(summarise(result.path))
    (said,) = [line for line in lines if where in line]
    # The answer comes first.
    assert lines.index(said) >= 1
    assert "air alone" in said
    assert where in page_of(result.path)


def test_a_study_whose_devices_all_take_time_says_nothing_of_it(tmp_path: Path) -> None:
    study = tmp_path / "devices.toml"
    text = STUDY.split("[scenario.hall]")[0] + "[traffic.udp]" + STUDY.split("[traffic.udp]")[1]
    text = text.split("[profile_set.air]")[0] + '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\n'
    study.write_text(text.format(profile=', profile = "mt7621"'))
    result = run(study, out=tmp_path / "run", jobs=1)
    assert not any("take no time" in line for line in headline(summarise(result.path)))


class Slower:
    """Throughputs around means that depend on the profile set."""

    name = "simulator"
    parallel = True

    def __init__(self, apart: float) -> None:
        self.apart = apart

    def check(self, cell: object) -> None:
        """Everything runs."""

    def cautions(self, cell: object) -> tuple[()]:
        return ()

    def expected_s(self, cell: object) -> float:
        return 0.001

    def measure(self, trial: object, captures: Path | None = None) -> Measured:
        import random

        cell = trial.cell
        cost = 0.02 if cell.policy != "open" else 0.0
        if dict(cell.factors).get("profile_set") == "slow" and cost:
            cost += self.apart
        value = 20e6 * (1 - cost) * (1 + random.Random(trial.seed).gauss(0, 0.001))
        return Measured(rows=(Row("throughput_bps", value, "bit/s"),))

    def environment(self) -> dict[str, str]:
        return {}

    def cancel(self) -> None:
        """Nothing to stop."""

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(("apart", "told"), [(0.06, True), (0.0, False)])
def test_device_models_that_differ_more_than_the_seeds_are_told(
    tmp_path: Path, apart: float, told: bool
) -> None:
    study = tmp_path / "devices.toml"
    study.write_text(
        STUDY.format(
            profile=', profile = "xeon-2.1ghz"', grid='profile_set = ["air", "slow"]'
        ).replace('"bcm"', '"xeon-2.1ghz"')
    )
    result = run(study, testbed=Slower(apart), out=tmp_path / "run", jobs=1)
    found = [line for line in assumptions(summarise(result.path)) if "seeds alone" in line]
    assert bool(found) == told
    if told:
        assert "the air alone; a slow router" in found[0]
        assert "differs by up to 6" in found[0]
        assert "points" in found[0]
        assert "times its ±" in found[0]


def test_wrong_powers_move_the_life_of_a_battery(tmp_path: Path) -> None:
    values = {"grid.policy": ["wpa2-psk-ccmp", "wpa3-sae-ccmp"], "grid.scenario": ["hourly"],
              "question": []}  # fmt: skip
    result = run("esp32-battery", out=tmp_path / "run", values=values, trials=3, jobs=1)
    (said,) = [line for line in assumptions(summarise(result.path)) if "powers" in line]
    assert "esp32-c3" in said
    # 1 - 1 / 1.1
    assert said.endswith("10 % higher, that would shorten battery life by 9.1 %.")
