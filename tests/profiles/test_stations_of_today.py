"""The shipped profiles of 802.11ax stations are as docs/guides/choosing.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.profiles import load

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "choosing.md"


@pytest.mark.parametrize("name", ["laptop-ax", "phone-ax"])
def test_profiles_of_cards_know_no_cost_of_their_host(name: str) -> None:
    assert f"`{name}`" in GUIDE.read_text("utf-8")
    profile = load(name)
    assert profile.clock_hz.value == 0
    assert profile.host.tx_packet_cycles.value == 0
    assert profile.capabilities.phys is not None
    assert "802.11ax" in profile.capabilities.phys
