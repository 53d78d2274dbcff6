"""``airtoll capture example``: a join in a small capture, with the keys that open it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from airtoll.capture import capture_report
from airtoll.cli.capture_example import example
from airtoll.errors import AirtollError


@pytest.mark.parametrize(
    ("policy", "phy", "handshake"),
    [
        ("wpa2-psk-ccmp", "a", "eapol_frames"),
        ("wpa3-sae-ccmp", "ax", "eapol_frames"),
        ("wpa2-eap-tls-ccmp", "n", "eap_frames"),
    ],
)
def test_the_join_is_there_and_its_keys_open_the_rest(
    tmp_path: Path, policy: str, phy: str, handshake: Literal["eapol_frames", "eap_frames"]
) -> None:
    folder = tmp_path / "new" / "example"
    example(policy, folder, phy)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000
    report = capture_report([folder / "air.pcapng"], key_logs=[folder / "keys.json"])
    (session,) = report.sessions
    assert session["outcome"] == "connected"
    assert report.data["protected"] == report.data["decrypted"] > 0
    assert report.data[handshake] >= 4


def test_an_existing_folder_stays_and_an_unknown_policy_is_named(tmp_path: Path) -> None:
    with pytest.raises(AirtollError, match="exists"):
        example("wpa2-psk-ccmp", tmp_path)
    with pytest.raises(AirtollError, match="nosuch"):
        example("nosuch", tmp_path / "x")
    assert not (tmp_path / "x").exists()
