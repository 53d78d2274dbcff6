"""Output of the real tools, and the values read from it."""

from __future__ import annotations

import json
import statistics
import struct
from pathlib import Path

import pytest
from attrs import evolve

from airtoll.policies import Cipher, resolve
from airtoll.testbeds.linux import conditions
from airtoll.testbeds.linux.daemons import hostapd, strongswan, wireguard, wpa_supplicant
from airtoll.testbeds.linux.hosts import crypto, environment, radios, tcpdump
from airtoll.testbeds.linux.job import Flow, Job, Outcome, Value
from airtoll.testbeds.linux.traffic import iperf3, irtt

RECORDED = Path(__file__).parent / "recorded"


def text(name: str) -> str:
    return (RECORDED / name).read_text()


def values(name: str) -> dict[tuple[str, str | None], float]:
    report = iperf3.parse(text(name), "here")
    found = iperf3.values(report, "A", "A")
    return {(v.metric, v.flow): v.value for v in found}


def test_iperf3_tcp() -> None:
    found = values("iperf3-3.12-tcp.json")
    report = json.loads(text("iperf3-3.12-tcp.json"))
    received = report["end"]["sum_received"]
    expected = received["bytes"] * 8 / received["seconds"]
    assert found["throughput_bps", "A"] == pytest.approx(expected, rel=1e-3)
    assert found["tcp_retransmissions", "A"] == report["end"]["sum_sent"]["retransmits"]


def test_iperf3_udp_counts_what_arrived() -> None:
    found = values("iperf3-3.12-udp.json")
    report = json.loads(text("iperf3-3.12-udp.json"))
    received = report["end"]["sum_received"]
    arrived = received["packets"] - received["lost_packets"]
    assert found["packets_received", "A"] == arrived
    assert found["throughput_bps", "A"] == pytest.approx(arrived * 8000 / received["seconds"])
    assert found["packets_sent", "A"] - arrived == found["packets_lost", "A"]
    assert 0 <= found["loss_ratio", "A"] <= 1
    assert found["jitter_s", "A"] == received["jitter_ms"] / 1000


def test_iperf3_jitter_is_the_mean_of_the_receivers_seconds() -> None:
    report = json.loads(text("iperf3-3.12-udp.json"))
    second = {"seconds": 1.0, "packets": 50, "omitted": False}
    rows = [second | {"jitter_ms": 9.0, "omitted": True}]
    rows += [second | {"jitter_ms": ms} for ms in (1.0, 4.0)]
    rows.append(second | {"jitter_ms": 0.0, "packets": 0})
    report["server_output_json"] = {"intervals": [{"sum": row} for row in rows]}
    found = {v.metric: v.value for v in iperf3.values(report, "A", "A")}
    assert found["jitter_s"] == pytest.approx(2.5e-3)
    server = report | report["server_output_json"]
    found = {v.metric: v.value for v in iperf3.server_values(server, "A", "A")}
    assert found["jitter_s"] == pytest.approx(2.5e-3)


def test_iperf3_loss_behind_the_last_datagram_counts() -> None:
    report = json.loads(text("iperf3-3.12-udp.json"))
    report["end"]["sum_received"] |= {"packets": 900, "lost_packets": 40}
    report["end"]["sum_sent"]["packets"] = 1000
    found = {v.metric: v.value for v in iperf3.values(report, "A", "A")}
    assert found["packets_lost"] == 140
    assert found["loss_ratio"] == pytest.approx(0.14)


def test_iperf3_downwards_and_both_ways() -> None:
    assert values("iperf3-3.12-udp-down.json")["throughput_bps", "A"] > 1e6
    both = values("iperf3-3.12-tcp-both.json")
    assert both["throughput_bps", "A:up"] != both["throughput_bps", "A:down"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            '{"start": {}, "error": "unable to connect to server: Connection refused"}',
            "A: iperf3: unable to connect to server: Connection refused",
        ),
        ("", "A: iperf3 ended without a report"),
        ('{"start": {', "A: iperf3 ended without a report"),
        ('{"start": {}, "end": {}}', "A: iperf3 ended without a report"),
    ],
)
def test_iperf3_says_why_not(output: str, message: str) -> None:
    with pytest.raises(iperf3.TrafficError) as caught:
        iperf3.parse(output, "A")
    assert str(caught.value) == message


