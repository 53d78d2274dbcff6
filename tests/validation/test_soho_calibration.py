"""McCarter's home access point: fit to open and TKIP, predict WEP and CCMP, on the simulator."""

from __future__ import annotations

import pytest

from airtoll.run.calibrating import fit_profile

pytest.importorskip("airtoll._native", reason="needs the native module: make build")


@pytest.mark.slow
def test_held_out_policies_are_predicted():
    fitted = fit_profile(
        "mccarter2006",
        "dell-inspiron-5150",
        ["host.tx_packet_cycles", "host.rx_packet_cycles", "cipher.tkip.frame_cycles"],
        ["open", "wpa-eap-peap-tkip"],
        study="mccarter2006",
        scenario="soho",
        trials=1,
    )
    held_out = fitted.calibration.held_out
    assert len(held_out) == 6
    assert fitted.calibration.coverage >= 0.9
    assert sum(abs(p.relative_error) for p in held_out) / len(held_out) < 0.04
