"""Queues, windows and wires that limit a cell are said; defaults limit nothing."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.observe.metrics import LIMIT
from airtoll.plan import Cell, Trial, make_plan
from airtoll.study import Study
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

BE = {"phy": "802.11be", "band": "6", "width_mhz": 320, "mcs": 13, "streams": 2}
AC = {"phy": "802.11ac", "width_mhz": 80, "mcs": 9, "topology": "downlink"}
FAST = {"wired": {"rate_mbps": 10_000}}


def cell_of(traffic: dict[str, Any] | None = None, **settings: Any) -> Cell:
    policy = "wpa3-sae-ext-gcmp-256" if settings["phy"] == "802.11be" else "open"
    data = {
        "study": {"name": "limits", "title": "Limits", "baseline": policy},
        "scenario": {"one": settings},
        "traffic": {"load": {"transport": "udp", "duration_s": 0.5, **(traffic or {})}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


def mbps(cell: Cell) -> float:
    rows = Simulator().measure(Trial(cell, 1, 1, 5)).rows
    return sum(r.value for r in rows if r.metric == "throughput_bps" and r.flow) / 1e6


def test_the_default_queue_fills_the_a_mpdus_of_its_phy():
    near = {"rssi_dbm": -30}
    # 100 packets, the default of older PHYs, leave half of the throughput.
    for topology in ("uplink", "downlink"):
        be = BE | FAST | near | {"topology": topology}
        full = mbps(cell_of(**be, queue_packets=4000))
        assert full > 4700
        assert mbps(cell_of(**be)) > 0.99 * full
        assert mbps(cell_of(**be, queue_packets=100)) < 0.55 * full
    ac = AC | near | {"streams": 2, "mcs": 8}
    full = mbps(cell_of(**ac, queue_packets=4000))
    assert mbps(cell_of(**ac)) > 0.99 * full > 1.01 * mbps(cell_of(**ac, queue_packets=100))


@pytest.mark.parametrize(
    ("phy", "queue_type", "packets", "wire_mbps"),
    [
        ("802.11b", "fifo", 100, 100),
        ("802.11a", "codel", 100, 100),
        ("802.11g", "fifo", 100, 100),
        ("802.11n", "fifo", 512, 1000),
        ("802.11ac", "fifo", 1024, 1000),
        ("802.11ax", "fifo", 2048, 2500),
        ("802.11be", "fifo", 2048, 10_000),
        ("802.11n", "fq_codel", 8192, 1000),
    ],
)
def test_queues_and_wires_follow_the_phy(phy, queue_type, packets, wire_mbps):
    resolved = scenario(cell_of(phy=phy, queue_type=queue_type))
    radios = [node.queue.packets for node in resolved.nodes if node.role != "wired"]
    assert radios == [packets, packets]
    assert resolved.links[0].rate_bps == wire_mbps * 1e6


@pytest.mark.parametrize(
    ("profile", "wired", "discipline", "packets"),
    [
        (None, {}, "fifo", 1000),
        ("linux", {}, "fq_codel", 10_240),
        ("p4-3.2ghz-linux", {}, "fifo", 1000),
        ("linux", {"queue_type": "fifo"}, "fifo", 1000),
        (None, {"queue_type": "fq_codel", "queue_packets": 50}, "fq_codel", 50),
    ],
)
def test_the_discipline_of_a_wire_follows_the_system_of_its_host(
    profile, wired, discipline, packets
):
    server = {} if profile is None else {"profile": profile}
    cell = cell_of(phy="802.11n", server=server, wired=wired)
    (link,) = scenario(cell).links
    assert (link.discipline, link.queue_packets) == (discipline, packets)


@pytest.mark.parametrize(
    ("settings", "traffic", "words"),
    [
        ({**AC, "queue_packets": 60}, {}, "the transmit queue of ap (60 packets) keeps"),
        ({**BE, "queue_packets": 100}, {}, "the transmit queue of A (100 packets) keeps A-MPDUs"),
        ({**AC, "queue_packets": 400}, {"transport": "tcp", "window_kbytes": 24}, "the TCP window"),
        ({**BE}, {"transport": "tcp"}, "of A-up (128 KB) keeps A-MPDUs at"),
        ({**AC, "topology": "uplink"}, {"socket_buffer_kbytes": 16}, "the socket buffer of A-up"),
        ({**AC, "block_ack_window": 8}, {}, "the block ack window (8 MPDUs)"),
        ({**AC, "wired": {"rate_mbps": 100}}, {}, "the wired link (100 Mb/s) limits"),
        (
            {"phy": "802.11a", "wired": {"delay_us": 20_000}},
            {"transport": "tcp", "window_kbytes": 16},
            "the TCP window of A-up (16 KB) is shorter than the round trip needs",
        ),
    ],
)
def test_what_limits_is_said_in_check_and_with_the_trial(settings, traffic, words):
    cell = cell_of(traffic, **settings)
    assert any(words in one.text for one in Simulator().cautions(cell))
    measured = Simulator().measure(Trial(cell, 1, 1, 5))
    assert any(words in text for text in measured.caveats if text.startswith(LIMIT))


@pytest.mark.parametrize(
    ("settings", "traffic"),
    [
        ({"phy": "802.11a"}, {}),
        ({"phy": "802.11b"}, {"transport": "tcp"}),
        ({"phy": "802.11g", "clients": 10, "topology": "downlink"}, {}),
        ({"phy": "802.11n"}, {}),
        ({"phy": "802.11n", "topology": "downlink", "width_mhz": 40}, {}),
        ({**AC}, {}),
        ({**BE}, {}),
        ({**BE, "topology": "downlink"}, {}),
        ({**BE, "queue_packets": 100}, {"offered_mbps": 20}),
        ({"phy": "802.11a", "authenticate": True, "radius": {"rate_mbps": 1}}, {}),
    ],
)
def test_nothing_is_said_where_the_air_alone_limits(settings, traffic):
    assert Simulator().cautions(cell_of(traffic, **settings)) == ()


def test_the_page_and_the_terminal_name_the_limit(tmp_path):
    study = tmp_path / "limits.toml"
    study.write_text(
        '[study]\nname = "limits"\ntitle = "Limits"\n[scenario.new]\nphy = "802.11ac"\nmcs = 8\n'
        'width_mhz = 80\nqueue_packets = 20\n[traffic.udp]\ntransport = "udp"\nduration_s = 0.1\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\n'
    )
    runner = CliRunner()
    words = "the transmit queue of A (20 packets) keeps A-MPDUs at 20 of"
    assert words in runner.invoke(app, ["check", str(study)]).output
    out = tmp_path / "run"
    ran = runner.invoke(app, ["run", str(study), "--trials", "2", "--out", str(out)])
    assert words in " ".join(ran.output.split())
    assert words in (out / "report.html").read_text()


def test_gigabits_are_told_without_an_exponent():
    said = Simulator().cautions(cell_of(**BE, **FAST, rssi_dbm=-30, queue_packets=100))
    (limit,) = (one.text for one in said if "Mb/s of a lone sender" in one.text)
    assert "e+0" not in limit
