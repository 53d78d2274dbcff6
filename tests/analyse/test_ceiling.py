import re

import pytest

from airtoll.analyse.audit import audit
from airtoll.analyse.ceiling import (
    airtime_us,
    burst_ceiling_bps,
    ceiling_bps,
    frame_time_us,
)
from airtoll.observe.datasets import load_dataset


def test_80211g_by_hand():
    # 1536 octets: 57 symbols = 248 + 6; SIFS 10; ACK at 24: 34; DIFS 28; 7.5 slots of 9
    assert airtime_us("802.11g", 54, "short", 1536) == 254
    assert frame_time_us("802.11g", 54, "short", 1536) == pytest.approx(393.5)
    bound = ceiling_bps({"phy": "802.11g", "rate_mbps": 54})
    assert bound == pytest.approx(1472 * 8 / 393.5e-6)


def test_80211b_at_11_and_2():
    assert airtime_us("802.11b", 11, "long", 1536) == 192 + 1118
    assert airtime_us("802.11b", 2, "long", 14) == 192 + 56
    long = ceiling_bps({"phy": "802.11b", "rate_mbps": 2, "preamble": "long"})
    assert long == pytest.approx(1472 * 8 / (50 + 310 + 192 + 6144 + 10 + 248) * 1e6)


def test_a_second_hop_halves_and_security_costs():
    one = ceiling_bps({"phy": "802.11g", "rate_mbps": 54})
    two = ceiling_bps({"phy": "802.11g", "rate_mbps": 54, "hops": 2})
    assert 0.5 < two / one < 0.55
    assert ceiling_bps({"phy": "802.11g", "rate_mbps": 54}, 20) < one
    assert ceiling_bps({"phy": "802.11n", "rate_mbps": 150.0, "hops": 2}) < 75e6


def test_two_senders_wait_less():
    one = ceiling_bps({"phy": "802.11g", "rate_mbps": 54})
    two = ceiling_bps({"phy": "802.11g", "rate_mbps": 54, "senders": 2})
    assert 1.0 < two / one < 1.08


def test_aggregates_are_bounded_by_their_length_and_their_window():
    link = {"phy": "802.11n", "rate_mbps": 150.0}
    # 43 A-MSDU subframes of 1524 octets fit into 65,535; preamble 24, SIFS, block ack 28, SIFS.
    air = 24 + 43 * 1524 * 8 / 150 + 10 + 28 + 10
    assert ceiling_bps(link) == pytest.approx(43 * 1472 * 8e6 / air)
    assert ceiling_bps(link | {"hops": 2}) == pytest.approx(ceiling_bps(link) / 2)
    # Short payloads pay for the headers of their own.
    assert ceiling_bps(link, payload=64) < 0.6 * ceiling_bps(link)
    for phy, rate in (("802.11n", 600.0), ("802.11ac", 866.7), ("802.11ax", 1201.0)):
        bound = ceiling_bps({"phy": phy, "rate_mbps": rate}, 16)
        assert 0.8 * rate < bound / 1e6 < rate


def test_a_wireless_bridge_has_six_octets_more_to_carry() -> None:
    for link in ({"phy": "802.11g", "rate_mbps": 54}, {"phy": "802.11n", "rate_mbps": 150.0}):
        bridge = ceiling_bps({**link, "addresses": 4}, payload=100)
        assert bridge == ceiling_bps(link, 6, payload=100) <= ceiling_bps(link, payload=100)
    slow = {"phy": "802.11b", "rate_mbps": 1, "preamble": "long"}
    assert ceiling_bps({**slow, "addresses": 4}) < ceiling_bps(slow)


def test_a_reading_above_the_contended_ceiling_names_the_burst_that_explains_it() -> None:
    found = [
        finding
        for finding in audit(load_dataset("tripathi2008"))
        if finding.kind == "above_phy_ceiling" and finding.where.startswith("single-client, open")
    ]
    (finding,) = found
    link = {"phy": "802.11g", "rate_mbps": 54.0}
    one, apart = ceiling_bps(link), burst_ceiling_bps(link)
    named = re.search(r"bursts of (\d+) frames", finding.evidence)
    assert named is not None, finding.evidence
    frames = int(named.group(1))

    # That many frames carry the printed value, one fewer do not.
    def carried(n: int) -> float:
        return n / (1 / one + (n - 1) / apart)

    assert carried(frames) >= 34.78e6 > carried(frames - 1)
    assert finding.severity == "warning"
