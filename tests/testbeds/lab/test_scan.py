"""Networks in the text of iw, and states of hosts and channels."""

from __future__ import annotations

from airtoll.testbeds.lab import scan
from airtoll.testbeds.lab.bench import parse_state
from airtoll.testbeds.linux.conditions import ChannelTimes, busy_share, parse_survey

#: Two networks in the format of iw 5.19 (scan.c) with -u; addresses are those of documentation.
TEXT = """BSS 00:00:5e:00:53:01(on wlan0)
\tlast seen: 12.345s [boottime]
\tTSF: 1234567890 usec (0d, 00:20:34)
\tfreq: 2437
\tbeacon interval: 100 TUs
\tcapability: ESS Privacy ShortPreamble ShortSlotTime (0x0431)
\tsignal: -41.00 dBm
\tlast seen: 20 ms ago
\tInformation elements from Probe Response frame:
\tSSID: bench
\tSupported rates: 1.0* 2.0* 5.5* 11.0* 6.0 9.0 12.0 18.0
\tDS Parameter set: channel 6
\tTIM: DTIM Count 0 DTIM Period 3 Bitmap Control 0x0 Bitmap[0] 0x0
\tCountry: DE\tEnvironment: Indoor/Outdoor
\t\tChannels [1 - 13] @ 20 dBm
\tExtended supported rates: 24.0 36.0 48.0 54.0
\tRSN:\t * Version: 1
\t\t * Group cipher: TKIP
\t\t * Pairwise ciphers: CCMP TKIP
\t\t * Authentication suites: PSK IEEE 802.1X/SHA-256 SAE
\t\t * Capabilities: 1-PTKSA-RC 1-GTKSA-RC MFP-capable (0x0080)
\tWPA:\t * Version: 1
\t\t * Group cipher: TKIP
\t\t * Pairwise ciphers: TKIP
\t\t * Authentication suites: PSK
\tHT capabilities:
\t\tCapabilities: 0x8c
\tHT operation:
\t\t * primary channel: 6
\t\t * secondary channel offset: above
\t\t * STA channel width: any
\tWPS:\t * Version: 1.0
BSS 00:00:5e:00:53:02(on wlan0)
\tfreq: 5180
\tbeacon interval: 200 TUs
\tcapability: ESS (0x0001)
\tsignal: -70.00 dBm
\tSSID: caf\\xc3\\xa9
\tSupported rates: 6.0* 9.0 12.0* 18.0 24.0* 36.0 48.0 54.0
"""


def test_the_text_of_iw_becomes_announcements() -> None:
    first, second = scan.parse_iw(TEXT)
    assert (first["bssid"], first["ssid"], first["frequency_mhz"]) == (
        "00:00:5e:00:53:01",
        "bench",
        2437,
    )
    assert first["signal_dbm"] == -41.0
    assert (first["channel"], first["width_mhz"], first["phy"]) == (6, 40, "802.11n")
    assert (first["dtim_period"], first["country"], first["interval_tu"]) == (3, "DE", 100)
    assert first["privacy"]
    assert first["short_preamble"]
    assert first["wps"]
    assert first["basic_rates_mbps"] == [1.0, 2.0, 5.5, 11.0]
    assert set(first["rates_mbps"]) >= {1.0, 5.5, 54.0}
    rsn, wpa = first["rsn"], first["wpa"]
    assert rsn is not None
    assert wpa is not None
    assert rsn["group"] == "00-0f-ac-2"
    assert rsn["pairwise"] == ["00-0f-ac-4", "00-0f-ac-2"]
    assert rsn["akms"] == ["00-0f-ac-2", "00-0f-ac-5", "00-0f-ac-8"]
    assert (rsn["mfp_capable"], rsn["mfp_required"]) == (True, False)
    assert wpa["akms"] == ["00-50-f2-2"]
    assert (second["ssid"], second["phy"], second["rsn"]) == ("café", "802.11a", None)
    assert not second["privacy"]
    assert second["dtim_period"] is None


def test_a_text_without_networks_has_none() -> None:
    assert scan.parse_iw("") == []
    assert scan.parse_iw("command failed: Device or resource busy (-16)\n") == []


def test_a_host_tells_its_clock_and_its_warmest_sensor() -> None:
    state = parse_state("1000.500000000\n41000\n63500\n-274000\n", 1000.0, 0.02)
    assert (state.clock_s, state.within_s, state.temperature_c) == (0.5, 0.02, 63.5)
    bare = parse_state("1000\n", 1000.0, 0.02)  # BusyBox: whole seconds, no sensor
    assert (bare.clock_s, bare.temperature_c) == (None, None)
    assert parse_state("", 1000.0, 0.02).clock_s is None


def test_shares_of_a_channel_are_those_between_two_surveys() -> None:
    text = (
        "Survey data from wlan0\n\tfrequency:\t\t\t2437 MHz [in use]\n\tnoise:\t\t\t\t-95 dBm\n"
        "\tchannel active time:\t\t{} ms\n\tchannel busy time:\t\t{} ms\n"
        "\tchannel transmit time:\t\t{} ms\n"
    )
    before, after = (
        parse_survey(text.format(*row))[0]["times"] for row in ((1000, 100, 50), (2000, 700, 450))
    )
    assert busy_share(before, after) == 0.6
    share = busy_share(before, after, others=True)
    assert share is not None
    assert abs(share - 0.2) < 1e-9
    assert busy_share(after, before) is None  # the counters began anew
    assert busy_share(before, before) is None
    assert busy_share(ChannelTimes(0, 0), ChannelTimes(1, 5)) == 1.0