def test_datagrams_that_wait_at_the_end_are_not_lost() -> None:
    report = json.loads(text("iperf3-3.12-udp-down.json"))
    end, offered = report["end"], report["start"]["target_bitrate"]
    end["sum_received"] |= {"packets": 900, "lost_packets": 30}
    end["sum_sent"]["packets"] = 1000

    def lost(share: float) -> tuple[float, float]:
        end["sum_sent"]["bits_per_second"] = share * offered
        found = {v.metric: v.value for v in iperf3.values(report, "A", "A")}
        return found["packets_sent"], found["packets_lost"]

    # The socket held the sender back, so the last hundred are in its queue.
    assert lost(0.5) == (900, 30)
    assert lost(1.0) == (1000, 130)


def test_iperf3_arguments_follow_the_flow() -> None:
    udp = Flow(transport="udp", offered_bps=140e6, ip="ipv6", direction="down", duration_s=60)
    assert iperf3.arguments(udp, "fd77::1", 5201) == [
        *("iperf3", "-c", "fd77::1", "-p", "5201", "-J", "-R"),
        *("-u", "-b", "140000000", "-l", "1452", "-t", "60"),
    ]
    tcp = Flow(congestion_control="newreno", window_octets=65536, warm_up_s=2, duration_s=12)
    assert iperf3.arguments(tcp, "10.0.0.1", 5201)[6:] == [
        *("-w", "65536", "-C", "reno", "-t", "10", "-O", "2")
    ]
    # The receiver of a flow upwards asks for it, and has its seconds itself.
    up = Flow(transport="udp", offered_bps=5e6, duration_s=3, series=True)
    asked = iperf3.arguments(up, "10.0.0.11", 5201, "10.0.0.1", at_receiver=True)
    assert asked[6:] == [
        *("-B", "10.0.0.1", "-R"),
        *("-u", "-b", "5000000", "-l", "1472", "-t", "3"),
    ]
    assert iperf3.ends_at_receiver(up)
    assert not iperf3.ends_at_receiver(Flow(transfer_octets=1000))
    assert not iperf3.ends_at_receiver(Flow(direction="both"))
    beyond = iperf3.unpaced(up, 1e6)
    asked = iperf3.arguments(beyond, "10.0.0.11", 5201, at_receiver=True)
    assert "0/1" in asked
    assert "-i" not in asked  # its seconds are wanted
    asked = iperf3.arguments(evolve(beyond, series=False), "10.0.0.11", 5201, at_receiver=True)
    assert asked[asked.index("-i") + 1] == "0"
    assert iperf3.unpaced(up, 1e6) == Flow(transport="udp", duration_s=3, series=True)
    assert iperf3.unpaced(up, 54e6) == up
    down = evolve(up, direction="down")
    assert iperf3.unpaced(down, 1e6) == down  # its sender does not wait for the air
    assert iperf3.paced(down, (1e6, 1e9)) == down
    for direction in ("down", "both"):
        saturated = Flow(transport="udp", direction=direction)
        assert iperf3.paced(saturated, (54e6, 100e6)).offered_bps == 54e6
        assert iperf3.paced(evolve(saturated, transport="tcp"), (1e6,)).offered_bps is None
    assert iperf3.paced(Flow(transport="udp"), (1e6,)).offered_bps is None
    # A saturated flow is 0 in iperf3, whose own default for UDP is 1 Mbit/s.
    saturated = iperf3.arguments(Flow(transport="udp"), "10.0.0.1", 5201)
    assert saturated[saturated.index("-b") + 1] == "0"


