"""Channels of a laboratory against PHY, width and country."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from airtoll.plan import Cell, make_plan
from airtoll.study import parse
from airtoll.testbeds.linux.laboratory import channel_plan, regulation
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.laboratory.regulation import Flag, Rule

#: (begin, end, widest, flags) in kHz, as wireless-regdb had them in 2025.
RULES = {
    "DE": [
        (2_400_000, 2_483_500, 40_000, 0),
        (5_150_000, 5_250_000, 80_000, 2 | 16),
        (5_250_000, 5_350_000, 80_000, 2 | 4 | 16),
        (5_470_000, 5_725_000, 160_000, 4),
        (5_945_000, 6_425_000, 320_000, 2),
    ],
    "JP": [(2_402_000, 2_482_000, 40_000, 0), (2_474_000, 2_494_000, 20_000, 1)],
    "US": [(2_400_000, 2_472_000, 40_000, 0), (5_730_000, 5_850_000, 80_000, 16)],
    "XX": [(2_400_000, 2_483_500, 40_000, 8)],
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A regulatory database in the format of wireless-regdb."""
    body, at = b"", 8 + 4 * (len(RULES) + 1)
    index = b""
    for name, rules in RULES.items():
        pointers = b""
        for begin, end, widest, flags in rules:
            pointers += struct.pack(">H", (at + len(body)) // 4)
            body += struct.pack(">BBHIII", 16, flags, 2000, begin, end, widest)
        index += name.encode() + struct.pack(">H", (at + len(body)) // 4)
        body += struct.pack(">BBBB", 3, len(rules), 0, 0) + pointers
        body += bytes(-len(body) % 4)
    path = tmp_path_factory.mktemp("regdb") / "regulatory.db"
    path.write_bytes(b"RGDB" + struct.pack(">I", 20) + index + bytes(4) + body)
    return path


def cell(phy: str, width: int = 20, band: str = "") -> Cell:
    more = f'\nband = "{band}"' if band else ""
    text = f"""
[study]
name = "here"
title = "Here"
baseline = "open"
[scenario.one]
phy = "{phy}"
width_mhz = {width}{more}
[traffic.load]
transport = "udp"
[grid]
policy = ["open"]
"""
    return make_plan(parse(text, Path("here.toml")).study).cells[0]


def lab(channel: object = (6, 36), country: str | None = None, six: int = 37) -> Lab:
    table = {"name": "x", "channel": channel, "channel_6ghz": six, "ap": {"ip": "10.0.0.3"}}
    if country is not None:
        table["country"] = country
    host = {
        "laptop": {"role": "station", "address": "a", "interface": "wlan0", "ip": "10.0.0.1"},
        "desk": {"role": "server", "address": "b", "ip": "10.0.0.2"},
    }
    return Lab.model_validate({"lab": table, "host": host})


@pytest.mark.parametrize(
    ("of", "in_lab", "reason"),
    [
        (cell("802.11g"), lab(), None),
        (cell("802.11g"), lab(()), None),
        (cell("802.11g"), lab(36), r"phy = 802\.11g: it is at 2\.4 GHz, and \[lab\] channel = 36"),
        (cell("802.11a"), lab(6), r"phy = 802\.11a: it is at 5 GHz, and \[lab\] channel = 6"),
        (cell("802.11a"), lab(37), "channel 37 at 5 GHz is part of no channel of 20 MHz"),
        (cell("802.11ac", 80), lab(165), "channel 165 at 5 GHz is part of no channel of 80 MHz"),
        (cell("802.11ac", 80), lab(149), None),
        (cell("802.11ax", 160), lab(149), "part of no channel of 160 MHz"),
        (cell("802.11g"), lab(14), "channel 14 at 2.4 GHz is for 802.11b alone"),
        (cell("802.11ax", 80, "6"), lab(six=38), "channel 38 at 6 GHz is part of no channel"),
        (cell("802.11ax", 80, "6"), lab(36, "DE"), None),
        (cell("802.11g"), lab(13, "US"), r"channel 13 .* not allowed in US \(2462 to 2482 MHz\)"),
        (cell("802.11g"), lab(13, "DE"), None),
        (cell("802.11b"), lab(14, "JP"), None),
        (cell("802.11b"), lab(14, "DE"), "channel 14 at 2.4 GHz, 20 MHz: not allowed in DE"),
        (cell("802.11ac", 80), lab(36, "DE"), None),
        (cell("802.11ax", 160), lab(36, "DE"), None),  # two rules that join
        (cell("802.11ac", 80), lab(149, "DE"), "channel 149 at 5 GHz, 80 MHz: not allowed in DE"),
        (cell("802.11a"), lab(36, "US"), "channel 36 at 5 GHz, 20 MHz: not allowed in US"),
        (cell("802.11g"), lab(6, "XX"), r"no access point may begin there \(NO-IR\)"),
        (cell("802.11g"), lab(6, "QQ"), "country = QQ: wireless-regdb does not know it"),
    ],
)
def test_a_channel_that_does_not_fit_is_refused_with_the_reason(
    of: Cell, in_lab: Lab, reason: str | None, database: Path
) -> None:
    found = channel_plan.why_not(of, in_lab, database)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert re.search(reason, found)


def test_radar_and_unknown_rules_are_notes(database: Path, tmp_path: Path) -> None:
    assert channel_plan.note(cell("802.11a"), lab(36, "DE"), database) is None
    radar = channel_plan.note(cell("802.11a"), lab(100, "DE"), database)
    assert radar is not None
    assert radar.startswith("channel 100 at 5 GHz: radar has priority")
    without = channel_plan.note(cell("802.11a"), lab(100, "DE"), tmp_path / "none")
    assert without is not None
    assert without.startswith("no regulatory database here")
    assert "names no country" in (channel_plan.note(cell("802.11a"), lab(100), database) or "")


@pytest.mark.parametrize("cut", [0, 7, 9, 60, 100])
def test_a_database_that_is_cut_short_is_none(database: Path, tmp_path: Path, cut: int) -> None:
    path = tmp_path / f"cut-{cut}"
    path.write_bytes(database.read_bytes()[:cut])
    assert regulation.countries(path) is None


def test_rules_that_do_not_touch_do_not_join() -> None:
    auto = Flag.AUTO_BW
    rules = (Rule(5150, 5250, 80, auto), Rule(5250, 5330, 80, auto), Rule(5490, 5730, 160, auto))
    assert len(regulation.governing(rules, 5210, 5290)) == 2
    assert regulation.governing(rules, 5290, 5370) == ()
    assert regulation.governing((Rule(5150, 5250, 80, Flag(0)), rules[1]), 5210, 5290) == ()


def test_the_database_of_this_machine_is_read() -> None:
    known = regulation.countries()
    if known is None:
        pytest.skip("needs wireless-regdb")
    assert {"DE", "US", "JP", "00"} <= known.keys()
    assert regulation.governing(known["DE"], 2427, 2447)
    assert not regulation.governing(known["DE"], 2474, 2494)
