"""Negotiations of the policies, through the native module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from airtoll import _native, border
from airtoll.cli.negotiations import negotiate, summary_rows
from airtoll.policies import resolve


@pytest.mark.parametrize(
    ("name", "air", "wire"),
    [
        ("open", 4, 0),
        ("wpa2-psk-ccmp", 8, 0),
        ("wpa-psk-tkip", 10, 0),
        ("wpa3-sae-ccmp", 10, 0),
        ("owe-ccmp", 8, 0),
        ("8021x-md5+wep-104", 10, 4),
        ("ipsec-3des-sha1", 13, 0),
        ("wireguard", 7, 0),
    ],
)
def test_message_counts(name: str, air: int, wire: int) -> None:
    totals = negotiate(resolve(name))["totals"]
    assert (totals["messages_air"], totals["messages"] - totals["messages_air"]) == (air, wire)


def test_equal_seeds_give_equal_octets() -> None:
    policy = border.to_json(resolve("wpa2-eap-peap-ccmp").native())
    assert _native.negotiate(policy, 3) == _native.negotiate(policy, 3)
    assert _native.negotiate(policy, 3) != _native.negotiate(policy, 4)


def test_a_silent_server_is_named_with_its_reason_code() -> None:
    policy = border.to_json(resolve("8021x-tls+wep-104").native())
    outcome = _native.negotiate(policy, 1, '{"faults": {"silent_server": true}}')["outcome"]
    assert not outcome["established"]
    assert outcome["failure"] == {"failure": "server-timeout", "code": {"reason": 23}}


def test_an_unknown_option_is_refused() -> None:
    policy = border.to_json(resolve("open").native())
    with pytest.raises(ValueError, match="speed"):
        _native.negotiate(policy, 1, '{"speed": 3}')


def test_the_summary_names_what_it_counts() -> None:
    rows = dict(summary_rows(negotiate(resolve("wpa3-sae-ccmp"))))
    assert rows["messages"].startswith("10 (")
    assert "ec scalar mul" in rows["work of the station"]


def test_the_page_of_message_counts_is_up_to_date() -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "tools/message_counts.py", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