def test_the_first_second_behind_a_warm_up_has_the_time_of_its_counts() -> None:
    # As iperf3 3.12 writes them where the warm-up ends at the instant of a second's end.
    rows = [
        {"start": 0, "end": 1.000036, "seconds": 1.000036, "bytes": 715312, "omitted": True},
        {"start": 1.000017, "end": 1.000006, "seconds": 2.000023, "bytes": 710968},
        {"start": 1.000006, "end": 2.000006, "seconds": 1, "bytes": 712416},
        {"start": 2.000006, "end": 2.5, "seconds": 0.499994, "bytes": 1},
    ]
    for row in rows:
        row["bits_per_second"] = 8 * row["bytes"] / row["seconds"]
    report = {
        "start": {"test_start": {"reverse": 1}},
        "intervals": [{"sum": row} for row in rows],
    }
    found = iperf3.series(report, "A", "A")
    assert [(v.second, round(v.value)) for v in found] == [(0, 5687710), (1, 5699328)]


def test_irtt() -> None:
    report = json.loads(text("irtt-0.9.0.json"))
    found = {v.metric: v.value for v in irtt.values(report, "A", one_clock=True)}
    delays = [trip["delay"]["send"] / 1e9 for trip in report["round_trips"]]
    assert found["delay_s"] == pytest.approx(statistics.fmean(delays))
    # By nearest rank, as the simulator's.
    assert found["delay_p50_s"] == pytest.approx(statistics.median_low(delays))
    assert max(delays) >= found["delay_p99_s"] >= found["delay_p95_s"] >= found["delay_p50_s"]
    assert found["response_time_s"] > found["delay_s"]
    # Two clocks know of no one-way delay.
    trips = irtt.values(report, "A", one_clock=False)
    assert [v.metric for v in trips] == ["response_time_s"] + [
        f"response_p{percent}_s" for percent in (50, 95, 99)
    ]
    responses, one_way = irtt.distributions(report, "A", one_clock=True)
    assert responses.metric == "response_time_s"
    assert [time_ns / 1e9 for time_ns in one_way.nanoseconds] == delays
    for trip in report["round_trips"]:
        trip["lost"] = "true"
    assert irtt.values(report, "A", one_clock=True) == []
    assert irtt.distributions(report, "A", one_clock=True) == []


def test_radios() -> None:
    found = {radio.interface: radio for radio in radios.parse_devices(text("iw-5.19-dev.txt"))}
    assert found["wlan2"] == radios.Radio("phy2", "wlan2", "02:00:00:00:02:00")
    assert len(found) == 4


def test_ciphers_of_a_driver() -> None:
    printed = "\t\t* WEP40 (00-0f-ac:1)\n\t\t* CCMP-128 (00-0f-ac:4)\n\t\t* CMAC (00-0f-ac:6)\n"
    assert radios.parse_ciphers(printed) == {Cipher.WEP_40, Cipher.CCMP_128}


def test_station_and_access_point_agree_with_the_policy() -> None:
    status = hostapd.parse_pairs(text("wpa_supplicant-2.10-status-psk.txt"))
    assert wpa_supplicant.differences(resolve("wpa2-psk-ccmp"), status) == []
    wrong = wpa_supplicant.differences(resolve("wpa2-psk-gcmp-256"), status)
    assert wrong == [
        "pairwise_cipher is CCMP, not GCMP-256",
        "group_cipher is CCMP, not GCMP-256",
    ]
    assert "pmf is missing, not 2" in wpa_supplicant.differences(resolve("wpa3-sae-ccmp"), status)
    status = hostapd.parse_pairs(text("wpa_supplicant-2.10-status-ft-eap-tls.txt"))
    assert wpa_supplicant.differences(resolve("wpa2-ft-eap-tls-ccmp"), status) == []
    assert wpa_supplicant.differences(resolve("wpa2-eap-peap-ccmp"), status) == [
        "key_mgmt is FT-EAP, not WPA2/IEEE 802.1X/EAP",
        "selectedMethod is 13 (EAP-TLS), not 25 (EAP-PEAP)",
    ]
    seen = hostapd.parse_pairs(text("hostapd-2.10-sta.txt"))
    assert seen["AKMSuiteSelector"] == "00-0f-ac-2"
    assert "[AUTHORIZED]" in seen["flags"]


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("hostapd v2.10\nUser space daemon", (2, 10)),
        ("hostapd v2.11-devel-hostap_2_11", (2, 11)),
        ("v2.9", (2, 9)),
    ],
)
def test_versions(printed: str, version: tuple[int, int]) -> None:
    assert hostapd.parse_version(printed) == version


