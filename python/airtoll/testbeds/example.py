"""A small capture: one station joins and sends a few datagrams.

Takes a policy; writes the frames on the air, the packets on the wire and the keys into a folder.
The simulator composes them; the files are a few dozen kilobytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import quote

from airtoll.errors import UsageError
from airtoll.plan import make_plan
from airtoll.policies import resolve
from airtoll.study import parse
from airtoll.testbeds.simulator import Simulator

#: Files of an example: the frames of the monitor, the packets on the wire, and the keys.
AIR: Final = "air.pcapng"
WIRE: Final = "wire.pcapng"
KEYS: Final = "keys.json"
#: Hexadecimal digits of a PMK of 256 bits.
_PMK_DIGITS: Final = 64

#: One station that joins, and a datagram every 10 ms for 0.1 s.
_STUDY: Final = """
[study]
name = "capture-example"
title = "One station joins and sends ten datagrams"
baseline = "{policy}"

[trials]
repetitions = 1

[scenario.home]
phy = "802.11{phy}"
authenticate = true
stations = [{{ name = "A", position_m = [5.0, 0.0] }}]

[traffic.few]
transport = "udp"
offered_mbps = 1.2
duration_s = 0.1

[grid]
policy = ["{policy}"]
traffic = ["few"]
"""


def compose(policy: str, target: Path, *, phy: str = "a", seed: int = 1) -> None:
    """Write the example of a policy into the new folder ``target``.

    Raises ``PolicyError`` for an unknown policy, ``UsageError`` for one whose join the simulator
    cannot compute.
    """
    name = resolve(policy).name
    study = parse(_STUDY.format(policy=name, phy=phy), Path("capture example")).study
    plan = make_plan(study, seed=seed)
    testbed = Simulator()
    reason = testbed.check(plan.cells[0])
    if reason is not None:
        raise UsageError(f"{name}: the simulator cannot compute its join: {reason}")
    with tempfile.TemporaryDirectory() as scratch:
        testbed.measure(plan.trial(plan.cells[0], 1, 1), Path(scratch))
        (made,) = Path(scratch).iterdir()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, target)


def wireshark_keys(keys: Path) -> tuple[str, ...]:
    """The keys that decrypt a composed capture in Wireshark and tshark, as TYPE:KEY.

    The passphrase with the network's name first, where it gives the PMK, then the PMK. Empty where
    the network has no keys, or an AKM whose PMK they do not take.
    """
    log = json.loads(keys.read_text("utf-8"))
    pmks = [one["key"] for one in log if one["kind"] == "pmk" and len(one["key"]) == _PMK_DIGITS]
    words = [
        # Wireshark reads % and : of a passphrase as signs of its own.
        f"wpa-pwd:{quote(one['passphrase'], safe=' ')}:{quote(one['ssid'], safe=' ')}"
        for one in log
        if one["kind"] == "passphrase" and _mapped(one["passphrase"], one["ssid"]) in pmks[:1]
    ]
    return (*words, *(f"wpa-psk:{key}" for key in pmks[:1]))


def _mapped(passphrase: str, ssid: str) -> str:
    """The PSK of a passphrase in hexadecimal digits (IEEE Std 802.11-2020, J.4.1)."""
    return hashlib.pbkdf2_hmac("sha1", passphrase.encode(), ssid.encode(), 4096, 32).hex()
