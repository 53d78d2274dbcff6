"""Readings that depend on the length of the trial, found on the simulator itself."""

from __future__ import annotations

import pytest

from airtoll.analyse.estimate import NOT_SETTLED
from airtoll.cli.app import app
from airtoll.report import write_report
from airtoll.report.answer import table
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run

VPN = """
[study]
name = "vpn"
title = "What does a VPN cost downloads?"
[trials]
repetitions = {trials}
[scenario.home]
topology = "downlink"
{scenario}
[traffic.udp]
transport = "udp"
duration_s = {seconds}
{traffic}
[grid]
policy = ["open", "wireguard", "ipsec-aes-gcm"]
"""

CPU = """
[study]
name = "cpu"
title = "Software encryption on a router"
[trials]
repetitions = 3
[scenario.s]
phy = "802.11n"
mcs = 5
width_mhz = 40
ap = { profile = "mt7621-software" }
wired = { rate_mbps = 1000 }
[traffic.t]
transport = "udp"
duration_s = 2
[traffic.paced]
transport = "udp"
offered_mbps = 20
duration_s = 2
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


def vpn(tmp_path, seconds=2, trials=3, scenario="", traffic=""):
    study = tmp_path / "vpn.toml"
    text = VPN.format(seconds=seconds, trials=trials, scenario=scenario, traffic=traffic)
    study.write_text(text)
    return summarise(run(study, out=tmp_path / "run").path)


@pytest.mark.thorough
@pytest.mark.parametrize(("seconds", "trials"), [(1, 5), (2, 2), (4, 1)])
def test_fragments_before_a_full_queue_are_no_cost_of_a_vpn(tmp_path, seconds, trials):
    summary = vpn(tmp_path, seconds, trials)
    lines = headline(summary)
    assert lines[0].startswith("The throughput has not settled in 2 of 3 cells (first: Open + Wire")
    assert "so that it depends on how long a trial lasts, and has no interval" in lines[0]
    assert (
        "Cause: a full queue drops a part of nearly each datagram: A-down: the tunnel" in lines[0]
    )
    assert "makes fragments of datagrams of 1472 octets" in lines[0]
    assert lines[0].endswith("set payload_bytes to 1392 or less, or mtu_octets to 1580.")
    assert not any(" costs " in line or "same throughput" in line for line in lines)
    for policy in ("wireguard", "ipsec-aes-gcm"):
        cost = summary.analysis.overhead(f"home/{policy}/udp")
        assert cost.value > 0.9
        assert not cost.has_interval
        assert not cost.is_settled
    evidence = summary.analysis.comparisons.filter(metric="throughput_bps")["evidence"]
    assert set(evidence) == {NOT_SETTLED}
    assert {row.verdict for row in table(summary)} == {"baseline", NOT_SETTLED}
    page = write_report([summary.path]).read_text("utf-8")
    assert "The throughput has not settled" in page


@pytest.mark.parametrize(
    "cure", [{"traffic": "payload_bytes = 1392"}, {"scenario": "mtu_octets = 1580"}]
)
def test_the_cure_that_the_answer_names_gives_a_cost_that_settles(tmp_path, cure):
    summary = vpn(tmp_path, trials=4, **cure)
    assert not any("not settled" in line for line in headline(summary))
    cost = summary.analysis.overhead("home/wireguard/udp")
    assert 0.015 < cost.value < 0.035
    assert cost.has_interval


@pytest.mark.thorough
def test_fragments_that_settle_are_named_as_a_part_of_the_cost(tmp_path):
    vpn(tmp_path)
    text = (tmp_path / "vpn.toml").read_text().replace('topology = "downlink"\n', "")
    (tmp_path / "vpn.toml").write_text(text)
    summary = summarise(run(tmp_path / "vpn.toml", out=tmp_path / "up").path)
    assert summary.analysis.unsettled.is_empty()
    (line,) = (line for line in headline(summary) if line.startswith("Fragments"))
    assert line == (
        "Fragments are a part of the cost in 2 cells (first: Open + WireGuard): A-up: the tunnel "
        "makes fragments of datagrams of 1472 octets; set payload_bytes to 1392 or less, or "
        "mtu_octets to 1580."
    )


def test_the_delay_of_an_overloaded_cpu_has_not_settled_and_its_throughput_has(tmp_path):
    study = tmp_path / "cpu.toml"
    study.write_text(CPU)
    summary = summarise(run(study, out=tmp_path / "run").path)
    lines = headline(summary)
    (delay,) = (line for line in lines if line.startswith("The mean delay has not settled"))
    assert "times as high as in the first" in delay
    assert "the CPU of ap is overloaded, and its queue grows for as long as the trial" in delay
    overloaded = "s/wpa2-psk-ccmp/t"
    assert list(summary.unsettled("delay_s"))[-1] == overloaded
    for metric in ("delay_s", "delay_p50_s"):
        found = summary.analysis.estimate(overloaded, metric)
        assert not found.has_interval
        assert not found.is_settled
    assert summary.analysis.estimate(overloaded, "throughput_bps").is_settled
    # A busy share is one of the time: work that waits at the end is none.
    share = summary.observations.filter(metric="cpu_share")["value"]
    assert share.max() <= 1
    assert share.max() > 0.98
    # Loads that the CPU carries settle.
    paced = [cell for cell in summary.cells if cell.endswith("/paced")]
    assert not set(paced) & (set(summary.unsettled("delay_s")) | set(summary.causes))


def test_what_a_study_changes_meanwhile_is_no_drift(tmp_path):
    study = tmp_path / "transfer.toml"
    study.write_text(
        '[study]\nname = "transfer"\ntitle = "t"\n[trials]\nrepetitions = 3\n[scenario.s]\n'
        '[traffic.t]\ntransport = "tcp"\ntransfer_bytes = 100000\nduration_s = 5\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\n'
    )
    summary = summarise(run(study, out=tmp_path / "run").path)
    assert summary.analysis.unsettled.is_empty()
    metrics = set(summary.observations["metric"].unique())
    assert not metrics & {"throughput_drift_bps", "delay_drift_s"}


def test_the_terminal_begins_with_what_has_not_settled(tmp_path):
    from typer.testing import CliRunner

    summary = vpn(tmp_path, trials=2)
    out = CliRunner().invoke(app, ["run", str(tmp_path / "vpn.toml"), "--out", str(tmp_path / "b")])
    assert out.exit_code == 0, out.output
    assert "The throughput has not settled in 2 of 3 cells" in out.output
    assert summary.unsettled("throughput_bps")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scenario", "cure"),
    [
        ("tunnel_mtu_octets = 1300", "tunnel_mtu_octets to 1500 with mtu_octets of 1"),
        ("tunnel_mtu_octets = 1300\nmtu_octets = 2000", "tunnel_mtu_octets to 1500."),
    ],
)
def test_the_cure_of_a_stated_tunnel_mtu_is_one_that_helps(tmp_path, scenario, cure):
    """No MTU around a tunnel helps where the stated one of its interface cuts datagrams."""
    vpn(tmp_path, trials=1, scenario=scenario)
    text = (tmp_path / "vpn.toml").read_text().replace('topology = "downlink"\n', "")
    (tmp_path / "vpn.toml").write_text(text)
    lines = headline(summarise(run(tmp_path / "vpn.toml", out=tmp_path / "up").path))
    (line,) = (line for line in lines if "fragments" in line.lower())
    assert "set payload_bytes to 1272 or less, or " in line
    assert cure in line
