"""``airtoll explain``: two measurements, and the mechanism that explains them."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import AirtollError
from airtoll.plan import make_plan
from airtoll.run.explaining import cell_of, study_of
from airtoll.testbeds.simulator import Simulator

RUNNER = CliRunner()


def thorough(value: object) -> Any:
    """A further value of the same kind."""
    return pytest.param(value, marks=pytest.mark.thorough)


def causes(*threads: tuple[str, str, tuple[str, ...]]) -> list[Any]:
    """The threads; those after the first of their cause are further values of the same kind."""
    found, seen = [], set()
    for cause, source, words in threads:
        marks = [pytest.mark.thorough] * (cause in seen)
        found.append(pytest.param(cause, source, words, marks=marks))
        seen.add(cause)
    return found


def policied(words: tuple[str, ...]) -> list[str]:
    """The words with the policies of most tests, where two values come without any."""
    values = all(re.fullmatch(r"\?|[0-9.]+(ms|%)?", word) for word in words[:2])
    if values and not {"--from", "--to"} & set(words):
        return [*words, "--from", "open", "--to", "wpa2"]
    return list(words)


def explain(*words: str) -> dict[str, Any]:
    done = RUNNER.invoke(app, ["explain", *policied(words), "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def first(*words: str) -> str:
    found = explain(*words)
    assert found["fits"]
    return str(found["mechanisms"][0]["name"])


def refused(*words: str) -> str:
    done = RUNNER.invoke(app, ["explain", *policied(words)])
    assert isinstance(done.exception, AirtollError)
    assert done.exception.exit_code == 2
    (line,) = str(done.exception).splitlines()
    return line


def shown(*words: str) -> str:
    """The answer for people, in one line."""
    done = RUNNER.invoke(app, ["explain", *policied(words)])
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def iperf3(path: Path, mbps: float, *, reverse: int = 1, **test: Any) -> str:
    """A result of iperf3 with ten seconds; UDP with a target and a share of lost datagrams."""
    lost = test.pop("lost", 0.0)
    started = {"protocol": "TCP", "num_streams": 1, "reverse": reverse, **test}
    sums: dict[str, Any] = {"bits_per_second": 1e6 * mbps, "seconds": 10.0}
    end: dict[str, Any] = {"sum_sent": dict(sums), "sum_received": dict(sums)}
    if started["protocol"] == "UDP":
        for side in end.values():
            side |= {"packets": 10_000, "lost_packets": round(10_000 * lost), "jitter_ms": 0.1}
        end["sum"] = {**end["sum_received"], "lost_percent": 100 * lost}
    path.write_text(json.dumps({"start": {"test_start": started}, "intervals": [], "end": end}))
    return str(path)


AC = ("--phy", "802.11ac", "--width", "80", "--mcs", "9", "--streams", "2")


@pytest.mark.thorough
class TestThreads:
    """Public threads whose cause its reporters, or the makers, found later."""

    def test_qca9984_has_no_block_ack_session_under_802_11w(self) -> None:
        # The 250 Mb/s before are more than this link carries: they are of a wider one.
        found = explain(
            *("?", "25", "--from", "wpa2", "--to", "wpa3-sae-ccmp", "--phy", "802.11ac"),
            *("--width", "20", "--streams", "2", "--mcs", "8", "--guard-interval", "400"),
            *("--also", "rate=?:173"),
        )
        assert found["mechanisms"][0]["name"] == "no aggregation"
        first, second, *_ = found["mechanisms"]
        assert first["weight"] > 3 * second["weight"]

    @pytest.mark.parametrize(("policy", "left"), [("wep-104", 0.37), ("wpa-psk-tkip", 0.13)])
    @pytest.mark.parametrize("open_mbps", [thorough(70), 80, thorough(90)])
    def test_belkin_n1_does_not_aggregate_under_wep_and_tkip(
        self, policy: str, left: float, open_mbps: float
    ) -> None:
        link = ("--phy", "802.11n", "--band", "2.4", "--streams", "2", "--mcs", "15")
        after = str(open_mbps * left)
        assert first(str(open_mbps), after, "--to", policy, *link) == "no aggregation"

    @pytest.mark.parametrize(
        ("link", "before"),
        [
            (AC, 400),
            pytest.param(
                ("--phy", "802.11n", "--width", "40", "--streams", "2"),
                180,
                marks=pytest.mark.thorough,
            ),
        ],
    )
    def test_tkip_falls_back_to_54_mbps(self, link: tuple[str, ...], before: int) -> None:
        policies = ("--from", "wpa2", "--to", "wpa2-psk-tkip")
        assert first(str(before), "22", *policies, *link) == "legacy rates"

    def test_mt7621_as_an_end_of_wireguard_is_bound_by_its_cpu(self) -> None:
        words = ("420", "99", "--from", "wpa2", "--to", "wpa2-psk-ccmp+wireguard", *AC)
        assert first(*words) == "CPU of a host"
        named = explain(*words, "--profile", "mt7621")
        assert named["mechanisms"][0]["name"] == "CPU of the profile"
        assert named["mechanisms"][0]["weight"] > 0.7

    def test_wireguard_over_a_path_that_swallows_large_packets(self) -> None:
        words = ("60", "4", "--from", "wpa2", "--to", "wpa2-psk-ccmp+wireguard", *AC)
        assert first(*words, "--also", "tcp-down,mtu=1280=60:20") == "path MTU black hole"

    def test_overriding_changes_no_frame_so_that_an_implementation_is_at_fault(self) -> None:
        found = explain(
            *("1000", "20", "--from", "wpa2-wpa3-psk-transition"),
            *("--to", "wpa2-wpa3-psk-compatibility", "--phy", "802.11ax", "--width", "160"),
            *("--streams", "2", "--mcs", "11", "--band", "5"),
        )
        assert found["mechanisms"][0]["name"] == "implementation fault"
        assert "no steady cost" in found["mechanisms"][0]["reason"]

    @pytest.mark.parametrize("one_flow", [(), ("--also", "loss=0%:0%")])
    def test_flows_of_802_11n_lose_a_quarter_by_reordered_packet_numbers(
        self, one_flow: tuple[str, ...]
    ) -> None:
        kind = ("--flow", "loss,flows=4", "--phy", "802.11n", "--width", "40", "--streams", "2")
        assert first("0%", "25%", *kind, *one_flow) == "packet numbers reordered"

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("right", "before", "after", "words"),
        [
            (
                "no aggregation", "110", "26",
                ("--from", "wpa2", "--to", "wpa3-sae-ccmp", "--phy", "802.11ac", "--mcs", "8",
                 "--streams", "2", "--also", "rate=156:156"),
            ),
            (
                "path MTU black hole", "60", "6",
                ("--from", "wpa2", "--to", "wpa2-psk-ccmp+wireguard", *AC,
                 "--also", "tcp-down,mtu=1280=60:22"),
            ),
            (
                "implementation fault", "900", "40",
                ("--from", "wpa2-wpa3-psk-transition", "--to", "wpa2-wpa3-psk-compatibility",
                 "--phy", "802.11ax", "--width", "160", "--streams", "2", "--mcs", "11",
                 "--band", "5"),
            ),
            (
                "packet numbers reordered", "0%", "20%",
                ("--flow", "loss,flows=4", "--phy", "802.11n", "--width", "40", "--streams", "2"),
            ),
            ("CPU of a host", "300", "99", ("--to", "wpa2-psk-ccmp+wireguard", *AC)),
        ],
    )  # fmt: skip
    def test_other_values_of_the_same_causes(
        self, right: str, before: str, after: str, words: tuple[str, ...]
    ) -> None:
        assert first(before, after, *words) == right


@pytest.mark.thorough
class TestFurtherThreads:
    """Public threads that no width or weight was chosen by; ``source``: where their numbers are."""

    LEGACY = ("--to", "wpa-psk-tkip", "--phy", "802.11n", "--width", "40", "--streams", "2")
    OLD = ("--phy", "802.11n", "--band", "2.4", "--streams", "2")
    SAME = ("--from", "wpa2", "--to", "wpa2")
    TUNNEL = ("--from", "wpa2", "--to", "wpa2+wireguard", *AC)
    WIDE = ("--phy", "802.11n", "--width", "40", "--streams", "2", "--guard-interval", "400")
    TUNNELED = ("--from", "wpa2", "--to", "wpa2+wireguard", *WIDE)

    @pytest.mark.parametrize(
        ("right", "source", "words"),
        causes(
            (
                "software cipher",
                "https://github.com/openwrt/openwrt/issues/25041",
                ("37.9", "7.5", "--from", "wpa2", "--to", "wpa3", *OLD, "--also", "cpu=?:95%"),
            ),
            (
                "software cipher",
                "https://github.com/openwrt/openwrt/issues/25041",
                ("41.2", "7.5", "--to", "wpa3", *OLD, "--also", "tcp-up=56.3:10.2",
                 "--also", "cpu=14%:95%"),
            ),
            (
                "legacy rates",
                "https://github.com/kaloz/mwlwifi/issues/125",
                ("400", "20", "--from", "wpa2", "--to", "wpa2-psk-tkip", *AC),
            ),
            (
                "legacy rates",
                "https://tomshw.it/hardware/router-d-link-xtreme-n-gigabit-e-arrivato-il-draft-2-0/"
                "throughput-in-modalita-sicura",
                ("86", "17", "--flow", "tcp-up", *LEGACY),
            ),
            (
                "path MTU black hole",
                "https://gread.uk/writing/wireguard-throughput",
                ("213", "5", *TUNNEL, "--also", "tcp-down,mtu=1280=213:53"),
            ),
            (
                "CPU of a host",
                "https://github.com/WireGuard/wireguard-vyatta-ubnt/issues/43",
                ("500", "80", *TUNNEL, "--also", "cpu=?:100%"),
            ),
            (
                "power save",
                "https://github.com/raspberrypi/linux/issues/7533",
                ("6ms", "127ms", "--flow", "delay", *SAME, "--phy", "802.11n", "--band", "2.4"),
            ),
            (
                "slower wire",
                "https://github.com/coolsnowwolf/lede/issues/2856",
                ("200", "95", *SAME, "--phy", "802.11ac", "--width", "80"),
            ),
            (
                # The upload of AirVPN, with the default MTU of 1420 and with 1400.
                "path MTU black hole",
                "https://github.com/passteque/gluetun/issues/1650",
                ("?", "0.36", "--flow", "tcp-up", *TUNNELED, "--also",
                 "tcp-up,mtu=1400=?:69.7"),
            ),
            (
                "narrower channel",
                "https://github.com/raspberrypi/linux/issues/2911",
                ("433", "200", "--flow", "rate", *SAME, "--phy", "802.11ac", "--width", "80",
                 "--guard-interval", "400", "--also", "width=80:40"),
            ),
            (
                "narrower channel",
                "https://github.com/openwrt/mt76/issues/129",
                ("300", "150", "--flow", "rate", *SAME, *WIDE, "--also", "width=40:20"),
            ),
            (
                # One way stays at 54 Mb/s and 20 MHz on channels with radar.
                "legacy rates",
                "https://github.com/openwrt/mt76/issues/676",
                ("?", "54", "--flow", "rate,tcp-up", *SAME, *AC, "--also",
                 "width,tcp-up=?:20"),
            ),
            (
                "legacy rates",
                "https://github.com/RaspAP/raspap-webgui/issues/291",
                ("72", "54", "--flow", "rate", "--from", "wpa2", "--to", "wpa-psk-tkip",
                 "--phy", "802.11n", "--band", "2.4", "--guard-interval", "400"),
            ),
            (
                "legacy rates",
                "http://blogs.techworld.com/war-on-error/2009/10/"
                "fast-wi-fis-little-secret---you-have-to-turn-on-wpa2-encryption/index.htm",
                ("300", "54", "--flow", "rate", "--from", "wpa2", "--to", "wpa-psk-tkip", *WIDE),
            ),
            (
                "CPU of a host",
                "https://github.com/angristan/openvpn-install/issues/1242",
                ("300", "20", "--from", "wpa2", "--to", "wpa2+openvpn", *AC),
            ),
            (
                "CPU of a host",
                "https://github.com/vschagen/mtk-eip93/issues/19",
                ("130", "50", "--from", "wpa2", "--to", "wpa2+ipsec-aes-cbc-sha1", *WIDE),
            ),
            (
                "power save",
                "https://github.com/esphome/devices.esphome.io/pull/278",
                ("2ms", "106ms", "--flow", "delay", *SAME, "--phy", "802.11n", "--band", "2.4"),
            ),
            (
                "power save",
                "https://github.com/maemo-leste/bugtracker/issues/172",
                ("7ms", "50ms", "--flow", "delay", *SAME, "--phy", "802.11g"),
            ),
            (
                # Another device on the channel: Bluetooth audio of the same radio.
                "another network",
                "https://github.com/lwfinger/rtlwifi_new/issues/31",
                ("15.5", "0.7", *SAME, "--phy", "802.11n", "--band", "2.4"),
            ),
        ),
    )  # fmt: skip
    def test_the_cause_that_its_thread_found_is_first(
        self, right: str, source: str, words: tuple[str, ...]
    ) -> None:
        assert first(*words) == right, source

    def test_one_policy_in_both_blames_no_device_and_no_security(self) -> None:
        # https://github.com/couchbase/couchbase-lite-ios/issues/1859: the cause was multicast.
        found = explain("150", "42", *self.SAME, "--phy", "802.11ac", "--width", "80")
        assert found["fits"]
        assert found["mechanisms"][0]["name"] != "implementation fault"
        assert "group traffic" in [one["name"] for one in found["mechanisms"]][:6]

    def test_802_11w_may_leave_the_cipher_to_the_cpu_with_the_same_cipher(self) -> None:
        # https://github.com/openwrt/openwrt/issues/17166: 70 and 16 Mb/s, no load was printed.
        words = ("70", "16", "--from", "wpa2", "--to", "wpa3", *self.OLD)
        open_question = {one["name"]: one["weight"] for one in explain(*words)["mechanisms"]}
        assert open_question["software cipher"] > 0.03
        assert first(*words, "--also", "cpu=30%:100%") == "software cipher"
        # With an idle CPU the faults of the air are left, no aggregation among the first.
        idle = explain(*words, "--also", "cpu=30%:10%")["mechanisms"]
        assert "no aggregation" in [one["name"] for one in idle][:2]
        assert "software cipher" not in [one["name"] for one in idle][:3]


class TestForm:
    """A link that has another width, other streams or another guard interval in the second test."""

    SAME = ("--from", "wpa2", "--to", "wpa3-transition")

    @pytest.mark.thorough
    def test_a_narrower_channel_is_a_cause_and_its_width_decides(self) -> None:
        words = ("480", "240", *self.SAME, *AC)
        assert "narrower channel" in [one["name"] for one in explain(*words)["mechanisms"]][:5]
        rated = explain(*words, "--also", "rate=780:360")
        assert rated["deciding"]["measurement"].startswith("width of the link")
        assert rated["deciding"]["minutes"] < 2
        assert first(*words, "--also", "width=80:40") == "narrower channel"

    @pytest.mark.thorough
    def test_a_narrower_channel_gives_the_rate_of_its_width(self) -> None:
        # 866.7 and 400 Mb/s: 234 and 108 data subcarriers.
        words = (
            "560",
            "300",
            *self.SAME,
            *AC,
            "--guard-interval",
            "400",
            "--also",
            "width=?:40MHz",
        )
        (mechanism, *_) = explain(*words, "--also", "rate=?:400")["mechanisms"]
        assert mechanism["name"] == "narrower channel"
        (rate,) = (one for one in mechanism["readings"] if one["kind"] == "rate of the link")
        assert rate["predicted"] == pytest.approx(400e6, rel=0.01)

    def test_a_lost_antenna_shows_in_the_streams(self) -> None:
        words = ("480", "270", *self.SAME, *AC, "--also", "streams=2:1", "--also", "width=80:80")
        assert first(*words) == "fewer streams"

    def test_streams_of_802_11n_count_its_mcs_down(self) -> None:
        link = ("--phy", "802.11n", "--width", "40", "--streams", "2", "--mcs", "15")
        words = ("180", "100", *self.SAME, *link, "--also", "streams=2:1", "--also", "rate=270:135")
        assert first(*words) == "fewer streams"

    def test_a_long_guard_interval_is_a_cause_where_the_short_one_is_stated(self) -> None:
        link = (*AC, "--guard-interval", "400")
        words = ("550", "500", *self.SAME, *link)
        found = [one["name"] for one in explain(*words)["mechanisms"]]
        assert "long guard interval" in found
        assert first(*words, "--also", "guard=400:800ns") == "long guard interval"
        unstated = explain("480", "430", *self.SAME, *AC)
        assert "long guard interval" not in [one["name"] for one in unstated["mechanisms"]]

    def test_a_lower_level_is_another_place_and_the_same_one_is_not(self) -> None:
        words = ("480", "250", *self.SAME, *AC, "--also", "rate=780:351", "--also", "width=80:80")
        words = (*words, "--also", "streams=2:2", "--also", "retries=5%:6%")
        there = explain(*words, "--also", "signal=-45:-63dBm")["mechanisms"][0]
        assert there["name"] == "rate control"
        assert there["parameter"].endswith("at a lower level")
        here = explain(*words, "--also", "signal=-45:-46")["mechanisms"][0]
        assert here["name"] == "rate control"
        assert "level" not in here["parameter"]

    def test_the_same_form_speaks_against_another_one(self) -> None:
        words = ("480", "240", *self.SAME, *AC, "--also", "width=80:80", "--also", "streams=2:2")
        found = {one["name"]: one["weight"] for one in explain(*words)["mechanisms"]}
        assert found["narrower channel"] < 0.01
        assert found["fewer streams"] < 0.01

    def test_the_answer_prints_the_form_with_its_units(self) -> None:
        text = shown(
            "480", "240", *self.SAME, *AC, "--also", "width=80:40", "--also", "signal=-45:-46"
        )
        assert "width of the link: 80 MHz to 40 MHz" in text
        assert "level of the link: -45 dBm to -46 dBm" in text

    @pytest.mark.parametrize(
        ("also", "told"),
        [
            ("width=80:forty", "a whole number such as 40 MHz"),
            ("streams=2:1.5", "a whole number such as 2"),
            ("signal=-45:200", "a level is -55, dBm"),
        ],
    )
    def test_a_form_that_cannot_be_is_refused(self, also: str, told: str) -> None:
        assert told in refused("480", "240", *AC, "--also", also)


class TestAnswer:
    def test_nothing_is_wrong_where_only_octets_cost(self) -> None:
        assert first("500", "493", *AC) == "octets"

    def test_a_cable_of_100_mbps_shows_in_the_first_measurement(self) -> None:
        assert first("94.1", "93.9", *AC) == "wired link"

    def test_readings_that_contradict_every_mechanism_fit_none(self) -> None:
        found = explain(
            *("500", "80", *AC, "--also", "tcp-up=500:490", "--also", "udp-down=520:515"),
            *("--also", "udp-down,octets=200=230:60", "--also", "delay=3ms:3ms"),
        )
        assert not found["fits"]
        text = RUNNER.invoke(
            app,
            [
                *("explain", "500", "80", *AC, "--to", "wpa2", "--also", "tcp-up=500:490"),
                *("--also", "udp-down=520:515", "--also", "udp-down,octets=200=230:60"),
                *("--also", "delay=3ms:3ms"),
            ],
        ).stdout
        assert "Nothing in the list gives all of these readings" in text
        assert "is off by" in text

    def test_a_further_reading_decides_as_was_said(self) -> None:
        words = ("400", "22", "--from", "wpa2", "--to", "wpa2-psk-tkip", *AC)
        open_question = explain(*words)["deciding"]
        assert open_question["bits"] > 0.05
        for outcome in open_question["outcomes"][:2]:
            value = outcome["value"]
            # Throughputs and rates are in bit/s there, and in Mb/s on the command line.
            shown = value / 1e6 if value > 1e4 else value
            also = f"{open_question['also']}=?:{shown:.4g}"
            assert explain(*words, "--also", also)["mechanisms"][0]["name"] == outcome["mechanism"]

    def test_the_text_is_one_screen_and_as_wide_as_said(self) -> None:
        done = RUNNER.invoke(
            app,
            [
                *("explain", "500", "300", *AC, "--from", "open", "--also", "tcp-up=500:320"),
                *("--also", "udp-down=520:330", "--also", "udp-up,octets=200=230:120"),
                *("--also", "loss,flows=4,at=300=0%:5%", "--also", "delay=3ms:9ms"),
            ],
        )
        assert done.exit_code == 0
        lines = done.stdout.splitlines()
        assert len(lines) <= 30
        assert max(map(len, lines)) <= 100
        assert lines[0] == "Assumed: wpa2-psk-ccmp after (WPA2-Personal); say --to"

    @pytest.mark.thorough
    def test_a_throughput_that_the_link_cannot_carry_is_refused_with_the_link_that_does(
        self,
    ) -> None:
        line = refused("238", "228", "--phy", "802.11ac", "--width", "20")
        assert "and 238 Mb/s were measured" in line
        assert "--width 80" in line
        low = refused("229", "223", "--phy", "802.11ac", "--width", "80", "--mcs", "3")
        assert "--mcs 8 or --streams 3 would carry it" in low
        assert "guard interval 800 ns (assumed)" in low
        assert "--width 80 --streams" not in low
        both = refused("600", "500", "--phy", "802.11ac", "--mcs", "0")
        least = re.search(r"the least that carries it is (.*)", both)
        assert least is not None
        assert explain("600", "500", "--phy", "802.11ac", *least[1].split())["mechanisms"]
        assert explain("238", "228", "--phy", "802.11ac", "--width", "80")["mechanisms"]
        assert "look at --phy" in refused("9000", "25", "--phy", "802.11n")
        assert "--rate" in refused("400", "25", "--phy", "802.11g")

    @pytest.mark.thorough
    def test_a_throughput_a_little_above_the_air_names_the_setting_that_carries_it(self) -> None:
        link = ("--phy", "802.11ac", "--width", "80", "--mcs", "7")
        text = shown("229", "223", *link)
        said = re.search(r"229 Mb/s are more than the (\d+) Mb/s that this air carries", text)
        assert said is not None
        assert "--guard-interval 400, --mcs 8, --streams 2 or --width 160 would carry it" in text
        assert "this air carries" not in shown("229", "223", *link, "--guard-interval", "400")

    def test_a_first_value_that_is_not_known_is_the_one_that_was_supposed(self) -> None:
        words = ("238", "200", "--phy", "802.11ac", "--width", "40", "--streams", "2")
        found = explain(*words)["deciding"]
        assert found["also"] == "udp-down,octets=200"
        values = {one["mechanism"]: one["value"] for one in found["outcomes"]}
        also = explain(*words, "--also", f"{found['also']}=?:144")
        told = {one["name"]: one["readings"][1]["predicted"] for one in also["mechanisms"]}
        assert told["octets"] == pytest.approx(values["octets"], rel=1e-6)
        known = f"{found['also']}={found['before'] / 1e6}:144"
        both = {o["name"]: o["weight"] for o in explain(*words, "--also", known)["mechanisms"]}
        assert also["mechanisms"][0]["name"] == "octets"
        assert both["octets"] == max(both.values())
        slow = explain(*words, "--also", f"{found['also']}=?:95")["mechanisms"]
        assert slow[0]["name"] == "another network"
        assert {one["name"]: one["weight"] for one in slow}["octets"] < 0.1

    def test_the_measurement_that_decides_says_under_which_policy(self) -> None:
        text = shown("238", "200", *AC)
        assert "measure it under wpa2-psk-ccmp, which is enough, and better under open" in text
        assert "then add --also" in text

    def test_measurements_that_do_not_differ_leave_nothing_to_explain(self) -> None:
        found = explain("238", "238", *AC)
        assert not found["differ"]
        assert found["deciding"] is None
        text = shown("238", "238", *AC)
        assert text.startswith(
            "TCP down fell by 0.0 ± 13.9 %, and security's octets cost 1.3 %: security"
        )
        assert "The two do not differ beyond their spread (TCP down +0.0 %, 95 %" in text
        assert "a further fall of up to 12 % would not show" in text
        assert "Decides" not in text
        assert "wired link" in shown("94.1", "93.9", *AC)

    def test_a_fall_whose_interval_holds_the_octets_is_what_security_costs(
        self, tmp_path: Path
    ) -> None:
        link = ("--phy", "802.11ac", "--width", "80")
        sides = {
            "open": (228.053, 228.130, 232.674, 225.265, 230.642),
            "wpa3": (218.360, 226.752, 224.507, 222.740),
        }
        for name, values in sides.items():
            (tmp_path / name).mkdir()
            for trial, value in enumerate(values):
                iperf3(tmp_path / name / f"{trial}.json", value, reverse=0)
        folders = [str(tmp_path / name) for name in sides]
        text = shown(*folders, *link)
        # `airtoll import` says "falls by 2.6 ± 2.4 %" of the same files.
        assert text.startswith(
            "TCP up fell by 2.6 ± 2.4 %, and security's octets cost 1.4 %: what security alone "
            "costs; nothing is slow"
        )
        assert "unexplained" not in text
        (verdict,) = explain(*folders, *link)["verdicts"]
        assert verdict["says"] == "alone"
        assert verdict["low"] < verdict["expected"] < verdict["measured"] < verdict["high"]
        among = shown(*folders, *link, "--also", "delay=3ms:3.1ms")
        assert "(95 % of all 2), and security's octets cost 1.4 %: what security" in among
        assert "TCP up alone would differ (-2.6 %, 95 % interval -4.9 to -0.2)" in among
        assert "among 2 comparisons" in among

    def test_every_answer_begins_with_the_verdict(self) -> None:
        link = ("--phy", "802.11ac", "--width", "80")
        slow = shown("238", "60", *link)
        verdict = r"TCP down fell by 74\.8 ± 3\.\d %, and security's octets cost 1\.\d %: more than"
        assert re.match(verdict, slow)
        first = re.search(r" 1\. (.*?) \(", slow)
        assert first is not None
        assert f"Likeliest cause: {first[1]} (" in slow
        faster = shown("200", "260", *link)
        assert faster.startswith("TCP down rose by 30.0 ±")
        assert "less than they cost; look whether both were measured as stated" in faster
        # A ping that arrives tells a mechanism from a link that is none.
        ping = ("--also", "delay=3ms:3ms")
        assert "fell by 100.0 % (95 % of all 2), and" in shown("238", "0", *link, *ping)
        assert shown("?", "60", *link).startswith("No throughput has a value on both sides")
        both = shown("480", "476", *AC, "--also", "tcp-up=470:130")
        assert both.startswith("TCP up fell by ")
        assert "TCP down fell by " in both

    def test_a_fall_that_the_octets_do_not_explain_is_divided(self) -> None:
        link = ("--phy", "802.11ac", "--width", "40", "--streams", "2")
        text = shown("238", "200", *link)
        found = re.search(
            r"octets explain ([0-9.]+) of the 38 Mb/s; ([0-9.]+) Mb/s are unexplained", text
        )
        assert found is not None
        assert float(found[1]) + float(found[2]) == pytest.approx(38, abs=0.1)
        assert "nothing to mend" not in text
        assert "unexplained" not in shown(
            "400", "22", "--from", "wpa2", "--to", "wpa2-psk-tkip", *AC
        )

    def test_the_place_of_an_unknown_first_value_is_a_question_mark(self) -> None:
        found = explain("?", "22", "--to", "wpa2-psk-tkip", *AC)
        assert found["readings"][0]["before"] is None
        assert found["mechanisms"][0]["name"] == "legacy rates"

    @pytest.mark.thorough
    def test_a_profile_without_an_engine_speaks_for_the_cpu(self) -> None:
        words = ("450", "150", "--from", "wpa2", "--to", "wpa3-sae-gcmp-256", *AC)
        found = explain(*words, "--profile", "mt7621")
        assert found["mechanisms"][0]["name"] == "software cipher"
        assert found["mechanisms"][0]["reason"] == "mt7621 has no engine for gcmp-256"
        plain = {one["name"]: one["weight"] for one in explain(*words)["mechanisms"]}
        assert plain["software cipher"] < found["mechanisms"][0]["weight"]

    def test_one_way_alone_may_be_slow(self) -> None:
        found = explain("480", "476", *AC, "--also", "tcp-up=470:130")
        assert found["fits"]
        assert found["mechanisms"][0]["parameter"].endswith("up only")

    @pytest.mark.thorough
    def test_a_link_of_wi_fi_7_is_answered_too(self) -> None:
        words = ("--phy", "802.11be", "--width", "320", "--streams", "1", "--band", "6")
        assert first("1250", "1220", *words) == "octets"


WIRELESS = """
config wifi-device 'radio0'
	option band '2g'
	option htmode 'HT20'
