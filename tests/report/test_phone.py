"""Figures on a phone: text of 12 px, nothing sideways, refused cells, and one line of settings."""

from __future__ import annotations

import re

import pytest

from airtoll.drawing.develop import develop
from airtoll.drawing.plate import WIDTH
from airtoll.plan import make_plan
from airtoll.report.closing import printed_table
from airtoll.report.figures.answer import answer
from airtoll.report.html import render
from airtoll.report.setting import setting
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.run.api import prepare
from airtoll.study import load

#: Width of a phone's screen less the margins of the page, CSS pixels.
SCREEN_PX = 390 - 2 * 12.8

STUDY = """
[study]
name = "map"
title = "Map"
baseline = "wpa3-sae-ccmp"
answers = ["delay_s"]

[trials]
repetitions = 2

[scenario.cell]
phy = "802.11ax"
band = "6"
mcs = 7
authenticate = true
clients = 2
rssi_dbm = -55

[traffic.short]
transport = "udp"
offered_mbps = 0.1
duration_s = 0.2

[grid]
policy = ["wpa2-psk-ccmp", "wpa3-sae-ccmp", "owe-ccmp"]
"scenario.join.spread_ms" = [0, 1, 2, 3, 4, 5, 6]
"scenario.rssi_dbm" = [-55, -54, -53, -52, -51]
"""


def test_a_map_of_many_columns_is_readable_on_a_phone(tmp_path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(STUDY)
    summary = summarise(run(path, out=tmp_path / "run").path)
    (picture,) = answer(summary)
    (developed,) = develop([picture])
    page = developed.in_page[0]
    assert page.count('class="broad"') == page.count('class="slim"') == 1
    slim = page.split('class="slim"')[1]
    for width, body in re.findall(r'viewBox="0 0 ([\d.]+) [\d.]+"(.*?)</svg>', slim, re.DOTALL):
        assert float(width) == round(72 * WIDTH, 2)
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', body)]
        assert min(sizes) * SCREEN_PX / float(width) >= 12
    assert "±" in page
    # At 6 GHz no WPA2 network associates.
    texts = re.findall(r">([^<>]+)</text>", slim)
    assert texts.count("not run") == 7


def test_one_line_has_phy_mcs_level_clients_and_duration(tmp_path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(STUDY)
    cells = make_plan(load(path).study).cells
    assert setting(cells) == (
        "802.11ax, 6 GHz, 20 MHz, MCS 7, -55 to -51 dBm, 2 clients, 0.2 s a trial"
    )


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        (
            "staying-on-wpa2",
            {},
            "802.11be, 5 GHz and 6 GHz, 80 to 320 MHz, MCS 13, 2 streams, -45 dBm (default), "
            "1 to 30 clients, 0.6 s a trial",
        ),
        ("roaming2026", {}, "802.11a, 20 MHz, 54 Mb/s, -60 dBm, 1 client, 4 s a trial"),
        # A place: 40 MHz of its generation, and a level that follows from the distance.
        ("tepsic2014", {}, "802.11n, 5 GHz, 40 MHz, MCS 7, -52.7 dBm, 2 clients, 2 s a trial"),
        (
            "tripathi2008",
            {"scenario.single.radio.tx_power_dbm": 12, "grid.scenario": ["single"]},
            "802.11g, 20 MHz, 54 Mb/s, -48 dBm (default), 1 client, 5 to 10 s a trial",
        ),
        ("cold-boot", {}, "802.11g, 20 MHz, 54 Mb/s, -60 dBm, 1 client, 0.1 s a trial"),
        (
            "esp32-battery",
            {},
            "802.11n, 2.4 GHz, 20 MHz, MCS 7 by level, -60 dBm, 1 client, 120 s a trial",
        ),
        (
            "always-on-vpn",
            {},
            "802.11ax and 802.11g, 2.4 GHz and 5 GHz, 20 MHz, MCS 7, 54 Mb/s, -45 dBm (default), "
            "1 client, 600 s a trial",
        ),
        (
            "walk-by-level",
            {},
            "802.11a, 20 MHz, rate by Minstrel, -80 to -77.5 dBm at the lowest, 1 client, "
            "42 s a trial",
        ),
    ],
)  # fmt: skip
def test_the_line_has_what_a_study_leaves_to_defaults(name, values, words) -> None:
    cells = make_plan(prepare(name, values=values).study).cells
    assert setting(cells) == words
    # On real devices a level that the study leaves out is unknown.
    real = setting(cells, "linux")
    assert real == words.replace(", -45 dBm (default)", ", level not stated").replace(
        ", -48 dBm (default)", ", level not stated"
    )


def test_the_papers_table_is_on_the_first_screen_beside_ours(tmp_path) -> None:
    grid = {"scenario": ["single"], "traffic": ["udp"], "policy": ["open", "wep-104"]}
    values = {
        "grid": {**grid, "profile_set": ["datasheet"]},
        "question": [],
        "trials.repetitions": 2,
    }
    summary = summarise(run("tripathi2008", out=tmp_path / "run", values=values).path)
    table = printed_table(summary)
    assert table is not None
    ((policy, (text,)),) = table.rows
    assert (table.heads[0], policy, text.split(" | ")[0]) == ("printed", "WEP-104", "8.4")
    page = render(summary, [], command="airtoll run tripathi2008")
    top, _, rest = page.partition(text)
    assert rest, "no table"
    assert top.count('class="answer"') == 1
