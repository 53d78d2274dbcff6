"""Stations that join during the traffic: the time that is left, and the means of a cell."""

from __future__ import annotations

import time

import pytest

from airtoll.errors import TestbedError
from airtoll.policies import resolve
from airtoll.testbeds.linux.daemons import credentials, wpa_supplicant
from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.trial import newcomers


def test_the_cell_has_the_means_of_those_that_joined_during_the_traffic() -> None:
    values = [
        Value("join_time_s", 0.1, "s", station="B"),
        Value("join_time_s", 0.3, "s", station="C"),
        Value("association_time_s", 0.5, "s", station="A"),
        Value("association_time_s", 0.02, "s", station="B"),
        Value("throughput_bps", 1e6, "bit/s", station="B"),
    ]
    assert newcomers.of_cell(values, ["B", "C"]) == [
        Value("join_time_s", pytest.approx(0.2), "s"),
        Value("association_time_s", 0.02, "s"),
    ]
    assert newcomers.of_cell(values, []) == []


def test_a_join_after_the_traffic_is_a_failure_that_says_so() -> None:
    before = time.monotonic()
    left = newcomers.left_s("B", before + 5)
    assert 5 - (time.monotonic() - before) <= left <= 5
    with pytest.raises(TestbedError, match=r"B: had joined .* after the end of the traffic"):
        newcomers.left_s("B", time.monotonic() - 1)


def test_a_supplicant_that_stands_by_keeps_what_it_scanned(
    new_credentials: credentials.Credentials,
) -> None:
    files = wpa_supplicant.Files("ca.pem", "client.pem", "client.key")

    def text(*, waits: bool) -> str:
        return wpa_supplicant.configuration(
            resolve("wpa2-psk-ccmp"), new_credentials, "/run/wpa", files, (5180,), waits=waits
        )

    assert "\tdisabled=1\n" in text(waits=True)
    assert "scan_res_valid_for_connect=86400\n" in text(waits=True)
    assert "disabled" not in text(waits=False)
    assert "scan_res_valid_for_connect" not in text(waits=False)