def test_versions_of_tools() -> None:
    assert environment.first_version("iperf 3.12 (cJSON 1.7.15)\n") == "3.12"
    assert environment.first_version("radiusd: FreeRADIUS Version 3.2.1, for host") == "3.2.1"
    assert environment.first_version("nothing") is None


def test_security_associations() -> None:
    keys = strongswan.parse_keys(text("iproute2-6.1.0-xfrm-state.txt"))
    assert [key["source"] for key in keys] == ["10.77.0.11", "10.77.0.1"]
    for key in keys:
        assert key["enc"] == "cbc(des3_ede)"
        assert len(bytes.fromhex(key["enc-key"][2:])) == 24
        assert len(bytes.fromhex(key["auth-key"][2:])) == 16
        assert key["spi"].startswith("0x")


def test_the_tunnel_that_came_about_is_compared_with_the_policy() -> None:
    sa = strongswan.parse_sa(text("swanctl-5.9.8-list-sas-raw.txt"))
    assert sa["encr-alg"] == "AES_GCM_16"
    assert sa["mode"] == "TUNNEL"
    assert strongswan.differences(resolve("ipsec-aes-gcm").tunnels[0], sa) == []
    wrong = strongswan.differences(resolve("ipsec-3des-sha1").tunnels[0], sa)
    assert wrong == [
        "version is 2, not 1",
        "encr-alg is AES_GCM_16, not 3DES_CBC",
        "integ-alg is missing, not HMAC_SHA1_96",
    ]
    assert strongswan.differences(resolve("ipsec-aes-gcm").tunnels[0], {}) != []


def test_octets_of_security_associations() -> None:
    # `ip -s xfrm state` of iproute2 6.1, shortened.
    state = (
        "src {} dst {}\n\tproto esp spi 0x1(1) reqid 1(0x00000001) mode tunnel\n"
        "\tlifetime config:\n\t  limit: soft (INF)(bytes), hard (INF)(bytes)\n"
        "\t  limit: soft (INF)(packets), hard (INF)(packets)\n"
        "\tlifetime current:\n\t  {}(bytes), 3(packets)\n"
        "\t  add 2026-11-23 20:00:00 use 2026-11-23 20:00:01\n"
    )
    ends = ("10.77.0.11", "10.77.0.1")
    told = state.format(*ends, 300) + state.format(*ends[::-1], 12)
    told += state.format("10.77.0.12", "10.77.0.1", 5000)
    assert strongswan.parse_octets(told, set(ends)) == 312
    assert strongswan.parse_octets("", set(ends)) == 0
    assert wireguard.transfers("key=\t180\t92\nother=\t0\t0\n") == {"key=": 272, "other=": 0}


def test_handshakes_of_wireguard() -> None:
    assert wireguard.handshakes("key=\t1795300298\nother=\t0\n") == {
        "key=": 1795300298,
        "other=": 0,
    }


