"""Text and page show what the report knows of networks, stations, tunnels, RADIUS and DHCP."""

from __future__ import annotations

import copy
from html import unescape
from pathlib import Path

import pytest

from airtoll.capture import CaptureReport, capture_report, page, wanted_keys
from airtoll.cli.capture_text import summarise

CORPUS = Path(__file__).parent / "corpus" / "linux"


@pytest.fixture(scope="module")
def enterprise() -> CaptureReport:
    folder = CORPUS / "wpa2-eap-tls-ccmp"
    return capture_report(
        [folder / "air.pcap", folder / "wire.pcap"], key_logs=[folder / "keys.json"]
    )


def _rows(text: str, title: str) -> list[list[str]]:
    """Cells of the table under a title; two blanks are between two of them."""
    lines = text.split(f"\n{title}\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [[cell for cell in line.split("  ") if cell] for line in lines]


def _text(report: CaptureReport, capsys: pytest.CaptureFixture[str]) -> str:
    summarise(report)
    return "\n" + capsys.readouterr().out


def test_access_points_stations_and_radius_are_shown(
    enterprise: CaptureReport, capsys: pytest.CaptureFixture[str]
) -> None:
    text, html = _text(enterprise, capsys), page(enterprise)
    (session,) = enterprise.sessions
    (ap,) = enterprise.data["access_points"]
    (station,) = enterprise.ledger["stations"]
    _, row = _rows(text, "Access points")
    assert row[:2] == [ap["bssid"], ap["ssid"]]
    assert row[2:6] == ["1", "2412", "802.1x/ccmp-128", "none"]
    _, row = _rows(text, "Stations (rates are means of their data frames)")
    assert row[0] == station["address"]
    assert row[1].strip() == str(station["frames"])
    assert row[3].strip() == f"{station['rate_up_mbps']:.1f}"
    _, row = _rows(text, "RADIUS")
    assert row[3].strip() == str(session["messages"]["radius"])
    assert row[4].strip() == f"{1000 * session['eap_time_at_server_s']:.2f}"
    for shown in ("2412 MHz", f"RADIUS: {session['messages']['radius']} packets"):
        assert shown in html


def test_tunnels_and_tries_of_dhcp_are_shown(
    enterprise: CaptureReport, capsys: pytest.CaptureFixture[str]
) -> None:
    report = CaptureReport(copy.deepcopy(enterprise.data))
    (session,) = report.sessions
    session["tunnels"] = [
        {"protocol": "wireguard", "at_s": 1.25, "duration_s": 0.0125, "messages": 3}
    ]
    session["dhcp"] = {"discover": 3, "offer": 1, "request": 2, "ack": 1, "nak": 1, "decline": 0}
    text, html = _text(report, capsys), page(report)
    _, row = _rows(text, "Tunnels and bindings that were set up")
    assert [cell.strip() for cell in row[2:]] == ["WireGuard", "3", "1.250", "12.50"]
    _, row = _rows(text, "DHCP messages")
    assert [cell.strip() for cell in row[2:8]] == ["3", "1", "2", "1", "1", "0"]
    assert "WireGuard: 3 messages in 12.50 ms, 1.250 s after the first frame." in html
    assert "DHCP: 3 discover, 1 offer, 2 request, 1 acknowledgement, 1 refusal." in html


def test_reasons_are_in_words_where_frames_are_listed(enterprise: CaptureReport) -> None:
    names = enterprise.sessions[0]["steps"]["what"]
    assert "association response: success (0)" in names
    (leave,) = enterprise.data["leaves"]
    assert (leave["reason_code"], leave["words"]) == (2, "authentication no longer valid")
    assert leave["words"] in page(enterprise)


@pytest.mark.parametrize(
    ("folder", "key"),
    [
        ("wpa3-sae-ccmp", "pmk:HEX"),
        ("owe-ccmp", "pmk:HEX"),
        ("wpa2-psk-ccmp", "wpa-pwd:PASS:SSID"),
        ("wpa2-ft-psk-ccmp", "wpa-pwd:PASS:SSID"),
        ("wpa2-eap-tls-ccmp", "msk:HEX"),
        ("wep-40", "wep:HEX"),
    ],
)
def test_closed_frames_name_the_key_that_opens_them(
    folder: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = capture_report([CORPUS / folder / "air.pcap"])
    (sentence,) = wanted_keys(report.data)
    assert key in sentence
    assert ("passphrase" in sentence) == folder.startswith("wpa3")
    assert sentence in _text(report, capsys)
    assert sentence[1:] in unescape(page(report))
    opened = capture_report(
        [CORPUS / folder / "air.pcap"], key_logs=[CORPUS / folder / "keys.json"]
    )
    assert wanted_keys(opened.data) == []


def test_text_from_the_air_stays_text(
    enterprise: CaptureReport, capsys: pytest.CaptureFixture[str]
) -> None:
    report = CaptureReport(copy.deepcopy(enterprise.data))
    report.data["access_points"][0]["ssid"] = "<b>\x1b[31mred"
    html, text = page(report), _text(report, capsys)
    assert "<b>\x1b" not in html
    assert "&lt;b&gt;" in html
    assert "\x1b" not in text