config wifi-device 'radio1'
	option band '5g'
	option htmode 'VHT80'
config wifi-iface
	option device 'radio0'
	option mode 'ap'
	option ssid 'guests'
	option encryption 'none'
config wifi-iface
	option device 'radio1'
	option mode 'ap'
	option ssid 'home'
	option encryption 'psk2'
	option key 'not a secret'
	option ieee80211w '{pmf}'
"""


class TestStated:
    """Networks by policy or by the file that one has, and the devices of the link."""

    NUMBERS = ("explain", "310", "45", "--profile", "mt7621")
    ADDED = "802.11w was added, which protects the frames that set up aggregation"

    @staticmethod
    def wireless(tmp_path: Path, pmf: int = 0) -> str:
        path = tmp_path / "wireless"
        path.write_text(WIRELESS.format(pmf=pmf))
        return str(path)

    @staticmethod
    def reason(found: dict[str, Any], name: str) -> Any:
        return next(one for one in found["mechanisms"] if one["name"] == name)["reason"]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ((), "say --from and --to, the policies before and after"),
            (("--from", "wpa2"), "say --to, the policy of the second measurement"),
            (("--to", "open"), "say --from, the policy of the first measurement"),
            (("--from", "wireless.old"), "--from wireless.old: no such file; copy it from"),
            (("--from", "wpa2", "--to", "wpa3", "--ssid", "home"), "--ssid"),
        ],
    )
    def test_policies_that_nothing_tells_are_asked_for(
        self, words: tuple[str, ...], told: str
    ) -> None:
        done = RUNNER.invoke(app, [*self.NUMBERS, "--phy", "802.11ac", "--width", "80", *words])
        assert isinstance(done.exception, AirtollError)
        assert told in str(done.exception)

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--to", "wpa3"), "Assumed: open before, without security; say --from"),
            (("--from", "open"), "Assumed: wpa2-psk-ccmp after (WPA2-Personal); say --to"),
        ],
    )
    def test_one_policy_that_is_assumed_is_the_first_line(
        self, words: tuple[str, ...], told: str
    ) -> None:
        assert shown("480", "476", *AC, *words).startswith(told)
        assert explain("480", "476", *AC, *words)["remarks"][0] == told

    def test_a_file_states_policy_and_link_and_is_told(self, tmp_path: Path) -> None:
        wireless = self.wireless(tmp_path)
        words = ("310", "45", "--from", wireless, "--to", "wpa3", "--profile", "mt7621")
        assert "several networks with different security; say" in refused(*words)
        text = shown(*words, "--ssid", "home")
        assert "wpa2-psk-ccmp, then wpa3-sae-ccmp; 802.11ac, 80 MHz, MCS 9" in text
        assert "home (5 GHz, wpa2-psk-ccmp), 802.11ac, 80 MHz" in text
        assert "2 streams, guard" in text
        assert shown(*words, "--band", "5") == text

    def test_options_win_over_a_file(self, tmp_path: Path) -> None:
        words = ("90", "45", "--from", self.wireless(tmp_path), "--to", "wpa3", "--band", "5")
        assert "802.11n, 40 MHz, MCS 7 (highest), 1 stream (assumed)" in shown(
            *words, "--phy", "802.11n", "--width", "40"
        )

    @pytest.mark.parametrize("pmf", [0, 1, 2])
    def test_802_11w_is_evidence_where_a_file_did_not_have_it(
        self, tmp_path: Path, pmf: int
    ) -> None:
        words = ("310", "45", "--from", self.wireless(tmp_path, pmf), "--to", "wpa3")
        found = explain(*words, "--ssid", "home", "--streams", "2")
        reason = self.reason(found, "no aggregation")
        assert (reason == self.ADDED) == (pmf == 0)
        # Optional: whether the station had it, the file does not tell.
        assert ("802.11w was optional" in (reason or "")) == (pmf == 1)
        named = [one["name"] for one in found["mechanisms"]]
        assert ("implementation fault" in named) == (pmf > 0)
        if pmf:
            same = self.reason(found, "implementation fault")
            assert ("802.11w, too, if the station had it" in same) == (pmf == 1)
            assert ("software cipher" in named) == (pmf == 1)

    def test_a_fault_of_802_11w_is_rarer_than_the_surroundings(self) -> None:
        """WPA3 with CCMP changes no data frame: one reading near single frames is no proof."""
        words = ("110", "25", "--from", "wpa2", "--to", "wpa3", "--phy", "802.11ac", "--width",
                 "20", "--streams", "2", "--mcs", "8", "--guard-interval", "400")  # fmt: skip
        found = explain(*words)
        weights = {one["name"]: one["weight"] for one in found["mechanisms"]}
        assert weights["no aggregation"] < 0.5
        assert weights["no aggregation"] < 1 - weights["no aggregation"] - weights["octets"]
        (first, *_) = found["mechanisms"]
        assert first["against"] == "most drivers set it up under 802.11w, too"
        # With the rate of the link it is the likeliest by far.
        rated = {
            o["name"]: o["weight"] for o in explain(*words, "--also", "rate=?:173")["mechanisms"]
        }
        assert rated["no aggregation"] > 4 * max(
            w for n, w in rated.items() if n != "no aggregation"
        )

    def test_neighbours_bound_what_another_network_takes(self) -> None:
        """A near network takes its turns in the air; a far one is not heard, and takes nothing."""
        words = ("300", "60", "--from", "wpa2", "--to", "wpa3", *AC)

        def other(*more: str) -> dict[str, Any]:
            found = explain(*words, *more)["mechanisms"]
            return next(one for one in found if one["name"] == "another network")

        anything, near, far, none = (
            other(*(("--neighbours", at) if at else ())) for at in ("", "1@-60", "2@-86", "0")
        )
        assert anything["readings"][0]["predicted"] == pytest.approx(60e6, rel=0.1)
        assert near["weight"] == pytest.approx(anything["weight"], rel=0.5)
        assert re.match(r"1 other network at -60 dBm takes [67]\d % at most", near["reason"])
        assert far["readings"][0]["predicted"] > 200e6
        assert far["weight"] < 0.01
        assert none["weight"] < 0.4 * anything["weight"]
        assert none["against"] == "no other network was heard on the channel"

    def test_neighbours_are_those_of_a_scan_on_the_same_channel(self, tmp_path: Path) -> None:
        scan = tmp_path / "scan.txt"
        rows = (("home", 5180, -48), ("cafe", 5180, -71), ("work", 5180, -67), ("far", 5220, -80))
        scan.write_text(
            "".join(
                f"BSS 02:00:00:00:0{at}:00(on wlan0){' -- associated' * (at == 0)}\n"
                f"\tfreq: {mhz}\n\tsignal: {dbm}.00 dBm\n\tSSID: {name}\n"
                for at, (name, mhz, dbm) in enumerate(rows)
            )
        )
        words = ("300", "60", "--from", "wpa2", "--to", "wpa3", *AC, "--neighbours", str(scan))
        text = " ".join(CliRunner().invoke(app, ["explain", *words]).stdout.split())
        assert "2 other networks at -69 dBm on channel 36 beside home" in text
        named = CliRunner().invoke(app, ["explain", *words, "--ssid", "far"]).stdout
        assert "no other network on channel 44 beside far" in " ".join(named.split())

    @pytest.mark.parametrize(
        ("value", "told"),
        [("21", "0 to 20 networks"), ("3@9", "-110 to 0 dBm"), ("nothing.txt", "write N, N@LEVEL")],
    )
    def test_neighbours_that_cannot_be_are_refused(self, value: str, told: str) -> None:
        words = ("300", "60", "--from", "wpa2", "--to", "wpa3", *AC, "--neighbours", value)
        made = CliRunner().invoke(app, ["explain", *words])
        assert told in str(made.exception)

    def test_802_11w_is_evidence_where_a_policy_did_not_have_it(self) -> None:
        for policy, added in (("wpa2", True), ("wpa2-psk-sha256-ccmp", False)):
            found = explain("310", "45", "--from", policy, "--to", "wpa3", *AC)
            assert (self.reason(found, "no aggregation") == self.ADDED) == added

    @pytest.mark.parametrize(
        ("down", "up", "way"),
        # Receivers that merge segments lose a tenth, others that answer every second one seven.
        [
            ("42", "250", "towards"),
            ("42", "82", "towards"),
            ("250", "41", "from"),
            ("42", "41", ""),
        ],
    )
    def test_aggregation_may_fail_in_one_direction(self, down: str, up: str, way: str) -> None:
        words = ("280", down, "--from", "wpa2", "--to", "wpa3", "--phy", "802.11ac")
        found = explain(*words, "--width", "80", "--also", f"tcp-up=270:{up}")
        best = found["mechanisms"][0]
        assert best["name"] == "no aggregation"
        assert best["parameter"] == (f"{way} the station alone" if way else None)
        assert best["weight"] > 0.5

    @pytest.mark.thorough
    def test_the_shares_of_one_way_are_those_of_the_guide(self, capsys: Any) -> None:
        root = Path(__file__).parents[2]
        runpy.run_path(str(root / "benchmarks" / "one_way_aggregation.py"), run_name="__main__")
        assert capsys.readouterr().out in (root / "docs" / "guides" / "explaining.md").read_text()

    @pytest.mark.thorough
    def test_no_remedy_leaves_out_what_the_policy_requires(self) -> None:
        def remedy(to: str) -> str:
            found = explain("310", "45", "--from", "wpa2", "--to", to, *AC)["mechanisms"]
            return str(next(o for o in found if o["name"] == "no aggregation")["remedy"])

        needs = remedy("wpa3")
        assert "wpa3-sae-ccmp cannot do without 802.11w: to test it, set" in needs
        assert "`option encryption 'sae-mixed'` on the access point" in needs
        assert "`key_mgmt=WPA-PSK` and `ieee80211w=0` on the station" in needs
        assert "`option encryption 'wpa2'`" in remedy("wpa3-eap-tls-ccmp")
        assert "open network beside it (owe-transition)" in remedy("owe-ccmp")
        assert "try the policy without 802.11w" in remedy("wpa2-wpa3-psk-transition")
        assert "802.11w" not in remedy("wpa2-psk-gcmp")
        assert remedy("wpa-psk-tkip") == "use AES (CCMP), not TKIP or WEP"

    def test_the_remedy_has_the_words_of_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "hostapd.conf"
        file.write_text(
            "interface=wlan0\nssid=x\nhw_mode=a\nchannel=36\nwpa=2\nwpa_key_mgmt=SAE\n"
            "rsn_pairwise=CCMP\nieee80211w=2\nsae_password=SECRET\n"
        )
        found = explain("310", "45", "--from", "wpa2", "--to", str(file), *AC)["mechanisms"]
        text = next(one["remedy"] for one in found if one["name"] == "no aggregation")
        assert "`wpa_key_mgmt=SAE WPA-PSK` and `ieee80211w=1` on the access point" in text

    def test_a_device_tells_its_streams_and_bounds_the_advice(self) -> None:
        words = ("310", "45", "--phy", "802.11ac", "--profile", "mt7621")
        line = refused(*words, "--width", "20")
        assert "20 MHz, MCS 8 (highest), 2 streams, guard" in line
        assert "--width 80 would carry it" in line
        assert "2 streams" in shown(*words, "--width", "80")
        assert "nothing that mt7621 has carries it" in refused("900", *words[1:])
        for option, most in (("--width", "160"), ("--streams", "3"), ("--phy", "802.11ax")):
            assert f"{option} {most}: mt7621 has" in refused(*words, option, most)

    def test_what_nothing_states_is_the_least_link_of_the_devices_that_carries_it(self) -> None:
        words = ("310", "45", "--to", "wpa2", "--profile", "mt7621")
        text = " ".join(shown(*words).split())
        assert (
            "802.11ac (assumed: the newest of mt7621), 80 MHz (assumed: the least that carries "
            "310 Mb/s), MCS 9 (highest), 2 streams, guard interval 800 ns (assumed)"
        ) in text
        known = explain(*words, "--phy", "802.11ac", "--width", "80", "--streams", "2")
        assert explain(*words) == known
        # No 802.11ac at 2.4 GHz, and a stated width stays.
        assert "802.11n (assumed" in shown("90", *words[1:], "--band", "2.4")
        assert "80 MHz" not in refused(*words, "--width", "40")
        assert "nothing that mt7621 has carries it" in refused("2000", *words[1:])
        assert "say --phy" in refused("310", "45", "--to", "wpa2", "--profile", "raspberry-pi-4")

    def test_the_shares_that_are_shown_are_the_whole(self) -> None:
        for after in ("45", "240"):
            text = " ".join(shown("310", after, "--to", "wpa2", "--profile", "mt7621").split())
            text = re.sub(r"Likeliest cause: .*? wpa2-psk-ccmp", "", text)
            shares = re.findall(r"\(([0-9.]+) %\)|list(?: together)?: ([0-9.]+) %", text)
            assert 97 <= sum(float(a or b) for a, b in shares) <= 102

    def test_a_cipher_in_hardware_speaks_against_the_cpu(self) -> None:
        def cpu(*words: str) -> dict[str, Any]:
            found = explain("310", "120", *AC, *words)["mechanisms"]
            return next(one for one in found if one["name"] == "software cipher")

        named, unnamed = cpu("--profile", "mt7621"), cpu()
        assert named["against"] == "mt7621 has ccmp-128 in hardware"
        assert unnamed["against"] is None
        assert named["weight"] < unnamed["weight"]

    def test_a_cpu_whose_aes_gives_the_measured_value_comes_first(self) -> None:
        """One thread of the MT7621 works out 1,090 cycles for an AES block, CCMP two of them for 16
        octets: 52 Mb/s at most, and single frames of this link do not reach 45 Mb/s.
        """
        words = ("310", "45", *AC, "--profile", "mt7621")
        found = {one["name"]: one for one in explain(*words)["mechanisms"]}
        cpu, single = found["software cipher"], found["no aggregation"]
        assert cpu["readings"][0]["predicted"] == pytest.approx(45e6, rel=0.05)
        assert single["readings"][0]["predicted"] < 40e6
        assert next(iter(found)) == "software cipher"
        assert cpu["weight"] > 1.5 * single["weight"]
        assert "airtoll doctor --radio" in cpu["remedy"]
        text = shown(*words)
        for name, one in list(found.items())[:6]:
            value = one["readings"][0]["predicted"] / 1e6
            assert re.search(rf"{name} \([0-9.]+ %\)(:.*?TCP down)? {value:.3g} Mb/s", text)
        assert "Or, in 1.5 min: airtoll doctor --radio --host root@ROUTER" in text

    @pytest.mark.parametrize(("engine", "share"), [("software", 0.8), ("hardware", 0.02)])
    def test_the_engine_of_the_cipher_decides(self, engine: str, share: float) -> None:
        words = ("310", "45", *AC, "--profile", "mt7621", "--also", f"cipher=?:{engine}")
        found = {one["name"]: one["weight"] for one in explain(*words)["mechanisms"]}
        weight = found["software cipher"]
        assert weight > share if engine == "software" else weight < share
        assert "cipher of the link: ? to in " + engine in shown(*words)
        assert "hardware or software" in refused("310", "45", *AC, "--also", "cipher=?:half")

    def test_predictions_within_the_measured_intervals_fit(self) -> None:
        words = (
            "310",
            "45",
            *AC,
            "--also",
            "tcp-up=280:50",
            "--also",
            "udp-down,octets=200=161:12",
        )
        found = explain(*words)
        best = found["mechanisms"][0]
        for one in best["readings"]:
            assert abs(one["predicted"] / one["measured"] - 1) < 0.1
        assert found["fits"]
        assert "Nothing in the list" not in shown(*words)

    def test_the_reason_of_no_fit_is_a_reading_outside_its_interval(self) -> None:
        # TCP as fast as over single frames, and UDP that needs aggregation.
        words = ("310", "45", *AC, "--also", "udp-down=350:200", "--also", "udp-up=350:20")
        found = re.search(
            r"of these readings. The first, .*? by ([0-9.]+) (%|times)", shown(*words)
        )
        assert found is not None
        assert found[2] == "times" or float(found[1]) > 14

    def test_a_load_is_taken_as_top_prints_it(self) -> None:
        words = ("310", "45", *AC, "--also")
        for load in ("cpu=?:98", "cpu=?:98%", "cpu=?:0.98"):
            (_, reading) = explain(*words, load)["readings"]
            assert reading["after"] == pytest.approx(0.98)
        assert "a share is 25% or 0.25" in refused(*words, "cpu=?:101")


class TestNamed:
    """Files that are named after policies, in the ways that people have them."""

    @pytest.fixture
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        for policy, values in {"open": (238, 241, 235), "wpa3": (200, 204, 198)}.items():
            for folder in ("", "mixed", f"{policy[0]}", f"nested/{policy}"):
                Path(folder).mkdir(parents=True, exist_ok=True)
                for trial, value in enumerate(values):
                    iperf3(Path(folder) / f"{policy}-{trial}.json", value)
        return tmp_path

    @pytest.mark.parametrize(
        "words",
        [
            ("o", "w"),
            thorough(("mixed",)),
            ("nested",),
            ("open-*.json", "wpa3-[0-2].json"),
            thorough(("*.json",)),
            thorough(("open-0.json,open-1.json,open-2.json", "wpa3-*.json")),
            tuple(f"{p}-{n}.json" for p in ("wpa3", "open") for n in range(3)),
            ("runs/mine",),
        ],
    )
    def test_names_give_the_sides_and_their_policies(
        self, here: Path, words: tuple[str, ...]
    ) -> None:
        if words == ("runs/mine",):
            imported = RUNNER.invoke(app, ["import", "mixed", "--out", "runs/mine"])
            assert imported.exit_code == 0, imported.output
        found = explain(*words, *AC)
        assert found["policies"] == ["open", "wpa3-sae-ccmp"]
        assert not any("assumed" in one for one in found["remarks"])
        (reading,) = found["readings"]
        assert reading["before"] == pytest.approx(238e6)
        assert reading["after"] == pytest.approx(200.667e6, rel=1e-4)

    def test_stated_policies_choose_and_order_the_sides(self, here: Path) -> None:
        iperf3(Path("mixed/wpa2-1.json"), 230)
        assert "say which two with --from and --to" in refused("mixed", *AC)
        found = explain("mixed", *AC, "--from", "wpa3", "--to", "wpa2")
        assert found["policies"] == ["wpa3-sae-ccmp", "wpa2-psk-ccmp"]
        assert "mixed has open" in refused("mixed", *AC, "--to", "owe")

    @pytest.mark.parametrize(
        "words", [("o",), ("open-0.json",), ("mixed", "o"), ("*-0.json", "wpa3-1.json")]
    )
    def test_files_of_one_policy_or_of_both_on_one_side_are_refused(
        self, here: Path, words: tuple[str, ...]
    ) -> None:
        assert "give a folder for each side" in refused(*words, *AC)

    def test_a_file_without_a_policy_in_its_name_is_named(self, here: Path) -> None:
        iperf3(Path("mixed/result.json"), 230)
        line = refused("mixed", *AC)
        assert "result.json is named after no policy" in line
        assert "give a folder for each side" in line

    def test_a_further_pair_of_another_policy_is_refused(self, here: Path) -> None:
        iperf3(Path("wpa2-1.json"), 230)
        line = refused("o", "w", *AC, "--also", "open-1.json:wpa2-1.json")
        assert "wpa2-1.json (wpa2-psk-ccmp)" in line

    def test_imported_tests_of_iperf3_keep_their_direction(self, here: Path) -> None:
        assert RUNNER.invoke(app, ["import", "mixed", "--out", "runs/mine"]).exit_code == 0
        assert "TCP down: 238 Mb/s to 201 Mb/s" in shown("runs/mine", *AC, "--flow", "tcp-up")
        other_end = shown("runs/mine", *AC, "--client", "wired")
        assert "TCP up: 238 Mb/s to 201 Mb/s" in other_end

    def test_a_test_in_reverse_keeps_its_direction_beside_other_tools(self, here: Path) -> None:
        Path("more.csv").write_text("policy,trial,metric,value,unit\nopen,1,delay_s,0.002,s\n")
        for words in (["mixed"], ["more.csv", "--format", "csv"]):
            done = RUNNER.invoke(app, ["import", *words, "--out", "runs/several"])
            assert done.exit_code == 0, done.output
        assert "TCP down: 238 Mb/s to 201 Mb/s" in shown("runs/several", *AC, "--flow", "tcp-up")

    def test_a_direction_that_an_import_does_not_name_is_said(self, here: Path) -> None:
        rows = [("open", 238e6), ("wpa2-psk-ccmp", 201e6)]
        lines = [f"{policy},tcp,{trial},throughput_bps,{value},bit/s"
                 for policy, value in rows for trial in (1, 2)]  # fmt: skip
        text = "\n".join(["policy,traffic,trial,metric,value,unit", *lines])
        Path("both.csv").write_text(text)
        words = ["import", "both.csv", "--format", "csv", "--out", "runs/table"]
        assert RUNNER.invoke(app, words).exit_code == 0
        text = shown("runs/table", *AC, "--flow", "tcp-up")
        assert "taken as tcp-up: --flow says another" in text
        assert "TCP up: 238 Mb/s to 201 Mb/s" in text


class TestFiles:
    def test_files_name_policies_directions_and_trials(self, tmp_path: Path) -> None:
        for policy, down, up in (("open", 400, 390), ("wpa2", 395, 386)):
            folder = tmp_path / policy
            folder.mkdir()
            for trial in range(3):
                iperf3(folder / f"down-{trial}.json", down + trial)
                iperf3(folder / f"up-{trial}.json", up + trial, reverse=0)
        found = explain(str(tmp_path / "open"), str(tmp_path / "wpa2"), *AC)
        assert found["policies"] == ["open", "wpa2-psk-ccmp"]
        assert [one["kind"] for one in found["readings"]] == ["TCP down", "TCP up"]
        assert found["readings"][0]["before"] == pytest.approx(401e6)
        assert found["readings"][0]["error"] < 0.02
        assert found["remarks"] == []

    def test_halves_of_one_series_do_not_differ_and_another_policy_does(
        self, tmp_path: Path
    ) -> None:
        values = (238, 241, 235, 239, 240, 236, 242, 238)
        sides = {"first": values[::2], "second": values[1::2], "wpa2": [0.93 * v for v in values]}
        for name, side in sides.items():
            (tmp_path / name).mkdir()
            for trial, value in enumerate(side):
                iperf3(tmp_path / name / f"{trial}.json", value)
        first, second, other = (str(tmp_path / name) for name in sides)
        policies = (*AC, "--from", "open", "--to", "wpa2")
        assert not explain(first, second, *policies)["differ"]
        assert explain(first, other, *policies)["differ"]
        assert "what security alone costs; both are far below" in shown(first, second, *policies)

    def test_a_wired_client_turns_the_directions(self, tmp_path: Path) -> None:
        pair = iperf3(tmp_path / "open.json", 400), iperf3(tmp_path / "wpa2.json", 380)
        assert explain(*pair, *AC)["readings"][0]["kind"] == "TCP down"
        assert explain(*pair, *AC, "--client", "wired")["readings"][0]["kind"] == "TCP up"

    def test_udp_at_its_target_counts_by_its_loss(self, tmp_path: Path) -> None:
        udp = {"protocol": "UDP", "blksize": 1472, "num_streams": 4, "target_bitrate": 25e6}
        before = iperf3(tmp_path / "open.json", 100, **udp)
        after = iperf3(tmp_path / "wpa2.json", 75, lost=0.25, **udp)
        found = explain(before, after, *AC)
        (reading,) = found["readings"]
        assert (reading["quantity"], reading["offered_bps"]) == ("loss_ratio", 100e6)
        slow_sender = iperf3(tmp_path / "open.json", 96, **udp)
        (same,) = explain(slow_sender, after, *AC)["readings"]
        assert (same["quantity"], same["before"]) == ("loss_ratio", 0.0)
        assert found["mechanisms"][0]["name"] == "packet numbers reordered"

    def test_a_table_gives_kinds_by_its_traffics(self, tmp_path: Path) -> None:
        for policy, down, loss in (("open", 400, 0.0), ("wpa3-sae-ccmp", 30, 0.4)):
            (tmp_path / f"{policy}.csv").write_text(
                "metric,value,unit,policy,traffic\n"
                f"throughput,{down},Mb/s,{policy},tcp-down\n"
                f"loss,{loss},1,{policy},udp-up octets=1472 at=60\n"
            )
        found = explain(str(tmp_path / "open.csv"), str(tmp_path / "wpa3-sae-ccmp.csv"), *AC)
        assert found["policies"] == ["open", "wpa3-sae-ccmp"]
        assert [one["kind"] for one in found["readings"]] == ["TCP down", "loss, UDP up"]
        assert found["readings"][1]["offered_bps"] == 60e6

    def test_captures_of_joins_count_the_rates_of_data_frames_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for policy in ("open", "wpa3-sae-ccmp"):
            made = RUNNER.invoke(app, ["capture", "example", policy, "--out", policy])
            assert made.exit_code == 0, made.output
            Path(policy, "wire.pcapng").unlink(missing_ok=True)
        found = explain("open", "wpa3-sae-ccmp", "--phy", "802.11g")
        assert [one["quantity"] for one in found["readings"]] == ["rate_bps"]
        assert not found["differ"]
        (reading,) = found["readings"]
        assert reading["before"] == reading["after"] == 54e6
        text = shown("open", "wpa3-sae-ccmp", "--phy", "802.11g")
        assert text.startswith("No throughput has a value on both sides")
        assert "only the rate of its data frames counts" in text
        assert "rate control" not in text
        # The first frames: the join, and no data.
        octets = Path("wpa3-sae-ccmp", "air.pcapng").read_bytes()
        at, blocks = 0, 0
        while blocks < 22:
            at += int.from_bytes(octets[at + 4 : at + 8], "little")
            blocks += 1
        Path("join.pcapng").write_bytes(octets[:at])
        done = RUNNER.invoke(app, ["explain", "join.pcapng", "54", "--phy", "802.11g"])
        assert "do not show how fast a link is" in str(done.exception)

    def test_captures_give_retries_rate_and_throughput(self, tmp_path: Path) -> None:
        scenario = {"phy": "802.11n", "mcs": 7, "topology": "uplink", "security_gates": "ignore"}
        traffic = {"transport": "udp", "duration_s": 2.2, "offered_mbps": 100.0}
        for name, policy, further in (
            ("before", "wpa2-psk-ccmp", {}),
            ("after", "wpa3-sae-ccmp", {"ampdu_max_octets": 0}),
        ):
            own = {**scenario, **further}
            cell = cell_of(own, traffic, policy)
            trial = make_plan(study_of(own, traffic, policy)).trial(cell, 1, 1)
            Simulator().measure(trial, tmp_path / name)
            (air,) = (tmp_path / name).rglob("air.pcapng")
            air.rename(tmp_path / f"{name}.pcapng")
        found = explain(
            *(str(tmp_path / f"{name}.pcapng") for name in ("before", "after")),
            *("--phy", "802.11n", "--mcs", "7", "--flow", "udp-up"),
            *("--from", "wpa2", "--to", "wpa3-sae-ccmp"),
        )
        readings = {one["quantity"]: one for one in found["readings"]}
        assert readings["rate_bps"]["before"] == pytest.approx(65e6)
        assert readings["throughput_bps"]["before"] == pytest.approx(59e6, rel=0.03)
        assert readings["throughput_bps"]["after"] == pytest.approx(31e6, rel=0.05)
        assert readings["mpdus_per_frame"]["before"] > 20
        assert readings["mpdus_per_frame"]["after"] == 1
        assert readings["busy_share"]["before"] > 0.9 > readings["busy_share"]["after"] + 0.1
        assert readings["others_share"]["after"] == pytest.approx(0, abs=0.005)
        assert readings["group_share"]["after"] == pytest.approx(0, abs=0.02)
        assert found["mechanisms"][0]["name"] == "no aggregation"

    def test_captures_tell_the_level_and_the_form_of_the_link(self, tmp_path: Path) -> None:
        scenario = {"phy": "802.11n", "mcs": 4, "topology": "downlink"}
        traffic = {"transport": "udp", "duration_s": 2.2, "offered_mbps": 30.0}
        for name, further in (
            ("before", {"rssi_dbm": -50.0, "width_mhz": 40, "guard_interval_ns": 400}),
            ("after", {"rssi_dbm": -58.0, "width_mhz": 20, "guard_interval_ns": 800}),
        ):
            own = {**scenario, **further}
            trial = make_plan(study_of(own, traffic, "wpa2-psk-ccmp")).trial(
                cell_of(own, traffic, "wpa2-psk-ccmp"), 1, 1
            )
            Simulator().measure(trial, tmp_path / name)
            (air,) = (tmp_path / name).rglob("air.pcapng")
            air.rename(tmp_path / f"{name}.pcapng")
        found = explain(
            *(str(tmp_path / f"{name}.pcapng") for name in ("before", "after")),
            *("--phy", "802.11n", "--mcs", "4", "--width", "40", "--guard-interval", "400"),
            *("--flow", "udp-down", "--from", "wpa2", "--to", "wpa2"),
        )
        told = {one["quantity"]: (one["before"], one["after"]) for one in found["readings"]}
        assert told["signal_dbm"] == (-50, -58)
        assert told["width_mhz"] == (40, 20)
        assert told["streams"] == (1, 1)
        assert told["guard_ns"] == (400, 800)

    def test_the_same_policy_twice_is_named_by_the_time_of_the_measurement(self) -> None:
        done = RUNNER.invoke(app, ["explain", "400", "150", *AC, "--from", "wpa2", "--to", "wpa2"])
        text = " ".join(done.output.split())
        assert "wpa2-psk-ccmp both times, so that security changed nothing" in text
        assert "measure it as the second time" in text

    def test_airtime_tells_broadcasts_from_another_station_and_from_a_cpu(self) -> None:
        words = ("400", "280", *AC, "--also", "tcp-up=380:266")
        captured = ("--also", "busy=90%:88%")
        group = explain(*words, *captured, "--also", "others=1%:1%", "--also", "group=1%:30%")
        assert group["mechanisms"][0]["name"] == "group traffic"
        other = explain(*words, *captured, "--also", "others=1%:30%", "--also", "group=1%:1%")
        assert other["mechanisms"][0]["name"] == "another network"

    def test_a_mechanism_that_one_reading_contradicts_does_not_fit(self) -> None:
        words = ("400", "280", *AC, "--also", "tcp-up=380:266", "--also", "rate=780:780")
        calm = ("--also", "busy=90%:89%", "--also", "others=1%:1%", "--also", "group=1%:1%")
        found = explain(*words, *calm, "--also", "retries=5%:5%", "--also", "udp-down=500:495")
        assert not found["fits"]


class TestErrors:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("open.json", "25", *AC), "open.json: no such file"),
            (("400", "25", "--phy", "802.11zz"), "--phy 802.11zz: one of"),
            (("400", "25"), "say --phy"),
            (("tripathi2008", "single", *AC), "tripathi2008 is a data set"),
            (("tripathi2008", "triple"), "no scenario 'triple'"),
            (("400", "fast", *AC), "fast: no such file"),
            (("0", "0", *AC), "the first measurement is 0"),
            (("400", "0", *AC), "the second measurement is 0: nothing arrived. Look first at"),
            (("400", "0", *AC, "--also", "tcp-up=300:0"), "nothing arrived"),
            (("400", *AC), "400: the second measurement is missing: airtoll explain 400 AFTER"),
            (("400", "?", *AC), "no reading of the second measurement"),
            (("400", "25", "--phy", "802.11g", "--mcs", "7"), "--mcs 7: 802.11g has none"),
            (("400", "25", *AC, "--rate", "54"), "--rate 54: 802.11ac has an MCS"),
            (("400", "25", *AC, "--flow", "sctp"), "'sctp' is no kind of reading"),
            (("400", "25", *AC, "--also", "tcp-up=25"), "write KIND=BEFORE:AFTER"),
            (("400", "25", *AC, "--also", "retries=5:30"), "a share is 25% or 0.25"),
            (("400", "25", *AC, "--profile", "no-device"), "--profile no-device"),
            (("400", "25", *AC, "--profile", "wire=mt7621"), "ap or station"),
            (("400", "25", *AC, "--client", "both"), "--client both"),
            (("400", "25", *AC, "--to", "wpa9"), "wpa9"),
            (("400", "25", "--phy", "802.11ac", "--mcs", "42"), "mcs"),
        ],
    )
    def test_one_line_names_the_value(self, words: tuple[str, ...], told: str) -> None:
        assert told in refused(*words)

    def test_both_directions_at_once_are_refused(self) -> None:
        both = "tests/testbeds/linux/recorded/iperf3-3.12-tcp-both.json"
        path = Path(__file__).parents[2] / both
        assert "one direction at a time" in refused(str(path), str(path), *AC)

    def test_json_of_another_tool_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "other.json").write_text('{"a": 1}')
        assert "none of iperf3" in refused(str(tmp_path / "other.json"), "25", *AC)