def test_cpu_time() -> None:
    before = conditions.parse_sample(text("proc-stat-uptime-6.1.txt"))
    assert before.ticks["softirq"] == 641
    after = conditions.Sample(
        {**before.ticks, "system": before.ticks["system"] + 150}, before.uptime_s + 2
    )
    usage = conditions.usage(before, after)
    assert usage["system"] == pytest.approx(0.75)
    assert usage["busy"] == pytest.approx(0.75)


def test_a_moved_signal_is_said() -> None:
    before = {"A": {"RSSI": "-50"}, "B": {"RSSI": "-50"}, "C": {}}
    after = {"A": {"RSSI": "-54"}, "B": {"RSSI": "-53"}, "C": {}}
    assert conditions.moved(before, after) == ["A: the signal moved by -4 dB during the trial"]


def test_survey_ranks_the_quiet_channel_first() -> None:
    printed = """Survey data from wlan0
\tfrequency:\t\t\t2412 MHz [in use]
\tnoise:\t\t\t\t-92 dBm
\tchannel active time:\t\t1000 ms
\tchannel busy time:\t\t420 ms
Survey data from wlan0
\tfrequency:\t\t\t2437 MHz
\tchannel active time:\t\t50 ms
\tchannel busy time:\t\t5 ms
Survey data from wlan0
\tfrequency:\t\t\t2462 MHz
"""
    rows = conditions.parse_survey(printed)
    assert [row["frequency_mhz"] for row in rows] == [2437, 2412, 2462]
    assert rows[1]["noise_dbm"] == -92
    assert rows[1]["busy_share"] == pytest.approx(0.42)
    assert rows[1]["in_use"]


def test_software_encryption_is_said() -> None:
    held = crypto.parse_keys(
        "00-0f-ac:4 0x9 wlan0 02:00:00:00:01:00\n00-0f-ac:9 0x8 wlan0 \n00-0f-ac:6 0x0 wlan0 \n\n"
    )
    assert [key.in_hardware for key in held] == [True, False, False]
    assert [key.algorithm for key in held] == ["CCMP-128", "GCMP-256", "00-0f-ac:6"]
    assert crypto.engine("A", held) == (
        "A: GCMP-256 runs on the CPU, not in the radio (software encryption)"
    )
    assert crypto.engine("A", held[:1]) == "A: CCMP-128 runs in the radio (hardware encryption)"
    # The group key of protected management frames carries no data.
    assert crypto.engine("A", held[2:]) is None
    quiet, busy = {"softirq": 0.1}, {"softirq": 0.6}
    assert crypto.risen("wpa3-sae-ccmp", quiet, quiet) is None
    assert crypto.risen("wpa3-sae-ccmp", quiet, busy) is not None


def test_jobs_and_outcomes_survive_the_journey() -> None:
    job = Job("n", "open", ("A", "B"), flow=Flow(stations=("A",), duration_s=3))
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    assert Job.from_json(json.loads(json.dumps(Job("n", "open", flow=None).to_json()))).flow is None
    outcome = Outcome((Value("delay_s", 1.5, "s", station="A"),), caveats=("x",), files=("a",))
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_the_script_for_make_installs_what_the_testbed_needs() -> None:
    script = (Path(__file__).parents[3] / "tools" / "system-packages.sh").read_text()
    for package in environment.APT_PACKAGES:
        assert package in script


def test_a_capture_is_whole_when_all_that_was_taken_is_in_it() -> None:
    said = "listening on any\n2 packets captured\n3 packets received by filter\n"
    assert tcpdump.taken(said) == 2
    assert tcpdump.taken("listening on any\n") is None
    assert tcpdump.taken("1 packet captured\n") == 1
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127)
    packet = struct.pack("<IIII", 1, 2, 3, 3) + b"abc"
    assert tcpdump.lacking(head + 2 * packet, 2) is None
    assert tcpdump.lacking(head, 0) is None
    assert tcpdump.lacking(head + packet + packet[:-1], 2) == "1 packets in the file, 2 captured"
    assert "an unknown number" in (tcpdump.lacking(head + packet, None) or "")
