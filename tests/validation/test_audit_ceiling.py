"""The audit's closed forms against those of the simulator's crate: two derivations, one answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.analyse.ceiling import ceiling_bps
from airtoll.plan import make_plan
from airtoll.study import parse

pytest.importorskip("airtoll._native", reason="needs the native module: make build")

from airtoll.testbeds.analytic import Analytic

STUDY = """
[study]
name = "ceiling"
title = "One saturated sender"

[trials]
repetitions = 1

[scenario.one]
topology = "uplink"
phy = "{phy}"
rate_mbps = {rate}
{preamble}
beacons = false
stations = [{{ name = "A" }}]

[traffic.udp]
transport = "udp"
payload_bytes = {payload}

[grid]
scenario = ["one"]
policy = ["open", "wpa2-psk-ccmp", "wpa-psk-tkip"]
traffic = ["udp"]
"""

CASES = [
    ("802.11b", 11, "long"),
    ("802.11b", 11, "short"),
    ("802.11b", 2, "long"),
    ("802.11g", 54, ""),
    ("802.11g", 24, ""),
    ("802.11a", 54, ""),
    ("802.11a", 6, ""),
]


@pytest.mark.parametrize(("phy", "rate", "preamble"), CASES)
@pytest.mark.parametrize("payload", [100, 512, 1472])
def test_both_derivations_agree(phy, rate, preamble, payload):
    line = f'preamble = "{preamble}"' if preamble else ""
    text = STUDY.format(phy=phy, rate=rate, preamble=line, payload=payload)
    plan = make_plan(parse(text, Path("ceiling.toml")).study)
    bed = Analytic()
    link = {"phy": phy, "rate_mbps": float(rate), "preamble": preamble or "short"}
    for trial in plan.trials():
        assert bed.check(trial.cell) is None
        rows = bed.measure(trial).rows
        theirs = next(
            row.value for row in rows if row.metric == "throughput_bps" and row.station is None
        )
        policy = trial.cell.security
        octets = policy.octets_per_mpdu + policy.octets_per_msdu
        ours = ceiling_bps(link, octets, payload)
        # The basic rates are the network's choice. The audit takes the fastest ACK that the
        # standard allows, so that nothing possible is called impossible.
        slack = 0.10 if (phy, rate) == ("802.11b", 11) else 0.005
        assert theirs * 0.995 <= ours <= theirs * (1 + slack)
