"""The fixed rate: what hostapd and iw are told, and the verdict on what the medium carried."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from airtoll.border.answers import MediumStatistics
from airtoll.policies import resolve
from airtoll.testbeds.linux.air import rates
from airtoll.testbeds.linux.hosts.host import Completed, LocalHost
from airtoll.testbeds.linux.job import Job

WPA2, TKIP = resolve("wpa2-psk-ccmp"), resolve("wpa-psk-tkip")


def job(**changes: Any) -> Job:
    return Job(name="x", policy="open", **changes)


HT40 = job(phy="802.11n", channel=36, mcs=7, width_mhz=40, guard_interval_ns=400)
VHT80 = job(phy="802.11ac", channel=36, mcs=9, streams=2, width_mhz=80)
LEGACY = job(phy="802.11a", channel=36, rate_mbps=54.0)


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (HT40, "MCS 7, 1 streams, 40 MHz, 400 ns"),
        (VHT80, "MCS 9, 2 streams, 80 MHz, 800 ns"),
        (job(phy="802.11n", channel=36, mcs=12), "MCS 4, 2 streams, 20 MHz, 800 ns"),
        (job(rate_mbps=5.5), "5.5"),
        (LEGACY, "54"),
        (job(), None),
    ],
)
def test_the_rate_has_the_medium_s_name(one: Job, name: str | None) -> None:
    assert rates.fixed(one, WPA2) == name


def test_wep_and_tkip_have_no_mcs() -> None:
    assert rates.fixed(HT40, TKIP) is None
    assert rates.access_point(HT40, TKIP, 36) == []


def test_hostapd_is_told_the_width() -> None:
    assert "ht_capab=[HT40+][SHORT-GI-20][SHORT-GI-40]" in rates.access_point(HT40, WPA2, 36)
    wide = rates.access_point(VHT80, WPA2, 36)
    assert "vht_oper_chwidth=1" in wide
    assert "vht_oper_centr_freq_seg0_idx=42" in wide
    assert "vht_oper_centr_freq_seg0_idx=155" in rates.access_point(VHT80, WPA2, 149)
    assert rates.access_point(LEGACY, WPA2, 1) == []


class Noting(LocalHost):
    """A host that notes commands and carries none out."""

    def __init__(self) -> None:
        super().__init__("noting", "0123abcd")
        self.ran: list[str] = []

    async def _run(self, argv: tuple[str, ...], stdin: str | None) -> Completed:
        self.ran.append(" ".join(argv))
        return Completed(argv, 0, "", "")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (HT40, "ht-mcs-5 7 sgi-5"),
        (VHT80, "ht-mcs-5 vht-mcs-5 2:9 lgi-5"),
        (job(phy="802.11n", channel=36, mcs=3, streams=2), "ht-mcs-5 11 lgi-5"),
        (LEGACY, "legacy-5 54"),
        (job(rate_mbps=5.5), "legacy-2.4 5.5"),
    ],
)
def test_iw_is_told_the_rate(one: Job, words: str) -> None:
    host = Noting()
    asyncio.run(rates.fix(host, "wlan0", one, WPA2))
    assert host.ran == [f"iw dev wlan0 set bitrates {words}"]


def test_minstrel_is_kept_at_the_place_of_the_mcs_in_its_table() -> None:
    plain = job(phy="802.11n", channel=36, mcs=7)
    assert rates.minstrel_index(plain) == 7
    assert rates.minstrel_index(HT40) == 12 * 16 + 7
    assert rates.minstrel_index(VHT80) == 35 * 16 + 9
    host = Noting()
    asyncio.run(rates.pin(host, "phy2", HT40, WPA2))
    assert host.ran[0].endswith("echo 199 > /sys/kernel/debug/ieee80211/phy2/rc/fixed_rate_idx")
    asyncio.run(rates.pin(host, "phy2", LEGACY, WPA2))
    assert len(host.ran) == 1


def test_mac80211_keeps_its_rates_where_none_is_fixed() -> None:
    host = Noting()
    asyncio.run(rates.fix(host, "wlan0", job(), WPA2))
    assert host.ran == []


def counted(**attempts: int) -> MediumStatistics:
    named = {name.removeprefix("at_"): count for name, count in attempts.items()}
    return cast(MediumStatistics, {"radios": [{"data_attempts": named}, {"data_attempts": {}}]})


def test_data_at_another_rate_is_refused() -> None:
    assert rates.refusal(LEGACY, WPA2, counted(at_54=900)) is None
    said = rates.refusal(LEGACY, WPA2, counted(at_54=900, at_6=60, at_12=40))
    assert said == (
        "100 of 1000 data frames went at another rate than the fixed one (54), 60 of them at 6"
    )
    assert rates.refusal(job(), WPA2, counted(at_6=60)) is None
