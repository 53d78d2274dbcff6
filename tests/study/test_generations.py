"""Names of PHY generations as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.study import parse
from airtoll.study.generations import phy_name


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ac", "802.11ac"),
        ("802.11AX", "802.11ax"),
        ("11n", "802.11n"),
        ("IEEE 802.11g", "802.11g"),
        ("Wi-Fi 5", "802.11ac"),
        ("wifi7", "802.11be"),
        ("802.11zz", "802.11zz"),
        ("wep", "wep"),
    ],
)
def test_a_generation_has_many_names(written: str, meant: str) -> None:
    assert phy_name(written) == meant


STUDY = """
[study]
name = "home"
title = "A home"
[scenario.home]
phy = "PHY"
[traffic.udp]
transport = "udp"
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


def test_a_study_takes_them_too() -> None:
    assert (
        parse(STUDY.replace("PHY", "AC"), Path("home.toml")).study.scenario["home"].phy
        == "802.11ac"
    )
    with pytest.raises(StudyError, match=r"scenario.home.phy"):
        parse(STUDY.replace("PHY", "ay"), Path("home.toml"))
