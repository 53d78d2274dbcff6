"""Mistakes in values that a text, a name or a baseline was meant by."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.study import parse
from airtoll.study.load import with_values

STUDY = """
[study]
name = "home"
title = "A home"
baseline = "open"
[scenario.home]
phy = "802.11ac"
authenticate = true
join = { tls = "1.2" }
[traffic.udp]
transport = "udp"
[grid]
policy = ["open", "wpa2-eap-tls-ccmp"]
"""
FILE = parse(STUDY, Path("home.toml"))


def test_a_set_number_is_the_text_that_its_field_means() -> None:
    found = with_values(FILE, {"scenario.home.join.tls": 1.3})
    assert found.study.scenario["home"].join.tls == "1.3"
    assert with_values(FILE, {"study.title": 7}).study.study.title == "7"
    with pytest.raises(StudyError, match=r"scenario.home.join.tls: 1.7: "):
        with_values(FILE, {"scenario.home.join.tls": 1.7})


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('tls = "1.2"', "tls = 1.3", 'write it as a text: "1.3"'),
        ('tls = "1.2"', 'chain = "rsa-2048"', "no algorithm 'rsa-2048'; did you mean 'rsa2048'?"),
        ('tls = "1.2"', 'chain = "ml-dsa44"', "did you mean 'ml-dsa-44'?"),
        ('tls = "1.2"', 'tls = "1.2rsa"', "did you mean '1.2-rsa'?"),
        ('"open", "wpa2', '"wpa2', "add it there, or set study.baseline to one of them"),
    ],
)
def test_a_mistake_has_its_cure(old: str, new: str, told: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse(STUDY.replace(old, new), Path("home.toml"))
    line = str(refused.value)
    assert told in line
    assert line.count("'rsa-2048'") <= 1
